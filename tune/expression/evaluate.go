package expression

import (
	"slices"
	"sync"
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
	args := make([]Program, len(n.Args))
	for i, a := range n.Args {
		args[i] = e.compile(a)
	}
	return n.Program(args)
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

// eval is the value of the expression; false where it cannot be computed, or where a name has a
// value of another kind than its example.
func (e *evaluator) eval(environment map[string]any) (v any, ok bool) {
	f := e.frames.Get().(*Frame)
	defer e.frames.Put(f)
	texts := e.texts[:len(e.texts):len(e.texts)] // those of names are appended to a copy
	for i, n := range e.names {
		v := n.Lookup(environment)
		if k, ok := KindOf(v); !ok || k != n.Kind {
			return nil, false
		}
		f.Slots[i] = e.raw(v, &texts)
	}
	f.Failed = false
	raw := e.program(f)
	switch {
	case f.Failed:
		return nil, false
	case e.kind == Text:
		return texts[raw], true
	}
	return Value(e.kind, raw), true
}
