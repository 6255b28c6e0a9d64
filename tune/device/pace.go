package device

import (
	"math"
	"sync"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A pace knows the best objective so far, and so what is too slow to be measured often. It
// is safe for concurrent use.
type pace struct {
	problem *tune.Problem
	device  tune.Device
	factor  float64 // of the objectives; at most 1: nothing is too slow

	mutex sync.Mutex
	known bool
	best  float64
}

// set takes an objective that is the best so far.
func (p *pace) set(best float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.known, p.best = true, best
}

// tooSlow judges a configuration by the time of one launch in milliseconds.
func (p *pace) tooSlow(c space.Configuration, ms float64) bool {
	p.mutex.Lock()
	known, best := p.known, p.best
	p.mutex.Unlock()
	if !known || !(p.factor > 1) || math.IsInf(p.factor, 1) {
		return false
	}
	objective, err := p.problem.ObjectiveAt(c, p.device, []float64{ms})
	return err == nil && p.problem.Objective().Worse(objective, best, p.factor)
}
