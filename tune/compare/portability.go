package compare

import "math"

// Portability is the performance portability of a configuration over devices, of its efficiency
// on each: their harmonic mean, or 0 where one is 0 because the configuration does not run there
// or gives wrong output. Efficiencies are from 0 to 1.
//
// It is the metric PP of S. J. Pennycook, J. D. Sewall and V. W. Lee, «A Metric for Performance
// Portability» (PMBS 2016, arXiv:1611.07409) and «Implications of a metric for performance
// portability» (Future Generation Computer Systems 92, 2019). Application efficiency is the best
// known time of a device over that of the configuration; architectural efficiency is what the
// device's limit allows over what the configuration takes.
func Portability(efficiencies []float64) float64 {
	if len(efficiencies) == 0 {
		return 0
	}
	sum := 0.0
	for _, e := range efficiencies {
		if !(e > 0) {
			return 0
		}
		sum += 1 / e
	}
	return math.Min(1, float64(len(efficiencies))/sum) // rounding only: a sum of ones is exact
}
