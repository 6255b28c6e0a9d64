package worker

import (
	"maps"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/array"
)

// schedule lets members time that are in line for it. A device that only the evaluating worker
// uses is free at once, unless one that was given up is repeated. Otherwise one member times, and all others are frozen meanwhile; where
// they cannot be frozen, it waits until they are quiet.
//
// It is called after everything that may change who is in line, who times, or who is quiet.
func (p *Pool) schedule(now time.Time) {
	if !p.shared && p.timer == nil {
		p.line = slices.DeleteFunc(p.line, func(m *member) bool {
			if p.wantsQuiet(m) {
				return false
			}
			p.time(m, now)
			return true
		})
	}
	if p.timer == nil && len(p.line) > 0 && p.count(false, timing) == 0 && p.silence(p.line[0], now) {
		p.timer, p.line = p.line[0], p.line[1:]
		p.timer.thaw(now)
		p.time(p.timer, now)
	}
	if p.timer == nil {
		for _, m := range p.members {
			m.thaw(now)
		}
	}
}

// silence freezes all members but one. Where that is impossible, it reports whether they are quiet.
func (p *Pool) silence(but *member, now time.Time) bool {
	for _, m := range p.members {
		switch {
		case m == but:
		case p.freezes:
			m.freeze(now)
		case !m.quiet():
			return false
		}
	}
	return true
}

// disturbed reports whether anything that starts now would disturb a member that times, or delay
// one that waits for quiet.
func (p *Pool) disturbed() bool {
	return p.timer != nil || !p.freezes && len(p.line) > 0
}

// A reference holds the right outputs of a problem for one key, which identifies everything that they
// depend on. One worker makes them for all.
type reference struct {
	arrays  map[string]*array.Array // nil: they are not made yet
	maker   *member                 // nil: nobody makes them
	waiting []*member
}

// maxReferences is the largest number of references that are kept.
const maxReferences = 16

func (p *Pool) reference(key string) *reference {
	r := p.references[key]
	if r == nil {
		if p.references == nil {
			p.references = map[string]*reference{}
		}
		if len(p.references) >= maxReferences {
			maps.DeleteFunc(p.references, func(_ string, r *reference) bool { return r.arrays != nil })
		}
		r = &reference{}
		p.references[key] = r
	}
	return r
}

// keep stores outputs that a worker has made, and sends them to the members that wait for them.
func (p *Pool) keep(o *outputs, now time.Time) {
	p.makerDeaths = 0
	r := p.reference(o.Key)
	for _, m := range r.waiting {
		p.resume(m, now)
		m.child.Requests <- request{Outputs: o}
	}
	*r = reference{arrays: o.Arrays}
}
