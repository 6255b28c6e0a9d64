package matmul

import (
	"github.com/ndtune/ndtune/tune/problem"
)

// A Measurement holds the times of an entrant at a size.
type Measurement struct {
	N             int
	Alone         []float64 // milliseconds of each multiplication
	RoundTrips    []float64 // milliseconds of each, with the copies to the device and back; none on the CPU
	Configuration string    // of a kernel
	HostTimer     bool      // the driver's timestamps cannot be used: Alone is by the host's clock
}

// Time returns the median time of a multiplication alone in milliseconds.
func (m *Measurement) Time() float64 { return problem.StatsOf(m.Alone).Median }

// WithTransfers returns the median time of a round trip in milliseconds. On the CPU, without copies,
// it is that of a multiplication.
func (m *Measurement) WithTransfers() float64 {
	if len(m.RoundTrips) == 0 {
		return m.Time()
	}
	return problem.StatsOf(m.RoundTrips).Median
}

// Rate returns the rate of a multiplication of size n, with 2·n³ operations, that takes ms
// milliseconds, in GFLOP/s.
func Rate(n int, ms float64) float64 {
	if ms <= 0 {
		return 0
	}
	return 2 * float64(n) * float64(n) * float64(n) / ms / 1e6
}

// The limits of the repetitions of a measurement, in milliseconds.
const (
	enough   = 100.0  // the time after which the least number of runs is enough
	tooLong  = 2000.0 // the time after which any number of runs is enough
	atOnce   = 20.0   // the time of launches that are enqueued without waiting
	mostRuns = 200    // unless the least number is larger
)

// repeat calls run for at least the least number of times, then until 100 ms or 200 runs are reached,
// but stops after 2 s. A run of at most 20 ms gets an untimed warm-up, which brings caches and clock
// rates into a steady state.
func repeat(least int, run func(times int) ([]float64, error)) ([]float64, error) {
	times, err := run(1)
	if err != nil {
		return nil, err
	}
	each := times[0]
	if each <= atOnce {
		if _, err := run(batchOf(each, least)); err != nil {
			return nil, err
		}
		times = nil
	}
	sum := 0.0
	for _, t := range times {
		sum += t
	}
	most := max(mostRuns, least)
	for sum < tooLong && (len(times) < least || len(times) < mostRuns && sum < enough) {
		more, err := run(batchOf(each, min(least, most-len(times))))
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			sum, each = sum+t, t
		}
		times = append(times, more...)
	}
	return times, nil
}

// batchOf returns how many runs of a duration fit in 20 ms, from 1 to most.
func batchOf(each float64, most int) int {
	if each <= 0 {
		return 1
	}
	return max(1, min(most, int(atOnce/each)))
}
