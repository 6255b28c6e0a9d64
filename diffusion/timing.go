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

// BytesPerSecond is the rate at which a kernel of one step a launch would have to move bytes for
// these updates: 8 for each, one float read and one written.
func (t Timing) BytesPerSecond() float64 { return 8 * t.UpdatesPerSecond() }

// LaunchShare is the share of the wall time that was not spent in kernels: what launches cost. It
// is from 0 to 1; ok is false where the time of the kernels is not known.
func (t Timing) LaunchShare() (share float64, ok bool) {
	if t.Device <= 0 || t.Wall <= 0 {
		return 0, false
	}
	return max(0, 1-t.Device.Seconds()/t.Wall.Seconds()), true
}
