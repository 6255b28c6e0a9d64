package device

import (
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/space"
)

// compare judges the outputs of the last launch: against the expected ones, or by the
// problem's own check. Large outputs are compared on the device, and read back only where it
// does not find them certainly right.
func (s *session) compare(p *tune.Problem, v *tune.Variant, expected map[string]*array.Array) error {
	if check := p.Check(); check != nil {
		return s.runCheck(check, v)
	}
	for i, info := range s.infos {
		if !info.Output {
			continue
		}
		absolute, relative := v.Tolerance.Of(info.Type)
		verdict := s.ask(i, expected[info.Name], absolute, relative)
		if verdict == right {
			continue
		}
		out, err := s.read(i)
		if err != nil {
			return fail(tune.Runtime, "%v", err)
		}
		s.verifier.readBack++
		mismatch, err := array.Compare(out, expected[info.Name], absolute, relative)
		if err != nil {
			return fail(tune.Correctness, "%s: %v", info.Name, err)
		}
		if mismatch != nil {
			return fail(tune.Correctness, "%s: %s", info.Name, mismatch)
		}
		if verdict == doubted {
			s.doubtedInVain(i)
		}
	}
	return nil
}

// runCheck hands copies of the outputs to the problem's own judge.
func (s *session) runCheck(check func(space.Configuration, map[string]*array.Array) error, v *tune.Variant) error {
	outputs := map[string]*array.Array{}
	for i, info := range s.infos {
		if !info.Output {
			continue
		}
		out, err := s.readNew(i)
		if err != nil {
			return fail(tune.Runtime, "%v", err)
		}
		outputs[info.Name] = out
	}
	if err := check(v.Configuration, outputs); err != nil {
		return fail(tune.Correctness, "%v", err)
	}
	return nil
}
