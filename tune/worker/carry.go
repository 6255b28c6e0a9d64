package worker

import "time"

// How a build reaches the worker that measures: most drivers keep what they have compiled on
// disk, where every process finds it. Where loading a build takes about as long as it did to
// build it, the driver does not, and builders hand on the binary instead.
type carry struct {
	binaries bool
	slow     int // loads in a row that were no faster than a build
}

const (
	carrySlow  = 3                     // that many
	carryLeast = 20 * time.Millisecond // what is faster needs no better way
)

// observe takes how long a build took, and how long loading it elsewhere.
func (c *carry) observe(build, load time.Duration) {
	if load < carryLeast || load < build/2 {
		c.slow = 0
		return
	}
	if c.slow++; c.slow >= carrySlow {
		c.binaries = true
	}
}
