package problem

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/internal/nearest"
)

// A Timing says how configurations are timed.
type Timing struct {
	Cache    CacheState    // of each timed launch; default: CacheWarm
	Launches int           // timed launches of a configuration; default: DefaultLaunches
	Time     time.Duration // of the timed launches together, after which no further one is made; 0: no limit
	Warmup   int           // untimed launches before the timed ones; default: 1; NoWarmup: none

	// EarlyStop is how many times worse than the best so far an objective may be after the first timed launch. A
	// configuration beyond it is not launched again. Default: DefaultEarlyStop; NoEarlyStop: all are measured in full.
	EarlyStop float64
}

// A CacheState says where a timed launch finds its data.
type CacheState string

// The states of the caches.
const (
	CacheWarm CacheState = "warm" // as the launch before left them
	CacheCold CacheState = "cold" // in memory: the caches were overwritten. A pipeline begins so, as a whole
)

// DefaultLaunches is the number of timed launches of a configuration, as in the tutorials.
const DefaultLaunches = 7

// NoWarmup is the [Timing.Warmup] of a measurement without untimed launches.
const NoWarmup = -1

const (
	DefaultEarlyStop = 3.0
	NoEarlyStop      = -1 // as a [Timing.EarlyStop]
)

func (p *Problem) compileTiming(errs *fieldErrors) {
	t := p.definition.Measure.Timing
	switch states := []string{string(CacheWarm), string(CacheCold)}; t.Cache {
	case "", CacheWarm, CacheCold:
	default:
		errs.addf("measure.cache", "%q is neither warm nor cold%s", t.Cache, nearest.Hint(string(t.Cache), states))
	}
	if t.Launches < 0 {
		errs.addf("measure.launches", "%d: it must be positive", t.Launches)
	}
	if t.Time < 0 {
		errs.addf("measure.seconds", "%v: it must be positive", t.Time.Seconds())
	}
	if t.Warmup < NoWarmup {
		errs.addf("measure.warmup", "%d: it must not be negative", t.Warmup)
	}
}

// Timing returns how configurations are timed, with the defaults: Launches is positive, and Warmup and EarlyStop are 0 for none.
func (p *Problem) Timing() Timing {
	t := p.definition.Measure.Timing
	t.Cache = cmp.Or(t.Cache, CacheWarm)
	t.Launches = cmp.Or(t.Launches, DefaultLaunches)
	t.Warmup = max(0, cmp.Or(t.Warmup, 1))
	t.EarlyStop = max(0, cmp.Or(t.EarlyStop, DefaultEarlyStop))
	return t
}

// timingDigest returns a text of the settings without which times cannot be compared, "" for the defaults. The number of
// launches, their time and early stops are no such settings.
func timingDigest(t Timing) string {
	text := cacheDigest(t.Cache)
	if t.Warmup != 1 {
		text += fmt.Sprintf(" %d untimed launches", t.Warmup)
	}
	return text
}

func cacheDigest(c CacheState) string {
	if c == CacheWarm {
		return ""
	}
	return string(c) + " caches"
}
