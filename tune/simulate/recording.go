package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A Recording is a recorded space to simulate on. It holds the observation and the quality of
// each configuration. It is immutable and safe for concurrent use.
type Recording struct {
	Name      string       // of its curves
	Space     *space.Space // of the results
	SpaceSize int          // configurations in the space that was searched; 0: unknown
	Objective score.Objective
	Best      float64 // the best value of a single objective
	Correct   int     // configurations

	// Priors are given to the strategies that search the recording.
	Priors []search.Prior

	Observations []search.Observation // by the index of the configuration

	quality []float64 // by the same index, from 0 to 1; 0 for a failure, and with several objectives
}

// NewRecording prepares a record for simulations. The name is that of its curves. It is an error
// if the record has no correct configuration, or if the best value of a single objective is not
// positive, because quality is a ratio.
func NewRecording(ctx context.Context, name string, r *record.Record) (*Recording, error) {
	if len(r.Results) == 0 {
		return nil, errors.New("there is no result in it")
	}
	s, err := r.Space(ctx)
	if err != nil {
		return nil, err
	}
	n := &Recording{
		Name: name, Space: s, SpaceSize: r.Header.SpaceSize, Objective: r.Header.Objective,
		Observations: make([]search.Observation, s.Len()), quality: make([]float64, s.Len()),
	}
	for i := range r.Results {
		if err := n.observe(&r.Results[i]); err != nil {
			return nil, err
		}
	}
	return n, n.judge()
}

// Same reports whether two recordings hold the same results of the same configurations, as one
// record in two formats does.
func (n *Recording) Same(other *Recording) bool {
	if n.Space.Len() != other.Space.Len() || !slices.EqualFunc(n.Observations, other.Observations, sameObservation) {
		return false
	}
	for i := range n.Space.Len() {
		if n.Space.At(i).String() != other.Space.At(i).String() {
			return false
		}
	}
	return true
}

func sameObservation(a, b search.Observation) bool {
	return a.Index == b.Index && a.Objective == b.Objective && a.Valid == b.Valid && slices.Equal(a.More, b.More)
}

// observe records the observation of a result.
func (n *Recording) observe(r *tune.Result) error {
	i, ok := n.Space.Index(r.Configuration)
	if !ok {
		return fmt.Errorf("the configuration %s is not in its own space", r.Configuration)
	}
	n.Observations[i] = search.Observation{Index: i, Status: string(r.Status)}
	if !rankable(r) {
		return nil
	}
	value := r.Objective
	if n.Objective.Maximize {
		value = -value
	}
	if n.Objective.Several() {
		more := r.Values(n.Objective)[1:]
		if slices.ContainsFunc(more, func(v float64) bool { return !score.Finite(v) }) {
			return nil
		}
		n.Observations[i].More = more
	}
	n.Observations[i].Objective, n.Observations[i].Valid = value, true
	n.Correct++
	return nil
}

// rankable reports whether a search on a device would rank the result: its times are positive and
// its objective is finite.
func rankable(r *tune.Result) bool {
	return r.Rankable() && !slices.ContainsFunc(r.Times, func(t float64) bool { return !(t > 0) })
}

// judge computes the quality of every configuration. It returns an error if none has one.
func (n *Recording) judge() error {
	if n.Correct == 0 {
		return fmt.Errorf("none of its %d configurations is correct: there is nothing to find", n.Space.Len())
	}
	if n.Objective.Several() {
		return nil
	}
	n.Best = math.Inf(1)
	for _, o := range n.Observations {
		if o.Valid {
			n.Best = min(n.Best, o.Objective)
		}
	}
	if n.Objective.Maximize {
		n.Best = -n.Best
	}
	if n.Best <= 0 {
		return fmt.Errorf("the best %s in it is %g: it must be positive, because quality is a ratio", n.Objective.Name, n.Best)
	}
	for i, o := range n.Observations {
		switch {
		case !o.Valid:
		case n.Objective.Maximize:
			n.quality[i] = max(0, -o.Objective/n.Best)
		default:
			n.quality[i] = n.Best / o.Objective
		}
	}
	return nil
}
