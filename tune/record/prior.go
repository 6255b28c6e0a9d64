package record

import (
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// Prior returns what the record says for a search by one objective in a space with these parameters, on another device, for
// another size or of another source. It is an error if the record has not the objective, or not the parameters: those with one
// value may be missing on both sides.
func (r *Record) Prior(name string, parameters *space.Parameters, objective score.Objective) (search.Prior, error) {
	prior := search.Prior{Name: name}
	if err := r.SetObjective(objective.First()); err != nil {
		return prior, err
	}
	own, missing, err := r.parametersFor(parameters)
	if err != nil {
		return prior, err
	}
	for i := range r.Results {
		result := &r.Results[i]
		e := search.PriorEntry{Configuration: result.Configuration, Objective: result.Objective, Valid: result.Rankable()}
		if objective.Maximize {
			e.Objective = -e.Objective
		}
		if len(missing) > 0 {
			values := map[string]space.Value{}
			result.Configuration.Assign(values)
			for _, p := range missing {
				values[p.Name] = p.Values[0]
			}
			if e.Configuration, err = own.Configure(values); err != nil {
				return prior, err
			}
		}
		prior.Entries = append(prior.Entries, e)
	}
	return prior, nil
}

// parametersFor returns the parameters of the record with those of a space that it lacks, and the latter.
func (r *Record) parametersFor(wanted *space.Parameters) (own *space.Parameters, missing []space.Parameter, err error) {
	for i := range wanted.Len() {
		p := wanted.At(i)
		if slices.ContainsFunc(r.Header.Parameters, func(q space.Parameter) bool { return q.Name == p.Name }) {
			continue
		}
		if len(p.Values) > 1 {
			return nil, nil, fmt.Errorf("it has no parameter %s", p.Name)
		}
		missing = append(missing, p)
	}
	for _, p := range r.Header.Parameters {
		if _, ok := wanted.Index(p.Name); !ok && len(p.Values) > 1 {
			return nil, nil, fmt.Errorf("it has a parameter %s, which the problem has not", p.Name)
		}
	}
	own, err = space.NewParameters(slices.Concat(r.Header.Parameters, missing))
	return own, missing, err
}
