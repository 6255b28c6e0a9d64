package diffusion

import "time"

// A Timing says what an advance did and how long it took.
type Timing struct {
	Steps int           // steps done; fewer than asked for where the context was cancelled
	Cells int           // cells updated in a step: all but the edges
	Wall  time.Duration // by the host's clock

	// Device is the time of the kernels alone, the sum of their profiling events; 0 on the
	// CPU, and where the driver's timestamps cannot be used.
	Device time.Duration
}

// Updates is the number of cell updates.
func (t Timing) Updates() int64 { return int64(t.Steps) * int64(t.Cells) }

// UpdatesPerSecond is the rate of cell updates by the host's clock, 0 where there were none.
func (t Timing) UpdatesPerSecond() float64 {
	if t.Wall <= 0 {
		return 0
	}
	return float64(t.Updates()) / t.Wall.Seconds()
}
