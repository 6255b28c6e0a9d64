// Package device evaluates configurations on one OpenCL device, in this process: it builds
// the variant, refuses what the device cannot run, compares the output with the reference,
// and only then times it.
//
// Its types: an [Evaluator] takes configurations, [Built] is one that was built, and a [Launcher] times it.
//
// It never times while anything else that it started runs on the device, and it never
// reports the time of a kernel whose output is wrong. It cannot survive a driver that
// crashes or hangs; package worker can, because it evaluates in other processes.
//
// # Reasons
//
// The launch decides whether a work-group fits, not the driver's answer. NVIDIA's driver 580 answers 256 for CL_KERNEL_WORK_GROUP_SIZE
// of every kernel, even of one with a required work-group of 512, which it runs.
//
// Every buffer is restored before each configuration, inputs too, so that a kernel that overwrites its inputs cannot spoil the next one.
// A wrong output is a failure, whatever the next launch computes, unless the copies from which buffers are restored have changed: an
// earlier configuration may have written into them. A failed launch costs a context, not the process.
//
// Outputs of 1 MiB and more are compared on the device: 64 MiB of floats take 4.5 ms instead of 30 on PoCL. The comparison kernel
// accepts only outputs that the host would accept; doubtful ones are read back, so the host alone decides that an output is wrong.
//
// Short launches are timed in batches of at most 20 ms, because on an H200 a kernel takes 5 % longer if the host waits for each launch;
// the final measurement follows the same rule. A configuration is stopped early only after three slow launches, of which the last two agree, and only if that saves a
// millisecond, or ten on a CPU: if a kernel takes microseconds, one launch in ten takes three times as long as the others.
//
// For cold caches, a kernel reads and writes a buffer of twice the caches' size before each launch. Copies of the buffers in turn would
// need the memory, would change which buffer is verified, and cannot serve a kernel that works in place.
package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// Untimed as the number of timed launches leaves out all but the first launch, whose output is verified: a correct result has no times.
const Untimed = -1

// Options of an Evaluator. Zero fields have the defaults named.
type Options struct {
	Iterations int // timed launches of a configuration, or [Untimed]; those of the problem

	// EarlyStop is how many times worse than the best an objective may be after the first
	// timed launch. A configuration beyond it is not launched again. If EarlyStop is at most
	// 1, every configuration is measured in full.
	EarlyStop float64

	// Timer is the clock to use, hardware.TimerEvent or hardware.TimerHost. If neither it nor the problem names one, the
	// device is probed.
	Timer string

	// Peaks are the measured peaks of the device, for metrics and objectives; nil if they
	// are unknown.
	Peaks *hardware.Peaks

	// Instruments are those of the quantities that the problem observes, if they are known. If they are nil, and the
	// problem observes any, Open finds them: see [Instruments].
	Instruments []hardware.Instrument

	// Supervisor follows the evaluations; nil: nobody does.
	Supervisor Supervisor

	// Set changes the settings of the device that configurations have, unless there is a Supervisor; nil: that is not allowed.
	Set Setter

	// Launcher is that of an evaluator of the same device, from [Evaluator.Detach]; nil: Open makes one.
	Launcher *Launcher

	// Outputs is an existing folder that gets the outputs of the first launch of each configuration, which finds the initial content of all
	// buffers, as NAME.npy: see [tune.Result.Files]. "": they are not kept.
	Outputs string

	// Scratch is the folder in which a command that judges outputs gets its files; "": that of the
	// system for temporary files.
	Scratch string
}

// An Evaluator evaluates the configurations of one problem on one OpenCL device. It
// implements tune.Remeasurer and tune.Prober. Close it when done. But for Observe
// it is not safe for concurrent use.
type Evaluator struct {
	device     *cl.Device
	identity   hardware.Device
	problem    *problem.Problem
	iterations int
	earlyStop  float64
	supervisor Supervisor
	scratch    string
	outputs    string
	outside    *commandJudge // nil: the problem has none, or it was not needed yet
	session    *session
	references references
	best       atomic.Pointer[float64] // the best objective so far; nil: unknown
	evaluated  int
	meter      *observe.Meter // nil: nothing was observed yet

	steady, inPlace bool              // the output after several launches was right; it differs, because the kernel works in place
	right           map[string]uint64 // by configuration: the digest of outputs that a command or a function called right
}

var errClosed = errors.New("the evaluator is closed")

// Open makes an evaluator for a problem: a context and a queue on the device, and a check
// of its timer. Buffers are made with the first configuration.
func Open(d *cl.Device, p *problem.Problem, o Options) (*Evaluator, error) {
	identity, err := Describe(d)
	if err != nil {
		return nil, err
	}
	if takes := LanguageOf(identity); takes != p.Language() {
		return nil, fmt.Errorf("%s of %s takes kernels in %s, and %s is one in %s",
			identity.Name, identity.Platform, takes.Name(), p.KernelName(), p.Language().Name())
	}
	identity.Peaks, identity.Instruments = o.Peaks, o.Instruments
	if o.Instruments == nil {
		if identity.Instruments, err = Instruments(context.Background(), identity, p); err != nil {
			return nil, err
		}
	}
	o.Iterations = cmp.Or(o.Iterations, p.Timing().Launches)
	if o.Supervisor == nil {
		o.Supervisor = unsupervised{o.Set}
	}
	e := &Evaluator{
		device: d, identity: identity, problem: p,
		iterations: o.Iterations, earlyStop: o.EarlyStop, supervisor: o.Supervisor, scratch: o.Scratch, outputs: o.Outputs,
		right: map[string]uint64{},
	}
	e.references.Evaluator = e
	if e.session, err = e.newSession(o.Launcher, cmp.Or(o.Timer, p.Timing().Timer)); err != nil {
		return nil, fmt.Errorf("open %s: %w", identity.Name, err)
	}
	e.identity.Timer = e.session.Timer
	return e, nil
}

// newSession makes the session in which configurations are measured, with a new launcher if there is none with the timer. One without
// a given timer that uses the host's clock may have been told to by another problem.
func (e *Evaluator) newSession(l *Launcher, timer string) (_ *session, err error) {
	if l == nil || l.Timer != cmp.Or(timer, hardware.TimerEvent) {
		l.Release()
		if l, err = NewLauncher(e.device, timer); err != nil {
			return nil, err
		}
	}
	s := l.session(e.problem)
	s.once = e.iterations == Untimed && !e.problem.Verified()
	if e.problem.Timing().Cache == definition.CacheCold {
		s.caches = cachesOf(e.identity, s.Info.GlobalCacheSize)
	}
	return s, nil
}

// Close releases everything that the evaluator holds on the device. It can be called
// twice.
func (e *Evaluator) Close() { e.Detach().Release() }

// Detach closes the evaluator but for its launcher, which another evaluator can use. It returns nil if the evaluator is
// closed.
func (e *Evaluator) Detach() *Launcher {
	e.meter.Close()
	e.outside.close()
	e.meter, e.outside = nil, nil
	if e.session == nil {
		return nil
	}
	l := e.session.detach()
	e.session = nil
	return l
}

// Launcher returns the launcher that the evaluator uses now. Nothing else may use it at the same time.
func (e *Evaluator) Launcher() *Launcher { return e.session.Launcher }

// Device is the device with its timer.
func (e *Evaluator) Device() hardware.Device { return e.identity }

// Capacity is 1: in one process, on one device, nothing is gained by holding more.
func (e *Evaluator) Capacity() int { return 1 }

// Evaluated returns the number of configurations that were evaluated so far.
func (e *Evaluator) Evaluated() int { return e.evaluated }

// Observe implements tune.Prober. Configurations far slower than the best are stopped early.
func (e *Evaluator) Observe(best tune.Result) { e.best.Store(&best.Objective) }

// Evaluate implements tune.Evaluator. A launch that is running cannot be interrupted:
// cancelling takes effect after it.
func (e *Evaluator) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	if e.session == nil {
		return errClosed
	}
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) { return e.One(ctx, c, Prebuilt{}) })
}

// A Prebuilt is what [Evaluator.Build] has found of a configuration, mostly in another process. Nothing of it need be known.
type Prebuilt struct {
	Binary   []byte             // of the program; nil, or refused by the driver: the source is compiled
	Readings []hardware.Reading // of [problem.Problem.Compiled]; nil: they are found
	Fresh    string             // the [FreshOption] that it was built with
	Retest   tune.Retest        // of launches that are only compared, and not timed
}

// One evaluates one configuration. Unless the device is a CPU, the result has the digest of the program's binary.
//
// The error says that nothing further can be evaluated, or that the context ended. A result
// with a status stands all the same: where the configuration took the device with it, which
// is a [LostError], it must not be tried again.
func (e *Evaluator) One(ctx context.Context, c space.Configuration, known Prebuilt) (tune.Result, error) {
	if e.session == nil {
		return tune.Result{}, errClosed
	}
	t, began := e.trial(c), time.Now()
	t.known = known
	err := t.run(ctx)
	result := t.result
	if err != nil {
		failed, ok := err.(*Failure)
		if !ok {
			return result, err
		}
		err = nil
		result.Fail(failed.Status, failed.Reason)
	} else {
		result.Status = tune.Correct
	}
	if result.Status == tune.Runtime {
		if _, lost := e.recover(); lost != nil {
			err = &LostError{fmt.Errorf("the device cannot be used any more after %s failed (%s): %w", result.Configuration, result.Reason, lost)}
		}
	}
	e.evaluated++
	result.Timestamp = time.Now()
	result.Durations.Framework = result.Timestamp.Sub(began) - result.Durations.Total()
	return result, err
}

// Probe implements tune.Prober.
func (e *Evaluator) Probe(ctx context.Context, c space.Configuration, again tune.Retest) (tune.Result, error) {
	defer func(n int) { e.evaluated = n }(e.evaluated) // it is none of the search's
	return e.One(ctx, c, Prebuilt{Fresh: FreshOption(again), Retest: again})
}

// FreshOption is a build option with which no driver has built anything yet: with it nothing
// comes from a cache. It is "" for launches that are only compared.
func FreshOption(again tune.Retest) string {
	if again.Launches > 0 {
		return ""
	}
	return fmt.Sprintf("-DNDTUNE_FRESH_%x=1", time.Now().UnixNano())
}

func (e *Evaluator) trial(c space.Configuration) *trial {
	return &trial{Evaluator: e, result: tune.Result{Configuration: c}}
}

// A LostError says that a failed launch took the device, or the driver's state in this
// process, with it. Another process may be able to go on.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// recover checks after a failed launch that the session still works, and replaces it if it does
// not. NVIDIA's driver makes no other context in a process in which a kernel
// accessed memory that is not there: then it fails.
func (e *Evaluator) recover() (replaced bool, err error) {
	if e.session.alive() == nil {
		return false, nil
	}
	e.session.release()
	s, err := e.newSession(nil, e.identity.Timer)
	if err != nil {
		e.session = nil
		return false, err
	}
	e.session = s
	return true, s.alive()
}

// A Failure is the error of a configuration that a device cannot run, or whose output is wrong: a result, which ends its evaluation.
type Failure struct {
	Status tune.Status
	Reason string
}

func (f *Failure) Error() string { return string(f.Status) + ": " + f.Reason }

func fail(status tune.Status, format string, args ...any) error {
	return &Failure{status, strings.ToValidUTF8(fmt.Sprintf(format, args...), "\uFFFD")}
}

// Build compiles a configuration and runs nothing. The process that evaluates it finds the program
// in the driver's cache, or takes the binary. A result without a status can be evaluated; a result with
// a status is final. Its Durations.Build is the time of the compilation. If wantBinary is set and
// the driver supports it, Build also returns the program's binary. Fresh is a [FreshOption] or
// empty, and must be the same when the configuration is evaluated. The result has the digest of the
// binary.
func (e *Evaluator) Build(
	ctx context.Context, c space.Configuration, wantBinary bool, fresh string,
) (result tune.Result, binary []byte, err error) {
	t := e.trial(c)
	t.known.Fresh = fresh
	defer t.release()
	if err := t.through(ctx, t.derive, t.build, t.footprint); err != nil {
		failed, ok := err.(*Failure)
		if !ok {
			return t.result, nil, err
		}
		t.result.Fail(failed.Status, failed.Reason)
		t.result.Timestamp = time.Now()
		return t.result, nil, nil
	}
	all := t.digest()
	if wantBinary {
		binary = all
	}
	return t.result, binary, nil
}

// A Stage is a part of an evaluation that can take long, or forever.
type Stage string

// The stages, in order. Reference comes once for all configurations, mostly.
const (
	StageBuild       Stage = "build"        // compiling, or fetching what was compiled
	StageBuffers     Stage = "buffers"      // making the buffers, mostly once for all configurations
	StageReference   Stage = "reference"    // making the expected outputs; StageBuffers goes on after it
	StageFirstLaunch Stage = "first launch" // in which some drivers go on compiling
	StageVerify      Stage = "verify"       // comparing the output, restoring the buffers
	StageMeasure     Stage = "measure"      // the warm-up and the timed launches
	StageObserve     Stage = "observe"      // waiting for instruments of the user's own, between launches
)

// A Supervisor follows an evaluation and has a say in it: the process above a worker. Its
// methods are called by the goroutine that evaluates.
type Supervisor interface {
	// Begin is called as a stage begins, with the number of launches that are waited for
	// together (0 where none is). In StageMeasure it is called for each batch.
	Begin(stage Stage, launches int)

	// Timing is called before a configuration is timed. It returns when nothing else uses
	// the device, which then stays so until the evaluation ends. The argument is the time of the first launch; 0: unknown.
	Timing(ctx context.Context, first time.Duration) error

	// Set changes the settings of the device to those of the configuration that is timed next, and reports whether they
	// were others before.
	Set(ctx context.Context, settings []hardware.Setting) (changed bool, err error)

	// Reference is asked for expected outputs that another evaluator of the problem has made,
	// by a key for what they depend on; nil means that there are none. Made hands on those
	// that were made here. The arrays are not changed by either side.
	Reference(ctx context.Context, key string) (map[string]*array.Array, error)
	Made(key string, outputs map[string]*array.Array)
}

// unsupervised is the Supervisor of an evaluator that has its process and its device to
// itself.
type unsupervised struct{ setter Setter }

func (unsupervised) Begin(Stage, int)                            {}
func (unsupervised) Timing(context.Context, time.Duration) error { return nil }
func (u unsupervised) Set(_ context.Context, all []hardware.Setting) (bool, error) {
	return u.setter.Set(all)
}
func (unsupervised) Reference(context.Context, string) (map[string]*array.Array, error) {
	return nil, nil
}
func (unsupervised) Made(string, map[string]*array.Array) {}
