package space

import "github.com/ndtune/ndtune/tune/expression"

// A frame is what programs compute from. Its slots hold parts that were known at earlier
// parameters.
type frame struct {
	expression.Frame
	bad   set    // the slots that could not be computed: of those that can fail, which come first
	digit uint64 // the place in its list of the value that is being bound
}

// compile makes the program of a node whose parts stand in slots of the frame, by their nodes,
// or are the parameter at a place, or constants.
func compile(n *node, slots map[*node]int, place int, of *frame) expression.Program {
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
		if n.parameter != place {
			panic("space: a parameter that is not bound")
		}
		if n.Code == digitCode {
			return func(*expression.Frame) uint64 { return of.digit }
		}
		return func(f *expression.Frame) uint64 { return f.Value }
	}
	args := make([]expression.Program, len(n.args))
	for i, a := range n.args {
		args[i] = compile(a, slots, place, of)
	}
	if n.Code == opaqueCode {
		return compileOpaque(n, args)
	}
	return n.Program(args)
}

// compileOpaque is for what something else computes, from the digits of parameters.
func compileOpaque(n *node, args []expression.Program) expression.Program {
	digits := make([]uint64, len(args)) // a program runs in one goroutine
	return func(f *expression.Frame) uint64 {
		for i, a := range args {
			digits[i] = a(f)
		}
		ok, err := n.opaque.compute(digits)
		if err != nil {
			f.Failed = true
		}
		return expression.Bit(ok)
	}
}
