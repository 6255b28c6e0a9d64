package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
	asked  map[string][]string // by card: the configurations of each measurement in turn
}

func newCards(noise float64, speeds ...float64) *cards {
	e := &cards{speeds: map[string]float64{}, noise: noise, gone: map[string]bool{}, asked: map[string][]string{}, random: rand.New(rand.NewPCG(1, 2))}
	for i, speed := range speeds {
		e.names = append(e.names, string(rune('a'+i))+"/0:0")
		e.speeds[e.names[i]] = speed
	}
	e.answer = func(c space.Configuration) Result {
		i := c.Int("i")
		card := e.names[i%len(e.names)]
		if e.of != nil {
			card = e.of(i)
		}
		return Result{Status: Correct, Times: []float64{e.time(card, c)}, Device: card}
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

func (e *cards) RemeasureOn(_ context.Context, names []string, configurations []space.Configuration, rounds int) (map[string][]Turns, error) {
	times := map[string][]Turns{}
	for _, name := range names {
		var keys []string
		for _, c := range configurations {
			keys = append(keys, c.Key())
		}
		e.asked[name] = append(e.asked[name], strings.Join(keys, " "))
		if e.gone[name] {
			continue
		}
		for _, c := range configurations {
			var own []float64
			for range rounds {
				own = append(own, e.time(name, c))
			}
			times[name] = append(times[name], Turns{Times: own})
		}
	}
	return times, nil
}

// TestTheFastestOfASlowCardIsAFinalist: the best configuration was measured on a card that takes 1.3 times as long, so that
// many others had better times. The cards are compared, and it wins the final measurement.
func TestTheFastestOfASlowCardIsAFinalist(t *testing.T) {
	for _, noise := range []float64{0, 0.002} {
		e := newCards(noise, 1, 1.05, 1.3)
		e.of = func(i int) string { return e.names[2-min(2, i)] } // i = 0 on the slowest, all but two on the fastest
		log := &memory{}
		o := mustRun(t, line(t, 60), e, Options{Log: log, Finalists: 5})
		if got := bestKey(o); got != "0" && noise == 0 {
			t.Errorf("noise %v: best %s", noise, got)
		}
		if final := ResultOf(o.Results, map[string]space.Value{"i": 0}); len(final.Final) == 0 || final.FinalDevice != "a/0:0" {
			t.Errorf("noise %v: the best is no finalist, or of another device: %+v", noise, final)
		}
		compared := CompareCards(o.Results)
		if len(compared) != 3 || compared[0].Device != "a/0:0" || compared[0].Ratio != 1 {
			t.Fatalf("noise %v: %+v", noise, compared)
		}
		for _, c := range compared[1:] {
			want := e.speeds[c.Device]
			if math.Abs(c.Ratio-want) > 3*noise*want+1e-9 || c.Scatter > 3*noise+1e-9 || c.Configurations != comparedConfigurations || !c.Differs() {
				t.Errorf("noise %v: %+v; want the ratio %v", noise, c, want)
			}
		}
		// The log knows it, and nothing is measured twice.
		again := newCards(noise, 1, 1.05, 1.3)
		o = mustRun(t, line(t, 60), again, Options{Log: log.reopened(), Finalists: 5})
		if len(again.asked) > 0 || len(CompareCards(o.Results)) != 3 {
			t.Errorf("noise %v: measured again: %v", noise, again.asked)
		}
	}
}

// TestEqualCards: a difference within the scatter changes the choice of the finalists in nothing.
func TestEqualCards(t *testing.T) {
	e := newCards(0.02, 1, 1)
	o := mustRun(t, line(t, 40), e, Options{Finalists: 4})
	c := CompareCards(o.Results)
	if len(c) != 2 || c[1].Differs() || c[1].Scatter == 0 {
		t.Fatalf("%+v", c)
	}
	var want []string
	for _, i := range bySearch(line(t, 40).Objective(), o.Results)[:4] {
		want = append(want, o.Results[i].Configuration.Key())
	}
	if got := e.asked["a/0:0"]; len(got) != 2 || got[1] != strings.Join(want, " ") {
		t.Errorf("measured %v; want last %v", got, want)
	}
}

// TestCardsThatLeave: the best of a card that cannot be compared any more is a finalist; and if a card leaves at the final
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
	if c := CompareCards(o.Results); len(c) != 2 || c[1].Device != "b/0:0" || math.Abs(c[1].Ratio-2) > 1e-9 {
		t.Errorf("%+v", c)
	}

	leaving := &leavingCards{newCards(0, 1, 1)}
	o = mustRun(t, line(t, 10), leaving, Options{})
	if o.Best.FinalDevice != "b/0:0" {
		t.Errorf("the final measurement is of %q", o.Best.FinalDevice)
	}
	for _, name := range leaving.names {
		leaving.gone[name] = true
	}
	if _, err := Run(context.Background(), line(t, 10), leaving, Options{}); err == nil || !strings.Contains(err.Error(), "measure the best again: no device could do it: a/0:0, b/0:0") {
		t.Errorf("error %v", err)
	}
}

// leavingCards loses the first card after the comparison, but does not know it yet.
type leavingCards struct{ *cards }

func (e *leavingCards) Cards(context.Context) ([]string, error) { return e.names, nil }

func (e *leavingCards) RemeasureOn(ctx context.Context, names []string, configurations []space.Configuration, rounds int) (map[string][]Turns, error) {
	if len(e.asked) == 2 {
		e.gone["a/0:0"] = true
	}
	return e.cards.RemeasureOn(ctx, names, configurations, rounds)
}

// TestOneCard: nothing is compared, and the final measurement names its device.
func TestOneCard(t *testing.T) {
	e := newCards(0, 1)
	o := mustRun(t, line(t, 10), e, Options{})
	if o.Best.FinalDevice != "a/0:0" || CompareCards(o.Results) != nil || fmt.Sprint(len(e.asked["a/0:0"])) != "1" {
		t.Errorf("%+v, asked %v", o.Best, e.asked)
	}
}
