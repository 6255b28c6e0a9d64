package space

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/expression"
)

// A node is a restriction, or a part of one, in the form that the construction of a space
// works on: an operation of package expression, or a leaf. Nodes are immutable; equal ones are
// one.
type node struct {
	expression.Operation
	args      []*node
	raw       uint64 // of a constant
	parameter int    // of a parameter, its index
	opaque    *opaque
	id        int

	high   int               // the last parameter that it reads, by its index; -1: none
	fails  bool              // computing it may fail, as a remainder by zero does
	bounds expression.Bounds // what it can be as a number, over all values of its parameters
}

// Leaves that package expression does not know.
const (
	parameterCode = expression.Codes + iota
	digitCode     // the index of a parameter's value in its list
	opaqueCode    // a restriction that has no nodes: a condition on digits
)

// An opaque condition is computed from the values of parameters by something else: an
// expression that has lists or variables, or the rows of a table.
type opaque struct {
	compute func(args []uint64) (uint64, error) // of its arguments, mostly digits of parameters
	fails   bool
}

// nodes makes nodes, and each only once.
type nodes struct {
	parameters  *Parameters
	environment map[string]any
	made        map[string]*node
	opaques     int
	texts       map[string]uint64
}

func newNodes(p *Parameters, environment map[string]any) *nodes {
	return &nodes{parameters: p, environment: environment, made: map[string]*node{}, texts: map[string]uint64{}}
}

// of is the node of a part of an expression; nil where package expression must compute it.
func (b *nodes) of(n *expression.Node) *node {
	switch n.Code {
	case expression.Constant:
		return b.value(n.Value)
	case expression.Name:
		if index, ok := b.parameters.index[n.Name]; ok {
			return b.parameterNode(index)
		}
		return b.value(n.Lookup(b.environment))
	case expression.Let:
		return nil
	}
	args := make([]*node, len(n.Args))
	for i, a := range n.Args {
		if args[i] = b.of(a); args[i] == nil {
			return nil
		}
	}
	return b.make(n.Operation, args)
}

// intern makes the node, or finds it.
func (b *nodes) intern(n node) *node {
	key := make([]byte, 0, 64)
	key = append(key, byte(n.Code), byte(n.Kind), byte(n.Of[0]), byte(n.Of[1]))
	key = binary.LittleEndian.AppendUint64(key, n.raw)
	key = binary.LittleEndian.AppendUint64(key, uint64(n.parameter))
	if n.opaque != nil {
		b.opaques++
		key = binary.LittleEndian.AppendUint64(key, uint64(b.opaques))
	}
	for _, a := range n.args {
		key = binary.LittleEndian.AppendUint64(key, uint64(a.id))
	}
	key = append(key, n.Function...)
	if made, ok := b.made[string(key)]; ok {
		return made
	}
	n.id = len(b.made)
	n.high = -1
	if n.Code == parameterCode || n.Code == digitCode {
		n.high = n.parameter
	}
	n.fails = n.opaque != nil && n.opaque.fails
	bounds := make([]expression.Bounds, len(n.args))
	for i, a := range n.args {
		n.high = max(n.high, a.high)
		n.fails = n.fails || a.fails
		bounds[i] = a.bounds
	}
	n.fails = n.fails || n.Operation.Fails(bounds) || n.Operation.Overflows(bounds)
	n.bounds = b.boundsOf(&n, bounds)
	made := &n
	b.made[string(key)] = made
	return made
}

func (b *nodes) boundsOf(n *node, args []expression.Bounds) expression.Bounds {
	lo, hi := math.Inf(1), math.Inf(-1)
	switch {
	case n.Code == digitCode:
		lo, hi = 0, float64(len(b.parameters.list[n.parameter].Values)-1)
	case n.Kind == expression.String, n.Code == opaqueCode:
		lo, hi = hi, lo
	case n.Code == expression.Constant:
		lo = numeric(n.Kind, n.raw)
		hi = lo
	case n.Code == parameterCode:
		for _, v := range b.parameters.list[n.parameter].Values {
			f, _ := Number(v)
			lo, hi = min(lo, f), max(hi, f)
		}
	default:
		return n.Operation.Bounds(args)
	}
	return expression.BoundsOf(n.Kind, lo, hi)
}

// value is a constant.
func (b *nodes) value(v Value) *node { return b.constant(b.raw(v)) }

// constant is a constant of a kind.
func (b *nodes) constant(k expression.Kind, raw uint64) *node {
	return b.intern(node{Operation: expression.Operation{Kind: k}, raw: raw})
}

// make is an operation on nodes: computed at once where they read no parameter.
func (b *nodes) make(o expression.Operation, args []*node) *node {
	if o.Kind == expression.Int && (o.Code == expression.Add || o.Code == expression.Multiply) {
		return b.chain(o, args)
	}
	return b.fold(node{Operation: o, args: args})
}

// fold interns a node: as a constant where it reads no parameter and can be computed.
func (b *nodes) fold(n node) *node {
	for _, a := range n.args {
		if a.high >= 0 {
			return b.intern(n)
		}
	}
	f := &frame{}
	raw := compile(&n, nil, -1, f)(&f.Frame)
	if f.Failed {
		return b.intern(n)
	}
	return b.constant(n.Kind, raw)
}

// chain is a sum or a product of integers: of all operands on the way down, those first that
// are known first. So a part of it is known, as one number, as early as can be.
func (b *nodes) chain(o expression.Operation, args []*node) *node {
	var operands []*node
	var flatten func(n *node)
	flatten = func(n *node) {
		if n.Code == o.Code && n.Kind == expression.Int {
			for _, a := range n.args {
				flatten(a)
			}
			return
		}
		operands = append(operands, n)
	}
	for _, a := range args {
		flatten(a)
	}
	slices.SortStableFunc(operands, func(x, y *node) int {
		if x.high != y.high {
			return x.high - y.high
		}
		return x.id - y.id
	})
	all := operands[0]
	for _, n := range operands[1:] {
		all = b.fold(node{Operation: o, args: []*node{all, n}})
	}
	return all
}

// digit is the index of a parameter's value.
func (b *nodes) digit(parameter int) *node {
	return b.intern(node{Operation: expression.Operation{Code: digitCode}, parameter: parameter})
}

// parameterNode is a parameter; nil where its values are of several kinds.
func (b *nodes) parameterNode(parameter int) *node {
	values := b.parameters.list[parameter].Values
	k, _ := expression.KindOf(values[0])
	for _, v := range values {
		if of, _ := expression.KindOf(v); of != k {
			return nil
		}
	}
	return b.intern(node{Operation: expression.Operation{Code: parameterCode, Kind: k}, parameter: parameter})
}

// raw is a value in 64 bits, with its kind.
func (b *nodes) raw(v Value) (expression.Kind, uint64) {
	k, _ := expression.KindOf(v)
	text, ok := v.(string)
	if !ok {
		return k, expression.Raw(v)
	}
	index, ok := b.texts[text]
	if !ok {
		index = uint64(len(b.texts))
		b.texts[text] = index
	}
	return k, index
}

// numeric is a raw value as a number; NaN for a text.
func numeric(k expression.Kind, raw uint64) float64 {
	switch k {
	case expression.Int:
		return float64(int64(raw))
	case expression.Float:
		return math.Float64frombits(raw)
	case expression.Bool:
		return float64(raw)
	}
	return math.NaN()
}

// reads adds the indices of the parameters that a node reads.
func (n *node) reads(into map[int]bool) {
	if n.Code == parameterCode || n.Code == digitCode {
		into[n.parameter] = true
	}
	for _, a := range n.args {
		a.reads(into)
	}
}

// known adds the largest parts of a node that are known once the parameters up to an index
// have values, and no constants.
func (n *node) known(parameter int, into *[]*node) {
	switch {
	case n.high < 0:
	case n.high <= parameter:
		*into = each.AppendNew(*into, n)
	default:
		for _, a := range n.args {
			a.known(parameter, into)
		}
	}
}

// A frame is what programs compute from. Its slots hold parts that were known at earlier
// parameters.
type frame struct {
	expression.Frame
	bad   set    // the slots that could not be computed: of those that can fail, which come first
	digit uint64 // the index in its list of the value that is being bound
}

// compile makes the program of a node whose parts stand in slots of the frame, by their nodes,
// or are the given parameter, or constants.
func compile(n *node, slots map[*node]int, parameter int, of *frame) expression.Program {
	if slot, ok := slots[n]; ok {
		if !n.fails {
			return func(f *expression.Frame) uint64 { return f.Slots[slot] }
		}
		return func(f *expression.Frame) uint64 {
			if of.bad.has(slot) {
				f.Failed = true
			}
			return f.Slots[slot]
		}
	}
	switch n.Code {
	case expression.Constant:
		raw := n.raw
		return func(*expression.Frame) uint64 { return raw }
	case parameterCode, digitCode:
		if n.parameter != parameter {
			panic("space: a parameter that is not bound")
		}
		if n.Code == digitCode {
			return func(*expression.Frame) uint64 { return of.digit }
		}
		return func(f *expression.Frame) uint64 { return f.Value }
	}
	args := each.Of(n.args, func(a *node) expression.Program { return compile(a, slots, parameter, of) })
	if n.Code == opaqueCode {
		return compileOpaque(n, args)
	}
	return n.Program(args)
}

// compileOpaque is for what something else computes.
func compileOpaque(n *node, args []expression.Program) expression.Program {
	values := make([]uint64, len(args)) // a program runs in one goroutine
	return func(f *expression.Frame) uint64 {
		for i, a := range args {
			values[i] = a(f)
		}
		v, err := n.opaque.compute(values)
		if err != nil {
			f.Failed = true
		}
		return v
	}
}
