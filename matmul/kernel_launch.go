package matmul

import (
	"errors"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/spec"
)

// An openclLaunch is a kernel built in one configuration, with the matrices bound to it.
type openclLaunch struct {
	kernel   *openclKernel
	matrices *Matrices
	buffers  *buffers
	text     string // the configuration

	program  *cl.Program
	function *cl.Kernel
	nd       tune.NDRange
}

// triedRuns is how often a configuration is launched to choose among several.
const triedRuns = 3

// try builds the kernel and launches it once, and where it shall be compared with others, checks
// the result and gives the shortest time of a few launches.
func (l *openclLaunch) try(p *tune.Problem, at places, compared bool) (float64, error) {
	if err := l.build(p, at); err != nil {
		return 0, err
	}
	times, err := l.run(1) // PoCL compiles now
	if err != nil || !compared {
		return 0, err
	}
	if err := errors.Join(l.fetch(), l.matrices.Check(l.kernel.tolerance(l.matrices.N))); err != nil {
		return 0, err
	}
	runs := triedRuns
	if times[0] > enough {
		runs = 1
	}
	if times, err = l.run(runs); err != nil {
		return 0, err
	}
	return tune.StatsOf(times).Min, nil
}

func (l *openclLaunch) build(p *tune.Problem, at places) error {
	o, size := l.kernel, l.matrices.N*l.matrices.N
	configuration, err := spec.ParseConfiguration(p.Parameters(), l.text)
	if err != nil {
		return err
	}
	if err := p.Admit(configuration, o.described); err != nil {
		return err
	}
	v, err := p.Variant(configuration, o.described)
	if err != nil {
		return err
	}
	if reason := v.Refusal(o.described); reason != "" {
		return errors.New(reason)
	}
	if v.Elements[at.a] != size || v.Elements[at.b] != size || v.Elements[at.c] != size {
		return fmt.Errorf("%s takes buffers of %d, %d and %d elements, not of %d", p.KernelName(), v.Elements[at.a], v.Elements[at.b], v.Elements[at.c], size)
	}
	l.nd = v.NDRange
	if l.program, err = o.context.NewProgram(v.Source); err != nil {
		return err
	}
	if err := l.program.Build(v.OptionLine(), o.device); err != nil {
		return err
	}
	if l.function, err = l.program.NewKernel(p.KernelName()); err != nil {
		return err
	}
	return errors.Join(
		l.function.SetArg(at.a, l.buffers.a),
		l.function.SetArg(at.b, l.buffers.b),
		l.function.SetArg(at.c, l.buffers.c))
}

func (l *openclLaunch) launch() (*cl.Event, error) {
	return l.kernel.queue.EnqueueKernel(l.function, nil, l.nd.Global(), l.nd.WorkGroup())
}

// run launches without waiting in between, and reads the times from the events. Where these cannot
// be used, every launch is waited for.
func (l *openclLaunch) run(times int) ([]float64, error) {
	if l.kernel.host {
		return l.runByHost(times)
	}
	events := make([]*cl.Event, 0, times)
	defer func() {
		for _, e := range events {
			e.Release()
		}
	}()
	for range times {
		e, err := l.launch()
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	if err := cl.WaitForEvents(events...); err != nil {
		return nil, err
	}
	took := make([]float64, times)
	for i, e := range events {
		p, err := e.Profile()
		if err != nil {
			return nil, err
		}
		if p.End <= p.Start {
			return nil, fmt.Errorf("the driver's timestamps are no good: start %d ns, end %d ns", p.Start, p.End)
		}
		took[i] = milliseconds(p.Duration())
	}
	return took, nil
}

func (l *openclLaunch) runByHost(times int) ([]float64, error) {
	took := make([]float64, times)
	for i := range took {
		began := time.Now()
		e, err := l.launch()
		if err != nil {
			return nil, err
		}
		err = e.Wait()
		took[i] = milliseconds(time.Since(began))
		e.Release()
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

func (l *openclLaunch) roundTrip() (float64, error) {
	q, m := l.kernel.queue, l.matrices
	began := time.Now()
	if err := errors.Join(q.Write(l.buffers.a, 0, cl.Bytes(m.A)), q.Write(l.buffers.b, 0, cl.Bytes(m.B))); err != nil {
		return 0, err
	}
	e, err := l.launch()
	if err != nil {
		return 0, err
	}
	defer e.Release()
	if err := l.fetch(); err != nil { // in order: after the launch
		return 0, err
	}
	took := milliseconds(time.Since(began))
	return took, e.Wait() // of a launch that failed
}

func (l *openclLaunch) fetch() error {
	return l.kernel.queue.Read(l.buffers.c, 0, cl.Bytes(l.matrices.C))
}

func (l *openclLaunch) configuration() string { return l.text }
func (l *openclLaunch) hostTimer() bool       { return l.kernel.host }

// release gives up the kernel, and close the buffers too.
func (l *openclLaunch) release() {
	l.function.Release()
	l.program.Release()
}

func (l *openclLaunch) close() {
	_ = l.kernel.queue.Finish() // of a launch that failed, run has told
	l.release()
	l.buffers.release()
}
