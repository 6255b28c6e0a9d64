package device

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/launch"
)

// A trial takes one configuration from source to times.
type trial struct {
	*Evaluator
	known Prebuilt

	variant  *launch.Variant
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
		if t.result.Files[info.Name], err = t.writeOutput(t.outputs, i); err != nil {
			return err
		}
	}
	return nil
}

// verify compares the output of the first launch with the reference, and restores the
// buffers for what follows.
func (t *trial) verify(ctx context.Context) error {
	if !t.problem.Verified() {
		return nil
	}
	defer clock(&t.result.Durations.Verify)()
	readings, err := t.judge(ctx)
	if wrong := wrongOutput(err); wrong != nil {
		err = t.settle(ctx, wrong)
	}
	if err != nil {
		return err
	}
	t.result.Readings = slices.Concat(t.result.Readings, readings)
	t.result.Verified = true
	return t.session.restoreAll()
}

// wrongOutput returns an error that says that an output is wrong, or nil.
func wrongOutput(err error) *Failure {
	if failed, ok := err.(*Failure); ok && failed.Status == tune.Correctness {
		return failed
	}
	return nil
}

// settle decides whether the kernel is to blame for the wrong output of the first launch. It is, unless an earlier configuration wrote
// where it should not and hit the copies from which buffers are restored: then these are made anew, and another launch decides. A
// second launch whose output is right excuses nothing: it shows that the launches differ.
func (t *trial) settle(ctx context.Context, wrong *Failure) error {
	if err := t.fingerprint(wrong); err != nil {
		return err
	}
	if t.problem.VerifiesItself() {
		wrong.Reason += t.agreement()
	}
	spoiled, err := t.session.spoiled(t.variant)
	if err != nil {
		return err
	}
	if spoiled {
		t.session.releaseBuffers()
	}
	switch err := t.rerun(ctx, 1); {
	case err == nil && spoiled:
		t.result.Outputs = 0
		return nil
	case err == nil:
		return differs(wrong, 1, 2)
	case wrongOutput(err) == nil:
		return err
	}
	return wrong
}

// differs returns the failure of a configuration one of whose launches has given a wrong output, and another one a right output.
func differs(wrong *Failure, launch, of int) error {
	return fail(wrong.Status, "wrong in launch %d of %d: its launches differ; a race? Try ndtune check. %s", launch, of, wrong.Reason)
}

// verifyLast compares the output of the last timed launch, too. That of a kernel that works in place on buffers that are not restored
// before each launch differs from the output of the first launch: it does so again after as many launches, while the
// output of one launch on restored buffers is right.
func (t *trial) verifyLast(ctx context.Context) error {
	if !t.result.Verified || t.inPlace {
		return nil
	}
	defer clock(&t.result.Durations.Verify)()
	t.supervisor.Begin(StageVerify, 0)
	_, err := t.judge(ctx)
	wrong := wrongOutput(err)
	if wrong == nil {
		t.steady = t.steady || err == nil
		return err
	}
	launches := 1 + t.problem.Timing().Warmup + len(t.result.Times)
	if err := t.rerun(ctx, 1); err != nil {
		if again := wrongOutput(err); again != nil {
			return differs(again, launches+1, launches+1)
		}
		return err
	}
	if err := t.rerun(ctx, launches-1); launches > 2 && wrongOutput(err) != nil {
		if t.inPlace = !t.steady; t.inPlace {
			t.result.Notice = cmp.Or(t.result.Notice, inPlaceNotice)
		}
		return nil
	} else if err != nil && wrongOutput(err) == nil {
		return err
	}
	return differs(wrong, launches, launches)
}

const inPlaceNotice = "The kernel works in place on buffers without restore: iteration, so that each launch finds what the one before has left: " +
	"only outputs of launches from the initial content are compared."

// retest launches the configuration again, each time from the initial state of all buffers, and compares each output.
func (t *trial) retest(ctx context.Context) error {
	defer clock(&t.result.Durations.Verify)()
	most, before, began := t.known.Retest.Launches, 1, time.Now()
	for n := range most {
		if n > 0 && time.Since(began) > t.known.Retest.Within {
			break
		}
		since := time.Now()
		err := t.relaunch(ctx, before)
		if wrong := wrongOutput(err); wrong != nil {
			return differs(wrong, n+1, most)
		}
		if err != nil {
			return err
		}
		if t.result.Compared++; t.identity.Type == "cpu" {
			each := time.Since(since) / time.Duration(before+1)
			before = int(min(wakeLaunches, max(1, wakeTime/max(1, each))))
		}
	}
	t.result.Verified = true
	return nil
}

// On a CPU that others use, a driver's threads get their cores one after the other, and the first one does a short launch alone: it shows
// no race. So launches of wakeTime, at most wakeLaunches, come before the one that is compared.
const (
	wakeTime     = 10 * time.Millisecond
	wakeLaunches = 16
)

// relaunch launches some times without waiting, each time from the initial state of all buffers, and decides about the outputs of a last
// launch.
func (t *trial) relaunch(ctx context.Context, before int) error {
	if err := t.bind(ctx); err != nil {
		return err
	}
	t.supervisor.Begin(StageVerify, before+1)
	for range before {
		launches, err := t.session.EnqueueAll(t.built.Launches)
		launches.Release()
		if err != nil {
			return t.session.launchFailure(err)
		}
		if err := t.session.restore(false); err != nil {
			return err
		}
	}
	if _, err := t.built.Times(1); err != nil {
		return err
	}
	if err := t.session.checkGuards(); err != nil {
		return err
	}
	_, err := t.judge(ctx)
	return err
}

// rerun launches some times, beginning with all buffers in their initial state, and decides about the outputs of the last launch.
func (t *trial) rerun(ctx context.Context, launches int) error {
	t.use(t.result.Configuration)
	if err := t.bind(ctx); err != nil {
		return err
	}
	for n := range launches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n > 0 {
			if err := t.session.restore(true); err != nil {
				return err
			}
		}
		t.supervisor.Begin(StageVerify, 1)
		if _, err := t.built.Times(1); err != nil {
			return err
		}
	}
	_, err := t.judge(ctx)
	return err
}

// fingerprint keeps a digest of outputs that differ from the expected ones, by which configurations can be compared. If the launch has
// left all of them as they were, it adds that to the failure.
func (t *trial) fingerprint(wrong *Failure) error {
	if t.expected == nil {
		return nil
	}
	h := fnv.New64a()
	untouched, err := t.digestOutputs(h)
	if untouched {
		wrong.Reason += "; the kernel has left the outputs as they were"
	} else {
		t.result.Outputs = h.Sum64()
	}
	return err
}

// maxSorted is the number of elements up to which agreement sorts an output.
const maxSorted = 1 << 20

// agreement returns a hint about the first output that differs from that of the kernel's own configuration, "" if there is none: in which
// comparison the two agree, or that only the edge differs.
func (t *trial) agreement() string {
	for i, info := range t.session.infos {
		expected := t.expected[info.Name]
		if !info.Output || expected == nil || expected.Struct != nil || t.problem.Reduction(info.Name) != "" {
			continue
		}
		out, err := t.session.read(t.variant.Holders[i], nil)
		if err != nil {
			return ""
		}
		absolute, relative := t.variant.Tolerance.Of(out.Type)
		m, err := array.Compare(out, expected, absolute, relative)
		if err != nil || m == nil {
			continue
		}
		if m.First > m.Total/2 && m.Count == m.Total-m.First {
			return fmt.Sprintf("; only the last %d differ: does the kernel check its bounds?", m.Count)
		}
		for _, r := range []array.Reduction{array.Multiset, array.Sum} {
			if r == array.Multiset && m.Total > maxSorted {
				continue
			}
			got, wrong := r.Apply(out, 1)
			want, err := r.Apply(expected, 1)
			if wrong != nil || err != nil {
				continue
			}
			absolute, relative := t.variant.Tolerance.Of(got.Type)
			if m, err := array.Compare(got, want, absolute, relative); err == nil && m == nil {
				return fmt.Sprintf("; as a %s they agree: if that is sufficient, write compare: {%s: %s} in verify", r, info.Name, r)
			}
		}
	}
	return ""
}

// digestOutputs hashes the outputs of the last launch, and reports whether they are the initial content of their buffers.
func (t *trial) digestOutputs(h hash.Hash) (untouched bool, err error) {
	untouched = true
	for i, info := range t.session.infos {
		if !info.Output {
			continue
		}
		out, err := t.session.read(t.variant.Holders[i], t.session.scratch)
		if err != nil {
			return false, fail(tune.Runtime, "%v", err)
		}
		t.session.scratch = out.Bytes
		h.Write(out.Bytes)
		if untouched {
			content, err := t.problem.Content(i, t.variant.Elements[i])
			untouched = err == nil && bytes.Equal(content.Bytes, out.Bytes)
		}
	}
	return untouched, nil
}

// judge decides about the outputs of the last launch, and returns their errors if these are metrics. A command or a function of the
// user's is not asked again about outputs of a configuration that it has called right.
func (t *trial) judge(ctx context.Context) (readings []hardware.Reading, err error) {
	if t.problem.Compared() {
		return t.session.compare(t.problem, t.variant, t.expected)
	}
	var h maphash.Hash
	h.SetSeed(seed)
	if _, err := t.digestOutputs(&h); err != nil {
		return nil, err
	}
	digest, key := h.Sum64(), t.result.Configuration.Key()
	if known, ok := t.right[key]; ok && known == digest {
		return nil, nil
	}
	if command := t.problem.VerifyCommand(); command != nil {
		err = t.judgeByCommand(ctx, command)
	} else {
		_, err = t.session.compare(t.problem, t.variant, nil)
	}
	if err == nil {
		t.right[key] = digest
	}
	return nil, err
}

var seed = maphash.MakeSeed()

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

func (t *trial) release() { t.built.Release() }

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
func disturbed(times []float64, most int) (n int) {
	const farLonger = 3.0
	sorted := slices.Sorted(slices.Values(times))
	for _, ms := range sorted {
		if ms > farLonger*sorted[(len(sorted)-1)/2] {
			n++
		}
	}
	return min(n, most)
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
