package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/search/gaussian"
)

// An Importance says how much of the differences between correct configurations each
// parameter explains. All of it is about the logarithm of the objective (the objective itself where some are
// not positive), so that a parameter that makes things twice as slow counts the same near the
// best and near the worst.
type Importance struct {
	Parameters []ParameterImportance `json:"parameters"` // the most important first
	Used       int                   `json:"used"`       // configurations that the model is fitted to
	// Fit is the share of the variance that the model explains of configurations that it was
	// not fitted to: R² in cross-validation. It is at most 1. Around 0 the model has learnt
	// nothing, and Total says nothing.
	Fit float64 `json:"fit"`
	// Missing says why there is no figure; all else is then empty.
	Missing string `json:"missing"`
}

// A ParameterImportance has two shares of the variance, from 0 to about 1.
type ParameterImportance struct {
	Parameter int    `json:"parameter"` // its place in Run.Parameters
	Name      string `json:"name"`
	// Alone is what the parameter explains by itself: the variance of the means by value over
	// all variance, ε² of Kelley 1935 («An unbiased correlation ratio measure»), which allows for what
	// chance would explain. It comes from the measurements, without a model. Null where no
	// value occurs twice.
	Alone *float64 `json:"alone"`
	// Total is what it explains by itself and together with others: how far the predictions
	// of the model change when the parameter's values are exchanged between configurations,
	// the estimator of Jansen 1999 for Sobol's total effect. These may sum to more than 1, as what two
	// parameters do together counts for both. Where restrictions forbid combinations, the
	// exchange asks the model about configurations that do not exist.
	Total float64 `json:"total"`
}

// The model is a Gaussian process. Its points times the parameters are bounded, and so is the
// time that it takes: for the total effects of 20 parameters it compares two points 40 million
// times. A random forest of 4,000 points would explain a little more, 0.90 of the variance of a
// recorded convolution where this process explains 0.86, in twice the lines.
const (
	importanceAtLeast = 12
	importanceAtMost  = 1000   // points
	importanceValues  = 20_000 // points times parameters
	importanceScales  = 5000   // those that length scales are fitted to
	importanceFolds   = 5
	importanceDraws   = 2   // exchanged values of each parameter of each point
	importanceScale   = 0.7 // the usual length scale
)

func importanceOf(run *Run) *Importance {
	missing := func(why string) *Importance { return &Importance{Parameters: []ParameterImportance{}, Missing: why} }
	rows, y := importanceRows(run)
	if len(rows) < importanceAtLeast {
		return missing(fmt.Sprintf("fewer than %d correct configurations are too few to tell what matters", importanceAtLeast))
	}
	var varied []int
	for i, p := range run.Parameters {
		if len(p.Values) > 1 {
			varied = append(varied, i)
		}
	}
	// Not by their variance, which rounding keeps above 0 where all are the same.
	if slices.Min(y) == slices.Max(y) || len(varied) == 0 {
		return missing("all correct configurations are alike")
	}
	m := &Importance{Used: max(importanceAtLeast, min(len(rows), importanceAtMost, importanceValues/len(varied)))}
	points := make([][]float64, m.Used)
	for i := range points {
		points[i] = make([]float64, len(varied))
	}
	for j, i := range varied {
		positions := run.cells(i)
		column := each.Of(rows, func(row int) int { return positions[row] })
		for k, p := range points {
			p[j] = float64(column[k]) / float64(len(run.Parameters[i].Values)-1)
		}
		m.Parameters = append(m.Parameters, ParameterImportance{Parameter: i, Name: run.Parameters[i].Name, Alone: correlationRatio(column, y)})
	}
	targets := slices.Clone(y[:m.Used])
	floats.AddConst(-stat.Mean(targets, nil), targets)
	process := gaussian.New(gaussian.Matern32, slices.Repeat([]float64{importanceScale}, len(varied)))
	scaled := min(m.Used, max(importanceAtLeast, importanceScales/len(varied)))
	process.Fit(points[:scaled], targets[:scaled])
	m.Fit = fitOf(process, points, targets)
	for j, total := range totalEffects(process, points, targets) {
		m.Parameters[j].Total = total
	}
	slices.SortStableFunc(m.Parameters, func(a, b ParameterImportance) int { return cmp.Compare(b.Total, a.Total) })
	return m
}

// importanceRows are the correct configurations in random order, with the logarithm of their
// objective.
func importanceRows(run *Run) (rows []int, y []float64) {
	positive := true
	for i := range run.results {
		if v := run.results[i].Objective; run.results[i].Rankable() {
			rows = append(rows, i)
			positive = positive && v > 0
		}
	}
	random := rand.New(rand.NewPCG(2, 2)) // the same report of the same record
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, i := range rows {
		v := run.results[i].Objective
		if positive {
			v = math.Log(v)
		}
		y = append(y, v)
	}
	return rows, y
}

// cells returns the index of the value of a parameter among its values, for each row. The values have the order of [valueOrder].
func (run *Run) cells(parameter int) []int {
	rank := make([]int, len(run.Parameters[parameter].Values))
	for index, i := range valueOrder(run.Parameters[parameter]) {
		rank[i] = index
	}
	column := run.index(parameterColumn(parameter))
	return each.Of(column, func(i uint32) int { return rank[i] })
}

// valueOrder are the positions of a parameter's values, numbers in ascending order.
func valueOrder(p Parameter) []int {
	order := make([]int, len(p.Values))
	for i := range order {
		order[i] = i
	}
	if p.Numeric {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Numbers[a], p.Numbers[b]) })
	}
	return order
}

// correlationRatio is ε² of a feature: 1 − MS within / MS total, by value. It is nil where no
// value occurs twice, and never below 0.
func correlationRatio(x []int, y []float64) *float64 {
	type group struct{ n, sum, squares float64 }
	groups := map[int]*group{}
	mean, total := stat.Mean(y, nil), 0.0
	for i, v := range y {
		g := groups[x[i]]
		if g == nil {
			g = &group{}
			groups[x[i]] = g
		}
		d := v - mean
		g.n++
		g.sum += d
		g.squares += d * d
		total += d * d
	}
	n, k := float64(len(y)), float64(len(groups))
	if n <= k {
		return nil
	}
	within := 0.0
	for _, g := range groups {
		within += g.squares - g.sum*g.sum/g.n
	}
	ratio := math.Max(0, 1-(within/(n-k))/(total/(n-1)))
	return &ratio
}

// fitOf is R² of the points, each fold of them predicted from the others.
func fitOf(process *gaussian.Process, points [][]float64, targets []float64) float64 {
	wrong := 0.0
	for fold := range importanceFolds {
		var known, hidden [][]float64
		var values, truth []float64
		for i, p := range points {
			if i%importanceFolds == fold {
				hidden, truth = append(hidden, p), append(truth, targets[i])
			} else {
				known, values = append(known, p), append(values, targets[i])
			}
		}
		process.Condition(known, hidden)
		means, _ := process.Means(values)
		wrong += math.Pow(floats.Distance(means, truth, 2), 2)
	}
	return 1 - wrong/floats.Dot(targets, targets)
}

// totalEffects are Jansen's: the mean of (f(x) − f(x'))² over twice the variance of f, where x'
// has the value of one feature from another configuration.
func totalEffects(process *gaussian.Process, points [][]float64, targets []float64) []float64 {
	process.Condition(points, nil)
	weights := process.Weights(targets)
	predicted := each.Of(points, func(p []float64) float64 { return process.Mean(p, weights) })
	totals := make([]float64, len(points[0]))
	variance := stat.PopVariance(predicted, nil)
	if !(variance > 0) {
		return totals
	}
	random := rand.New(rand.NewPCG(1, 1)) // the same report of the same record
	for j := range totals {
		for draw := range importanceDraws * len(points) {
			i := draw % len(points)
			exchanged := slices.Clone(points[i])
			exchanged[j] = points[random.IntN(len(points))][j]
			d := predicted[i] - process.Mean(exchanged, weights)
			totals[j] += d * d / (2 * variance * float64(importanceDraws*len(points)))
		}
	}
	return totals
}
