// Package dynamic tunes a kernel with the work of the application: each step of the application computes its
// own data with the next configuration of a search, and the time of that work is the measurement. Once the
// search is over, all steps use the best configuration. KTT (https://github.com/HiPerCoRe/KTT) calls this
// dynamic autotuning.
//
// Every result of a step is right as far as the problem can tell: a configuration gets data of the application only
// after its output was verified on the data of the problem. If a configuration does not build, does not run or
// is wrong, its failure is a result of the search, and the step is computed with the best configuration so far.
//
// The package does not choose when to tune. A step in a search takes longer than later ones: it may build and
// verify a configuration, and the configuration may be slow. If the application can wait for a whole search at
// its start, [wisdom.Tuned] is simpler.
package dynamic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// The defaults of [Options].
const (
	DefaultIterations = 3
	DefaultPatience   = 50
)

// Options of a [Kernel]. The zero value searches until 50 configurations have brought no improvement.
type Options struct {
	// Wisdom has the wisdom file, the budget and the log of the search. If the file knows the device and the
	// size, there is no search; otherwise the best configurations are added to it at the end of the search. ""
	// is no file. Open opens the evaluator that verifies configurations, and need not time them (device.Untimed); by default it is in the
	// process of the application. A kernel waits for no other process: Waits is not called. If the budget has neither
	// MaxEvaluations nor TimeLimit nor Patience, Patience is DefaultPatience. A search that the application ends
	// before its end goes on the next time if it has a log (record.Open).
	Wisdom wisdom.Options

	// Iterations is the number of runs of the kernel that measure a configuration; 0: DefaultIterations. One more
	// run before them warms up.
	Iterations int

	// EarlyStop gives a configuration up if its first two runs are both so many times worse than the best so
	// far; 0: that of the problem; 1: never.
	EarlyStop float64

	// Checks says that the application checks the results of steps whose Trial is true, and returns [ErrWrong] for
	// wrong ones. It is necessary if the problem has no verification.
	Checks bool
}

// ErrWrong is the error, or is wrapped by the error, of an application that finds the result of a trial wrong.
var ErrWrong = errors.New("the result is wrong")

// A Kernel is a kernel of an application that is tuned while it is used. Close it when done. It is not safe for
// concurrent use.
type Kernel struct {
	launcher *device.Launcher
	problem  *problem.Problem
	options  Options
	identity hardware.Device
	entry    *wisdom.Entry // nil: there is no wisdom file

	known    *space.Configuration // of the wisdom file, until it is verified or found wrong
	search   *searching           // nil: not begun
	pending  *space.Configuration // to be tried next; nil: the search is asked
	trial    *trial               // nil: none
	verifier wisdom.Evaluator     // of trials; nil: not open
	verified map[string]bool      // the keys of configurations that it has found correct
	sure     *space.Configuration // was known, and is verified: there is no search
	held     *device.Built        // of the best; nil: not built yet
	last     *device.Built        // of the last correct trial, which may be the best; nil: none
	trouble  error                // that has ended the search
	closed   bool
}

// A trial is a configuration that is being tried.
type trial struct {
	built  *device.Built
	result tune.Result // of the verification
	times  []float64   // milliseconds of all launches so far
}

// A Step is the configuration of a step of the application.
type Step struct {
	Variant *launch.Variant // source, options, launches, and the elements of each buffer
	Trial   bool            // the configuration is being tried: see [Options.Checks]

	built   *device.Built
	times   []float64
	failure *device.Failure // of a launch
}

// New returns a kernel for a problem on the device of a launcher, in whose context the application makes its
// buffers. It is an error if the problem has no verification and the application does not check itself, or if the
// wisdom file cannot be read, does not fit, or needs a problem size. The search begins with the first step.
func New(l *device.Launcher, p *problem.Problem, o Options) (*Kernel, error) {
	if !p.Verified() && !o.Checks {
		return nil, fmt.Errorf("tune %s while it is used: the problem has no verification, "+
			"without which results can be wrong; add one, or set Checks and check the results", p.KernelName())
	}
	if names := p.SettingNames(); len(names) > 0 {
		return nil, fmt.Errorf("tune %s while it is used: measure.settings (%s) "+
			"would change the device for the whole application; leave it out", p.KernelName(), strings.Join(names, ", "))
	}
	identity, err := device.Describe(l.Device)
	if err != nil {
		return nil, err
	}
	identity.Timer = l.Timer
	o.Iterations = cmp.Or(max(0, o.Iterations), DefaultIterations)
	o.EarlyStop = cmp.Or(o.EarlyStop, p.Timing().EarlyStop, 1)
	if o.Wisdom.Open == nil {
		o.Wisdom.Open = func(context.Context) (wisdom.Evaluator, error) {
			return device.Open(l.Device, p, device.Options{Iterations: device.Untimed})
		}
	}
	k := &Kernel{launcher: l, problem: p, options: o, identity: identity, verified: map[string]bool{}}
	if o.Wisdom.File == "" {
		return k, nil
	}
	if k.entry, err = wisdom.NewEntry(o.Wisdom.File, p, identity, o.Wisdom.Source); err != nil {
		return nil, err
	}
	found, known, err := k.entry.Known()
	if known {
		k.known = &found.Configuration
	}
	return k, err
}

// Do computes a step of the application. It calls work with a configuration: the next one of the search, or the best
// one after the search. Work runs the kernel with [Step.Run], at least once.
//
// If a configuration fails in the midst of work, or is found wrong, Do calls work again with the best one so far, or
// with the next one if there is none yet. So work must be able to begin anew: it writes all buffers that the
// kernel both reads and writes.
//
// It is an error if ctx is done, if no configuration is correct, if the best one fails, or if work returns an
// error, which Do returns as it is.
func (k *Kernel) Do(ctx context.Context, work func(*Step) error) error {
	if k.closed {
		return errors.New("the kernel is closed")
	}
	for failed := false; ; failed = true {
		built, err := k.next(ctx, failed)
		if err != nil {
			return err
		}
		s := &Step{Variant: built.Variant, Trial: k.trial != nil && k.trial.built == built, built: built}
		err = work(s)
		failed := s.failure
		switch {
		case failed != nil:
		case s.Trial && errors.Is(err, ErrWrong):
			failed = &device.Failure{Status: tune.Correctness, Reason: err.Error()}
		case err != nil:
			return err
		case len(s.times) == 0:
			return fmt.Errorf("a step with %s: work did not run the kernel", built.Variant.Configuration)
		default:
			if s.Trial {
				k.trial.times = append(k.trial.times, s.times...)
				k.measured()
			}
			return nil
		}
		if !s.Trial {
			return fmt.Errorf("a step with %s, the best so far, failed: %w", built.Variant.Configuration, failed)
		}
		result := k.trial.result
		result.Status, result.Reason, result.Verified = failed.Status, failed.Reason, false
		k.trial.built.Release()
		k.trial = nil
		k.tell(result)
	}
}

// Run runs the kernel, or all kernels of a pipeline, and waits. There is an argument for each one of the problem:
// see [device.Built.Run]. After an error work should return: Do knows whether it is the configuration's.
func (s *Step) Run(arguments ...any) error {
	times, err := s.built.Run(arguments...)
	if failed, own := err.(*device.Failure); own {
		s.failure = failed
	}
	s.times = append(s.times, times...)
	return err
}

// Best returns the best configuration so far, and false if none is known to be correct.
func (k *Kernel) Best() (space.Configuration, bool) {
	if best := k.best(); best != nil {
		return *best, true
	}
	return space.Configuration{}, false
}

// Outcome returns the outcome of the search after its end, and nil before. Over reports whether the next steps use
// the best configuration; it is true without an outcome if the wisdom file had it.
func (k *Kernel) Outcome() (o *tune.Outcome, over bool) {
	if k.search != nil && k.search.isOver() {
		return k.search.outcome, k.trial == nil
	}
	return nil, k.sure != nil
}

// Close ends the search, if it is not over, and releases all that the kernel has made. The launcher is the caller's.
// The error says why the search ended early, or that its result could not be added to the wisdom file. Close
// can be called twice.
func (k *Kernel) Close() error {
	if k.closed {
		return nil
	}
	k.closed = true
	k.stopSearch()
	if k.trial != nil {
		k.trial.built.Release()
	}
	k.held.Release()
	k.last.Release()
	k.closeVerifier()
	if k.search != nil {
		return errors.Join(k.trouble, k.search.err)
	}
	return k.trouble
}

// next returns what the next work is done with: a trial, or the best configuration. After a failure that is the best
// one, if there is one.
func (k *Kernel) next(ctx context.Context, failed bool) (*device.Built, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if best := k.best(); best != nil && (failed || k.sure != nil) {
			return k.build(ctx, *best)
		}
		if k.trial != nil {
			return k.trial.built, nil
		}
		if err := k.ask(ctx); err != nil {
			return nil, err
		}
		if k.pending != nil {
			if err := k.try(ctx, *k.pending); err != nil {
				return nil, err
			}
			failed = failed || k.trial == nil
			continue
		}
		k.closeVerifier()
		if best := k.best(); best != nil {
			return k.build(ctx, *best)
		}
		return nil, k.search.hopeless(ctx, k.problem)
	}
}

// ask sets pending to the next configuration to try, or leaves it nil if the search is over.
func (k *Kernel) ask(ctx context.Context) error {
	if k.pending != nil {
		return nil
	}
	if k.known != nil {
		k.pending = k.known
		return nil
	}
	if k.search == nil {
		if err := k.begin(); err != nil {
			return err
		}
	}
	select {
	case c := <-k.search.trials:
		k.pending = &c
	case <-k.search.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// try verifies a configuration and builds it for the application. Afterwards there is a trial, or its failure is told.
func (k *Kernel) try(ctx context.Context, c space.Configuration) error {
	result, err := k.verify(ctx, c)
	if err != nil && result.Status == "" {
		if ctx.Err() != nil || k.best() == nil {
			return err
		}
		// Nothing can be verified any more. The application goes on with the best.
		k.trouble, k.pending = err, nil
		k.stopSearch()
		return nil
	}
	if err != nil { // the configuration took the device of the verifier with it
		k.closeVerifier()
	}
	var built *device.Built
	if result.Status == tune.Correct {
		k.verified[c.Key()] = true
		if built, err = k.launcher.BuildFor(ctx, k.problem, c, k.identity); err != nil {
			failed, own := err.(*device.Failure)
			if !own {
				return err
			}
			result.Status, result.Reason, result.Verified = failed.Status, failed.Reason, false
		}
	}
	k.pending = nil
	if result.Status != tune.Correct {
		k.tell(result)
		return nil
	}
	k.trial = &trial{built: built, result: result}
	return nil
}

// verify compares the output of a configuration with that of the problem's verification.
func (k *Kernel) verify(ctx context.Context, c space.Configuration) (tune.Result, error) {
	if k.verifier == nil {
		var err error
		if k.verifier, err = k.options.Wisdom.OpenEvaluator(ctx, k.launcher.Device, k.problem); err != nil {
			k.verifier = nil // and no interface of a nil pointer
			return tune.Result{}, err
		}
	}
	return tune.EvaluateOne(ctx, k.verifier, c)
}

func (k *Kernel) closeVerifier() {
	if k.verifier != nil {
		k.verifier.Close()
		k.verifier = nil
	}
}

// measured ends the trial if its configuration has run often enough, or is far too slow.
func (k *Kernel) measured() {
	t := k.trial
	totals, c := t.built.Totals(t.times), t.built.Variant.Configuration
	slow := false
	switch {
	case k.known != nil:
		k.sure, k.known, k.held, k.trial = k.known, nil, t.built, nil
		k.closeVerifier()
		return
	case len(totals) > k.options.Iterations:
	case len(totals) > 1 && k.search.isFarWorse(k.problem, c, min(totals[0], totals[1]), k.options.EarlyStop):
		slow = true
	default:
		return
	}
	timed := t.times[len(t.built.Variant.Launches):] // without the run that warms up
	result := t.result
	result.Times, result.EarlyStopped, result.Timestamp = t.built.Totals(timed), slow, time.Now()
	result.Verified = result.Verified || k.options.Checks
	if k.problem.IsPipeline() {
		result.Parts = t.built.Parts(timed)
	}
	k.last.Release()
	k.last, k.trial = t.built, nil
	k.tell(result)
}

// tell tells the result of a trial to the search. A known configuration that is wrong after all makes one necessary.
func (k *Kernel) tell(result tune.Result) {
	if k.known != nil {
		k.known = nil
		return
	}
	k.search.tell(result)
}

// best returns the best configuration so far, or nil.
func (k *Kernel) best() *space.Configuration {
	if k.sure != nil || k.search == nil {
		return k.sure
	}
	return k.search.bestSoFar()
}

// build returns the best configuration, built.
func (k *Kernel) build(ctx context.Context, c space.Configuration) (*device.Built, error) {
	is := func(b *device.Built) bool { return b != nil && b.Variant.Configuration.Key() == c.Key() }
	if is(k.held) {
		return k.held, nil
	}
	built := k.last
	if is(k.last) {
		k.last = nil
	} else {
		if !k.verified[c.Key()] { // the log of an earlier search has it
			result, err := k.verify(ctx, c)
			k.closeVerifier()
			if err == nil && result.Status != tune.Correct {
				err = fmt.Errorf("%s: %s", result.Status, result.Reason)
			}
			if err != nil {
				return nil, fmt.Errorf("verify %s, the best so far: %w", c, err)
			}
			k.verified[c.Key()] = true
		}
		var err error
		if built, err = k.launcher.BuildFor(ctx, k.problem, c, k.identity); err != nil {
			return nil, fmt.Errorf("build %s, the best so far: %w", c, err)
		}
	}
	k.held.Release()
	k.held = built
	return built, nil
}
