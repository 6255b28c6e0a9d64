package device

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
)

// A trial takes one configuration from source to times.
type trial struct {
	*Evaluator
	known Prebuilt

	variant  *problem.Variant
	built    *Built
	expected map[string]*array.Array // expected outputs by argument name; nil: the problem judges itself
	first    float64                 // the time of the first launch in milliseconds
	result   tune.Result
}

// run takes the configuration through all stages and releases what was built for it. A
// *Failure is the configuration's own; any other error is not.
func (t *trial) run(ctx context.Context) error {
	defer t.release()
	stages := []func(context.Context) error{
		t.derive, t.build, t.footprint, t.digestUnlessCPU, t.bind, t.expect, t.launchFirst, t.guard, t.keepOutputs, t.verify,
	}
	if t.iterations != Untimed {
		stages = append(stages, t.measure, t.verifyLast, t.observe)
	}
	if t.known.Retest.Launches > 0 {
		stages = []func(context.Context) error{t.derive, t.build, t.bind, t.expect, t.retest}
	}
	err := t.through(ctx, stages...)
	if err == nil {
		t.session.keep(t.built, t.result.Time())
	}
	return err
}

// through takes the configuration through stages until one fails or the context ends.
func (t *trial) through(ctx context.Context, stages ...func(context.Context) error) error {
	for _, stage := range stages {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := stage(ctx); err != nil {
			if interrupted := ctx.Err(); interrupted != nil {
				// The signal that ends the run may be why the stage failed: PoCL's compiler
				// gives up its temporary files on SIGINT.
				return interrupted
			}
			return err
		}
	}
	return nil
}

// clock adds the time until the returned function is called to a duration.
func clock(d *time.Duration) func() {
	began := time.Now()
	return func() { *d += time.Since(began) }
}

// derive derives the variant, and refuses it if it exceeds the limits of the device.
func (t *trial) derive(context.Context) error {
	v, err := Derive(t.problem, t.result.Configuration, t.identity)
	if err != nil {
		return fail(tune.Constraints, "%v", err)
	}
	if t.known.Fresh != "" {
		v.Options = append(slices.Clone(v.Options), t.known.Fresh)
	}
	t.variant = v
	return nil
}

// build compiles the kernel and refuses it if the built kernel exceeds the limits of the device.
func (t *trial) build(ctx context.Context) error {
	defer clock(&t.result.Durations.Build)()
	t.supervisor.Begin(StageBuild, 0)
	var err error
	if t.built, err = t.session.build(ctx, t.variant, t.known.Binary); err != nil {
		return err
	}
	if log, err := t.built.program.BuildLog(); err == nil {
		t.result.Warnings = warningsIn(readable(log, t.variant.Source, t.problem.SourceName()))
	}
	return t.built.check(t.identity)
}

// digestUnlessCPU finds the digest of the program, but not on a CPU. A CPU's driver may compile the kernel once more for it.
func (t *trial) digestUnlessCPU(context.Context) error {
	if t.identity.Type != "cpu" {
		t.digest()
	}
	return nil
}

// digest sets the digest of the program's binary and returns the binary, nil if the driver has none.
func (t *trial) digest() []byte {
	binary, _ := t.built.program.Binary()
	if binary != nil {
		h := fnv.New64a()
		h.Write(binary)
		t.result.Binary = h.Sum64()
	}
	return binary
}

// bind gives the kernel its arguments, with all buffers in their initial state.
func (t *trial) bind(context.Context) error {
	if t.session.lacksAny(t.variant) {
		t.supervisor.Begin(StageBuffers, 0)
	}
	if err := t.session.prepare(t.variant); err != nil {
		return err
	}
	return t.session.setArguments(t.built)
}

// expect finds the expected outputs. Where it must be made here, that comes before a launch which
// may do harm in this process: the reference would bear the blame, or be wrong for all.
func (t *trial) expect(ctx context.Context) error {
	if !t.problem.Verified() {
		return nil
	}
	defer clock(&t.result.Durations.Verify)()
	known := t.references.known(t.variant)
	var err error
	if t.expected, err = t.references.of(ctx, t.session, t.variant); err == nil && !known {
		t.result.Notice = t.references.notice
		t.supervisor.Begin(StageBuffers, 0) // which goes on
	}
	return err
}

// launchFirst launches once. Some drivers compile the work-group function only now, so
// the time belongs to building.
func (t *trial) launchFirst(context.Context) error {
	t.supervisor.Begin(StageFirstLaunch, 1)
	defer clock(&t.result.Durations.Build)()
	times, err := t.built.Times(1)
	if err == nil {
		t.first = t.built.Totals(times)[0]
	}
	return err
}

// guard checks that the first launch wrote nothing behind a buffer. A kernel that did may have hit
// more than that, so that all buffers are made again.
func (t *trial) guard(context.Context) error {
	t.supervisor.Begin(StageVerify, 0)
	defer clock(&t.result.Durations.Verify)()
	err := t.session.checkGuards()
	if err != nil {
		t.session.releaseBuffers()
	}
	return err
}

// keepOutputs writes the outputs of the first launch to files, if they are wanted.
func (t *trial) keepOutputs(context.Context) error {
	if t.outputs == "" {
		return nil
	}
	t.result.Files = map[string]string{}
	for i, info := range t.session.infos {
		if !info.Output {
			continue
		}
		var err error
		if b := t.session.buffers[i]; b != nil && b.shared != nil {
			err = t.shareOutput(i, b)
		} else {
			t.result.Files[info.Name], err = t.writeOutput(t.outputs, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shareOutput copies an output back to the memory of another process from which its buffer was filled. Its file has no name.
func (t *trial) shareOutput(i int, b *buffer) error {
	err := copyBuffer(t.session.Queue, t.session.buffers[t.variant.Holders[i]].working, b.shared, 0, 0, b.bytes)
	if err = cmp.Or(err, t.session.Queue.Finish()); err != nil {
		return fail(tune.Runtime, "copy %s back: %v", t.session.infos[i].Name, err)
	}
	t.result.Files[t.session.infos[i].Name] = ""
	return nil
}

// measure launches to warm up, and then as often as times are wanted, or only once where that is far too slow.
func (t *trial) measure(ctx context.Context) error {
	if err := t.supervisor.Timing(ctx, time.Duration(t.first*float64(time.Millisecond))); err != nil {
		return err
	}
	defer clock(&t.result.Durations.Measure)()
	if _, err := t.set(ctx); err != nil {
		return err
	}
	times, stopped, err := t.times(ctx)
	if err != nil {
		return err
	}
	t.result.Times, t.result.EarlyStopped = t.built.Totals(times), stopped
	t.result.Repeated = max(0, len(t.result.Times)-t.iterations)
	if t.problem.IsPipeline() {
		t.result.Parts = t.built.Parts(times)
	}
	return nil
}

func (t *trial) release() {
	t.built.Release()
	t.session.closeShared()
}

// batchable bounds the launches that are enqueued without waiting, in milliseconds:
// together they keep the device busy, and a run that is cancelled still ends soon.
const batchable = 20.0

// leastSaving is how many milliseconds an early stop must save. For less, it is not worth having the time of one launch only, which
// other programs can delay on a CPU: there, ten times as much must be saved, still little beside a build.
const leastSaving = 1.0

// agreement is how many times longer than the other one of two launches may take that agree.
const agreement = 2.0

// tooSlow reports whether the warm-up and the first timed launch are both too slow to go on, and agree. One
// of them is not sufficient, since a single launch can be delayed by chance; nor are two that were delayed differently.
func (t *trial) tooSlow(warmUp, timed float64) bool {
	ms, best, least := min(warmUp, timed), t.best.Load(), leastSaving
	if t.identity.Type == "cpu" {
		least *= 10
	}
	if best == nil || max(warmUp, timed) > agreement*ms || !(t.earlyStop > 1) || math.IsInf(t.earlyStop, 1) || float64(t.iterations-1)*ms < least {
		return false
	}
	objective, err := t.problem.ObjectiveAt(t.result.Configuration, t.identity, []float64{ms})
	return err == nil && t.problem.Objective().Worse(objective, *best, t.earlyStop)
}

// times runs the launches some times to warm up, then as often as times are wanted. It returns the times of all
// launches of the timed runs. It stops after the first timed run if that is too slow, as all before it were, and when the timed runs have
// taken the time that the problem gives them. A timed run that was disturbed is repeated; all of them count. Runs that are fast enough are enqueued together, unless the first launch
// was already too slow: then one timed run decides before the others.
func (t *trial) times(ctx context.Context) (times []float64, stopped bool, err error) {
	warmup := t.problem.Timing().Warmup
	n := t.iterations + warmup
	together := 1
	if t.session.batches() && t.first <= batchable {
		together = n
		if t.first > 0 {
			together = int(max(1, min(batchable/t.first, float64(n))))
		}
	}
	size := together
	if t.tooSlow(t.first, t.first) {
		size = min(warmup+1, together)
	}
	totals := []float64{t.first}
	for len(totals) <= n {
		left := t.timeLeft(totals[min(warmup+1, len(totals)):])
		if left <= 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		size = min(size, n+1-len(totals))
		if t.first > 0 {
			size = int(max(1, min(float64(size), left/t.first)))
		}
		t.supervisor.Begin(StageMeasure, size)
		if err := t.session.begin(); err != nil {
			return nil, false, err
		}
		batch, err := t.built.Times(size)
		if err != nil {
			return nil, false, err
		}
		batch = t.built.believed(batch) // the others are launched again
		times = append(times, batch...)
		totals = append(totals, t.built.Totals(batch)...)
		n = t.iterations + warmup + disturbed(totals[min(warmup+1, len(totals)):], (t.iterations+1)/2)
		if last := len(totals) - 1; last == warmup+1 && (t.first == 0 || t.tooSlow(t.first, t.first)) && t.tooSlow(totals[last-1], totals[last]) {
			stopped = true
			break
		}
		size = together
	}
	return times[warmup*len(t.built.Launches):], stopped, nil
}

// disturbed returns how many of some times are far longer than their median, but at most a bound. A program beside this one has delayed
// these launches: they are repeated. The lower one of two medians serves, so that one of two times can be far longer than the other.
func disturbed(times []float64, most int) int {
	const farLonger = 3.0
	sorted := slices.Sorted(slices.Values(times))
	return min(most, each.Count(sorted, func(ms float64) bool { return ms > farLonger*sorted[(len(sorted)-1)/2] }))
}

// timeLeft returns how many milliseconds further timed runs may take after those of some times.
func (t *trial) timeLeft(timed []float64) float64 {
	limit := t.problem.Timing().Time
	if limit == 0 {
		return math.Inf(1)
	}
	left := float64(limit) / float64(time.Millisecond)
	for _, ms := range timed {
		left -= ms
	}
	return left
}
