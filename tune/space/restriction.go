package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/ndtune/ndtune/internal/each"
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

// restrictions are the restrictions of a space, ready for its construction.
type restrictions struct {
	rules      []rule
	nodes      *nodes
	conditions []condition
	empty      int // a restriction that is false whatever the configuration; -1: none is
}

// prepare turns rules into conditions. Those that always hold are left out.
func prepare(p *Parameters, rules []rule, environment map[string]any) (*restrictions, error) {
	r := &restrictions{rules: rules, nodes: newNodes(p, environment), empty: -1}
	for _, c := range rules {
		var parts []*node
		if t := c.restriction.Table; t != nil {
			parts = r.nodes.table(t)
		} else {
			parts = conjuncts(r.nodes.condition(c.expression))
		}
		for _, n := range parts {
			if err := r.add(c, n, environment); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (r *restrictions) add(c rule, n *node, environment map[string]any) error {
	switch {
	case n.high < 0 && n.Code != expression.Constant: // the same for all configurations
		holds, err := c.expression.Bool(environment)
		switch {
		case err != nil:
			return &RestrictionError{c.index, c.restriction, err}
		case !holds && r.empty < 0:
			r.empty = c.index
		}
		return nil
	case n.fails:
	case n.bounds[0] >= 1:
		return nil
	case n.bounds[1] <= 0 && r.empty < 0:
		r.empty = c.index
	}
	r.conditions = append(r.conditions, condition{c.index, n, 0})
	return nil
}

// of is the restriction of an index.
func (r *restrictions) of(index int) rule {
	return r.rules[slices.IndexFunc(r.rules, func(c rule) bool { return c.index == index })]
}

// conjuncts returns the conditions that «and» joins. Each is checked as early as its parameters are known, but never before
// a condition that guards it: then all stay one condition.
func conjuncts(n *node) []*node {
	var parts []*node
	var split func(n *node)
	split = func(n *node) {
		if n.Code == expression.And {
			split(n.args[0])
			split(n.args[1])
			return
		}
		parts = append(parts, n)
	}
	split(n)
	high := -1
	for _, part := range parts {
		if part.fails && part.high < high {
			return []*node{n}
		}
		high = max(high, part.high)
	}
	return parts
}

// condition is the node of a restriction's expression.
func (b *nodes) condition(e *expression.Expression) *node {
	if root, _ := e.Root(); root != nil && root.Kind != expression.String {
		if n := b.of(root.Condition()); n != nil {
			return n
		}
	}
	env := map[string]any{}
	maps.Copy(env, b.environment)
	var reads []string
	for _, name := range e.Names() {
		if _, ok := b.parameters.index[name]; ok {
			reads = append(reads, name)
		}
	}
	if len(reads) == 0 {
		if holds, err := e.Bool(env); err == nil {
			return b.value(holds)
		}
	}
	var args []*node
	lists := make([][]Value, len(reads))
	for i, name := range reads {
		index := b.parameters.index[name]
		args = append(args, b.digit(index))
		lists[i] = b.parameters.list[index].Values
	}
	compute := func(digits []uint64) (uint64, error) {
		for i, digit := range digits {
			env[reads[i]] = lists[i][digit]
		}
		holds, err := e.Bool(env)
		return expression.Bit(holds), err
	}
	return b.intern(node{Operation: expression.Operation{Code: opaqueCode, Kind: expression.Bool}, args: args, opaque: &opaque{compute, true}})
}

// A group is parameters that restrictions tie together, in ascending order, and the
// conditions on them.
type group struct {
	parameters []int
	conditions []condition
}

// groups are the groups in the order of their first parameters.
func (r *restrictions) groups(p *Parameters) []*group {
	parent := make([]int, p.Len())
	for i := range parent {
		parent[i] = i
	}
	var root func(i int) int
	root = func(i int) int {
		if parent[i] != i {
			parent[i] = root(parent[i])
		}
		return parent[i]
	}
	for k := range r.conditions {
		c := &r.conditions[k]
		reads := map[int]bool{}
		c.node.reads(reads)
		c.low = c.node.high
		for i := range reads {
			c.low = min(c.low, i)
			a, b := root(c.node.high), root(i)
			parent[max(a, b)] = min(a, b)
		}
	}
	var groups []*group
	of := map[int]*group{} // by the root
	for i := range parent {
		g := of[root(i)]
		if g == nil {
			g = &group{}
			of[root(i)] = g
			groups = append(groups, g)
		}
		g.parameters = append(g.parameters, i)
	}
	for _, c := range r.conditions {
		g := of[root(c.low)]
		g.conditions = append(g.conditions, c)
	}
	return groups
}

// cannot is the error for a condition that cannot be computed.
func (r *restrictions) cannot(p *Parameters, f *failedCondition, environment map[string]any) error {
	c := r.of(f.index)
	env := make(map[string]any, len(environment)+p.Len())
	maps.Copy(env, environment)
	at := ""
	for index, q := range p.list {
		env[q.Name] = q.Values[0] // those of other groups do not matter
		if digit, ok := f.digits[index]; ok {
			env[q.Name] = q.Values[digit]
			if at != "" {
				at += ", "
			}
			at += q.Name + "=" + FormatValue(q.Values[digit])
		}
	}
	err := errors.New("it cannot be computed")
	if c.expression != nil {
		if _, e := c.expression.Bool(env); e != nil {
			err = e
		}
	}
	return &RestrictionError{c.index, c.restriction, atError(at, err)}
}

// maxBytes bounds the memory that a construction uses, counting what it frees as it goes.
// Known spaces of the field use less than a tenth.
const maxBytes = 1 << 30

// The bytes of an edge (digits, to and before of its level) and, beside the words of its key,
// of a node (first and counts, a slot in the hash table, and the way back).
const (
	edgeBytes = 14
	nodeBytes = 32
)

// A budget bounds a construction.
type budget struct {
	stopped     atomic.Bool // the context is done
	bytes, most int
}

func (b *budget) spent() bool { return b.bytes > b.most || b.stopped.Load() }

var errLarge = errors.New("the search space is too large")

// tooLarge is the error for a budget that was spent at a parameter of a group: it names the
// restrictions whose parts the diagram has to tell apart there, and the parameters that they read.
func (r *restrictions) tooLarge(p *Parameters, g *group, parameter int, bound *budget) error {
	reads := map[int]bool{}
	var indices []int
	for _, c := range g.conditions {
		if c.low <= parameter && parameter <= c.node.high && !slices.Contains(indices, c.index) {
			indices = append(indices, c.index)
			c.node.reads(reads)
		}
	}
	if len(indices) == 0 {
		return fmt.Errorf("%w: its parameters take more than %d MiB; give them fewer values", errLarge, bound.most>>20)
	}
	var names []string
	for i, name := range p.names {
		if reads[i] {
			names = append(names, name)
		}
	}
	subject := "it ties"
	if len(indices) > 1 {
		others := each.Of(indices[1:], func(i int) string { return fmt.Sprintf("restrictions[%d]", i) })
		subject = "with " + excerpt.Of(strings.Join(others, ", ")) + " it ties"
	}
	c := r.of(indices[0])
	return &RestrictionError{c.index, c.restriction, fmt.Errorf(
		"%w: %s %s together, which takes more than %d MiB; give these parameters fewer values, or restrict fewer of them at a time",
		errLarge, subject, excerpt.Of(strings.Join(names, ", ")), bound.most>>20)}
}
