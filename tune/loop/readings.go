package loop

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// The finalists are observed again at most observedRounds times, and in about observeBudget if that is more than once. They are not
// observed again if that takes longer than observeMost.
const (
	observedRounds = 3
	observeBudget  = 20 * time.Second
	observeMost    = time.Minute
)

// observeFinalists observes the results at some places again on a card, in turn, if an objective needs what is observed.
func (r *run) observeFinalists(ctx context.Context, places []int, card string) error {
	if !r.problem.NeedsReadings() {
		return nil
	}
	var configurations []space.Configuration
	round := time.Duration(0)
	for _, i := range places {
		configurations = append(configurations, r.outcome.Results[i].Configuration)
		round += r.timeToObserve(&r.outcome.Results[i])
	}
	if round > observeMost {
		return nil
	}
	rounds := max(1, min(observedRounds, int(observeBudget/round)))
	turns, err := r.remeasurer.Remeasure(ctx, card, configurations, rounds, true)
	switch {
	case ctx.Err() != nil:
		r.outcome.Stop = tune.Interrupted
		return nil
	case err == nil && turns == nil: // the card has gone
		return nil
	case err == nil && len(turns) != len(configurations):
		err = fmt.Errorf("%d configurations were observed, not %d", len(turns), len(configurations))
	}
	if err != nil {
		return fmt.Errorf("observe the best again: %w", err)
	}
	for j, i := range places {
		r.outcome.Results[i].FinalReadings = meanReadings(turns[j].Readings)
	}
	return nil
}

// timeToObserve returns about how long it takes to observe a result: some periods of the counter, or the seconds in which a power
// settles, and three launches at least.
func (r *run) timeToObserve(result *tune.Result) time.Duration {
	const ticks = 6 // the four that are needed, and those before the first and after the last one
	m := r.problem.Definition().Measure
	took := max(m.Window, 100*time.Millisecond, time.Duration(4*result.Time()*float64(time.Millisecond)))
	for _, i := range r.outcome.Device.Instruments {
		tick := time.Duration(i.TickMS * float64(time.Millisecond))
		switch {
		case i.Missing != "":
		case tick > 0:
			took = max(took, ticks*tick, m.Window+2*tick)
		case i.Quantity == hardware.Energy || i.Quantity == hardware.Power:
			took = max(took, m.Window+1200*time.Millisecond)
		}
	}
	for _, own := range m.Instruments {
		took = max(took, own.Window)
	}
	return took
}

// meanReadings returns the mean of each quantity over some rounds. Its uncertainty is that of a mean of independent readings, or that
// which their scatter shows, if it is larger. A quantity that is missing in all rounds has the first reason.
func meanReadings(rounds [][]hardware.Reading) []hardware.Reading {
	if len(rounds) == 0 {
		return nil
	}
	var all []hardware.Reading
	for _, first := range rounds[0] {
		mean, values, stated := first, []float64(nil), 0.0
		for _, readings := range rounds {
			r, ok := hardware.ReadingOf(readings, first.Quantity)
			if !ok || r.Missing != "" {
				continue
			}
			if len(values) == 0 {
				mean = r
			}
			values, stated = append(values, r.Value), stated+r.Uncertainty*r.Uncertainty
		}
		if n := float64(len(values)); n > 1 {
			mean.Value, mean.Uncertainty = stat.Mean(values, nil), max(math.Sqrt(stated)/n, stat.StdDev(values, nil)/math.Sqrt(n))
		}
		all = append(all, mean)
	}
	return all
}
