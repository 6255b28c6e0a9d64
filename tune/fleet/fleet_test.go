package fleet

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

func TestASearchOnTwoAgents(t *testing.T) {
	s, p := listen(t), newProblem(t, 200)
	var evaluated atomic.Int64
	for i := range 2 {
		start(t, s, fmt.Sprint("machine", i), opens(&fake{of: correct, capacity: 3, evaluated: &evaluated}))
	}
	e := open(t, s, p, Options{})
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	devices := map[string]int{}
	for _, r := range outcome.Results {
		if key := r.Configuration.Key(); seen[key] {
			t.Errorf("two results of %s", r.Configuration)
		} else {
			seen[key] = true
		}
		devices[r.Device]++
		if want := float64(r.Configuration.Int("i") + 1); r.Status != tune.Correct || r.Times[0] != want || !r.Verified {
			t.Errorf("%s: %v, %v; want %v", r.Configuration, r.Status, r.Times, want)
		}
	}
	if len(seen) != 200 || evaluated.Load() != 200 || len(devices) != 2 {
		t.Errorf("%d results, %d evaluations, devices %v", len(seen), evaluated.Load(), devices)
	}
	if best := outcome.Best; best == nil || best.Configuration.Int("i") != 0 || len(best.Final) == 0 {
		t.Errorf("best %+v", best)
	}
	if e.Device().Timer != "event" {
		t.Errorf("timer %q", e.Device().Timer)
	}
}

// TestReadingsCross has readings that are missing, which JSON has no number for, and metrics of them.
func TestReadingsCross(t *testing.T) {
	s, p := listen(t), newProblem(t, 20, func(d *definition.Definition) {
		d.Measure.Observe = []string{hardware.Energy, hardware.Clock}
	})
	start(t, s, "machine", opens(&fake{capacity: 3, of: func(c space.Configuration) tune.Result {
		r := correct(c)
		r.Readings = []hardware.Reading{{Quantity: hardware.Energy, Value: 1e-3, Uncertainty: 1e-5, Note: "note"}, hardware.MissingReading(hardware.Clock, "no clock")}
		return r
	}}))
	e := open(t, s, p, Options{})
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range outcome.Results {
		energy, _ := r.Metric(hardware.Energy)
		want := hardware.Reading{Quantity: hardware.Energy, Value: 1e-3, Uncertainty: 1e-5, Note: "note"}
		if len(r.Readings) != 2 || energy != 1e-3 || r.Readings[0] != want || r.Readings[1].Missing != "no clock" || r.Readings[1].Value == r.Readings[1].Value {
			t.Errorf("%s has the energy %v and the readings %v", r.Configuration, energy, r.Readings)
		}
	}
}

func TestAnInterruptedSearchGoesOn(t *testing.T) {
	s, p := listen(t), newProblem(t, 60)
	var evaluated atomic.Int64
	start(t, s, "m", opens(&fake{of: correct, capacity: 4, evaluated: &evaluated}))
	e := open(t, s, p, Options{Search: "again"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	outcome, err := loop.Run(ctx, p, e, loop.Options{Finalists: -1, OnResult: func(r tune.Result, _ bool) {
		if r.Configuration.Int("i") == 20 {
			cancel()
		}
	}})
	if err != nil || outcome.Stop != tune.Interrupted {
		t.Fatalf("%v, %v", outcome.Stop, err)
	}
	e.Close()
	e = open(t, s, p, Options{Search: "again"})
	outcome, err = loop.Run(t.Context(), p, e, loop.Options{Finalists: -1})
	if err != nil || len(outcome.Results) != 60 {
		t.Fatalf("%d results, %v", len(outcome.Results), err)
	}
	if n := evaluated.Load(); n < 60 || n > 70 {
		t.Errorf("%d evaluations of 60 configurations", n)
	}
}

// TestCapacityOfThoseToCome: a device that has not begun counts as one that has, unless it refuses.
func TestCapacityOfThoseToCome(t *testing.T) {
	e := &Evaluator{search: search{ID: "ours", Begun: "now"}, devices: map[string]Announcement{}, changed: make(chan struct{}), note: func(string) {}}
	for i, step := range []struct {
		agent    string
		a        *Announcement
		capacity int
	}{
		{"a", &Announcement{Capacity: 1}, 2},
		{"b", &Announcement{Capacity: 7, Search: "another"}, 3},
		{"a", &Announcement{Capacity: 20, Search: "ours"}, 60},
		{"c", &Announcement{Capacity: 1, Refused: []Refusal{{Search: "now"}}}, 60},
		{"d", &Announcement{Capacity: 1, Refused: []Refusal{{Search: "before"}}}, 90},
		{"b", &Announcement{Capacity: 10, Search: "ours"}, 75},
		{"d", nil, 45},
	} {
		if e.set(step.agent, step.a); e.Capacity() != step.capacity {
			t.Errorf("step %d: capacity %d, want %d", i, e.Capacity(), step.capacity)
		}
	}
}

func BenchmarkConfiguration(b *testing.B) {
	s, p := listen(b), newProblem(b, b.N)
	start(b, s, "m", opens(&fake{of: correct, capacity: 8}))
	e := open(b, s, p, Options{})
	in, out := make(chan space.Configuration), make(chan tune.Result)
	var all []space.Configuration
	for i := range b.N {
		c, err := p.Parameters().Configure(map[string]space.Value{"i": i})
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, c)
	}
	b.ResetTimer()
	go func() {
		for _, c := range all {
			in <- c
		}
		close(in)
	}()
	go func() {
		if err := e.Evaluate(context.Background(), in, out); err != nil {
			b.Error(err)
		}
		close(out)
	}()
	for range out {
	}
}

// TestAProblemTravelsOnce: an agent needs the server's copy of the problem only to begin a search.
func TestAProblemTravelsOnce(t *testing.T) {
	s, p := listen(t), newProblem(t, 5)
	start(t, s, "m", opens(&fake{of: correct, capacity: 1}))
	e := open(t, s, p, Options{})
	if err := connect(t, s).problems.Delete(t.Context(), p.Digest()); err != nil {
		t.Fatal(err)
	}
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil || len(outcome.Results) != 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	for range 2 { // each ends a session of the agent
		if times, _, err := tune.RemeasureOnOne(t.Context(), e, []space.Configuration{outcome.Best.Configuration}, 2); err != nil || len(times) != 1 {
			t.Fatalf("%v, %v", times, err)
		}
	}
}
