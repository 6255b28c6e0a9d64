package worker

import (
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
)

// references are the right outputs that workers have made, by what they depend on: each is
// made once, and handed to every other worker that needs it.
type references struct {
	made   map[string]map[string]*array.Array
	making map[string]*member
	wanted map[string][]*member // that wait for it
	deaths int                  // in a row, of workers that were making one
}

// maxReferences bounds how many are kept.
const maxReferences = 16

// need answers a worker that needs right outputs: with them, or by letting it make them, or
// later.
func (r *references) need(m *member, key string, now time.Time) {
	switch maker := r.making[key]; {
	case r.made[key] != nil:
		m.process.send(request{Outputs: &outputs{key, r.made[key]}})
	case maker == nil:
		r.letMake(m, key)
	default:
		m.enter(needing, now)
		m.watch.clear()
		if r.wanted == nil {
			r.wanted = map[string][]*member{}
		}
		r.wanted[key] = append(r.wanted[key], m)
	}
}

func (r *references) letMake(m *member, key string) {
	if r.making == nil {
		r.making = map[string]*member{}
	}
	r.making[key] = m
	m.process.send(request{Outputs: &outputs{Key: key}})
}

// keep takes outputs that a worker has made, and hands them to those that wait.
func (p *Pool) keep(o *outputs, now time.Time) {
	r := &p.references
	r.deaths = 0
	if r.made == nil || len(r.made) == maxReferences {
		r.made = map[string]map[string]*array.Array{}
	}
	r.made[o.Key] = o.Arrays
	delete(r.making, o.Key)
	for _, m := range r.wanted[o.Key] {
		p.goOn(m, now)
		m.process.send(request{Outputs: o})
	}
	delete(r.wanted, o.Key)
}

// goOn lets a worker work that has waited for outputs.
func (p *Pool) goOn(m *member, now time.Time) {
	m.enter(working, now)
	m.begin(device.StageVerify, now)
	p.watchStage(m, 0, now)
}

// leavesReferences lets another worker make the outputs that a worker has not made, which
// has ended its task or its life.
func (p *Pool) leavesReferences(m *member, now time.Time) {
	r := &p.references
	for key, waiting := range r.wanted {
		r.wanted[key] = slices.DeleteFunc(waiting, func(other *member) bool { return other == m })
	}
	for key, maker := range r.making {
		if maker != m {
			continue
		}
		delete(r.making, key)
		if waiting := r.wanted[key]; len(waiting) > 0 {
			r.wanted[key] = waiting[1:]
			p.goOn(waiting[0], now)
			r.letMake(waiting[0], key)
		}
	}
}
