package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// An EmptyError says that the restrictions leave no configuration, and which of them took
// the last.
type EmptyError struct {
	Index       int // the restriction, in the order of the list
	Restriction Restriction
	Alone       bool // it leaves nothing even without the others
}

func (e *EmptyError) Error() string {
	text := excerpt.Of(e.Restriction.String())
	if e.Alone {
		return fmt.Sprintf("the space is empty: no configuration satisfies restrictions[%d], %s", e.Index, text)
	}
	return fmt.Sprintf("the space is empty: restrictions[%d], %s, refuses every configuration that the restrictions before it leave", e.Index, text)
}

// explainEmpty finds the first restriction with which nothing is left.
func explainEmpty(ctx context.Context, parameters *Parameters, checks []check, environment map[string]any) error {
	empty := func(checks []check) bool {
		s, err := construct(ctx, parameters, checks, environment, maxBytes)
		return err == nil && s.length == 0
	}
	i := sort.Search(len(checks), func(i int) bool { return empty(checks[:i+1]) })
	if i == len(checks) { // a function that answers differently each time, or the context is done
		return cmp.Or(ctx.Err(), errors.New("the space is empty"))
	}
	e := &EmptyError{checks[i].index, checks[i].restriction, empty(checks[i : i+1])}
	return cmp.Or(ctx.Err(), error(e))
}
