package worker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// again is a remeasurement by one worker.
type again struct {
	turn   int  // the place of the configuration that is measured; -1: all of them
	ended  bool // with or without a result
	lost   bool // its worker has died or was killed
	late   bool // it was killed because it took too long
	slow   bool // that was a timed launch
	result remeasured
}

func (a *again) lose(late bool) { a.ended, a.lost, a.late = true, true, late }

// Remeasure implements tune.Remeasurer, on the first device.
func (p *Pool) Remeasure(ctx context.Context, configurations []space.Configuration, rounds int) ([][]float64, error) {
	return p.remeasure(ctx, 0, configurations, rounds)
}

// Cards implements tune.Cards.
func (p *Pool) Cards(context.Context) ([]string, error) {
	names := []string{""} // as in results, which name no device if there is one
	if len(p.devices) > 1 {
		names = names[:0]
		for _, d := range p.devices {
			names = append(names, d.Selector())
		}
	}
	return names, nil
}

// RemeasureOn implements tune.Cards, on one device after the other.
func (p *Pool) RemeasureOn(ctx context.Context, cards []string, configurations []space.Configuration, rounds int) (map[string][][]float64, error) {
	all, _ := p.Cards(ctx)
	measured := map[string][][]float64{}
	for place, name := range all {
		if !slices.Contains(cards, name) {
			continue
		}
		times, err := p.remeasure(ctx, place, configurations, rounds)
		if err != nil {
			return nil, err
		}
		measured[name] = times
	}
	return measured, nil
}

// Reobserve implements tune.Reobserver.
func (p *Pool) Reobserve(ctx context.Context, card string, configurations []space.Configuration, rounds int) ([][][]hardware.Reading, error) {
	all, _ := p.Cards(ctx)
	readings := make([][][]hardware.Reading, len(configurations))
	err := p.inTurn(ctx, max(0, slices.Index(all, card)), configurations, remeasure{Rounds: rounds, Observe: true}, func(i, j int, r *remeasured) {
		if j < len(r.Readings) {
			readings[i] = r.Readings[j]
		}
	})
	if err != nil {
		return nil, err
	}
	return readings, nil
}

// remeasure measures in turn, in one worker on the device at a place.
func (p *Pool) remeasure(ctx context.Context, place int, configurations []space.Configuration, rounds int) ([][]float64, error) {
	times := make([][]float64, len(configurations))
	err := p.inTurn(ctx, place, configurations, remeasure{Rounds: rounds}, func(i, j int, r *remeasured) {
		if j < len(r.Times) {
			times[i] = r.Times[j]
		}
	})
	if err != nil {
		return nil, err
	}
	return times, nil
}

// inTurn lets one worker on the device at a place do what a request says with configurations, whose values it adds. Keep gets each
// configuration that is left and its place in the answer. A configuration of which two workers die, or one that takes too long, is left out.
func (p *Pool) inTurn(ctx context.Context, place int, configurations []space.Configuration, request remeasure, keep func(i, j int, r *remeasured)) error {
	if p.closed {
		return errClosed
	}
	places := make([]int, len(configurations)) // of the configurations that are left
	for i := range places {
		places[i] = i
	}
	deaths := make([]int, len(configurations)) // and slow launches
	before := 0
	for len(places) > 0 {
		a, err := p.measureAgain(ctx, place, configurations, places, request)
		if err != nil {
			return err
		}
		if !a.lost {
			for j, i := range places {
				keep(i, j, &a.result)
			}
			return nil
		}
		if a.turn < 0 || a.turn >= len(places) {
			if request.Singly {
				before++
			}
			if before >= maxStartDeaths {
				return fmt.Errorf("%d workers in a row have ended before they measured anything", before)
			}
			request.Singly = true // which shows whose fault it is
			continue
		}
		before = 0
		guilty := a.turn
		if !a.late || a.slow {
			if deaths[places[a.turn]]++; deaths[places[a.turn]] < maxDeaths {
				continue
			}
		}
		if !a.late {
			if guilty, err = p.guilty(ctx, place, configurations, places[:a.turn+1]); err != nil {
				return err
			}
		}
		places = append(places[:guilty:guilty], places[guilty+1:]...)
	}
	return nil
}

// guilty returns the place of the configuration that makes workers die at the last of some places:
// that configuration itself, or an earlier one that damages the process.
func (p *Pool) guilty(ctx context.Context, place int, configurations []space.Configuration, places []int) (int, error) {
	last := len(places) - 1
	if last == 0 {
		return last, nil
	}
	if died, err := p.killsWorker(ctx, place, configurations, places[last]); died || err != nil {
		return last, err
	}
	for i := range last {
		if died, err := p.killsWorker(ctx, place, configurations, places[i], places[last]); died || err != nil {
			return i, err
		}
	}
	return last, nil
}

// killsWorker lets a fresh worker measure some places, and reports whether it dies.
func (p *Pool) killsWorker(ctx context.Context, place int, configurations []space.Configuration, places ...int) (bool, error) {
	for _, m := range p.members {
		if !m.builds && m.device == place && m.state == idle {
			p.stop(m, time.Now())
		}
	}
	a, err := p.measureAgain(ctx, place, configurations, places, remeasure{Rounds: 1, Singly: true})
	return err == nil && a.lost, err
}

// measureAgain lets a worker measure the configurations at some places.
func (p *Pool) measureAgain(ctx context.Context, place int, configurations []space.Configuration, places []int, r remeasure) (*again, error) {
	for _, i := range places {
		r.Values = append(r.Values, valuesOf(configurations[i]))
	}
	m, err := p.evaluator(ctx, place)
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

// evaluator waits for an idle worker that evaluates on the device at a place, and starts one if there is none.
func (p *Pool) evaluator(ctx context.Context, place int) (*member, error) {
	for {
		some := false // possibly one that is stopping
		for _, m := range p.members {
			if !m.builds && m.device == place {
				if m.state == idle {
					return m, nil
				}
				some = true
			}
		}
		if !some {
			if err := p.start(false, place, time.Now()); err != nil {
				return nil, err
			}
		}
		if _, err := p.step(ctx, nil); err != nil {
			return nil, err
		}
	}
}
