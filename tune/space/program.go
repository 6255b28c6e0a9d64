package space

import "math"

// A program computes a node as a raw value, from a frame.
type program func(f *frame) uint64

// A frame is what a program computes from.
type frame struct {
	slots  []uint64 // known parts, as they were computed at earlier parameters
	bad    set      // the slots that could not be computed: of those that can fail, which come first
	value  uint64   // of the parameter that is being bound
	digit  uint64   // its place in the parameter's list
	failed bool     // something could not be computed
}

// compile makes the program of a node whose parts stand in slots, by their nodes, or are the
// parameter at a place, or constants.
func compile(n *node, slots map[*node]int, place int) program {
	if slot, ok := slots[n]; ok {
		if !n.fails {
			return func(f *frame) uint64 { return f.slots[slot] }
		}
		return func(f *frame) uint64 {
			if f.bad.has(slot) {
				f.failed = true
			}
			return f.slots[slot]
		}
	}
	switch n.op {
	case opConstant:
		raw := n.raw
		return func(*frame) uint64 { return raw }
	case opParameter, opDigit:
		if n.parameter != place {
			panic("space: a parameter that is not bound")
		}
		if n.op == opDigit {
			return func(f *frame) uint64 { return f.digit }
		}
		return func(f *frame) uint64 { return f.value }
	case opIn:
		return compileIn(n, slots, place)
	}
	args := make([]program, len(n.args))
	for i, a := range n.args {
		args[i] = compile(a, slots, place)
	}
	if n.op == opOpaque {
		return compileOpaque(n, args)
	}
	switch len(args) {
	case 1:
		return compileOne(n, args[0])
	case 2:
		if n.args[0].kind == real {
			return compileReals(n, args[0], args[1])
		}
		return compileTwo(n, args[0], args[1])
	}
	condition, yes, no := args[0], args[1], args[2]
	return func(f *frame) uint64 {
		if condition(f) != 0 {
			return yes(f)
		}
		return no(f)
	}
}

func compileOne(n *node, a program) program {
	float := func(f *frame) float64 { return math.Float64frombits(a(f)) }
	isReal := n.args[0].kind == real
	switch n.op {
	case opNegate:
		if isReal {
			return func(f *frame) uint64 { return math.Float64bits(-float(f)) }
		}
		return func(f *frame) uint64 { return -a(f) }
	case opAbsolute:
		if isReal {
			return func(f *frame) uint64 { return math.Float64bits(math.Abs(float(f))) }
		}
		return func(f *frame) uint64 {
			if v := int64(a(f)); v < 0 {
				return uint64(-v)
			} else {
				return uint64(v)
			}
		}
	case opCeil:
		return func(f *frame) uint64 { return math.Float64bits(math.Ceil(float(f))) }
	case opFloor:
		return func(f *frame) uint64 { return math.Float64bits(math.Floor(float(f))) }
	case opRound:
		return func(f *frame) uint64 { return math.Float64bits(math.Round(float(f))) }
	case opToReal:
		return func(f *frame) uint64 { return math.Float64bits(float64(int64(a(f)))) }
	case opToWhole:
		return func(f *frame) uint64 { return uint64(int64(float(f))) }
	case opNot:
		return func(f *frame) uint64 { return a(f) ^ 1 }
	}
	panic("space: an operation of one argument that is none")
}

// compileTwo is for integers, conditions and texts.
func compileTwo(n *node, a, b program) program {
	switch n.op {
	case opAdd:
		return func(f *frame) uint64 { return a(f) + b(f) }
	case opSubtract:
		return func(f *frame) uint64 { return a(f) - b(f) }
	case opMultiply:
		return func(f *frame) uint64 { return a(f) * b(f) }
	case opQuotient:
		return divided(a, b, func(x, y int64) int64 { return x / y })
	case opRemainder:
		return divided(a, b, func(x, y int64) int64 { return x % y })
	case opFloorDiv:
		quotient := divided(a, b, floorDiv)
		return func(f *frame) uint64 {
			if int64(a(f)) == math.MinInt64 && int64(b(f)) == -1 {
				f.failed = true // no integer can hold it
			}
			return quotient(f)
		}
	case opFloorMod:
		return divided(a, b, floorMod)
	case opMinimum:
		return func(f *frame) uint64 { return uint64(min(int64(a(f)), int64(b(f)))) }
	case opMaximum:
		return func(f *frame) uint64 { return uint64(max(int64(a(f)), int64(b(f)))) }
	case opAnd:
		return decided(a, b, 0)
	case opOr:
		return decided(a, b, 1)
	case opEqual:
		return func(f *frame) uint64 { return boolRaw(a(f) == b(f)) }
	case opLess:
		return func(f *frame) uint64 { return boolRaw(int64(a(f)) < int64(b(f))) }
	case opLessEqual:
		return func(f *frame) uint64 { return boolRaw(int64(a(f)) <= int64(b(f))) }
	}
	panic("space: an operation of two arguments that is none")
}

// compileReals is for floats.
func compileReals(n *node, a, b program) program {
	calculate := func(g func(x, y float64) float64) program {
		return func(f *frame) uint64 {
			return math.Float64bits(g(math.Float64frombits(a(f)), math.Float64frombits(b(f))))
		}
	}
	compare := func(g func(x, y float64) bool) program {
		return func(f *frame) uint64 {
			return boolRaw(g(math.Float64frombits(a(f)), math.Float64frombits(b(f))))
		}
	}
	switch n.op {
	case opAdd:
		return calculate(func(x, y float64) float64 { return x + y })
	case opSubtract:
		return calculate(func(x, y float64) float64 { return x - y })
	case opMultiply:
		return calculate(func(x, y float64) float64 { return x * y })
	case opDivide:
		return calculate(func(x, y float64) float64 { return x / y })
	case opPower:
		return calculate(math.Pow)
	case opMinimum:
		return calculate(math.Min)
	case opMaximum:
		return calculate(math.Max)
	case opEqual:
		return compare(func(x, y float64) bool { return x == y })
	case opLess:
		return compare(func(x, y float64) bool { return x < y })
	case opLessEqual:
		return compare(func(x, y float64) bool { return x <= y })
	}
	panic("space: an operation of two floats that is none")
}

// decided is «and» (by 0) and «or» (by 1): one part alone can decide, also where the other
// cannot be computed.
func decided(a, b program, by uint64) program {
	return func(f *frame) uint64 {
		before := f.failed
		f.failed = false
		v := a(f)
		failed := f.failed
		if f.failed = before; !failed && v == by {
			return by
		}
		f.failed = false
		v = b(f)
		failed = f.failed || (failed && v != by)
		f.failed = before || failed
		return v
	}
}

func divided(a, b program, g func(x, y int64) int64) program {
	return func(f *frame) uint64 {
		y := int64(b(f))
		if y == 0 {
			f.failed = true
			return 0
		}
		return uint64(g(int64(a(f)), y))
	}
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if (x%y != 0) && ((x < 0) != (y < 0)) {
		q--
	}
	return q
}

func floorMod(x, y int64) int64 { return x - floorDiv(x, y)*y }

func compileIn(n *node, slots map[*node]int, place int) program {
	a := compile(n.args[0], slots, place)
	among := make(map[uint64]bool, len(n.args)-1)
	for _, c := range n.args[1:] {
		among[c.raw] = true
	}
	return func(f *frame) uint64 { return boolRaw(among[a(f)]) }
}

// compileOpaque is for what something else computes, from the digits of parameters.
func compileOpaque(n *node, args []program) program {
	digits := make([]uint64, len(args)) // a program runs in one goroutine
	return func(f *frame) uint64 {
		for i, a := range args {
			digits[i] = a(f)
		}
		ok, err := n.opaque.compute(digits)
		if err != nil {
			f.failed = true
		}
		return boolRaw(ok)
	}
}
