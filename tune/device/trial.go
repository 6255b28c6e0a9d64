package device

import (
	"context"
	"slices"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
)

// A trial is one configuration on its way from source to times.
type trial struct {
	session    *session
	references *references
	problem    *tune.Problem
	device     tune.Device
	iterations int
	supervisor Supervisor
	pace       *pace
	binary     []byte // of the program, where it was built elsewhere; nil: build the source
	fresh      string // a FreshOption, or ""

	variant  *tune.Variant
	program  *cl.Program
	kernel   *cl.Kernel
	expected map[string]*array.Array // right outputs by argument name; nil: the problem judges itself
	first    float64                 // the time of the first launch in milliseconds
	result   tune.Result
}

// run takes the configuration through all stages and releases what was built for it. A
// *failure is the configuration's own; any other error is not.
func (t *trial) run(ctx context.Context) error {
	defer t.release()
	for _, stage := range []func(context.Context) error{
		t.derive, t.build, t.bind, t.expect, t.launchFirst, t.guard, t.verify, t.measure,
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := stage(ctx); err != nil {
			if interrupted := ctx.Err(); interrupted != nil {
				// The signal that ends the run may be what the stage failed of: PoCL's
				// compiler gives up its temporary files on SIGINT.
				return interrupted
			}
			return err
		}
	}
	return nil
}

// derive finds the variant, and refuses it where the device's limits do.
func (t *trial) derive(context.Context) error {
	v, err := t.problem.Variant(t.result.Configuration, t.device)
	if err != nil {
		return fail(tune.Constraints, "%v", err)
	}
	if reason := v.Refusal(t.device); reason != "" {
		return fail(tune.Constraints, "%s", reason)
	}
	if t.fresh != "" {
		v.Options = append(slices.Clone(v.Options), t.fresh)
	}
	t.variant = v
	return nil
}

// build compiles the kernel and refuses it where the built kernel is too much for the
// device.
func (t *trial) build(context.Context) error {
	began := time.Now()
	defer func() { t.result.Durations.Build += time.Since(began) }()
	t.supervisor.Begin(StageBuild, 0)
	var err error
	if t.program, t.kernel, err = t.session.build(t.variant, t.binary, t.problem.KernelName()); err != nil {
		return err
	}
	if err := t.session.checkKernel(t.kernel, t.variant, t.device); err != nil {
		return err
	}
	return checkArguments(t.kernel, t.problem)
}

// bind gives the kernel its arguments, with all buffers in their initial state.
func (t *trial) bind(context.Context) error {
	if err := t.session.prepare(t.variant); err != nil {
		return err
	}
	return t.session.setArguments(t.kernel, t.variant)
}

// expect finds the right output. Where it must be made here, that comes before a launch which
// may do harm in this process: the reference would bear the blame, or be wrong for all.
func (t *trial) expect(ctx context.Context) error {
	if !t.problem.Verified() {
		return nil
	}
	began := time.Now()
	defer func() { t.result.Durations.Verify += time.Since(began) }()
	known := t.references.known(t.variant)
	var err error
	if t.expected, err = t.references.of(ctx, t.session, t.variant); err == nil && !known {
		t.supervisor.Begin(StageBuild, 0) // which goes on
	}
	return err
}

// launchFirst launches once. Some drivers compile the work-group function only now, so
// the time belongs to building.
func (t *trial) launchFirst(context.Context) error {
	t.supervisor.Begin(StageFirstLaunch, 1)
	began := time.Now()
	defer func() { t.result.Durations.Build += time.Since(began) }()
	var err error
	t.first, err = t.session.launch(t.kernel, t.variant.NDRange)
	return err
}

// guard makes sure that the first launch wrote nothing behind a buffer. Where it did, it may
// have hit more than that: nothing on the device is trusted any longer.
func (t *trial) guard(context.Context) error {
	t.supervisor.Begin(StageVerify, 0)
	began := time.Now()
	defer func() { t.result.Durations.Verify += time.Since(began) }()
	err := t.session.checkGuards()
	if err != nil {
		t.session.releaseBuffers()
	}
	return err
}

// verify compares the output of the first launch with the reference, and restores the
// buffers for what follows.
func (t *trial) verify(ctx context.Context) error {
	if !t.problem.Verified() {
		return nil
	}
	began := time.Now()
	defer func() { t.result.Durations.Verify += time.Since(began) }()
	err := t.session.compare(t.problem, t.variant, t.expected)
	if failed, ok := err.(*failure); ok && failed.status == tune.Correctness {
		err = t.compareAnew(ctx)
	}
	if err != nil {
		return err
	}
	t.result.Verified = true
	return t.session.restoreAll()
}

// compareAnew gives a wrong output a second chance, on buffers made anew from the host: an
// earlier configuration that wrote where it should not may have hit what the buffers are
// restored from.
func (t *trial) compareAnew(ctx context.Context) error {
	t.session.releaseBuffers()
	if err := t.bind(ctx); err != nil {
		return err
	}
	t.supervisor.Begin(StageFirstLaunch, 1)
	if _, err := t.session.launch(t.kernel, t.variant.NDRange); err != nil {
		return err
	}
	t.supervisor.Begin(StageVerify, 0)
	return t.session.compare(t.problem, t.variant, t.expected)
}

// measure launches once to warm up, and then as often as times are wanted, or only once
// where that is far too slow.
func (t *trial) measure(ctx context.Context) error {
	if err := t.supervisor.Timing(ctx); err != nil {
		return err
	}
	began := time.Now()
	defer func() { t.result.Durations.Measure += time.Since(began) }()
	m := &measurement{
		session: t.session, kernel: t.kernel, ndrange: t.variant.NDRange,
		launches: t.iterations, first: t.first,
		begin:   func(launches int) { t.supervisor.Begin(StageMeasure, launches) },
		tooSlow: func(ms float64) bool { return t.pace.tooSlow(t.result.Configuration, ms) },
	}
	var err error
	t.result.Times, t.result.EarlyStopped, err = m.run(ctx)
	return err
}

func (t *trial) release() {
	if t.kernel != nil {
		t.kernel.Release()
	}
	if t.program != nil {
		t.program.Release()
	}
}
