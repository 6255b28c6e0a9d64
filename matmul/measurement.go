package matmul

import "github.com/ndtune/ndtune/tune"

// A Measurement is the times of one entrant at one size.
type Measurement struct {
	N             int
	Alone         []float64 // milliseconds of each multiplication
	RoundTrips    []float64 `json:",omitempty"` // milliseconds of each, with the copies to the device and back; none on the CPU
	Configuration string    `json:",omitempty"` // of a kernel
	HostTimer     bool      `json:",omitempty"` // the driver's timestamps cannot be used: Alone is by the host's clock
}

// Time is the median time of a multiplication alone in milliseconds.
func (m *Measurement) Time() float64 { return tune.StatsOf(m.Alone).Median }

// WithTransfers is the median time of a round trip in milliseconds: on the CPU, which has
// nothing to copy, that of a multiplication.
func (m *Measurement) WithTransfers() float64 {
	if len(m.RoundTrips) == 0 {
		return m.Time()
	}
	return tune.StatsOf(m.RoundTrips).Median
}

// Rate is the floating-point operations of a multiplication of size n, 2·n³, in a time in
// milliseconds, as GFLOP/s.
func Rate(n int, ms float64) float64 {
	if ms <= 0 {
		return 0
	}
	return 2 * float64(n) * float64(n) * float64(n) / ms / 1e6
}
