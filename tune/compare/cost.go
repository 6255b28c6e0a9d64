package compare

import (
	"fmt"
	"math"

	"github.com/ndtune/ndtune/tune"
)

// A cost is the objective of a measurement turned so that less is better, and the ratio of two
// of them is how many times worse one is: the objective where it is minimised, its inverse
// where it is maximised.
type cost = float64

// costOf refuses an objective of which ratios say nothing.
func costOf(o tune.Objective, value float64) (cost, error) {
	if !(value > 0) || math.IsInf(value, 1) {
		return 0, fmt.Errorf("the objective %s is %v: what configurations cost on other devices are ratios, which need positive values", o.Name, value)
	}
	if o.Maximize {
		return 1 / value, nil
	}
	return value, nil
}

// finalCost is the cost at the times of a final measurement. Of an objective that is a metric it
// is not known: records hold values, not formulas.
func finalCost(o tune.Objective, r *tune.Result) (cost, bool) {
	if len(r.Final) == 0 {
		return 0, false
	}
	stats := tune.StatsOf(r.Final)
	switch o.Name {
	case "", "time", "time_median":
		return stats.Median, stats.Median > 0
	case "time_min":
		return stats.Min, stats.Min > 0
	}
	return 0, false
}

// isTime reports whether an objective is a time, which final measurements give too.
func isTime(o tune.Objective) bool {
	switch o.Name {
	case "", "time", "time_median", "time_min":
		return true
	}
	return false
}
