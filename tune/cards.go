package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/space"
)

// Cards is an Evaluator with several devices of one model, its cards. Results name the card that measured them.
type Cards interface {
	Remeasurer

	// Cards returns the names of the cards that can measure now, as results name them. It waits until there is one.
	Cards(ctx context.Context) ([]string, error)

	// RemeasureOn is Remeasure on each of some cards. The times are by card; a card that has gone or that could not
	// measure has none.
	RemeasureOn(ctx context.Context, cards []string, configurations []space.Configuration, rounds int) (map[string][]Turns, error)
}

// CardTimes are the times of a configuration on one card in the comparison of the cards, in milliseconds.
type CardTimes struct {
	Device string
	Times  []float64
}

// A Card is a card in comparison with another one, the reference.
type Card struct {
	Device string

	// Ratio is the geometric mean, over some configurations, of the median time on this card divided by that on the
	// reference. Scatter is the standard deviation of these quotients. The reference itself has 1 and 0.
	Ratio, Scatter float64

	Configurations int
}

// Differs reports whether the card is faster or slower than the reference beyond the scatter.
func (c *Card) Differs() bool { return math.Abs(c.Ratio-1) > c.Scatter }

// CompareCards compares the cards of a run by [Result.Cards]. The first is the reference: the card of the final
// measurement, or else the first by name. The others follow in the order of their names. A card that has fewer
// than two configurations in common with the reference is left out. CompareCards returns nil if nothing is known.
func CompareCards(results []Result) []Card {
	medians := map[string]map[int]float64{} // by card and place
	reference := ""
	for i := range results {
		for _, t := range results[i].Cards {
			if len(t.Times) == 0 {
				continue
			}
			if medians[t.Device] == nil {
				medians[t.Device] = map[int]float64{}
			}
			medians[t.Device][i] = judge.StatsOf(t.Times).Median
		}
		if len(results[i].Final) > 0 {
			reference = results[i].FinalDevice
		}
	}
	names := slices.Sorted(maps.Keys(medians))
	if len(names) < 2 {
		return nil
	}
	if medians[reference] == nil {
		reference = names[0]
	}
	cards := []Card{{reference, 1, 0, len(medians[reference])}}
	for _, name := range names {
		var logs []float64
		for i, time := range medians[name] {
			if base, both := medians[reference][i]; both {
				logs = append(logs, math.Log(time/base))
			}
		}
		if name == reference || len(logs) < 2 {
			continue
		}
		slices.Sort(logs) // a map has no order, and sums depend on it
		mean, deviation := stat.MeanStdDev(logs, nil)
		cards = append(cards, Card{name, math.Exp(mean), math.Exp(mean) * deviation, len(logs)})
	}
	if len(cards) < 2 {
		return nil
	}
	return cards
}

// The comparison of the cards takes about cardBudget milliseconds of kernel time on each card, in minFinalRounds to
// maxFinalRounds rounds of comparedConfigurations.
const (
	cardBudget             = 1000
	comparedConfigurations = 6
)

// compareCards lets each card that took part in the search measure the same configurations. Cards that have done so in
// an earlier session are not asked again.
func (r *run) compareCards(ctx context.Context, e Cards) error {
	results := r.outcome.Results
	took, compared := map[string]bool{}, map[string]bool{} // by card
	var places []int
	for i := range results {
		if results[i].Rankable() {
			took[results[i].Device] = true
		}
		for _, t := range results[i].Cards {
			compared[t.Device] = true
		}
		if len(results[i].Cards) > 0 {
			places = append(places, i)
		}
	}
	maps.DeleteFunc(took, func(card string, _ bool) bool { return compared[card] })
	if len(took) == 0 || len(took)+len(compared) < 2 {
		return nil
	}
	if len(places) < 2 {
		places = r.spread()
	}
	if len(places) < 2 {
		return nil
	}
	ready, err := e.Cards(ctx)
	if err != nil {
		return err
	}
	ready = slices.DeleteFunc(ready, func(card string) bool { return !took[card] })
	if len(ready)+len(compared) < 2 || len(ready) == 0 {
		return nil
	}
	configurations, rounds := r.rounds(places, cardBudget)
	times, err := e.RemeasureOn(ctx, ready, configurations, rounds)
	if err != nil {
		return err
	}
	for j, i := range places {
		for _, card := range slices.Sorted(maps.Keys(times)) {
			if len(times[card]) == len(places) && len(times[card][j].Times) > 0 {
				results[i].Cards = append(slices.Clip(results[i].Cards), CardTimes{card, times[card][j].Times})
			}
		}
		if log := r.options.Log; log != nil && len(results[i].Cards) > 0 {
			if err := log.AppendCards(results[i]); err != nil {
				return fmt.Errorf("keep the comparison of the devices: %w", err)
			}
		}
	}
	return nil
}

// spread returns the places of configurations from the best to the slowest that was measured in full, in even steps,
// and that of the baseline.
func (r *run) spread() []int {
	all := r.ranked(nil)
	var places []int
	for k := range min(comparedConfigurations, len(all)) {
		places = append(places, all[k*(len(all)-1)/max(1, min(comparedConfigurations, len(all))-1)])
	}
	return r.withBaseline(places)
}

// ranked returns the places of the results by their objectives in the search, without those that were measured only
// once. A card that differs from the reference has its times divided by its ratio.
func (r *run) ranked(cards []Card) []int {
	corrected := slices.Clone(r.outcome.Results)
	for i := range corrected {
		result := &corrected[i]
		at := slices.IndexFunc(cards, func(c Card) bool { return c.Device == result.Device })
		if !result.Rankable() || at < 0 || !cards[at].Differs() {
			continue
		}
		ratio := cards[at].Ratio
		times := slices.Clone(result.Times)
		for j := range times {
			times[j] /= ratio
		}
		judgement, err := r.problem.Judge(result.Configuration, r.outcome.Device, judge.StatsOf(times), result.Parts, result.Readings)
		if err == nil {
			result.Objective = judgement.Objective
			if r.problem.Objective().Several() {
				result.Times, result.Metrics = times, judgement.Metrics
			}
		}
		if ratio > 1 { // its card may be the reason why it was slow
			result.EarlyStopped = false
		}
	}
	return slices.DeleteFunc(bySearch(r.problem.Objective(), corrected), func(i int) bool {
		return corrected[i].EarlyStopped // far slower than the best, for certain
	})
}

// bestOfOthers adds the best result of each card that was not compared, at most as many as there are places.
func (r *run) bestOfOthers(places []int, cards []Card) []int {
	seen, most := map[string]bool{}, 2*len(places)
	for _, c := range cards {
		seen[c.Device] = true
	}
	for _, i := range r.ranked(nil) {
		card := r.outcome.Results[i].Device
		if !seen[card] && !slices.Contains(places, i) && len(places) < most {
			places = append(slices.Clip(places), i)
		}
		seen[card] = true
	}
	return places
}

// maxFinalDevices is the number of cards that may fail in the final measurement.
const maxFinalDevices = 3

// RemeasureOnOne is Remeasure on one of the cards, which it names. If a card goes or fails, another one begins anew.
func RemeasureOnOne(
	ctx context.Context, e Cards, configurations []space.Configuration, rounds int,
) (turns []Turns, card string, err error) {
	var failed []string
	for len(failed) < maxFinalDevices {
		ready, err := e.Cards(ctx)
		if err != nil {
			return nil, "", err
		}
		i := max(0, slices.IndexFunc(ready, func(name string) bool { return !slices.Contains(failed, name) }))
		measured, err := e.RemeasureOn(ctx, ready[i:i+1], configurations, rounds)
		if err != nil {
			return nil, "", err
		}
		if turns, ok := measured[ready[i]]; ok {
			return turns, ready[i], nil
		}
		failed = append(failed, ready[i])
	}
	return nil, "", errors.New("no device could do it: " + strings.Join(failed, ", "))
}
