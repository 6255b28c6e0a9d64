package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/each"
)

// An Importance says how much of the differences between correct configurations each
// parameter explains. All of it is about the logarithm of the objective (the objective itself where some are
// not positive), so that a parameter that makes things twice as slow counts the same near the
// best and near the worst. It comes from the measurements, without a model.
type Importance struct {
	Parameters []ParameterImportance `json:"parameters"` // the most important first
	Used       int                   `json:"used"`       // configurations that it is computed from
	// Missing says why there is no figure; all else is then empty.
	Missing string `json:"missing"`
}

// A ParameterImportance has two shares of the variance, from 0 to about 1.
type ParameterImportance struct {
	Parameter int    `json:"parameter"` // its place in Run.Parameters
	Name      string `json:"name"`
	// Alone is what the parameter explains by itself: the variance of the means by value over
	// all variance, ε² of Kelley 1935 («An unbiased correlation ratio measure»), which allows for what
	// chance would explain. Null where there are fewer than two configurations for each value.
	Alone *float64 `json:"alone"`
	// With is Alone and what the parameter explains together with Partner beyond what each explains alone: ε² of the pairs of
	// their values, without Partner's Alone. Partner is the parameter for which that is most; "" if it is nothing.
	With    float64 `json:"with"`
	Partner string  `json:"partner"`
}

// These bound the time: at most 1,225 pairs of parameters, each of 20,000 values.
const (
	importanceAtLeast = 12
	importanceAtMost  = 20_000 // configurations, chosen at random
	importancePaired  = 50     // parameters that explain most alone, whose pairs are looked at
)

func importanceOf(run *Run) *Importance {
	missing := func(why string) *Importance { return &Importance{Parameters: []ParameterImportance{}, Missing: why} }
	rows, y := importanceRows(run)
	if len(rows) < importanceAtLeast {
		return missing(fmt.Sprintf("fewer than %d correct configurations are too few to tell what matters", importanceAtLeast))
	}
	m := &Importance{Used: len(rows)}
	column := func(parameter int) []int {
		indices := run.index(parameterColumn(parameter))
		return each.Of(rows, func(row int) int { return int(indices[row]) })
	}
	for i, p := range run.Parameters {
		if len(p.Values) > 1 {
			found := ParameterImportance{Parameter: i, Name: p.Name, Alone: correlationRatio(column(i), y)}
			if found.Alone != nil {
				found.With = *found.Alone
			}
			m.Parameters = append(m.Parameters, found)
		}
	}
	// Not by their variance, which rounding keeps above 0 where all are the same.
	if slices.Min(y) == slices.Max(y) || m.Parameters == nil {
		return missing("all correct configurations are alike")
	}
	slices.SortStableFunc(m.Parameters, func(a, b ParameterImportance) int { return cmp.Compare(b.With, a.With) })
	paired := m.Parameters[:min(len(m.Parameters), importancePaired)]
	findPartners(paired, each.Of(paired, func(p ParameterImportance) []int { return column(p.Parameter) }), y)
	slices.SortStableFunc(m.Parameters, func(a, b ParameterImportance) int { return cmp.Compare(b.With, a.With) })
	return m
}

// findPartners finds the partners of parameters that have none yet. The columns have the index of the value of each, by row.
func findPartners(parameters []ParameterImportance, columns [][]int, y []float64) {
	alone := each.Of(parameters, func(p ParameterImportance) float64 { return p.With })
	for b := range parameters {
		for a := range b {
			pairs, values := slices.Clone(columns[b]), slices.Max(columns[b])+1
			for k, value := range columns[a] {
				pairs[k] += value * values
			}
			ratio := correlationRatio(pairs, y)
			if ratio == nil {
				continue
			}
			for _, of := range [][2]int{{a, b}, {b, a}} {
				if with := *ratio - alone[of[1]]; with > parameters[of[0]].With {
					parameters[of[0]].With, parameters[of[0]].Partner = with, parameters[of[1]].Name
				}
			}
		}
	}
}

// importanceRows are the correct configurations in random order, at most importanceAtMost, with the logarithm of their
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
	rows = rows[:min(len(rows), importanceAtMost)]
	for _, i := range rows {
		v := run.results[i].Objective
		if positive {
			v = math.Log(v)
		}
		y = append(y, v)
	}
	return rows, y
}

// correlationRatio is ε² of a feature: 1 − MS within / MS total, by value. It is never below 0, and nil where there are fewer
// than two of y for each value.
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
	if n < 2*k {
		return nil
	}
	within := 0.0
	for _, g := range groups {
		within += g.squares - g.sum*g.sum/g.n
	}
	ratio := math.Max(0, 1-(within/(n-k))/(total/(n-1)))
	return &ratio
}
