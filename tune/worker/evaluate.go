package worker

import (
	"context"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
)

// Evaluate implements tune.Evaluator. Cancelling kills the workers that are not idle.
func (p *Pool) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	if p.closed {
		return errClosed
	}
	defer p.cancel()
	p.dropping.Store(false)
	for {
		if p.dropping.Load() {
			waits := func(t *assignment) bool { return t.build == 0 && t.deaths == 0 && t.slow == nil }
			p.toBuild, p.toEvaluate = slices.DeleteFunc(p.toBuild, waits), slices.DeleteFunc(p.toEvaluate, waits)
		}
		if err := p.assign(time.Now()); err != nil {
			return err
		}
		p.capacity.Store(int64(p.room()))
		if in == nil && p.held() == 0 {
			return nil
		}
		from := in
		if p.held() >= p.room() {
			from = nil
		}
		none, err := p.step(ctx, from)
		if none {
			in = nil
		}
		for _, r := range p.results {
			select {
			case out <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p.results = nil
		if err != nil {
			return err
		}
	}
}

// DropWaiting lets the [Pool.Evaluate] that runs forget the configurations that no worker has begun: it does not answer them.
func (p *Pool) DropWaiting() { p.dropping.Store(true) }

// Probe implements tune.Prober. A probe is not counted by [Pool.Evaluated].
func (p *Pool) Probe(ctx context.Context, c space.Configuration, again tune.Retest) (tune.Result, error) {
	p.fresh, p.retest = device.FreshOption(again), again
	defer func() { p.fresh, p.retest = "", tune.Retest{} }()
	return tune.EvaluateOne(ctx, p, c)
}

// step waits for one configuration or event, or for a watch to run out, and deals with it. It
// reports whether there are no more configurations.
func (p *Pool) step(ctx context.Context, in <-chan space.Configuration) (none bool, err error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case c, ok := <-in:
		if ok {
			p.take(c)
		}
		return !ok, nil
	case e := <-p.events:
		return false, p.handle(e, time.Now())
	case <-p.alarm():
		return false, p.expire(time.Now())
	}
}

// take accepts a configuration.
func (p *Pool) take(c space.Configuration) {
	builds := !p.noBuilders && p.retest.Launches == 0
	p.queue(builds).add(&assignment{configuration: c, fresh: p.fresh, retest: p.retest})
}

// held returns the number of configurations without a result.
func (p *Pool) held() int {
	n := len(p.toBuild) + len(p.toEvaluate) + len(p.slow)
	for _, m := range p.members {
		if m.task != nil {
			n++
		}
	}
	return n
}

// room returns the number of configurations that the pool can use at once.
func (p *Pool) room() int {
	if p.noBuilders {
		return p.most + 2 + len(p.slow) // so that a worker finds its next one waiting
	}
	return p.most + len(p.devices) + p.ahead() + len(p.slow)
}

// alarm returns a channel that receives when the next watch runs out, or when another builder is worth its start.
func (p *Pool) alarm() <-chan time.Time {
	at, now, builds := p.deadline(), time.Now(), !p.noBuilders
	if pay := p.payTime(now); pay.After(now) && (at.IsZero() || pay.Before(at)) &&
		len(*p.queue(builds)) > 0 && p.count(builds) < p.most && p.mayStart() {
		at = pay
	}
	if at.IsZero() {
		return nil
	}
	return time.After(time.Until(at))
}

// deadline returns the time at which the next watch runs out, or zero if none is set.
func (p *Pool) deadline() time.Time {
	var first time.Time
	for _, m := range p.members {
		if d, ok := m.watch.Deadline(); ok && (first.IsZero() || d.Before(first)) {
			first = d
		}
	}
	return first
}

// cancel forgets all assignments, and stops the members that are not idle.
func (p *Pool) cancel() {
	now := time.Now()
	for _, m := range p.members {
		m.task = nil
		if m.state != idle {
			p.stop(m, now)
		}
	}
	p.toBuild, p.toEvaluate, p.slow, p.results = nil, nil, nil, nil
	p.schedule(now)
}

const (
	// aheadTime is how much measuring may be built ahead: enough to keep the measuring worker
	// busy, and little enough that a run which ends can finish it soon.
	aheadTime  = time.Second
	aheadLeast = 2
	aheadMost  = 8 // times the builders
	aheadFirst = 2 // times the builders, as long as nothing was measured: three for each builder keep all busy beside slow builds
)

// An average of durations, of which the later ones count more; 0: unknown.
type average time.Duration

func (a *average) add(d time.Duration) {
	if *a == 0 {
		*a = average(max(d, 1))
	}
	*a += (average(d) - *a) / 8
}

// ahead returns the number of built configurations that may wait to be measured.
func (p *Pool) ahead() int {
	if p.measuring == 0 {
		return aheadFirst * p.most
	}
	n := aheadTime / max(time.Duration(p.measuring), time.Millisecond) * time.Duration(len(p.devices))
	return int(min(max(n, aheadLeast), time.Duration(max(aheadLeast, aheadMost*p.most))))
}
