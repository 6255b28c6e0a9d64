package tune

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Stats summarise the timed launches of a configuration. All but Count are in
// milliseconds.
type Stats struct {
	Count             int
	Mean, Median      float64
	Min, Max          float64
	StandardDeviation float64 // of the sample (n − 1); 0 for fewer than two launches
}

// StatsOf summarises times. Without times all fields are 0.
func StatsOf(times []float64) Stats {
	if len(times) == 0 {
		return Stats{}
	}
	sorted := slices.Sorted(slices.Values(times))
	n := len(sorted)
	s := Stats{Count: n, Mean: stat.Mean(sorted, nil), Min: sorted[0], Max: sorted[n-1]}
	s.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	if n > 1 {
		s.StandardDeviation = stat.StdDev(sorted, nil)
	}
	return s
}
