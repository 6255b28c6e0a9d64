package expression

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ndtune/ndtune/internal/each"
)

// An evaluator computes an expression from an environment by a program. It is safe for concurrent
// use.
type evaluator struct {
	kind    Kind
	names   []*Node // by slot
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
	case Name:
		slot := slices.IndexFunc(e.names, func(m *Node) bool { return m.Name == n.Name && m.Field == n.Field })
		if slot < 0 {
			slot = len(e.names)
			e.names = append(e.names, n)
		}
		return func(f *Frame) uint64 { return f.Slots[slot] }
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

// errKind says that a name has a value of another kind than its example.
var errKind = errors.New("a value is of another kind than expected")

// eval is the value of the expression. Where it cannot be computed, the error is errKind or errOverflow, whatever the reason.
func (e *evaluator) eval(environment map[string]any) (any, error) {
	f := e.frames.Get().(*Frame)
	defer e.frames.Put(f)
	texts, ok := e.load(f, environment)
	if !ok {
		return nil, errKind
	}
	f.Failed = false
	raw := e.program(f)
	switch {
	case f.Failed:
		return nil, errOverflow
	case e.kind == String:
		return texts[raw], nil
	}
	return Value(e.kind, raw), nil
}

// load reads the values of the names into a frame, and returns the texts that the frame numbers. It returns
// false if a value is of another kind than the example of its name.
func (e *evaluator) load(f *Frame, environment map[string]any) (texts []string, ok bool) {
	texts = e.texts[:len(e.texts):len(e.texts)] // those of names are appended to a copy
	for i, n := range e.names {
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
	c := e.closure()
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
