package device

import (
	"fmt"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
)

// references are the right outputs of a problem, made when they are first needed and kept
// on the host, by argument name.
type references struct {
	problem    *tune.Problem
	device     tune.Device
	byLaunches map[int]map[string]*array.Array
	given      map[string]*array.Array // from files or a function: the same for every variant
}

// of are the right outputs for a variant. Nil means that the problem judges itself.
func (r *references) of(s *session, v *tune.Variant) (map[string]*array.Array, error) {
	reference, _, _ := r.problem.Reference()
	if reference == nil {
		return r.givenOutputs(v)
	}
	if outputs, ok := r.byLaunches[v.ReferenceLaunches]; ok {
		return outputs, nil
	}
	outputs, err := r.runKernel(s, v)
	if err != nil {
		return nil, fmt.Errorf("make the reference output with kernel %s: %w", reference.KernelName(), err)
	}
	if r.byLaunches == nil {
		r.byLaunches = map[int]map[string]*array.Array{}
	}
	r.byLaunches[v.ReferenceLaunches] = outputs
	return outputs, nil
}

func (r *references) givenOutputs(v *tune.Variant) (map[string]*array.Array, error) {
	if r.problem.Check() != nil || r.given != nil {
		return r.given, nil
	}
	initial := map[string]*array.Array{}
	if r.problem.Definition().Verify.Reference != nil {
		for i, info := range r.problem.Arguments() {
			if info.Kind != tune.BufferArgument {
				continue
			}
			content, err := r.problem.Content(i, v.Elements[i])
			if err != nil {
				return nil, err
			}
			initial[info.Name] = content.Clone()
		}
	}
	var err error
	r.given, err = r.problem.ExpectedOutputs(initial)
	return r.given, err
}

// runKernel runs the reference kernel in the session's context, on buffers of its own.
func (r *references) runKernel(s *session, v *tune.Variant) (map[string]*array.Array, error) {
	reference, configuration, swap := r.problem.Reference()
	w, err := reference.Variant(configuration, r.device)
	if err != nil {
		return nil, fmt.Errorf("at %s: %w", configuration, err)
	}
	if reason := w.Refusal(r.device); reason != "" {
		return nil, fmt.Errorf("at %s: %s", configuration, reason)
	}
	own := *s
	own.problem, own.infos = reference, reference.Arguments()
	own.buffers = make([]*buffer, len(own.infos))
	defer func() {
		for _, b := range own.buffers {
			b.release()
		}
	}()
	program, kernel, err := own.build(w, reference.KernelName())
	if err != nil {
		return nil, err
	}
	defer program.Release()
	defer kernel.Release()
	if err := own.checkKernel(kernel, w, r.device); err != nil {
		return nil, err
	}
	if err := checkArguments(kernel, reference); err != nil {
		return nil, err
	}
	if err := r.shareContent(&own, w, v); err != nil {
		return nil, err
	}
	if err := own.prepare(w); err != nil {
		return nil, err
	}
	for i := range v.ReferenceLaunches {
		if i > 0 {
			own.buffers[swap[0]], own.buffers[swap[1]] = own.buffers[swap[1]], own.buffers[swap[0]]
		}
		if err := own.setArguments(kernel, w); err != nil {
			return nil, err
		}
		if _, err := own.launch(kernel, w.NDRange, true); err != nil {
			return nil, err
		}
	}
	return r.readOutputs(&own)
}

// shareContent gives the reference's buffers the content of the problem's buffers of the
// same names.
func (r *references) shareContent(own *session, w, v *tune.Variant) error {
	for i, info := range own.infos {
		for j, mine := range r.problem.Arguments() {
			if mine.Name != info.Name || mine.Kind != tune.BufferArgument || info.Kind != tune.BufferArgument {
				continue
			}
			if mine.Type != info.Type || w.Elements[i] != v.Elements[j] {
				return fmt.Errorf("buffer %s has %d elements of %v there and %d of %v here", info.Name, w.Elements[i], info.Type, v.Elements[j], mine.Type)
			}
			content, err := r.problem.Content(j, v.Elements[j])
			if err != nil {
				return err
			}
			if own.buffers[i], err = own.newBuffer(w.Elements[i], content); err != nil {
				return err
			}
		}
	}
	return nil
}

// readOutputs reads the buffers that the problem's outputs are compared with.
func (r *references) readOutputs(own *session) (map[string]*array.Array, error) {
	outputs := map[string]*array.Array{}
	for _, mine := range r.problem.Arguments() {
		for i, info := range own.infos {
			if !mine.Output || info.Name != mine.Name {
				continue
			}
			a, err := own.read(i)
			if err != nil {
				return nil, err
			}
			outputs[info.Name] = a.Clone()
		}
	}
	return outputs, nil
}
