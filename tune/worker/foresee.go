package worker

import (
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/space"
)

const (
	// Builders hold at most foreseenShare results ahead each, with foreseenBytes of binaries together.
	foreseenShare = 2
	foreseenBytes = 64 << 20
	// There may be foreseenUse builds ahead for each one that was proposed, beyond foreseenFirst. Builds side by side slow each other: with 64
	// builders on 64 processors, 0.78 s each instead of 0.57. So guesses must come true.
	foreseenUse   = 3
	foreseenFirst = 8
)

// foreseen are the configurations that builders build, or have built, before they are proposed, by key.
type foreseen map[string]*assignment

// Foresee implements tune.Foreseer. Builders that have nothing to do build these configurations, as long as no proposal waits for a builder.
// One that is proposed later needs no other build; one whose build fails has a result only then. Workers of a CPU do not build ahead.
func (p *Pool) Foresee(probable []space.Configuration) { p.probable.Store(&probable) }

// buildAhead lets idle builders build what will probably be proposed.
func (p *Pool) buildAhead(now time.Time) {
	probable := p.probable.Load()
	if probable == nil || len(p.toBuild) > 0 {
		return
	}
	left := *probable
	for _, m := range p.members {
		if !m.builds || m.state != idle {
			continue
		}
		i := slices.IndexFunc(left, func(c space.Configuration) bool { return p.foreseen[c.Key()] == nil })
		if i < 0 || p.spent.Ahead >= foreseenFirst+foreseenUse*p.spent.Used || !p.makeRoom(*probable) {
			return
		}
		if p.foreseen == nil {
			p.foreseen = foreseen{}
		}
		t := &assignment{configuration: left[i], foreseen: true}
		p.foreseen[t.configuration.Key()], left = t, left[i+1:]
		p.spent.Ahead++
		p.build(m, t, now)
	}
}

// makeRoom reports whether one more configuration may be built ahead. It forgets those that are no longer probable if there are too many.
func (p *Pool) makeRoom(probable []space.Configuration) bool {
	wanted := map[string]bool{}
	for _, c := range probable {
		wanted[c.Key()] = true
	}
	size := 0
	for _, t := range p.foreseen {
		size += len(t.binary)
	}
	for key, t := range p.foreseen {
		if len(p.foreseen) < foreseenShare*p.most && size < foreseenBytes {
			break
		}
		if t.isBuilt() && !wanted[key] {
			size -= len(t.binary)
			delete(p.foreseen, key)
		}
	}
	return len(p.foreseen) < foreseenShare*p.most && size < foreseenBytes
}

// takeForeseen accepts a configuration that was or is built ahead, and reports whether it was.
func (p *Pool) takeForeseen(c space.Configuration) bool {
	t := p.foreseen[c.Key()]
	if t == nil || p.fresh != "" || p.retest.Launches > 0 {
		return false
	}
	delete(p.foreseen, c.Key())
	t.foreseen = false
	p.spent.Used++
	switch {
	case t.failed != nil:
		p.give(t, *t.failed)
	case t.build > 0:
		p.toEvaluate.add(t)
	case t.deaths > 0:
		p.toBuild.add(t)
	}
	return true // else its builder goes on
}

// isBuilt reports whether no builder works on an assignment any more.
func (t *assignment) isBuilt() bool { return t.failed != nil || t.build > 0 || t.deaths > 0 }
