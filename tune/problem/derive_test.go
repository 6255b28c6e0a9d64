package problem

import (
	"github.com/ndtune/ndtune/tune/definition"
)

// NDRangeOf is the launch of a step in an environment, as launches are derived.
func NDRangeOf(s Step, environment map[string]any) (NDRange, error) {
	return s.NDRange(environment)
}

// LaunchesIn derives the launches of a problem in an environment, as [Problem.Variant] does.
func (p *Problem) LaunchesIn(environment map[string]any) (*Variant, error) {
	launches, holders, err := derive(p.stages, p.arguments, environment)
	return &Variant{Launches: launches, Holders: holders}, err
}

// BytesIn returns the sizes of buffers in an environment, as [Problem.Variant] has them, and 0 for images and samplers.
func (p *Problem) BytesIn(environment map[string]any) (all []int, err error) {
	for _, name := range BuffersOf(p) {
		a, n := &p.arguments[p.place(name)], 0
		if a.Kind == definition.BufferArgument {
			if n, err = a.ElementsIn(environment); err == nil {
				n, err = multiply(n, a.Element.Size())
			}
			if err != nil {
				return nil, err
			}
		}
		all = append(all, n)
	}
	return all, nil
}

// BuffersOf returns the names of the buffers, the images and the samplers.
func BuffersOf(p *Problem) (names []string) {
	for _, a := range p.arguments {
		if a.Kind.HasContent() || a.Kind == definition.SamplerArgument {
			names = append(names, a.Name)
		}
	}
	return names
}
