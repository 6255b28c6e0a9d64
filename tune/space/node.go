package space

import (
	"encoding/binary"
	"math"
	"slices"
)

// A node is a restriction, or a part of one, in the form that the construction of a space
// works on. Nodes are immutable; equal ones are one.
type node struct {
	op        operation
	kind      kind
	args      []*node
	raw       uint64 // of a constant
	parameter int    // of a parameter, its place
	opaque    *opaque
	id        int

	high   int        // the last parameter that it reads, by its place; -1: none
	fails  bool       // computing it may fail, as a remainder by zero does
	bounds [2]float64 // what it can be as a number, over all values of its parameters
}

// A kind is the type of a node. Values are held in 64 bits: an integer, the bits of a float,
// 0 or 1, or the place of a text among all texts.
type kind uint8

const (
	whole kind = iota
	real
	truth
	text
)

type operation uint8

const (
	opConstant operation = iota
	opParameter
	opDigit  // the place of a parameter's value in its list
	opOpaque // a restriction that is not translated: a condition on digits
	opAdd
	opSubtract
	opMultiply
	opDivide    // of floats
	opQuotient  // of integers, rounded towards zero
	opRemainder // of integers, with the sign of the dividend
	opFloorDiv  // of integers, rounded down
	opFloorMod  // of integers, with the sign of the divisor
	opPower     // of floats
	opNegate
	opMinimum
	opMaximum
	opAbsolute
	opCeil
	opFloor
	opRound
	opToReal
	opToWhole
	opNot
	opAnd
	opOr
	opEqual
	opLess
	opLessEqual
	opIf
	opIn // the first argument among the others, which are constants
)

// An opaque condition is computed from the values of parameters by something else: the VM
// of expr-lang, or a Go function.
type opaque struct {
	compute func(digits []uint64) (bool, error) // of the parameters that are its arguments
}

// nodes makes nodes, and each only once.
type nodes struct {
	parameters *Parameters
	made       map[string]*node
	opaques    int
	texts      map[string]uint64
}

func newNodes(p *Parameters) *nodes {
	return &nodes{parameters: p, made: map[string]*node{}, texts: map[string]uint64{}}
}

// intern makes the node, or finds it.
func (b *nodes) intern(n node) *node {
	key := make([]byte, 0, 64)
	key = append(key, byte(n.op), byte(n.kind))
	key = binary.LittleEndian.AppendUint64(key, n.raw)
	key = binary.LittleEndian.AppendUint64(key, uint64(n.parameter))
	if n.opaque != nil {
		b.opaques++
		key = binary.LittleEndian.AppendUint64(key, uint64(b.opaques))
	}
	for _, a := range n.args {
		key = binary.LittleEndian.AppendUint64(key, uint64(a.id))
	}
	if made, ok := b.made[string(key)]; ok {
		return made
	}
	n.id = len(b.made)
	n.high = -1
	if n.op == opParameter || n.op == opDigit {
		n.high = n.parameter
	}
	n.fails = n.op == opOpaque
	for _, a := range n.args {
		n.high = max(n.high, a.high)
		n.fails = n.fails || a.fails
	}
	n.bounds = b.boundsOf(&n)
	switch n.op {
	case opQuotient, opRemainder, opFloorDiv, opFloorMod:
		by := n.args[1].bounds
		n.fails = n.fails || (by[0] <= 0 && by[1] >= 0)
		// The least integer has no quotient by -1 among the integers.
		n.fails = n.fails || (n.op == opFloorDiv && n.args[0].bounds[0] < -exactLimit && by[0] <= -1)
	}
	made := &n
	b.made[string(key)] = made
	return made
}

func (b *nodes) boundsOf(n *node) [2]float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	switch {
	case n.op == opDigit:
		lo, hi = 0, float64(len(b.parameters.list[n.parameter].Values)-1)
	case n.kind == text:
		lo, hi = hi, lo
	case n.op == opConstant:
		lo = numeric(n.kind, n.raw)
		hi = lo
	case n.op == opParameter:
		for _, v := range b.parameters.list[n.parameter].Values {
			f, _ := number(v)
			lo, hi = min(lo, f), max(hi, f)
		}
	default:
		args := make([][2]float64, len(n.args))
		for i, a := range n.args {
			args[i] = a.bounds
		}
		lo, hi = operationBounds(n, args)
	}
	return widened(n.kind, lo, hi)
}

// constant is a constant of a kind.
func (b *nodes) constant(k kind, raw uint64) *node {
	return b.intern(node{op: opConstant, kind: k, raw: raw})
}

// make is an operation on nodes: computed at once where they read no parameter.
func (b *nodes) make(op operation, k kind, args ...*node) *node {
	if k == whole && (op == opAdd || op == opMultiply) {
		return b.chain(op, args)
	}
	return b.fold(node{op: op, kind: k, args: args})
}

// fold interns a node: as a constant where it reads no parameter and can be computed.
func (b *nodes) fold(n node) *node {
	for _, a := range n.args {
		if a.high >= 0 {
			return b.intern(n)
		}
	}
	f := frame{}
	raw := compile(&n, nil, -1)(&f)
	if f.failed {
		return b.intern(n)
	}
	return b.constant(n.kind, raw)
}

// chain is a sum or a product of integers: of all operands on the way down, those first that
// are known first. So a part of it is known, as one number, as early as can be.
func (b *nodes) chain(op operation, args []*node) *node {
	var operands []*node
	var flatten func(n *node)
	flatten = func(n *node) {
		if n.op == op && n.kind == whole {
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
		all = b.fold(node{op: op, kind: whole, args: []*node{all, n}})
	}
	return all
}

// parameterNode is a parameter, where all its values are of one kind.
func (b *nodes) parameterNode(place int) (*node, bool) {
	var k kind
	for i, v := range b.parameters.list[place].Values {
		of, _ := b.raw(v)
		if i > 0 && of != k {
			return nil, false
		}
		k = of
	}
	return b.intern(node{op: opParameter, kind: k, parameter: place}), true
}

// raw is a value in 64 bits, with its kind.
func (b *nodes) raw(v Value) (kind, uint64) {
	switch v := v.(type) {
	case int:
		return whole, uint64(v)
	case float64:
		return real, math.Float64bits(v)
	case bool:
		return truth, boolRaw(v)
	case string:
		place, ok := b.texts[v]
		if !ok {
			place = uint64(len(b.texts))
			b.texts[v] = place
		}
		return text, place
	}
	panic("space: a value that is not normalized")
}

func boolRaw(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// numeric is a raw value as a number; NaN for a text.
func numeric(k kind, raw uint64) float64 {
	switch k {
	case whole:
		return float64(int64(raw))
	case real:
		return math.Float64frombits(raw)
	case truth:
		return float64(raw)
	}
	return math.NaN()
}

// reads adds the places of the parameters that a node reads.
func (n *node) reads(into map[int]bool) {
	if n.op == opParameter || n.op == opDigit {
		into[n.parameter] = true
	}
	for _, a := range n.args {
		a.reads(into)
	}
}

// known adds the largest parts of a node that are known once the parameters up to a place
// have values, and no constants.
func (n *node) known(place int, into *[]*node) {
	switch {
	case n.high < 0:
	case n.high <= place:
		if !slices.Contains(*into, n) {
			*into = append(*into, n)
		}
	default:
		for _, a := range n.args {
			a.known(place, into)
		}
	}
}
