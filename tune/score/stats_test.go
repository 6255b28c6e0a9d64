package score

import (
	"math"
	"testing"
)

func TestStatsOf(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  Stats
	}{
		{nil, Stats{}},
		{[]float64{3}, Stats{Count: 1, Mean: 3, Median: 3, Min: 3, Max: 3, StandardDeviation: 0}},
		{[]float64{4, 1, 1}, Stats{Count: 3, Mean: 2, Median: 1, Min: 1, Max: 4, StandardDeviation: math.Sqrt(3)}},
		{[]float64{1, 2, 4, 3}, Stats{Count: 4, Mean: 2.5, Median: 2.5, Min: 1, Max: 4, StandardDeviation: math.Sqrt(5. / 3)}},
	} {
		if got := StatsOf(c.times); math.Abs(got.StandardDeviation-c.want.StandardDeviation) > 1e-12 {
			t.Errorf("%v: deviation %v", c.times, got.StandardDeviation)
		} else if got.StandardDeviation = c.want.StandardDeviation; got != c.want {
			t.Errorf("%v: %+v", c.times, got)
		}
	}
}

func TestWorse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		what                string
		maximize            bool
		value, best, factor float64
		want                bool
	}{
		{"slower by more", false, 3.1, 1, 3, true},
		{"slower by the factor", false, 3, 1, 3, false},
		{"slower by less", false, 2.9, 1, 3, false},
		{"faster", false, 0.1, 1, 3, false},
		{"the best itself", false, 1, 1, 1.5, false},
		{"negative, minimised", false, -5, 1, 3, false},
		{"a rate lower by more", true, 0.3, 1, 3, true},
		{"a rate lower by the factor", true, 0.5, 1, 2, false},
		{"a rate lower by less", true, 0.4, 1, 3, false},
		{"a higher rate", true, 5, 1, 3, false},
		{"a rate of nothing", true, 0, 1, 3, true},
		{"negative, maximised", true, -5, 1, 3, true},
		{"best is 0", false, 5, 0, 3, false},
		{"best is 0, maximised", true, -5, 0, 3, false},
		{"best is negative", false, 5, -1, 3, false},
		{"factor 1", false, 5, 1, 1, false},
		{"factor below 1", true, 0.1, 1, 0.5, false},
		{"factor 0", false, 5, 1, 0, false},
		{"negative factor", true, 0.1, 1, -2, false},
		{"no value", false, nan, 1, 3, false},
		{"an endless value", false, inf, 1, 3, false},
		{"no best", false, 5, nan, 3, false},
		{"an endless best", true, 5, inf, 3, false},
		{"no factor", false, 5, 1, nan, false},
		{"an endless factor", true, -5, 1, inf, false},
		{"a bound beyond all numbers", false, math.MaxFloat64, math.MaxFloat64 / 2, 3, false},
	} {
		if got := (Objective{Name: "o", Maximize: c.maximize}).Worse(c.value, c.best, c.factor); got != c.want {
			t.Errorf("%s: %v is worse than %v by more than %v: %v, want %v", c.what, c.value, c.best, c.factor, got, c.want)
		}
	}
}
