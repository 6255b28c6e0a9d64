package loop

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// cards are an evaluator with several cards that have known speeds. It hands configurations to the cards in turn.
type cards struct {
	remeasuring
	names  []string
	speeds map[string]float64 // factors of the times
	noise  float64            // share of the times, uniformly distributed to both sides
	of     func(i int) string // the card of a configuration; nil: the cards in turn
	gone   map[string]bool
	random *rand.Rand
	asked  map[string]int // by card: the number of measurements in turn
}

func newCards(noise float64, speeds ...float64) *cards {
	e := &cards{speeds: map[string]float64{}, noise: noise, gone: map[string]bool{}, asked: map[string]int{}, random: rand.New(rand.NewPCG(1, 2))}
	for i, speed := range speeds {
		e.names = append(e.names, string(rune('a'+i))+"/0:0")
		e.speeds[e.names[i]] = speed
	}
	e.answer = func(c space.Configuration) tune.Result {
		i := c.Int("i")
		card := e.names[i%len(e.names)]
		if e.of != nil {
			card = e.of(i)
		}
		return tune.Result{Status: tune.Correct, Times: []float64{e.time(card, c)}, Device: card}
	}
	return e
}

// time is the time of a configuration on a card. The configurations differ by 1 %.
func (e *cards) time(card string, c space.Configuration) float64 {
	return e.speeds[card] * math.Pow(1.01, float64(c.Int("i"))) * (1 + e.noise*(2*e.random.Float64()-1))
}

func (e *cards) Cards(context.Context) ([]string, error) {
	return slices.DeleteFunc(slices.Clone(e.names), func(name string) bool { return e.gone[name] }), nil
}

func (e *cards) Remeasure(_ context.Context, name string, configurations []space.Configuration, rounds int, _ bool) (turns []tune.Turns, err error) {
	if e.asked[name]++; e.gone[name] {
		return nil, nil
	}
	for _, c := range configurations {
		var own []float64
		for range rounds {
			own = append(own, e.time(name, c))
		}
		turns = append(turns, tune.Turns{Times: own})
	}
	return turns, nil
}

// TestTheFastestOfASlowCardIsAFinalist: the best configuration was measured on a card that takes 1.3 times as long, so that
// many others had better times. As the best of its card it is a finalist, and wins the final measurement.
func TestTheFastestOfASlowCardIsAFinalist(t *testing.T) {
	for _, noise := range []float64{0, 0.002} {
		e := newCards(noise, 1, 1.05, 1.3)
		e.of = func(i int) string { return e.names[2-min(2, i)] } // i = 0 on the slowest, all but two on the fastest
		log := &memory{}
		o := mustRun(t, line(t, 60), e, Options{Log: log, Finalists: 5})
		if got := bestKey(o); got != "0" && noise == 0 {
			t.Errorf("noise %v: best %s", noise, got)
		}
		if final := tune.ResultOf(o.Results, map[string]space.Value{"i": 0}); len(final.Final) == 0 || final.FinalDevice != "a/0:0" {
			t.Errorf("noise %v: the best is no finalist, or of another device: %+v", noise, final)
		}
		// The log knows it, and nothing is measured twice.
		again := newCards(noise, 1, 1.05, 1.3)
		mustRun(t, line(t, 60), again, Options{Log: log.reopened(), Finalists: 5})
		if len(again.asked) > 0 {
			t.Errorf("noise %v: measured again: %v", noise, again.asked)
		}
	}
}

// TestCardsThatLeave: the best of a card that has gone is a finalist; and if a card leaves at the final
// measurement, another one makes it.
func TestCardsThatLeave(t *testing.T) {
	e := newCards(0, 1, 2, 1.5)
	e.of = func(i int) string {
		return map[int]string{0: "c/0:0", 1: "b/0:0"}[i] + map[bool]string{true: "a/0:0"}[i > 1]
	}
	e.gone["c/0:0"] = true
	o := mustRun(t, line(t, 60), e, Options{Finalists: 5})
	if best := o.Best; best.Configuration.Key() != "0" || best.FinalDevice != "a/0:0" {
		t.Errorf("best %s, of %q", best.Configuration, best.FinalDevice)
	}

	leaving := &leavingCards{newCards(0, 1, 1)}
	leaving.gone["a/0:0"] = true
	o = mustRun(t, line(t, 10), leaving, Options{})
	if o.Best.FinalDevice != "b/0:0" {
		t.Errorf("the final measurement is of %q", o.Best.FinalDevice)
	}
	leaving.gone["b/0:0"] = true
	if _, err := Run(context.Background(), line(t, 10), leaving, Options{}); err == nil || !strings.Contains(err.Error(), "measure the best again: no device could do it: a/0:0, b/0:0") {
		t.Errorf("error %v", err)
	}
}

// leavingCards does not know yet that cards have gone.
type leavingCards struct{ *cards }

func (e *leavingCards) Cards(context.Context) ([]string, error) { return e.names, nil }

// TestOneCard: the final measurement names its device.
func TestOneCard(t *testing.T) {
	e := newCards(0, 1)
	o := mustRun(t, line(t, 10), e, Options{})
	if o.Best.FinalDevice != "a/0:0" || e.asked["a/0:0"] != 1 {
		t.Errorf("%+v, asked %v", o.Best, e.asked)
	}
}
