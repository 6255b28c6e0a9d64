package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A Recording is a recorded space to simulate on: of each of its configurations it knows by
// the index what a strategy is told and how good it is. It is immutable and safe for
// concurrent use.
type Recording struct {
	name      string
	space     *space.Space
	objective tune.Objective
	best      float64 // the best value of the objective
	correct   int

	observations []search.Observation // by the index of the configuration
	quality      []float64            // likewise; 0 where it failed
}

// NewRecording makes a record ready for simulations. The name is what its curves are called.
// A record without a correct configuration is refused, and so is one whose best value of the
// objective is not positive: what was found could not be compared with it by a ratio.
func NewRecording(ctx context.Context, name string, r *record.Record) (*Recording, error) {
	if len(r.Results) == 0 {
		return nil, errors.New("there is no result in it")
	}
	s, err := r.Space(ctx)
	if err != nil {
		return nil, err
	}
	n := &Recording{
		name: name, space: s, objective: r.Header.Objective,
		observations: make([]search.Observation, s.Len()), quality: make([]float64, s.Len()),
	}
	for i := range r.Results {
		if err := n.observe(&r.Results[i]); err != nil {
			return nil, err
		}
	}
	return n, n.judge()
}

// Same reports whether another recording holds the same results of the same configurations, as
// one record in two formats does.
func (n *Recording) Same(other *Recording) bool {
	if n.space.Len() != other.space.Len() || !slices.Equal(n.observations, other.observations) {
		return false
	}
	for i := range n.space.Len() {
		if n.space.At(i).String() != other.space.At(i).String() {
			return false
		}
	}
	return true
}

// observe notes what a strategy is told of a result.
func (n *Recording) observe(r *tune.Result) error {
	i, ok := n.space.Index(r.Configuration)
	if !ok {
		return fmt.Errorf("the configuration %s is not in its own space", r.Configuration)
	}
	n.observations[i] = search.Observation{Index: i}
	if !rankable(r) {
		return nil
	}
	value := r.Objective
	if n.objective.Maximize {
		value = -value
	}
	n.observations[i].Objective, n.observations[i].Valid = value, true
	n.correct++
	return nil
}

// rankable refuses what a run of the program would: a time that no launch can have taken, and
// an objective that is not a finite number.
func rankable(r *tune.Result) bool {
	return r.Rankable() && !slices.ContainsFunc(r.Times, func(t float64) bool { return !(t > 0) })
}

// judge computes the quality of every configuration.
func (n *Recording) judge() error {
	if n.correct == 0 {
		return fmt.Errorf("none of its %d configurations is correct: there is nothing to find", n.space.Len())
	}
	n.best = math.Inf(1)
	for _, o := range n.observations {
		if o.Valid {
			n.best = min(n.best, o.Objective)
		}
	}
	if n.objective.Maximize {
		n.best = -n.best
	}
	if n.best <= 0 {
		return fmt.Errorf("the best %s in it is %g: a ratio to that says nothing", n.objective.Name, n.best)
	}
	for i, o := range n.observations {
		switch {
		case !o.Valid:
		case n.objective.Maximize:
			n.quality[i] = max(0, -o.Objective/n.best)
		default:
			n.quality[i] = n.best / o.Objective
		}
	}
	return nil
}

// Name is what the recording's curves are called.
func (n *Recording) Name() string { return n.name }

// Space is the space of exactly the recorded configurations.
func (n *Recording) Space() *space.Space { return n.space }

// Objective is what strategies optimise.
func (n *Recording) Objective() tune.Objective { return n.objective }

// Best is the best value of the objective in the record.
func (n *Recording) Best() float64 { return n.best }

// Correct is the number of correct configurations.
func (n *Recording) Correct() int { return n.correct }
