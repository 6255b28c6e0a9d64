package worker

import (
	"context"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
)

// Evaluate implements tune.Evaluator. Cancelling kills the workers that are at something.
func (p *Pool) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	if p.inProcess != nil {
		return p.inProcess.Evaluate(ctx, in, out)
	}
	if p.isClosed() {
		return errClosed
	}
	defer p.abandon()
	for {
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
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, ok := <-from:
			if ok {
				p.take(c)
			} else {
				in = nil
			}
		case e := <-p.events:
			err = p.handle(e, time.Now())
		case <-p.alarm(time.Now()):
			err = p.expire(time.Now())
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

// Probe implements tune.Prober. A probe is not counted by [Pool.Evaluated].
func (p *Pool) Probe(ctx context.Context, c space.Configuration) (tune.Result, error) {
	if p.inProcess != nil {
		return p.inProcess.Probe(ctx, c)
	}
	p.fresh = device.FreshOption()
	defer func() { p.fresh = "" }()
	in, out := make(chan space.Configuration, 1), make(chan tune.Result, 1)
	in <- c
	close(in)
	if err := p.Evaluate(ctx, in, out); err != nil {
		return tune.Result{}, err
	}
	return <-out, nil
}

// wait is the life of a pool that evaluates nothing, until something has come true.
func (p *Pool) wait(ctx context.Context, until func() bool) error {
	for !until() {
		var err error
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case e := <-p.events:
			err = p.handle(e, time.Now())
		case <-p.alarm(time.Now()):
			err = p.expire(time.Now())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take accepts a configuration.
func (p *Pool) take(c space.Configuration) {
	t := &task{configuration: c, values: valuesOf(c), fresh: p.fresh}
	if p.whole {
		p.toEvaluate.add(t)
	} else {
		p.toBuild.add(t)
	}
}

// held is how many configurations the pool has not answered.
func (p *Pool) held() int {
	n := p.toBuild.len() + p.toEvaluate.len()
	for _, m := range p.members {
		if m.task != nil {
			n++
		}
	}
	return n
}

// room is how many configurations the pool can use at once.
func (p *Pool) room() int {
	if p.whole {
		return p.most + 2 // so that a worker finds its next one waiting
	}
	return p.most + len(p.devices) + p.ahead()
}

// alarm fires when the next watch runs out.
func (p *Pool) alarm(now time.Time) <-chan time.Time {
	var first time.Time
	for _, m := range p.members {
		if d, ok := m.watch.running(); ok && (first.IsZero() || d.Before(first)) {
			first = d
		}
	}
	if first.IsZero() {
		return nil
	}
	return time.After(first.Sub(now))
}

// abandon forgets what was not finished, and ends the workers that are at it.
func (p *Pool) abandon() {
	now := time.Now()
	for _, m := range p.members {
		m.task = nil
		if m.state != idle {
			p.dismiss(m, now)
		}
	}
	p.toBuild, p.toEvaluate, p.results, p.gate = queue{}, queue{}, nil, nil
	p.references.making, p.references.wanted = nil, nil
	p.release(p.timer, now)
}
