package fleet

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// TestDifferentCards: the truly best configuration is measured on the slowest of three devices. As the best of that device it is a
// finalist, and it wins the final measurement, which one device makes.
func TestDifferentCards(t *testing.T) {
	s, p := listen(t), newProblem(t, 60)
	card := func(speed float64, before func(i int)) *fake {
		time := func(i int) float64 { return speed * (1 + float64(i)/1000) }
		return &fake{capacity: 1, times: time, of: func(c space.Configuration) tune.Result {
			before(c.Int("i"))
			return tune.Result{Status: tune.Correct, Times: []float64{time(c.Int("i"))}, Verified: true}
		}}
	}
	// The slow device has the first configuration, and waits with the second one until the others have begun.
	alone, begun := make(chan struct{}), make(chan struct{}, 2)
	start(t, s, "slow", opens(card(1.4, func(i int) {
		if i == 1 {
			close(alone)
			<-begun
			<-begun
		}
	})))
	e := open(t, s, p, Options{})
	go func() {
		<-alone
		for name, speed := range map[string]float64{"a": 1, "b": 1.1} {
			once := sync.OnceFunc(func() { begun <- struct{}{} })
			start(t, s, name, opens(card(speed, func(int) { once() })))
		}
	}()
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{Finalists: 3})
	if err != nil {
		t.Fatal(err)
	}
	best := outcome.Best
	if best.Configuration.Int("i") != 0 || best.Device != "slow/0:0" || best.FinalDevice == "" || len(best.Final) == 0 {
		t.Errorf("best %+v", best)
	}
	for _, r := range outcome.Results {
		if len(r.Final) > 0 && r.FinalDevice != best.FinalDevice {
			t.Errorf("finalists of %s and %s", r.FinalDevice, best.FinalDevice)
		}
	}
}

// TestADeviceThatLeavesInTheEnd: the agent that makes the final measurement leaves, and another one makes it.
func TestADeviceThatLeavesInTheEnd(t *testing.T) {
	s, p := listen(t), newProblem(t, 10)
	measuring := make(chan struct{})
	hold := make(chan struct{})
	leave := start(t, s, "leaves", opens(&fake{of: correct, capacity: 1, times: func(int) float64 {
		select {
		case measuring <- struct{}{}:
		default:
		}
		<-hold
		return 1
	}}))
	e := open(t, s, p, Options{})
	go func() {
		<-measuring
		start(t, s, "stays", opens(&fake{of: correct, capacity: 1}))
		go leave() // it withdraws its announcement before its measurement ends
	}()
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	close(hold)
	if err != nil || outcome.Best.FinalDevice != "stays/0:0" {
		t.Fatalf("%+v, %v", outcome.Best, err)
	}
}

// A prober builds anew in Probe; Evaluate finds what the driver has kept.
type prober struct {
	*fake
	probe tune.Result
}

func (p prober) Probe(_ context.Context, c space.Configuration, _ tune.Retest) (tune.Result, error) {
	r := p.probe
	r.Configuration = c
	return r, nil
}

// TestADoubtIsSettledWithoutTheDriversCache: on one of two devices nothing can be built any more. What that device built before is still
// in its driver's cache.
func TestADoubtIsSettledWithoutTheDriversCache(t *testing.T) {
	s, p := listen(t), newProblem(t, 60)
	first := make(chan struct{}) // closed after the result of the first configuration
	for name, probe := range map[string]tune.Result{
		"fine": {Status: tune.Correct, Times: []float64{1}},
		"full": {Status: tune.Compile, Reason: "cannot write", Doubt: tune.NoSpace},
	} {
		e := prober{&fake{capacity: 1, of: func(c space.Configuration) tune.Result {
			if c.Int("i") == 0 {
				return correct(c)
			}
			<-first
			return tune.Result{Status: tune.Compile, Reason: "cannot write"}
		}}, probe}
		start(t, s, name, func(context.Context, *problem.Problem, worker.Options) (Opened, error) { return e, nil })
	}
	e := open(t, s, p, Options{})
	for len(e.willing()) < 2 {
		changed, _ := e.hopeful()
		if len(e.willing()) < 2 {
			<-changed
		}
	}
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{OnResult: func(r tune.Result, _ bool) {
		if r.Status == tune.Correct {
			close(first)
		}
	}})
	if err != nil || outcome.Stop != tune.Environment || !strings.Contains(outcome.Cause, "i=0, which was correct before, was evaluated once more and failed too (compile on full/0:0: cannot write)") {
		t.Errorf("%s: %s, %v", outcome.Stop, outcome.Cause, err)
	}
	for _, r := range outcome.Results {
		if r.Status != tune.Correct {
			t.Errorf("%s is blamed: %s", r.Configuration, r.Reason)
		}
	}
}

// An observer observes more and more energy.
type observer struct {
	*fake
	round float64
}

func (o *observer) Remeasure(ctx context.Context, card string, all []space.Configuration, rounds int, observe bool) ([]tune.Turns, error) {
	if !observe {
		return o.fake.Remeasure(ctx, card, all, rounds, false)
	}
	turns := make([]tune.Turns, len(all))
	for range rounds {
		o.round++
		for i := range all {
			turns[i].Readings = append(turns[i].Readings, []hardware.Reading{{Quantity: hardware.Energy, Value: o.round}})
		}
	}
	return turns, nil
}

func TestFinalistsAreObservedAgain(t *testing.T) {
	s, p := listen(t), newProblem(t, 5, func(d *definition.Definition) { d.Objective.Name = hardware.Energy })
	e := &observer{fake: &fake{capacity: 1, of: func(c space.Configuration) tune.Result {
		r := correct(c)
		r.Readings = []hardware.Reading{{Quantity: hardware.Energy, Value: 9}}
		return r
	}}}
	start(t, s, "m", func(context.Context, *problem.Problem, worker.Options) (Opened, error) { return e, nil })
	outcome, err := loop.Run(t.Context(), p, open(t, s, p, Options{}), loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome.Best.Figures(); !got.Final || got.Objective != 2 { // of the rounds 1, 2 and 3
		t.Errorf("%+v, want the energy 2", got)
	}
}
