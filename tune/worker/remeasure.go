package worker

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
)

// again is a remeasurement by one worker.
type again struct {
	turn   int    // the index of the configuration that is measured; -1: all of them
	ended  bool   // with or without a result
	lost   bool   // its worker has died or was killed
	late   bool   // it was killed because it took too long
	slow   bool   // that was a timed launch
	reason string // why it was lost
	result []tune.Turns
}

func (a *again) lose(late bool, why string) {
	a.ended, a.lost, a.late, a.reason = true, true, late, why
}

// Cards implements tune.Remeasurer.
func (p *Pool) Cards(context.Context) ([]string, error) {
	if len(p.devices) == 1 {
		return []string{""}, nil // as in results
	}
	return each.Of(p.devices, device.Listed.Selector), nil
}

// index returns the index of a card, the first if there is one alone.
func (p *Pool) index(card string) int {
	return max(0, slices.IndexFunc(p.devices, func(d device.Listed) bool { return d.Selector() == card }))
}

// Remeasure implements tune.Remeasurer.
func (p *Pool) Remeasure(ctx context.Context, card string, configurations []space.Configuration, rounds int, observe bool) ([]tune.Turns, error) {
	return p.inTurn(ctx, p.index(card), configurations, remeasure{Rounds: rounds, Observe: observe})
}

// inTurn lets one worker on a device do what a request says with configurations, whose values it adds. The result has an element for each
// configuration, with the reason for one of which two workers die, and for one that takes too long.
func (p *Pool) inTurn(ctx context.Context, device int, configurations []space.Configuration, request remeasure) ([]tune.Turns, error) {
	if p.closed {
		return nil, errClosed
	}
	left := make([]int, len(configurations)) // indices of those that are still to be measured
	for i := range left {
		left[i] = i
	}
	all := make([]tune.Turns, len(left))
	deaths := make([]int, len(configurations)) // and slow launches
	before := 0
	for len(left) > 0 {
		some := each.Of(left, func(i int) space.Configuration { return configurations[i] })
		a, err := p.measureAgain(ctx, device, some, request)
		if err != nil {
			return all, err
		}
		if !a.lost {
			for j, i := range left {
				all[i] = a.result[j]
			}
			return all, nil
		}
		if a.turn < 0 || a.turn >= len(left) {
			if request.Singly {
				before++
			}
			if before >= maxStartDeaths {
				return all, fmt.Errorf("%d workers in a row have ended before they measured anything", before)
			}
			request.Singly = true // which shows whose fault it is
			continue
		}
		before = 0
		guilty := a.turn
		if !a.late || a.slow {
			if deaths[left[a.turn]]++; deaths[left[a.turn]] < maxDeaths {
				continue
			}
		}
		if !a.late {
			if guilty, err = p.guilty(ctx, device, some[:a.turn+1]); err != nil {
				return all, err
			}
		}
		all[left[guilty]].Reason = a.reason
		left = slices.Delete(left, guilty, guilty+1)
	}
	return all, nil
}

// guilty returns the index of the configuration that makes workers die at the last of some configurations: that one itself, or an earlier
// one that damages the process.
func (p *Pool) guilty(ctx context.Context, device int, some []space.Configuration) (int, error) {
	last := len(some) - 1
	if last == 0 {
		return last, nil
	}
	if died, err := p.killsWorker(ctx, device, some[last]); died || err != nil {
		return last, err
	}
	for i := range last {
		if died, err := p.killsWorker(ctx, device, some[i], some[last]); died || err != nil {
			return i, err
		}
	}
	return last, nil
}

// killsWorker lets a fresh worker measure some configurations, and reports whether it dies.
func (p *Pool) killsWorker(ctx context.Context, device int, some ...space.Configuration) (bool, error) {
	for _, m := range p.members {
		if !m.builds && m.device == device && m.state == idle {
			p.stop(m, time.Now())
		}
	}
	a, err := p.measureAgain(ctx, device, some, remeasure{Rounds: 1, Singly: true})
	return err == nil && a.lost, err
}

// measureAgain lets a worker measure some configurations.
func (p *Pool) measureAgain(ctx context.Context, device int, some []space.Configuration, r remeasure) (*again, error) {
	r.Values = each.Of(some, valuesOf)
	if len(p.fastest) > 0 {
		r.Binaries = each.Of(some, p.binaryOf)
	}
	m, err := p.evaluator(ctx, device)
	if err != nil {
		return nil, err
	}
	a := &again{turn: -1}
	m.again = a
	p.work(m, request{Remeasure: &r}, time.Now())
	for !a.ended {
		if _, err := p.step(ctx, nil); err != nil {
			p.cancel()
			return nil, err
		}
	}
	return a, nil
}

// mostFast is how many binaries are kept: those of the finalists, and of their rivals.
const mostFast = 20

// A fast is the binary of one of the fastest configurations.
type fast struct {
	key    string
	time   float64
	binary []byte
}

// keepBinary keeps the binary of a configuration if it is one of the fastest. The card of the final measurement has not built those that
// others measured.
func (p *Pool) keepBinary(t *assignment, time float64) {
	if len(p.devices) == 1 || len(t.binary) == 0 || t.fresh != "" {
		return
	}
	i := sort.Search(len(p.fastest), func(i int) bool { return p.fastest[i].time > time }) // of equal ones, the first are finalists
	p.fastest = slices.Insert(p.fastest, i, fast{t.configuration.Key(), time, t.binary})
	p.fastest = p.fastest[:min(len(p.fastest), mostFast)]
}

// binaryOf returns the binary of a configuration, or nil.
func (p *Pool) binaryOf(c space.Configuration) []byte {
	i := slices.IndexFunc(p.fastest, func(f fast) bool { return f.key == c.Key() })
	if i < 0 {
		return nil
	}
	return p.fastest[i].binary
}

// evaluator waits for an idle worker that evaluates on a device, and starts one if there is none.
func (p *Pool) evaluator(ctx context.Context, device int) (*member, error) {
	for {
		some := false // possibly one that is stopping
		for _, m := range p.members {
			if !m.builds && m.device == device {
				if m.state == idle {
					return m, nil
				}
				some = true
			}
		}
		if !some {
			if err := p.start(false, device, time.Now()); err != nil {
				return nil, err
			}
		}
		if _, err := p.step(ctx, nil); err != nil {
			return nil, err
		}
	}
}
