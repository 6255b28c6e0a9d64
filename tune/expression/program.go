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
}

// Program is the program of an operation whose arguments are computed by programs. It runs in
// one goroutine. Arguments of In behind the first must be constants.
func (o Operation) Program(args []Program) Program {
	switch o.Code {
	case In:
		return among(args)
	case Call:
		return o.called(args)
	}
	switch len(args) {
	case 1:
		return o.ofOne(args[0])
	case 2:
		if o.Of[0] == Real {
			return o.ofReals(args[0], args[1])
		}
		return o.ofTwo(args[0], args[1])
	}
	condition, yes, no := args[0], args[1], args[2]
	return func(f *Frame) uint64 {
		if condition(f) != 0 {
			return yes(f)
		}
		return no(f)
	}
}

func (o Operation) ofOne(a Program) Program {
	float := func(f *Frame) float64 { return math.Float64frombits(a(f)) }
	isReal := o.Of[0] == Real
	switch o.Code {
	case Negate:
		if isReal {
			return func(f *Frame) uint64 { return math.Float64bits(-float(f)) }
		}
		return func(f *Frame) uint64 { return -a(f) }
	case Absolute:
		if isReal {
			return func(f *Frame) uint64 { return math.Float64bits(math.Abs(float(f))) }
		}
		return func(f *Frame) uint64 {
			if v := int64(a(f)); v < 0 {
				return uint64(-v)
			} else {
				return uint64(v)
			}
		}
	case Ceil:
		return func(f *Frame) uint64 { return math.Float64bits(math.Ceil(float(f))) }
	case Floor:
		return func(f *Frame) uint64 { return math.Float64bits(math.Floor(float(f))) }
	case Round:
		return func(f *Frame) uint64 { return math.Float64bits(math.Round(float(f))) }
	case ToReal:
		return func(f *Frame) uint64 { return math.Float64bits(float64(int64(a(f)))) }
	case ToWhole:
		return func(f *Frame) uint64 { return uint64(int64(float(f))) }
	case Not:
		return func(f *Frame) uint64 { return a(f) ^ 1 }
	}
	panic("expression: an operation of one argument that is none")
}

// ofTwo is for integers, conditions and texts.
func (o Operation) ofTwo(a, b Program) Program {
	switch o.Code {
	case Add:
		return func(f *Frame) uint64 { return a(f) + b(f) }
	case Subtract:
		return func(f *Frame) uint64 { return a(f) - b(f) }
	case Multiply:
		return func(f *Frame) uint64 { return a(f) * b(f) }
	case Quotient:
		return integers(a, b, quotient)
	case Remainder:
		return integers(a, b, remainder)
	case FloorDiv:
		return integers(a, b, floorDivInts)
	case FloorMod:
		return integers(a, b, floorModInts)
	case Minimum:
		return func(f *Frame) uint64 { return uint64(min(int64(a(f)), int64(b(f)))) }
	case Maximum:
		return func(f *Frame) uint64 { return uint64(max(int64(a(f)), int64(b(f)))) }
	case And:
		return decided(a, b, 0)
	case Or:
		return decided(a, b, 1)
	case Equal:
		return func(f *Frame) uint64 { return Bit(a(f) == b(f)) }
	case Less:
		return func(f *Frame) uint64 { return Bit(int64(a(f)) < int64(b(f))) }
	case LessEqual:
		return func(f *Frame) uint64 { return Bit(int64(a(f)) <= int64(b(f))) }
	}
	panic("expression: an operation of two arguments that is none")
}

// ofReals is for floats.
func (o Operation) ofReals(a, b Program) Program {
	calculate := func(g func(x, y float64) float64) Program {
		return func(f *Frame) uint64 {
			return math.Float64bits(g(math.Float64frombits(a(f)), math.Float64frombits(b(f))))
		}
	}
	compare := func(g func(x, y float64) bool) Program {
		return func(f *Frame) uint64 {
			return Bit(g(math.Float64frombits(a(f)), math.Float64frombits(b(f))))
		}
	}
	switch o.Code {
	case Add:
		return calculate(func(x, y float64) float64 { return x + y })
	case Subtract:
		return calculate(func(x, y float64) float64 { return x - y })
	case Multiply:
		return calculate(func(x, y float64) float64 { return x * y })
	case Divide:
		return calculate(func(x, y float64) float64 { return x / y })
	case Power:
		return calculate(math.Pow)
	case Minimum:
		return calculate(math.Min)
	case Maximum:
		return calculate(math.Max)
	case Equal:
		return compare(func(x, y float64) bool { return x == y })
	case Less:
		return compare(func(x, y float64) bool { return x < y })
	case LessEqual:
		return compare(func(x, y float64) bool { return x <= y })
	}
	panic("expression: an operation of two floats that is none")
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

func remainder(a, b int) (int, error) {
	if b == 0 {
		return 0, errZero
	}
	return a % b, nil
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
	f := functionOf(o.Function)
	if f.ints != nil && o.Kind == Whole && o.Of == [2]Kind{Whole, Whole} {
		return integers(args[0], args[1], f.ints)
	}
	params := make([]any, len(args))
	return func(frame *Frame) uint64 {
		for i, a := range args {
			if raw := a(frame); o.Of[i] == Real {
				params[i] = math.Float64frombits(raw)
			} else {
				params[i] = int(raw)
			}
		}
		v, err := f.call(params...)
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
