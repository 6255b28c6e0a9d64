package device

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"hash/maphash"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
)

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
