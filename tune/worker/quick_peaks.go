package worker

import (
	"context"
	"iter"
	"reflect"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
)

// probes measure the peaks that the limits of a search need, one variant of a kernel at a time, while a worker that evaluates on a
// GPU has nothing else to do: builders compile, and the device is idle. A configuration waits for one variant at most, which takes
// some 0.1 s with its compilation. Nothing is timed meanwhile, because the same process times. After the search, [MeasurePeaks]
// asks for what is left.
type probes struct {
	task     peak.Task
	launcher *device.Launcher
	next     func() (measured, bool) // measures a variant
	cancel   func()
	known    []measured // what was reported so far, without figures that later ones replace
	ended    bool
}

// prepareProbes begins the probes of a task, or goes on with them if they are of the same task.
func (s *server) prepareProbes(t peak.Task) {
	l := s.evaluator.Launcher()
	if p := s.probes; p != nil {
		if p.launcher == l && reflect.DeepEqual(p.task.Needs, t.Needs) {
			return
		}
		p.cancel()
	}
	t.Shared, t.Within = true, 0
	p := &probes{task: t, launcher: l}
	ctx, cancel := context.WithCancel(context.Background())
	next, stop := iter.Pull(func(yield func(measured) bool) {
		_ = t.Run(ctx, l.Device, l, t.Parts(), func(part peak.Part, known *hardware.Peaks, end bool) {
			if !yield(measured{part.Name, known, end}) {
				cancel()
			}
		})
	})
	p.next, p.cancel = next, func() { cancel(); stop() }
	s.probes = p
}

// step measures one more variant. It returns false if nothing is left.
func (p *probes) step() bool {
	m, more := p.next()
	if p.ended = !more; p.ended {
		return false
	}
	if last := len(p.known) - 1; last >= 0 && p.known[last].Peaks != nil && p.known[last].Part == m.Part {
		p.known = p.known[:last]
	}
	p.known = append(p.known, m)
	return true
}

// betweenAssignments is the time within which the parent sends the next assignment, if there is one.
const betweenAssignments = 2 * time.Millisecond

// next returns the next request. Until there is one, it measures peaks.
func (s *server) next() request {
	for p := s.probes; p != nil && !p.ended && s.evaluator != nil && p.launcher == s.evaluator.Launcher(); {
		select {
		case r := <-s.work:
			return r
		case <-time.After(betweenAssignments):
		}
		s.parent.Send(answer{Probing: &probing{true}})
		p.step()
		s.parent.Send(answer{Probing: &probing{false}})
	}
	return <-s.work
}

// finishProbes tells the parent what the probes know, and measures what is left within a time.
func (s *server) finishProbes(within time.Duration) {
	p := s.probes
	tell := func(m measured) { s.parent.Send(answer{Measured: &m}) }
	for _, m := range p.known {
		tell(m)
	}
	for end := time.Now().Add(within); time.Now().Before(end) && p.step(); {
		tell(p.known[len(p.known)-1])
	}
	if !p.ended {
		tell(measured{})
		p.cancel()
		s.probes = nil
	}
}
