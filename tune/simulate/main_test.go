package simulate

import (
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// failed is the time of a configuration that failed.
const failed = 0.0

// recorded is a record of a parameter x that is 0, 1, 2, …, with these times.
func recorded(t testing.TB, times ...float64) *record.Record {
	t.Helper()
	x := space.Parameter{Name: "x"}
	for i := range times {
		x.Values = append(x.Values, i)
	}
	p, err := space.NewParameters([]space.Parameter{x})
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{Header: record.Header{Parameters: []space.Parameter{x}, Objective: score.Objective{Name: "time"}}}
	for i, time := range times {
		c, err := p.Configure(map[string]space.Value{"x": i})
		if err != nil {
			t.Fatal(err)
		}
		result := tune.Result{Configuration: c, Status: tune.Runtime, Reason: "it failed"}
		if time != failed {
			result = tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{math.Abs(time)}, Objective: time}
		}
		r.Results = append(r.Results, result)
	}
	return r
}

func recording(t testing.TB, name string, times ...float64) *Recording {
	t.Helper()
	n, err := NewRecording(t.Context(), name, recorded(t, times...))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// scripted is a strategy that proposes batches of configurations whatever it is told.
func scripted(name string, batches ...[]int) Strategy {
	return Strategy{Name: name, New: func(*space.Space, search.Options) (search.Strategy, error) {
		return &script{batches: batches}, nil
	}}
}

type script struct {
	batches [][]int
	asked   []int
	told    [][]search.Observation
	closed  bool
}

func (s *script) Ask(n int) []int {
	s.asked = append(s.asked, n)
	if len(s.batches) == 0 {
		return nil
	}
	batch := s.batches[0]
	s.batches = s.batches[1:]
	return batch
}

func (s *script) Close() { s.closed = true }

func (s *script) Tell(o []search.Observation) {
	s.told = append(s.told, append([]search.Observation{}, o...))
}
