package space

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
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
	return fmt.Sprintf("restrictions[%d], %s: %v", e.Index, e.Restriction, e.Err)
}
func (e *RestrictionError) Unwrap() error { return e.Err }

// A check is a restriction made ready for the enumeration.
type check struct {
	index       int
	restriction Restriction
	expression  *Expression
	depth       int // the number of parameters that must be bound
}

// newCheck compiles a restriction and finds out when it can be checked.
func newCheck(index int, r Restriction, parameters *Parameters, scope Scope) (check, error) {
	c := check{index: index, restriction: r}
	fail := func(err error) (check, error) { return check{}, &RestrictionError{index, r, err} }
	reads := r.Reads
	switch {
	case r.Func != nil && r.Expression != "":
		return fail(fmt.Errorf("has both an expression and a function"))
	case r.Func != nil && reads == nil:
		reads = parameters.Names()
	case r.Func != nil:
		for _, name := range reads {
			if _, ok := parameters.Index(name); !ok {
				return fail(fmt.Errorf("reads %s, and no parameter is named so%s", name, nearest.Hint(name, parameters.Names())))
			}
		}
	default:
		e, err := Compile(r.Expression, scope)
		if err != nil {
			return fail(err)
		}
		c.expression, reads = e, e.Names()
	}
	for _, name := range reads {
		if i, ok := parameters.Index(name); ok {
			c.depth = max(c.depth, i+1)
		}
	}
	return c, nil
}

// ok evaluates the check for a prefix of bound values. The environment holds them.
func (c *check) ok(parameters *Parameters, values []Value, environment map[string]any) (bool, error) {
	if c.expression != nil {
		ok, err := c.expression.Bool(environment)
		if err != nil {
			if c.depth > 0 {
				err = fmt.Errorf("at %s: %w", Configuration{parameters, values}.prefix(c.depth), err)
			}
			return false, &RestrictionError{c.index, c.restriction, err}
		}
		return ok, nil
	}
	bound := Configuration{parameters, append([]Value(nil), values...)}
	for i := c.depth; i < len(values); i++ {
		bound.values[i] = parameters.list[i].Values[0] // not read: the function named what it reads
	}
	return c.restriction.Func(bound), nil
}

// prefix is the text of the first n parameters of a configuration.
func (c Configuration) prefix(n int) string {
	return Configuration{c.parameters, c.values[:n]}.String()
}
