package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
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
	e, ok := r.evaluator.(Reobserver)
	if !ok || !r.problem.NeedsReadings() {
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
	readings, err := e.Reobserve(ctx, card, configurations, rounds)
	switch {
	case ctx.Err() != nil:
		r.outcome.Stop = Interrupted
		return nil
	case err == nil && len(readings) != len(configurations):
		err = fmt.Errorf("%d configurations were observed, not %d", len(readings), len(configurations))
	}
	if err != nil {
		return fmt.Errorf("observe the best again: %w", err)
	}
	for j, i := range places {
		r.outcome.Results[i].FinalReadings = meanReadings(readings[j])
	}
	return nil
}

// timeToObserve returns about how long it takes to observe a result: some periods of the counter, or the seconds in which a power
// settles, and three launches at least.
func (r *run) timeToObserve(result *Result) time.Duration {
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

// LastReadings returns the readings of the final measurement, and those of the search of quantities that it did not observe.
func (r *Result) LastReadings() []hardware.Reading {
	all := slices.Clone(r.Readings)
	for i := range all {
		if again, ok := hardware.ReadingOf(r.FinalReadings, all[i].Quantity); ok && again.Missing == "" {
			all[i] = again
		}
	}
	return all
}

// Notices says what a reader of some results must know: which finalists failed, how many launches were repeated, and, for each quantity that
// some results lack, how many there are and why. It leaves out the quantities that a device is known not to give.
func Notices(results []Result, d hardware.Device) (texts []string) {
	var quantities []string
	missing, first := map[string]int{}, map[string]string{}
	launches, configurations := 0, 0
	for i := range results {
		if why := results[i].FinalFailure; why != "" {
			texts = append(texts, fmt.Sprintf("%s was among the best, but failed in the final measurement: %s", results[i].Configuration, excerpt.FirstLine(why)))
		}
		launches += results[i].Repeated
		configurations += min(1, results[i].Repeated)
		for _, r := range results[i].Readings {
			if known, _ := d.Instrument(r.Quantity); r.Missing == "" || known.Missing != "" {
				continue
			}
			if missing[r.Quantity]++; missing[r.Quantity] == 1 {
				quantities, first[r.Quantity] = append(quantities, r.Quantity), strings.TrimSuffix(r.Missing, ".")
			}
		}
	}
	if launches > 0 {
		texts = append(texts, fmt.Sprintf("Other work seems to use the device: %s of %s took far longer than the others. "+
			"As many were added; all count in the median", figure.Count(launches, "launch"), figure.Count(configurations, "configuration")))
	}
	slices.Sort(quantities)
	for _, q := range quantities {
		texts = append(texts, fmt.Sprintf("%s is missing in %d of %d results, in the first of them because %s",
			q, missing[q], len(results), first[q]))
	}
	return texts
}
