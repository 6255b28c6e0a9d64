package simulate

import "math"

// A Curve is how good the best configuration is that a strategy has found on a recording: the
// mean over repeats and its standard error, after 1, 2, 3, … unique evaluations.
type Curve struct {
	Strategy, Record string
	Repeats          int
	Mean             []float64 // in [0, 1]
	StandardError    []float64 // NaN where there is one repeat only
}

// At is the mean and its standard error after a number of evaluations, from 1 on.
func (c *Curve) At(evaluations int) (mean, standardError float64) {
	return c.Mean[evaluations-1], c.StandardError[evaluations-1]
}

// AllRecords is the record of a curve of [Averages].
const AllRecords = "all"

// Averages are the curves of each strategy over all its records, in the order in which the
// strategies come first. Each record has the same weight. The standard error is that of the
// repeats: it says how well these records are known, not how other records would do.
func Averages(curves []Curve) []Curve {
	var averages []Curve
	of := map[string][]Curve{}
	for _, c := range curves {
		if of[c.Strategy] == nil {
			averages = append(averages, Curve{Strategy: c.Strategy, Record: AllRecords, Repeats: c.Repeats})
		}
		of[c.Strategy] = append(of[c.Strategy], c)
	}
	for i := range averages {
		averages[i].average(of[averages[i].Strategy])
	}
	return averages
}

func (c *Curve) average(curves []Curve) {
	n := float64(len(curves))
	c.Mean = make([]float64, len(curves[0].Mean))
	c.StandardError = make([]float64, len(c.Mean))
	for i := range c.Mean {
		var mean, variance float64
		for _, one := range curves {
			mean += one.Mean[i]
			variance += one.StandardError[i] * one.StandardError[i]
		}
		c.Mean[i], c.StandardError[i] = mean/n, math.Sqrt(variance)/n
	}
}
