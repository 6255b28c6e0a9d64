package problem

import (
	"cmp"
	"fmt"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/task"
)

func (p *Problem) compileTiming(errs *fieldErrors) {
	t := p.definition.Measure.Timing
	switch states := []string{string(task.CacheWarm), string(task.CacheCold)}; t.Cache {
	case "", task.CacheWarm, task.CacheCold:
	default:
		errs.addf("measure.cache", "%q is neither warm nor cold%s", t.Cache, nearest.Hint(string(t.Cache), states))
	}
	if t.Launches < 0 {
		errs.addf("measure.launches", "%d: it must be positive", t.Launches)
	}
	if t.Time < 0 {
		errs.addf("measure.seconds", "%v: it must be positive", t.Time.Seconds())
	}
	if t.Warmup < task.NoWarmup {
		errs.addf("measure.warmup", "%d: it must not be negative", t.Warmup)
	}
}

// Timing returns how configurations are timed, with the defaults: Launches is positive, and Warmup and EarlyStop are 0 for none.
func (p *Problem) Timing() task.Timing {
	t := p.definition.Measure.Timing
	t.Cache = cmp.Or(t.Cache, task.CacheWarm)
	t.Launches = cmp.Or(t.Launches, task.DefaultLaunches)
	t.Warmup = max(0, cmp.Or(t.Warmup, 1))
	t.EarlyStop = max(0, cmp.Or(t.EarlyStop, task.DefaultEarlyStop))
	return t
}

// timingDigest returns a text of the settings without which times cannot be compared, "" for the defaults. The number of
// launches, their time and early stops are no such settings.
func timingDigest(t task.Timing) string {
	text := cacheDigest(t.Cache)
	if t.Warmup != 1 {
		text += fmt.Sprintf(" %d untimed launches", t.Warmup)
	}
	return text
}

func cacheDigest(c task.CacheState) string {
	if c == task.CacheWarm {
		return ""
	}
	return string(c) + " caches"
}
