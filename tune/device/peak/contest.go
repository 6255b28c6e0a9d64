package peak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// A variant of a kernel has a text for people.
type variant interface {
	comparable
	fmt.Stringer
}

// A probe is one measurement: a variant of a kernel, on a set of buffers if it moves any.
type probe[V variant] struct {
	variant V
	bytes   int64         // of the set; 0: it moves none
	budget  time.Duration // of its launches
	must    bool          // it is made even if the time is up and its set has a rate
}

// A rated variant is one with its rate.
type rated[V variant] struct {
	variant V
	rate    float64
}

// A contest makes probes and keeps the fastest variant of each set. A variant that fails once is not tried again.
type contest[V variant] struct {
	meter *Meter
	rate  func(ctx context.Context, v V, bytes int64, budget time.Duration) (float64, error)

	best   map[int64]rated[V] // by set
	failed map[V]bool
	err    error // of the first variant that failed
}

// newContest returns a contest without any rate.
func newContest[V variant](m *Meter, rate func(context.Context, V, int64, time.Duration) (float64, error)) *contest[V] {
	return &contest[V]{meter: m, rate: rate, best: map[int64]rated[V]{}, failed: map[V]bool{}}
}

// run makes probes in their order. If the time is up, it goes on only with those that must be made, and with sets without a rate.
func (c *contest[V]) run(ctx context.Context, probes ...probe[V]) {
	for _, p := range probes {
		if ctx.Err() != nil {
			return
		}
		if c.failed[p.variant] {
			continue
		}
		c.meter.asked++
		if best := c.best[p.bytes]; best.rate > 0 && !p.must && c.meter.late() {
			c.meter.skipped++
			continue
		}
		rate, err := c.rate(ctx, p.variant, p.bytes, p.budget)
		if err != nil {
			c.failed[p.variant] = true
			c.err = cmp.Or(c.err, fmt.Errorf("%s: %w", p.variant, err))
			continue
		}
		if rate > c.best[p.bytes].rate {
			c.best[p.bytes] = rated[V]{p.variant, rate}
		}
	}
}

// confirm measures the fastest variant of a set again, for longer and even if the time is up.
func (c *contest[V]) confirm(ctx context.Context, bytes int64) {
	if best, known := c.best[bytes]; known {
		c.run(ctx, probe[V]{best.variant, bytes, finalBudget, true})
	}
}

// errNoVariant is the error of a device that takes no variant of a kernel.
var errNoVariant = errors.New("the device takes none of the variants")

// none returns the reason why no variant has a rate.
func (c *contest[V]) none() error { return cmp.Or(c.err, errNoVariant) }
