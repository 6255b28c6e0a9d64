package space

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/expression"
)

// A Restriction is a condition that a valid configuration satisfies: an expression over
// parameters, constants and device.*, or a Go function. Exactly one of the two is set.
type Restriction struct {
	Expression string
	Func       func(Configuration) bool

	// Reads names the parameters that Func looks at, so that it can be checked as soon as
	// they are bound; nil means all. Expressions need none.
	Reads []string
}

// String is the expression, or what is known of the function.
func (r Restriction) String() string {
	if r.Func == nil {
		return r.Expression
	}
	if r.Reads == nil {
		return "a Go function"
	}
	return "a Go function of " + strings.Join(r.Reads, ", ")
}

// A RestrictionError says which restriction is wrong, by its place in the list.
type RestrictionError struct {
	Index       int
	Restriction Restriction
	Err         error
}

func (e *RestrictionError) Error() string {
	return fmt.Sprintf("restrictions[%d], %s: %v", e.Index, excerpt.Of(e.Restriction.String()), e.Err)
}
func (e *RestrictionError) Unwrap() error { return e.Err }

// Fault is the place in the list of the restriction that an error of [New] is about, and the
// error without that place; false where the error is about no restriction.
func Fault(err error) (index int, cause error, ok bool) {
	var empty *EmptyError
	var bad *RestrictionError
	switch {
	case errors.As(err, &empty):
		return empty.Index, empty, true
	case errors.As(err, &bad):
		return bad.Index, bad.Err, true
	}
	return 0, err, false
}

// A check is a restriction that is sound.
type check struct {
	index       int
	restriction Restriction
	expression  *expression.Expression // nil: a function
}

// newCheck compiles a restriction.
func newCheck(index int, r Restriction, parameters *Parameters, scope expression.Scope) (c check, err error) {
	c = check{index: index, restriction: r}
	switch {
	case r.Func != nil && r.Expression != "":
		return c, errors.New("has both an expression and a function")
	case r.Func != nil:
		for _, name := range r.Reads {
			if _, ok := parameters.Index(name); !ok {
				return c, fmt.Errorf("reads %s, and no parameter is named so%s", name, nearest.Hint(name, parameters.Names()))
			}
		}
		return c, nil
	}
	c.expression, err = expression.Compile(r.Expression, scope)
	return c, err
}

func atError(at string, err error) error {
	if at == "" {
		return err
	}
	return fmt.Errorf("at %s: %w", at, err)
}
