// Package device evaluates configurations on one OpenCL device, in this process: it builds
// the variant, refuses what the device cannot run, compares the output with the reference,
// and only then times it.
//
// It never times while anything else that it started runs on the device, and it never
// reports the time of a kernel whose output is wrong. It cannot survive a driver that
// crashes or hangs: that takes a process of its own.
package device

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// Options of an Evaluator. Zero fields have the defaults named.
type Options struct {
	Iterations int // timed launches of a configuration; DefaultIterations

	// EarlyStop is how many times worse than the best an objective may be after the first
	// timed launch. A configuration beyond it is not launched again. If EarlyStop is at most
	// 1, every configuration is measured in full.
	EarlyStop float64

	// Timer is the clock to use, hardware.TimerEvent or hardware.TimerHost. If it is empty, the
	// device is probed.
	Timer string

	// Peaks are the measured peaks of the device, for metrics and objectives; nil if they
	// are unknown.
	Peaks *hardware.Peaks

	// Supervisor follows the evaluations; nil: nobody does.
	Supervisor Supervisor
}

// DefaultIterations is how often a configuration is launched for its times, as in the
// tutorials.
const DefaultIterations = 7

// DefaultEarlyStop is the EarlyStop of the command line.
const DefaultEarlyStop = 3

// An Evaluator evaluates the configurations of one problem on one OpenCL device. It
// implements tune.Remeasurer, tune.Observer and tune.Prober. Close it when done. But for Observe and
// SetBest it is not safe for concurrent use.
type Evaluator struct {
	device     *cl.Device
	identity   hardware.Device
	problem    *problem.Problem
	iterations int
	supervisor Supervisor
	session    *session
	references *references
	early      earlyStop
	evaluated  int
}

var errClosed = errors.New("the evaluator is closed")

// Open makes an evaluator for a problem: a context and a queue on the device, and a check
// of its timer. Buffers are made with the first configuration.
func Open(d *cl.Device, p *problem.Problem, o Options) (*Evaluator, error) {
	e, err := newEvaluator(d, p, o)
	if err != nil {
		return nil, err
	}
	e.identity.Timer = e.session.Timer
	e.references.device = e.identity
	return e, nil
}

// newEvaluator is Open for an evaluator whose device has no timer in its identity.
func newEvaluator(d *cl.Device, p *problem.Problem, o Options) (*Evaluator, error) {
	identity, err := Describe(d)
	if err != nil {
		return nil, err
	}
	identity.Peaks = o.Peaks
	if o.Iterations <= 0 {
		o.Iterations = DefaultIterations
	}
	if o.Supervisor == nil {
		o.Supervisor = unsupervised{}
	}
	e := &Evaluator{
		device: d, identity: identity, problem: p, iterations: o.Iterations, supervisor: o.Supervisor,
		references: &references{problem: p, device: identity, supervisor: o.Supervisor},
		early:      earlyStop{problem: p, device: identity, factor: o.EarlyStop},
	}
	if e.session, err = newSession(d, p, o.Timer); err != nil {
		return nil, fmt.Errorf("open %s: %w", identity.Name, err)
	}
	return e, nil
}

// Close releases everything that the evaluator holds on the device. It can be called
// twice.
func (e *Evaluator) Close() {
	if e.session != nil {
		e.session.release()
		e.session = nil
	}
}

// Device is the device with its timer.
func (e *Evaluator) Device() hardware.Device { return e.identity }

// Capacity is 1: in one process, on one device, nothing is gained by holding more.
func (e *Evaluator) Capacity() int { return 1 }

// Evaluated is how many configurations were evaluated to their end so far.
func (e *Evaluator) Evaluated() int { return e.evaluated }

// Observe implements tune.Observer. Configurations far slower than the best are stopped early.
func (e *Evaluator) Observe(best tune.Result) { e.early.set(best.Objective) }

// SetBest is Observe for an objective alone.
func (e *Evaluator) SetBest(objective float64) { e.early.set(objective) }

// Evaluate implements tune.Evaluator. A launch that is running cannot be interrupted:
// cancelling takes effect after it.
func (e *Evaluator) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	if e.session == nil {
		return errClosed
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, ok := <-in:
			if !ok {
				return nil
			}
			result, err := e.One(ctx, c, nil, "")
			if result.Status != "" {
				out <- result
			}
			if err != nil {
				return err
			}
		}
	}
}

// One is the life of one configuration. Binary, where it is not nil, is what Build gave for
// it: it spares compiling, and where the driver does not take it, the source is compiled. Fresh
// is a [FreshOption], or "".
//
// The error says that nothing further can be evaluated, or that the context ended. A result
// with a status stands all the same: where the configuration took the device with it, which
// is a [LostError], it must not be tried again.
func (e *Evaluator) One(ctx context.Context, c space.Configuration, binary []byte, fresh string) (tune.Result, error) {
	if e.session == nil {
		return tune.Result{}, errClosed
	}
	began := time.Now()
	t := e.trial(c)
	t.binary, t.fresh = binary, fresh
	err := t.run(ctx)
	result := t.result
	if err != nil {
		failed, ok := err.(*failure)
		if !ok {
			return result, err
		}
		err, result.Status, result.Reason = nil, failed.status, failed.reason
		result.Doubt = tune.DoubtOf(failed.reason)
	} else {
		result.Status = tune.Correct
	}
	if result.Status == tune.Runtime {
		if _, lost := e.recover(); lost != nil {
			err = &LostError{fmt.Errorf("the device cannot be used any more after %s failed (%s): %w", c, result.Reason, lost)}
		}
	}
	e.evaluated++
	result.Timestamp = time.Now()
	result.Durations.Framework = result.Timestamp.Sub(began) - result.Durations.Total()
	return result, err
}

// Probe implements tune.Prober.
func (e *Evaluator) Probe(ctx context.Context, c space.Configuration) (tune.Result, error) {
	defer func(n int) { e.evaluated = n }(e.evaluated) // it is none of the search's
	return e.One(ctx, c, nil, FreshOption())
}

// FreshOption is a build option with which no driver has built anything yet: with it nothing
// comes from a cache.
func FreshOption() string { return fmt.Sprintf("-DNDTUNE_FRESH_%x=1", time.Now().UnixNano()) }

func (e *Evaluator) trial(c space.Configuration) *trial {
	return &trial{Evaluator: e, result: tune.Result{Configuration: c}}
}

// A LostError says that a failed launch took the device, or the driver's state in this
// process, with it. Another process may be able to go on.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// recover makes sure after a failed launch that the session still works, and replaces it
// where it does not. NVIDIA's driver makes no other context in a process in which a kernel
// accessed memory that is not there: then it fails.
func (e *Evaluator) recover() (replaced bool, err error) {
	if e.session.alive() == nil {
		return false, nil
	}
	e.session.release()
	s, err := newSession(e.device, e.problem, e.identity.Timer)
	if err != nil {
		e.session = nil
		return false, err
	}
	e.session = s
	return true, s.alive()
}

// A failure is what ends the trial of a configuration as a result.
type failure struct {
	status tune.Status
	reason string
}

func (f *failure) Error() string { return string(f.status) + ": " + f.reason }

func fail(status tune.Status, format string, args ...any) error {
	return &failure{status, strings.ToValidUTF8(fmt.Sprintf(format, args...), "\uFFFD")}
}

// A Builder compiles the configurations of one problem for one device and runs nothing: it
// holds a context and no buffers. The process that evaluates a configuration finds the
// program in the driver's cache, or takes the binary. Close it when done. It is not safe for
// concurrent use.
type Builder struct{ evaluator *Evaluator }

// OpenBuilder makes a builder. Of the options only Peaks and Supervisor count.
func OpenBuilder(d *cl.Device, p *problem.Problem, o Options) (*Builder, error) {
	o.Timer = hardware.TimerEvent // unused, and so not probed
	e, err := newEvaluator(d, p, o)
	if err != nil {
		return nil, err
	}
	return &Builder{e}, nil
}

// Device is the device, without its timer.
func (b *Builder) Device() hardware.Device { return b.evaluator.identity }

// Close releases what the builder holds.
func (b *Builder) Close() { b.evaluator.Close() }

// Build compiles a configuration. A result without a status can be evaluated; a result with
// a status is final. Its Durations.Build is the time of the compilation. If wantBinary is set and
// the driver supports it, Build also returns the program's binary. Fresh is a [FreshOption] or
// empty, and must be the same when the configuration is evaluated. The result has the digest of the
// binary, since GPUs' drivers return it at once.
func (b *Builder) Build(ctx context.Context, c space.Configuration, wantBinary bool, fresh string) (result tune.Result, binary []byte, err error) {
	t := b.evaluator.trial(c)
	t.fresh = fresh
	defer t.release()
	if err := t.through(ctx, t.derive, t.build); err != nil {
		failed, ok := err.(*failure)
		if !ok {
			return t.result, nil, err
		}
		t.result.Status, t.result.Reason = failed.status, failed.reason
		t.result.Timestamp = time.Now()
		return t.result, nil, nil
	}
	all, err := t.program.Binaries()
	if err != nil || len(all) != 1 {
		return t.result, nil, nil
	}
	digest := fnv.New64a()
	digest.Write(all[0])
	if t.result.Binary = digest.Sum64(); wantBinary {
		binary = all[0]
	}
	return t.result, binary, nil
}

// An earlyStop decides whether a configuration is too slow to be measured in full, by the best
// objective so far. It is safe for concurrent use.
type earlyStop struct {
	problem *problem.Problem
	device  hardware.Device
	factor  float64 // by which an objective may be worse; at most 1: nothing is too slow

	mutex sync.Mutex
	known bool
	best  float64
}

// set takes an objective that is the best so far.
func (p *earlyStop) set(best float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.known, p.best = true, best
}

// tooSlow judges a configuration by the time of one launch in milliseconds.
func (p *earlyStop) tooSlow(c space.Configuration, ms float64) bool {
	p.mutex.Lock()
	known, best := p.known, p.best
	p.mutex.Unlock()
	if !known || !(p.factor > 1) || math.IsInf(p.factor, 1) {
		return false
	}
	objective, err := p.problem.ObjectiveAt(c, p.device, []float64{ms})
	return err == nil && p.problem.Objective().Worse(objective, best, p.factor)
}

// A Stage is a part of an evaluation that can take long, or forever.
type Stage string

// The stages, in order. Reference comes once for all configurations, mostly.
const (
	StageBuild       Stage = "build"        // compiling, or fetching what was compiled; making buffers
	StageReference   Stage = "reference"    // making the right output; StageBuild goes on after it
	StageFirstLaunch Stage = "first launch" // in which some drivers go on compiling
	StageVerify      Stage = "verify"       // comparing the output, restoring the buffers
	StageMeasure     Stage = "measure"      // the warm-up and the timed launches
)

// A Supervisor follows an evaluation and has a say in it: the process above a worker. Its
// methods are called by the goroutine that evaluates.
type Supervisor interface {
	// Begin is called as a stage begins, with the number of launches that are waited for
	// together (0 where none is). In StageMeasure it is called for each batch.
	Begin(stage Stage, launches int)

	// Timing is called before a configuration is timed. It returns when nothing else uses
	// the device, which then stays so until the evaluation ends.
	Timing(ctx context.Context) error

	// Reference is asked for right outputs that another evaluator of the problem has made,
	// by a key for what they depend on; nil means that there are none. Made hands on those
	// that were made here. The arrays are not changed by either side.
	Reference(ctx context.Context, key string) (map[string]*array.Array, error)
	Made(key string, outputs map[string]*array.Array)
}

// unsupervised is the Supervisor of an evaluator that has its process and its device to
// itself.
type unsupervised struct{}

func (unsupervised) Begin(Stage, int)             {}
func (unsupervised) Timing(context.Context) error { return nil }
func (unsupervised) Reference(context.Context, string) (map[string]*array.Array, error) {
	return nil, nil
}
func (unsupervised) Made(string, map[string]*array.Array) {}
