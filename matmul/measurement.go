package matmul

import "github.com/ndtune/ndtune/tune/problem"

// A Measurement is the times of one entrant at one size.
type Measurement struct {
	N             int
	Alone         []float64 // milliseconds of each multiplication
	RoundTrips    []float64 // milliseconds of each, with the copies to the device and back; none on the CPU
	Configuration string    // of a kernel
	HostTimer     bool      // the driver's timestamps cannot be used: Alone is by the host's clock
}

// Time is the median time of a multiplication alone in milliseconds.
func (m *Measurement) Time() float64 { return problem.StatsOf(m.Alone).Median }

// WithTransfers is the median time of a round trip in milliseconds: on the CPU, which has
// nothing to copy, that of a multiplication.
func (m *Measurement) WithTransfers() float64 {
	if len(m.RoundTrips) == 0 {
		return m.Time()
	}
	return problem.StatsOf(m.RoundTrips).Median
}

// Rate is the floating-point operations of a multiplication of size n, 2·n³, in a time in
// milliseconds, as GFLOP/s.
func Rate(n int, ms float64) float64 {
	if ms <= 0 {
		return 0
	}
	return 2 * float64(n) * float64(n) * float64(n) / ms / 1e6
}

// How long a measurement is repeated, in milliseconds.
const (
	enough   = 100.0  // after which the least number of runs is enough
	tooLong  = 2000.0 // after which any number of runs is
	atOnce   = 20.0   // of launches that are enqueued without waiting
	mostRuns = 200    // unless more are wanted
)

// repeat times run at least so often, and then until 100 ms or 200 times are reached, but stops
// after 2 s. A run of at most 20 ms gets an untimed warm-up, which brings caches and clock rates
// into the state in which they are used.
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

// batchOf is how many runs of a duration fit in 20 ms: at least 1, and at most so many.
func batchOf(each float64, most int) int {
	if each <= 0 {
		return 1
	}
	return max(1, min(most, int(atOnce/each)))
}
