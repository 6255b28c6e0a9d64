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
	v, err := Derive(t.problem, t.result.Configuration, t.device)
	if err != nil {
		return fail(tune.Constraints, "%v", err)
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
	t.kernel.Release()
	t.program.Release()
}

// batchable bounds the launches that are enqueued without waiting, in milliseconds:
// together they keep the device busy, and a run that is cancelled still ends soon.
const batchable = 20.0

// A measurement times the launches of one kernel.
type measurement struct {
	session  *session
	kernel   *cl.Kernel
	ndrange  tune.NDRange
	launches int     // to time
	first    float64 // the time of an earlier launch in milliseconds

	begin   func(launches int)    // told before so many launches are waited for together
	tooSlow func(ms float64) bool // whether one launch of this time is enough
}

// leastSaving is what an early stop must save, in milliseconds: less is not worth a result
// that is known from one launch only.
const leastSaving = 1.0

// enough reports whether the warm-up and the first timed launch tell that a configuration is
// too slow to go on with: both of them, since a single launch can be held up by chance.
func (m *measurement) enough(warmUp, timed float64) bool {
	ms := min(warmUp, timed)
	return float64(m.launches-1)*ms >= leastSaving && m.tooSlow(ms)
}

// run warms up with one launch and then times the others, or, where the first of these is
// too slow, that one only.
func (m *measurement) run(ctx context.Context) (times []float64, stopped bool, err error) {
	if m.session.Timer == tune.TimerHost || m.session.restoresEachLaunch() || m.first > batchable {
		return m.singly(ctx)
	}
	// A device that runs the first launch fast enough is not kept from running all others
	// together; of one that may be too slow, one launch is looked at before the others.
	if m.enough(m.first, m.first) {
		m.begin(2)
		pair, err := m.session.times(m.kernel, m.ndrange, 2)
		if err != nil {
			return nil, false, err
		}
		if m.enough(pair[0], pair[1]) {
			return pair[1:], true, nil
		}
	}
	n := m.launches + 1
	most := n
	if m.first > 0 {
		most = int(max(1, min(batchable/m.first, float64(n))))
	}
	for len(times) < n {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		size := min(most, n-len(times))
		m.begin(size)
		batch, err := m.session.times(m.kernel, m.ndrange, size)
		if err != nil {
			return nil, false, err
		}
		times = append(times, batch...)
	}
	return times[1:], false, nil
}

// singly waits for each launch before the next.
func (m *measurement) singly(ctx context.Context) (times []float64, stopped bool, err error) {
	warmUp := 0.0
	for i := range m.launches + 1 {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		m.begin(1)
		if err := m.session.restore(true); err != nil {
			return nil, false, err
		}
		t, err := m.session.launch(m.kernel, m.ndrange)
		if err != nil {
			return nil, false, err
		}
		if i == 0 {
			warmUp = t
			continue
		}
		times = append(times, t)
		if i == 1 && m.enough(warmUp, t) {
			return times, true, nil
		}
	}
	return times, false, nil
}
