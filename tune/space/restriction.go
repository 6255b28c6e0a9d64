package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/expression"
)

// A Restriction is a condition that a valid configuration satisfies: an expression over
// parameters, constants and device.*, or a table. Exactly one of them is set.
type Restriction struct {
	Expression string
	Table      *Table
}

// String is the expression, or what the table is.
func (r Restriction) String() string {
	if r.Table != nil {
		return r.Table.String()
	}
	return r.Expression
}

// A RestrictionError says which restriction is wrong, by its index in the list.
type RestrictionError struct {
	Index       int
	Restriction Restriction
	Err         error
}

func (e *RestrictionError) Error() string {
	return fmt.Sprintf("restrictions[%d], %s: %v", e.Index, excerpt.Of(e.Restriction.String()), e.Err)
}
func (e *RestrictionError) Unwrap() error { return e.Err }

// Fault is the index of the restriction that an error of [New] is about, and the
// error without that index; false where the error is about no restriction.
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

// A rule is a compiled restriction.
type rule struct {
	index       int
	restriction Restriction
	expression  *expression.Expression // nil: a table
}

// compileRestriction compiles a restriction.
func compileRestriction(index int, r Restriction, parameters *Parameters, scope expression.Scope) (c rule, err error) {
	c = rule{index: index, restriction: r}
	if r.Table != nil {
		return c, r.Table.check(parameters)
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
	const format = "the space is empty: restrictions[%d], %s, refuses every configuration that the restrictions before it leave"
	return fmt.Sprintf(format, e.Index, text)
}

// explainEmpty finds the first restriction with which nothing is left.
func explainEmpty(ctx context.Context, parameters *Parameters, rules []rule, environment map[string]any) error {
	empty := func(rules []rule) bool {
		s, err := construct(ctx, parameters, rules, environment, maxBytes)
		return err == nil && s.length == 0
	}
	i := sort.Search(len(rules), func(i int) bool { return empty(rules[:i+1]) })
	if i == len(rules) { // the context is done
		return cmp.Or(ctx.Err(), errors.New("the space is empty"))
	}
	e := &EmptyError{rules[i].index, rules[i].restriction, empty(rules[i : i+1])}
	return cmp.Or(ctx.Err(), error(e))
}
