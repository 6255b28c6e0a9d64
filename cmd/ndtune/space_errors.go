package main

import (
	"errors"

	"github.com/ndtune/ndtune/tune/space"
)

// isSpaceError reports whether the restrictions of a specification are at fault: they
// leave nothing, or cannot be computed.
func isSpaceError(err error) bool {
	var empty *space.EmptyError
	var restriction *space.RestrictionError
	return errors.As(err, &empty) || errors.As(err, &restriction)
}
