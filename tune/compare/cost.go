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

// finalCost is the cost in a final measurement, where that is known.
func finalCost(o tune.Objective, r *tune.Result) (cost, bool) {
	f := r.Figures()
	if !f.Final {
		return 0, false
	}
	c, err := costOf(o, f.Objective)
	return c, err == nil
}
