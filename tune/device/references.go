package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
)

// references makes the correct outputs of a problem when they are first needed, and keeps them on the
// host.
type references struct {
	*Evaluator
	made   map[string]map[string]*array.Array // by referenceKey, then by argument name
	notice string                             // a doubt about the outputs that were made last, or ""
}

// maxReferences is the largest number of sets of outputs that are kept.
const maxReferences = 16

// of returns the correct outputs for a variant, by argument name, or nil if a function or a
// command judges them. The error is a *Failure if the variant and the reference have different
// sizes. With any other error, no configuration can be verified.
func (r *references) of(ctx context.Context, s *session, v *problem.Variant) (map[string]*array.Array, error) {
	if !r.problem.Compared() {
		return nil, nil
	}
	key := r.key(v)
	if outputs, ok := r.made[key]; ok {
		return outputs, nil
	}
	outputs, err := r.supervisor.Reference(ctx, key)
	if err != nil {
		return nil, err
	}
	if outputs == nil {
		r.notice = ""
		if outputs, err = r.make(ctx, s, v); err != nil {
			return nil, err
		}
		if err := r.checkNumbers(outputs); err != nil {
			return nil, err
		}
		if r.notice == "" && r.unchangedBy(v, outputs) {
			r.notice = unchangedNotice
		}
		r.supervisor.Made(key, outputs)
	}
	for i, info := range r.problem.Arguments() {
		if expected := outputs[info.Name]; info.Output && expected.Len() != v.Elements[i] && r.problem.Reduction(info.Name).KeepsLength() {
			return nil, misfit(info, "the reference of %s has %d elements, the output %d", info.Name, expected.Len(), v.Elements[i])
		}
	}
	if r.made == nil || len(r.made) == maxReferences {
		r.made = map[string]map[string]*array.Array{}
	}
	r.made[key] = outputs
	return outputs, nil
}

// checkNumbers refuses correct outputs with a NaN, which no output can have: with a failure of the configuration if others can have
// other correct outputs, else with an error of the problem.
func (r *references) checkNumbers(outputs map[string]*array.Array) error {
	for _, info := range r.problem.Arguments() {
		if !info.Output {
			continue
		}
		switch text := score.NaNs(info.Name, outputs[info.Name]); {
		case text == "":
		case r.problem.ReferenceVaries():
			return fail(tune.Correctness, "%s", text)
		default:
			return errors.New(text)
		}
	}
	return nil
}

// key returns a text of everything on which correct outputs depend.
func (r *references) key(v *problem.Variant) string {
	elements := slices.Clone(v.Elements)
	reference, _, _ := r.problem.Reference()
	for i, info := range r.problem.Arguments() {
		depends := r.problem.Definition().Verify.Reference != nil || r.problem.Reduction(info.Name).KeepsLength()
		if reference != nil {
			depends = r.problem.Shared(i) >= 0
		}
		if !depends {
			elements[i] = 0
		}
	}
	return fmt.Sprint(v.ReferenceLaunches, elements)
}

// known reports whether the correct outputs of a variant need not be made or requested.
func (r *references) known(v *problem.Variant) bool {
	return !r.problem.Compared() || r.made[r.key(v)] != nil
}

const unchangedNotice = "The reference leaves the outputs as they were, within the tolerance: " +
	"a kernel that writes nothing would be called correct. Give the outputs another fill, or a smaller atol or rtol."

// unchangedBy reports whether all outputs that are compared element by element are the initial content of their
// buffers, within the tolerance.
func (r *references) unchangedBy(v *problem.Variant, outputs map[string]*array.Array) bool {
	compared := false
	for i, info := range r.problem.Arguments() {
		if !info.Output || r.problem.Reduction(info.Name) != "" {
			continue
		}
		content, err := r.problem.Content(i, v.Elements[i])
		if err != nil || v.Tolerance.Compare(info.Name, content, outputs[info.Name]) != nil {
			return false
		}
		compared = true
	}
	return compared
}

// misfit returns the error for a reference whose size differs from that of the problem's buffer: a
// failure of the configuration if the size depends on it, otherwise an error of the problem.
func misfit(mine problem.Argument, format string, args ...any) error {
	if mine.Varies {
		return fail(tune.Correctness, format, args...)
	}
	return fmt.Errorf(format, args...)
}

// make makes the correct outputs for a variant.
func (r *references) make(ctx context.Context, s *session, v *problem.Variant) (map[string]*array.Array, error) {
	r.supervisor.Begin(StageReference, 0)
	reference, _, _ := r.problem.Reference()
	if reference == nil {
		return r.given(v)
	}
	outputs, err := r.runKernel(ctx, s, v)
	failed, ok := err.(*Failure)
	switch {
	case err == nil:
		return outputs, nil
	case ok && failed.Status == tune.Correctness:
		return nil, failed // of the configuration's sizes
	}
	err = fmt.Errorf("make the reference output with kernel %s: %w", reference.KernelName(), err)
	if ok && failed.Status == tune.Runtime {
		err = fmt.Errorf("%w (%s)", err, CheckHint)
	}
	return nil, err
}

// repeatable is how long the reference may take to be run twice.
const repeatable = 2 * time.Second

// repeat runs the reference kernel once more, with other content in the guard zones and in local memory. If the outputs differ from the
// first ones, they follow that, which is an error, or a further run differs again: then the notice says which tolerance that would need.
func (r *references) repeat(own *session, v, w *problem.Variant, run func(again bool) error, first map[string]*array.Array) error {
	other := make([]byte, GuardUnit)
	for i, b := range guardBehind.pattern {
		other[i] = ^b
	}
	for _, b := range own.buffers {
		if b != nil {
			b.pattern = other
		}
	}
	second, err := r.differing(own, w, run, first)
	if err != nil || second == nil {
		return err
	}
	third, err := r.differing(own, w, run, second)
	if err != nil {
		return err
	}
	if third == nil {
		return errors.New("its outputs depend on what lies behind its buffers or in local memory: it reads what was never written (" + CheckHint + ")")
	}
	for name, out := range second {
		if v.Tolerance.Compare(name, out, first[name]) != nil && r.problem.Reduction(name) == "" {
			needs := "another reference"
			if m, err := array.Compare(out, first[name], 0, 0); err == nil && m != nil {
				needs = fmt.Sprintf("an atol of at least %.2g", m.MaxError)
			}
			r.notice = fmt.Sprintf("The reference differs from itself when it runs twice: %s needs %s, or it has a race (%s).", name, needs, CheckHint)
		}
	}
	return nil
}

// differing runs the reference kernel again, and returns its outputs, or nil if they are the known ones, bit by bit.
func (r *references) differing(
	own *session, w *problem.Variant, run func(again bool) error, known map[string]*array.Array,
) (map[string]*array.Array, error) {
	if err := run(true); err != nil {
		return nil, err
	}
	same := true
	for i, info := range own.infos {
		if expected := known[info.Name]; expected != nil {
			same = same && own.ask(w.Holders[i], expected, 0, 0) == right
		}
	}
	if same {
		return nil, nil
	}
	outputs, err := own.outputs(r.problem.Arguments(), w)
	if err != nil || maps.EqualFunc(outputs, known, func(a, b *array.Array) bool { return bytes.Equal(a.Bytes, b.Bytes) }) {
		return nil, err
	}
	return outputs, nil
}

// CheckHint is an advice to those whose reference crashes.
const CheckHint = "try ndtune check with the specification of the reference"

// given returns the outputs from files, or from a function of the initial content.
func (r *references) given(v *problem.Variant) (map[string]*array.Array, error) {
	initial := map[string]*array.Array{}
	if r.problem.Definition().Verify.Reference != nil {
		for i, info := range r.problem.Arguments() {
			if !info.Kind.HasContent() {
				continue
			}
			content, err := r.problem.Content(i, v.Elements[i])
			if err != nil {
				return nil, err
			}
			initial[info.Name] = content.Clone()
		}
	}
	return r.problem.ExpectedOutputs(initial)
}

// runKernel runs the reference kernel in the context of the session, with separate buffers.
func (r *references) runKernel(ctx context.Context, s *session, v *problem.Variant) (map[string]*array.Array, error) {
	reference, configuration, swap := r.problem.Reference()
	w, err := Derive(reference, configuration, r.identity)
	if err != nil {
		return nil, fmt.Errorf("at %s: %w", configuration, err)
	}
	own := s.session(reference)
	own.once = true
	defer own.releaseBuffers()
	built, err := own.build(ctx, w, nil)
	if err != nil {
		return nil, err
	}
	defer built.Release()
	if err := built.check(r.identity); err != nil {
		return nil, err
	}
	if err := own.checkMemory(w); err != nil {
		return nil, err
	}
	if err := r.shareContent(own, w, v); err != nil {
		return nil, err
	}
	if err := own.prepare(w); err != nil {
		return nil, err
	}
	if v.ReferenceLaunches > 1 && w.Elements[swap[0]] != w.Elements[swap[1]] {
		return nil, fmt.Errorf("at %s: %s and %s are not of one size and cannot change places",
			configuration, own.infos[swap[0]].Name, own.infos[swap[1]].Name)
	}
	buffers, began := slices.Clone(own.buffers), time.Now()
	run := func(again bool) error {
		if again {
			copy(own.buffers, buffers)
			if err := own.restoreAll(); err != nil {
				return err
			}
			if built.usesLocal() {
				if err := own.poisonLocal(^guardBehind.pattern[0]); err != nil {
					return err
				}
			}
		}
		for i := range v.ReferenceLaunches {
			if err := ctx.Err(); err != nil {
				return err
			}
			if i > 0 {
				own.buffers[swap[0]], own.buffers[swap[1]] = own.buffers[swap[1]], own.buffers[swap[0]]
			}
			r.supervisor.Begin(StageReference, 1)
			if err := own.setArguments(built); err != nil {
				return err
			}
			if _, err := built.Times(1); err != nil {
				return err
			}
		}
		err := own.checkGuards()
		if wrong := wrongOutput(err); wrong != nil {
			return fmt.Errorf("%s (%s)", wrong.Reason, CheckHint)
		}
		return err
	}
	if err := run(false); err != nil {
		return nil, err
	}
	outputs, err := own.outputs(r.problem.Arguments(), w)
	if err == nil && time.Since(began) < repeatable {
		err = r.repeat(own, v, w, run, outputs)
	}
	if err != nil {
		return nil, err
	}
	for _, mine := range r.problem.Arguments() {
		if mine.Output { // float4 may have been float
			if outputs[mine.Name], err = mine.Element.View(outputs[mine.Name]); err != nil {
				return nil, err
			}
		}
	}
	return outputs, nil
}

// shareContent makes the reference's buffers that have the content of the problem's.
func (r *references) shareContent(own *session, w, v *problem.Variant) error {
	for i, mine := range r.problem.Arguments() {
		j := r.problem.Shared(i)
		if j < 0 {
			continue
		}
		theirs := own.infos[j]
		if v.Elements[i]*mine.Element.Size() != w.Elements[j]*theirs.Element.Size() {
			return misfit(mine, "the reference cannot be made: buffer %s has %d elements of %v there and %d of %v here",
				mine.Name, w.Elements[j], theirs.Element, v.Elements[i], mine.Element)
		}
		content, err := r.problem.Content(i, v.Elements[i])
		if err == nil {
			content, err = theirs.Element.View(content)
		}
		if err != nil {
			return err
		}
		if own.buffers[j], err = own.newBuffer(j, w, content); err != nil {
			return err
		}
	}
	return nil
}
