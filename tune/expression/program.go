package expression

import "math"

// A Program computes a part of an expression as a raw value of 64 bits: an integer, the bits of
// a float, 0 or 1, or the number of a text.
type Program func(f *Frame) uint64

// A Frame is what programs compute from. Its user makes the programs of names, which read it.
type Frame struct {
	Slots  []uint64 // parts that are known
	Value  uint64   // of the name that is being bound
	Failed bool     // something could not be computed
	Strict bool     // «and» and «or» fail where their first part does
	params [2]any   // of the function that is being called
}

// Program is the program of an operation whose arguments are computed by programs. Arguments of In
// behind the first must be constants.
func (o Operation) Program(args []Program) Program {
	switch o.Code {
	case In:
		return among(args)
	case Call:
		return o.called(args)
	case And:
		return decided(args[0], args[1], 0)
	case Or:
		return decided(args[0], args[1], 1)
	case If:
		condition, yes, no := args[0], args[1], args[2]
		return func(f *Frame) uint64 {
			if condition(f) != 0 {
				return yes(f)
			}
			return no(f)
		}
	}
	d := &operators[o.Code]
	compute, a, b := d.ints, args[0], args[len(args)-1]
	if o.Of[0] == Float {
		compute = d.floats
	}
	switch {
	case d.checks != nil && o.Of[0] == Int:
		return integers(a, b, d.checks)
	case len(args) == 1:
		return func(f *Frame) uint64 { return compute(a(f), 0) }
	}
	if o.Of[0] != Float { // the most frequent are not called, which takes time
		switch o.Code {
		case Equal:
			return func(f *Frame) uint64 { return Bit(a(f) == b(f)) }
		case Less:
			return func(f *Frame) uint64 { return Bit(int64(a(f)) < int64(b(f))) }
		case LessEqual:
			return func(f *Frame) uint64 { return Bit(int64(a(f)) <= int64(b(f))) }
		}
	}
	return func(f *Frame) uint64 { return compute(a(f), b(f)) }
}

// decided is «and» (by 0) and «or» (by 1): one part alone can decide, also where the other
// cannot be computed.
func decided(a, b Program, by uint64) Program {
	return func(f *Frame) uint64 {
		before := f.Failed
		f.Failed = false
		v := a(f)
		failed := f.Failed
		if f.Failed = before; !failed && v == by {
			return by
		}
		if failed && f.Strict {
			f.Failed = true
			return 0
		}
		f.Failed = false
		v = b(f)
		failed = f.Failed || (failed && v != by)
		f.Failed = before || failed
		return v
	}
}

func integers(a, b Program, compute func(a, b int) (int, error)) Program {
	return func(f *Frame) uint64 {
		v, err := compute(int(a(f)), int(b(f)))
		if err != nil {
			f.Failed = true
		}
		return uint64(v)
	}
}

func among(args []Program) Program {
	a := args[0]
	list := make(map[uint64]bool, len(args)-1)
	for _, constant := range args[1:] {
		list[constant(nil)] = true
	}
	return func(f *Frame) uint64 { return Bit(list[a(f)]) }
}

// called is a function of the language.
func (o Operation) called(args []Program) Program {
	f := functionNamed[o.Function]
	if f.ints != nil && o.Kind == Int && o.Of == [2]Kind{Int, Int} {
		return integers(args[0], args[1], f.ints)
	}
	return func(frame *Frame) uint64 {
		var raw [2]uint64
		for i, a := range args {
			raw[i] = a(frame) // which may call functions too
		}
		params := frame.params[:len(args)]
		for i := range params {
			params[i] = Value(o.Of[i], raw[i])
		}
		v, err := f.compute(params)
		if err != nil {
			frame.Failed = true
			return 0
		}
		if x, ok := v.(float64); ok {
			return math.Float64bits(x)
		}
		return uint64(v.(int))
	}
}

// Bit is a condition as a raw value.
func Bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
