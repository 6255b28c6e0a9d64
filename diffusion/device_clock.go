package diffusion

import (
	"time"

	"github.com/ndtune/ndtune/cl"
)

// A deviceClock adds up the times of kernels by their profiling events.
type deviceClock struct {
	sum      time.Duration
	unusable bool // a driver handed out zero or reversed timestamps
}

// add adds a launch that has ended. The error is that of the launch, where it failed.
func (c *deviceClock) add(event *cl.Event) error {
	p, err := event.Profile()
	if err != nil || p.Start == 0 || p.End <= p.Start {
		c.unusable = true
		return event.Wait()
	}
	c.sum += p.Duration()
	return nil
}

// total is the sum, and 0 where one timestamp cannot be used: a part would say nothing.
func (c *deviceClock) total() time.Duration {
	if c.unusable {
		return 0
	}
	return c.sum
}
