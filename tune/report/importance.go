package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// An Importance says how much of the differences between correct configurations each
// parameter explains. All of it is about the logarithm of the objective (the objective itself where some are
// not positive), so that a parameter that makes things twice as slow counts the same near the
// best and near the worst.
type Importance struct {
	Parameters []ParameterImportance `json:"parameters"` // the most important first
	Used       int                   `json:"used"`       // configurations that the model is fitted to
	// Fit is the share of the variance that the model explains of configurations that it was
	// not fitted to: R², out of bag. At most 1; around 0 the model has learnt nothing, and
	// Total says nothing.
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

// The model: Breiman's random forest (2001), fitted to at most so many configurations.
const (
	importanceAtLeast = 12
	importanceAtMost  = 4000
	importanceProbes  = 1000
	importanceRepeats = 4
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
	x := importanceFeatures(run, rows, varied)
	random := rand.New(rand.NewPCG(1, 1)) // the same report of the same record
	f := growForest(x, y, random)
	totals := totalEffects(f, x, random)
	m := &Importance{Used: len(rows), Fit: f.fit(x, y)}
	for j, i := range varied {
		m.Parameters = append(m.Parameters, ParameterImportance{i, run.Parameters[i].Name, correlationRatio(x[j], y), totals[j]})
	}
	slices.SortStableFunc(m.Parameters, func(a, b ParameterImportance) int { return cmp.Compare(b.Total, a.Total) })
	return m
}

// importanceRows are the correct configurations, a random part where there are many, with the
// logarithm of their objective.
func importanceRows(run *Run) (rows []int, y []float64) {
	positive := true
	for i := range run.results {
		if v := run.results[i].Objective; run.results[i].Rankable() {
			rows = append(rows, i)
			positive = positive && v > 0
		}
	}
	if len(rows) > importanceAtMost {
		random := rand.New(rand.NewPCG(2, 2))
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		rows = rows[:importanceAtMost]
		slices.Sort(rows)
	}
	for _, i := range rows {
		v := run.results[i].Objective
		if positive {
			v = math.Log(v)
		}
		y = append(y, v)
	}
	return rows, y
}

// importanceFeatures are the ranks of the values of the varied parameters: by feature, then
// by row. A forest sees nothing but the order of values.
func importanceFeatures(run *Run, rows, varied []int) [][]uint16 {
	x := make([][]uint16, len(varied))
	for j, i := range varied {
		p := run.Parameters[i]
		rank := make(map[string]uint16, len(p.Values))
		for place, at := range valueOrder(p) {
			rank[p.Values[at]] = uint16(place)
		}
		column := run.index(parameterColumn(i))
		x[j] = make([]uint16, len(rows))
		for k, row := range rows {
			x[j][k] = rank[p.Values[column[row]]]
		}
	}
	return x
}

// valueOrder are the places of a parameter's values, numbers in ascending order.
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
func correlationRatio(x []uint16, y []float64) *float64 {
	type group struct{ n, sum, squares float64 }
	groups := map[uint16]*group{}
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	total := 0.0
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

// totalEffects are Jansen's: the mean of (f(x) − f(x'))² over twice the variance of f, where x'
// has the value of one feature from another configuration.
func totalEffects(f *forest, x [][]uint16, random *rand.Rand) []float64 {
	n := len(x[0])
	probes := random.Perm(n)
	probes = probes[:min(n, importanceProbes)]
	predicted := make([]float64, len(probes))
	row := make([]uint16, len(x))
	at := func(i int) {
		for j := range x {
			row[j] = x[j][i]
		}
	}
	for k, i := range probes {
		at(i)
		predicted[k] = f.predict(row)
	}
	v := variance(predicted)
	totals := make([]float64, len(x))
	if !(v > 0) {
		return totals
	}
	for j := range x {
		sum := 0.0
		for range importanceRepeats {
			for k, i := range probes {
				at(i)
				row[j] = x[j][random.IntN(n)]
				d := predicted[k] - f.predict(row)
				sum += d * d
			}
		}
		totals[j] = sum / float64(importanceRepeats*len(probes)) / (2 * v)
	}
	return totals
}

// variance is that of a population.
func variance(y []float64) float64 {
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	sum := 0.0
	for _, v := range y {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(y))
}
