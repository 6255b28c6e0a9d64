package expression

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/ndtune/ndtune/internal/each"
)

// An evaluator computes an expression from an environment by a program. It is safe for concurrent
// use.
type evaluator struct {
	kind    Kind
	names   []*Node // by slot; those of variables are empty
	texts   []string
	program Program
	frames  sync.Pool
}

func newEvaluator(root *Node) *evaluator {
	e := &evaluator{kind: root.Kind}
	e.program = e.compile(root)
	e.frames.New = func() any { return &Frame{Slots: make([]uint64, len(e.names)), Strict: true} }
	return e
}

func (e *evaluator) compile(n *Node) Program {
	switch n.Code {
	case Constant:
		raw := e.raw(n.Value, &e.texts)
		return func(*Frame) uint64 { return raw }
	case Name, Local:
		slot := slices.IndexFunc(e.names, func(m *Node) bool { return m.Name == n.Name && m.Field == n.Field })
		if slot < 0 {
			slot = len(e.names)
			e.names = append(e.names, n)
		}
		return func(f *Frame) uint64 { return f.Slots[slot] }
	case Let:
		value, slot := e.compile(n.Args[0]), len(e.names)
		e.names = append(e.names, &Node{Operation: Operation{Code: Local}, Name: n.Name})
		body := e.compile(n.Args[1])
		e.names[slot].Name = "" // another part may have a variable of this name
		return func(f *Frame) uint64 {
			f.Slots[slot] = value(f)
			return body(f)
		}
	}
	return n.Program(each.Of(n.Args, e.compile))
}

// raw is a value in 64 bits: of a text, its place among the texts.
func (e *evaluator) raw(v any, texts *[]string) uint64 {
	text, ok := v.(string)
	if !ok {
		return Raw(v)
	}
	place := slices.Index(*texts, text)
	if place < 0 {
		place = len(*texts)
		*texts = append(*texts, text)
	}
	return uint64(place)
}

// eval is the value of the expression. Where it cannot be computed, the interpreter knows the reason.
func (e *evaluator) eval(environment map[string]any) (v any, ok bool) {
	f := e.frames.Get().(*Frame)
	defer e.frames.Put(f)
	texts, ok := e.load(f, environment)
	if !ok {
		return nil, false
	}
	f.Failed = false
	raw := e.program(f)
	if !f.Failed && e.kind == String {
		return texts[raw], true
	}
	return Value(e.kind, raw), !f.Failed
}

// load reads the values of the names into a frame, and returns the texts that the frame numbers. It returns
// false if a value is of another kind than the example of its name.
func (e *evaluator) load(f *Frame, environment map[string]any) (texts []string, ok bool) {
	texts = e.texts[:len(e.texts):len(e.texts)] // those of names are appended to a copy
	for i, n := range e.names {
		if n.Code == Local {
			continue
		}
		v := n.Lookup(environment)
		if k, ok := KindOf(v); !ok || k != n.Kind {
			return nil, false
		}
		f.Slots[i] = e.raw(v, &texts)
	}
	return texts, true
}

// A Series computes an expression for many values of some integer names, given in the order of these names.
// The result is an integer or 0 or 1 for a condition, or a float: then raw is its bits. One goroutine may use
// it.
type Series func(values []int) (raw uint64, float bool, err error)

// Series returns the expression as a series over names. The environment holds the values of all other names.
func (e *Expression) Series(environment map[string]any, names ...string) Series {
	environment = maps.Clone(environment)
	for _, name := range names {
		environment[name] = 0
	}
	slow := func(values []int) (uint64, bool, error) {
		for i, name := range names {
			environment[name] = values[i]
		}
		v, err := e.Eval(environment)
		if err != nil {
			return 0, false, err
		}
		k, ok := KindOf(v)
		if !ok || k == String {
			return 0, false, fmt.Errorf("%q is %s, not a number", e, describe(v))
		}
		return Raw(v), k == Float, nil
	}
	if e.root == nil || e.root.Kind == String {
		return slow
	}
	c := e.evaluator()
	f := &Frame{Slots: make([]uint64, len(c.names)), Strict: true}
	if _, ok := c.load(f, environment); !ok {
		return slow
	}
	type binding struct{ slot, value int }
	var bindings []binding
	for slot, n := range c.names {
		if i := slices.Index(names, n.Name); i >= 0 {
			bindings = append(bindings, binding{slot, i})
		}
	}
	return func(values []int) (uint64, bool, error) {
		for _, b := range bindings {
			f.Slots[b.slot] = uint64(values[b.value])
		}
		f.Failed = false
		raw := c.program(f)
		if f.Failed {
			return slow(values) // knows the reason
		}
		return raw, c.kind == Float, nil
	}
}

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
