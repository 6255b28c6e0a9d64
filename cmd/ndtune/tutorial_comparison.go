package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
)

// A tunedKernel is one kernel of a tutorial with what its search found.
type tunedKernel struct {
	name    string
	problem *problem.Problem
	outcome *tune.Outcome
}

// bestTime is the time of a step of the best configuration in milliseconds, with its metrics: of
// the final measurement where there was one.
func (k tunedKernel) bestTime() (float64, []problem.MetricValue) {
	best := k.outcome.Best
	f := best.Figures()
	return f.Time / stepsOf(best), f.Metrics
}

// stepsOf is the number of time steps that a launch makes: 1 of all kernels but those that have a
// parameter for it.
func stepsOf(r *tune.Result) float64 {
	if _, ok := r.Configuration.Get("time_steps"); ok {
		return float64(r.Configuration.Int("time_steps"))
	}
	return 1
}

// timeAStep is the mean time of a launch in the search, for each of its steps.
func timeAStep(r *tune.Result) float64 { return r.Time() / stepsOf(r) }

// closeToBest is how much longer than the best a configuration may take to be listed.
const closeToBest = 1.05

// printComparison closes a tutorial: the best of each kernel, its gain over the best of
// the first kernel and over the configuration of that kernel that one would guess, and all
// configurations that come close to the fastest.
func printComparison(w io.Writer, tuned []tunedKernel, guess map[string]int) {
	first := tuned[0]
	tuned = slices.DeleteFunc(slices.Clone(tuned), func(k tunedKernel) bool { return k.outcome.Best == nil })
	if len(tuned) == 0 {
		return
	}
	guessed := guessedResult(first, guess)
	fmt.Fprintln(w, "\ncomparison")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	title := "time"
	if slices.ContainsFunc(tuned, func(k tunedKernel) bool { return stepsOf(k.outcome.Best) > 1 }) {
		title = "time a step"
	}
	fmt.Fprintf(table, "kernel\t%s", title)
	var names []string
	for _, k := range tuned {
		_, metrics := k.bestTime()
		for _, m := range metrics {
			if m.Name != title && !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
				fmt.Fprintf(table, "\t%s", m.Name)
			}
		}
	}
	fmt.Fprintf(table, "\tover %s\tover %s %d×%d\tbest configuration\n", first.name, first.name, guess["block_size_x"], guess["block_size_y"])
	fastest := tuned[0]
	for _, k := range tuned {
		time, metrics := k.bestTime()
		if t, _ := fastest.bestTime(); time < t {
			fastest = k
		}
		fmt.Fprintf(table, "%s\t%s", k.name, formatTime(time))
		for _, name := range names {
			fmt.Fprintf(table, "\t%s", metricText(metrics, name))
		}
		fmt.Fprintf(table, "\t%s\t%s\t%s\n", gain(first.outcome.Best, k.outcome.Best), gain(guessed, k.outcome.Best), k.outcome.Best.Configuration)
	}
	table.Flush()
	printClose(w, fastest)
}

// metricText is a metric of a kernel, «–» where it has none of that name.
func metricText(metrics []problem.MetricValue, name string) string {
	for _, m := range metrics {
		if m.Name == name {
			return formatNumber(m.Value)
		}
	}
	return "–"
}

// gain is how often one result's time fits into another's: by the final measurements where
// both took part in one, else by the times of the search. It is «–» where there is nothing
// to compare with.
func gain(over, of *tune.Result) string {
	switch {
	case over == nil:
		return "–"
	case len(over.Final) > 0 && len(of.Final) > 0:
		return formatGain(over.FinalTime() / stepsOf(over) / (of.FinalTime() / stepsOf(of)))
	}
	return formatGain(timeAStep(over) / timeAStep(of))
}

// guessedResult is the result of a kernel at the configuration that one would guess, or nil
// where it is not among the correct ones. Parameters without a guess may have any value:
// the first such result counts.
func guessedResult(k tunedKernel, guess map[string]int) *tune.Result {
	for i, r := range k.outcome.Results {
		matches := r.Status == tune.Correct
		for name, value := range guess {
			matches = matches && r.Configuration.Int(name) == value
		}
		if matches {
			return &k.outcome.Results[i]
		}
	}
	return nil
}

// printClose lists the configurations of a kernel whose time in the search is within 5 %
// of the shortest, fastest first.
func printClose(w io.Writer, k tunedKernel) {
	var close []tune.Result
	shortest := 0.0
	for _, r := range k.outcome.Results {
		if r.Status == tune.Correct && (shortest == 0 || timeAStep(&r) < shortest) {
			shortest = timeAStep(&r)
		}
	}
	for _, r := range k.outcome.Results {
		if r.Status == tune.Correct && timeAStep(&r) <= shortest*closeToBest {
			close = append(close, r)
		}
	}
	slices.SortStableFunc(close, func(a, b tune.Result) int {
		switch {
		case timeAStep(&a) < timeAStep(&b):
			return -1
		case timeAStep(&a) > timeAStep(&b):
			return 1
		}
		return 0
	})
	fmt.Fprintf(w, "\nwithin 5 %% of the fastest in the search of %s: %s\n", k.name, countNoun(len(close), "configuration"))
	for _, r := range close {
		fmt.Fprintln(w, formatMeasured(r.Configuration.String(), r.Time(), r.Metrics))
	}
}

// formatGain is a ratio of times: «1.36×».
func formatGain(ratio float64) string { return formatNumber(ratio) + "×" }
