package space

import (
	"errors"
	"maps"
	"slices"

	"github.com/ndtune/ndtune/tune/expression"
)

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
	if root := e.Root(); root != nil && root.Kind != expression.String {
		if n := b.of(root.Condition()); n != nil {
			return n
		}
	}
	env := maps.Clone(b.environment)
	if env == nil {
		env = map[string]any{}
	}
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
