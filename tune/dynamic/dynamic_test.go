package dynamic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// TestEveryResultIsRight: the application computes right results with every step, though half of the
// configurations are wrong or do not build. They are marked, and later steps use the best.
func TestEveryResultIsRight(t *testing.T) {
	a := newApplication(t)
	path := filepath.Join(t.TempDir(), "saxpy.wisdom")
	p := problemWith(t, true, wrong, none, unbuildable)
	k := a.open(p, Options{Wisdom: wisdom.Options{File: path, Run: tune.Options{MaxEvaluations: 100}}, EarlyStop: 1})
	o := a.finish(k, false)
	if got := fmt.Sprint(statuses(o)); got != "map[0 correct:6 1 correctness:6 2 compile:6]" || o.Stop != tune.Exhausted {
		t.Errorf("%s, %s", got, o.Stop)
	}
	if want := 6 * (1 + DefaultIterations); a.trials != want {
		t.Errorf("%d steps were trials, want %d", a.trials, want)
	}
	for _, r := range o.Results {
		if r.Status == tune.Correct && (len(r.Times) != DefaultIterations || !r.Verified) {
			t.Errorf("%+v", r)
		}
		if r.Status == tune.Compile && !strings.Contains(r.Reason, "this configuration does not build") {
			t.Error(r.Reason)
		}
	}
	before := a.works
	for range 3 {
		if c, trial := a.step(k, false); trial || c.Key() != o.Best.Configuration.Key() {
			t.Errorf("after the search: %s, a trial: %t; the best is %s", c, trial, o.Best.Configuration)
		}
	}
	if best, ok := k.Best(); !ok || best.Key() != o.Best.Configuration.Key() || a.works != before+3 {
		t.Errorf("%s %t, %d", best, ok, a.works)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if f, err := wisdom.Read(path); err != nil || len(f.Records) != wisdom.MaxKept || f.Records[0].Configuration["fault"] != none || !f.Records[0].Verified {
		t.Fatalf("%v: %+v", err, f)
	}

	// The next application knows, and verifies the configuration before it is used.
	known := a.open(p, Options{Wisdom: wisdom.Options{File: path}})
	for i := range 3 {
		if c, trial := a.step(known, false); trial != (i == 0) || c.Key() != o.Best.Configuration.Key() {
			t.Errorf("step %d: %s, a trial: %t", i, c, trial)
		}
	}
	if o, over := known.Outcome(); o != nil || !over {
		t.Errorf("%+v %t", o, over)
	}
}

// TestChecksOfTheApplication: a configuration that is right for the data of the problem and wrong for those of the
// application is found by the check of the application, and its step is computed again.
func TestChecksOfTheApplication(t *testing.T) {
	a := newApplication(t)
	a.large = true
	for _, verified := range []bool{true, false} {
		p := problemWith(t, verified, none, wrongForLarge)
		o := a.finish(a.open(p, Options{Checks: true, EarlyStop: 1}), true)
		if got := fmt.Sprint(statuses(o)); got != "map[0 correct:6 3 correctness:6]" {
			t.Errorf("verified: %t: %s", verified, got)
		}
		for _, r := range o.Results {
			if r.Status == tune.Correctness && (r.Verified || !strings.HasPrefix(r.Reason, "the result is wrong at ")) || r.Status == tune.Correct && !r.Verified {
				t.Errorf("%+v", r)
			}
		}
	}
	d := problemWith(t, true, none).Definition()
	d.Measure.Settings = []task.Setting{{Name: "clock", Expression: "1200"}}
	if p, err := problem.New(d); err != nil {
		t.Fatal(err)
	} else if _, err := New(a.launcher, p, Options{}); err == nil || !strings.Contains(err.Error(), "measure.settings (clock) would change the device for the whole application") {
		t.Errorf("with settings of the device: %v", err)
	}
	if _, err := New(a.launcher, problemWith(t, false, none), Options{}); err == nil || !strings.Contains(err.Error(), "has no verification") {
		t.Error(err)
	}
}

// A credulous evaluator calls every configuration correct.
type credulous struct{}

func (credulous) Device() hardware.Device { return hardware.Device{} }
func (credulous) Capacity() int           { return 1 }
func (credulous) Close()                  {}
func (credulous) Evaluate(_ context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	for c := range in {
		out <- tune.Result{Configuration: c, Status: tune.Correct, Verified: true}
	}
	return nil
}

// TestALogGoesOn: a search goes on with the log of an earlier process, and what that has called the best is verified
// before it is used.
func TestALogGoesOn(t *testing.T) {
	a := newApplication(t)
	for _, fault := range []int{none, wrong} {
		p := problemWith(t, true, fault)
		header := record.NewHeader(p, "")
		identity, err := device.Describe(a.launcher.Device)
		if err != nil {
			t.Fatal(err)
		}
		header.Device, header.Device.Timer = identity, a.launcher.Timer
		path := filepath.Join(t.TempDir(), "saxpy.jsonl")
		options := func(open func(context.Context) (wisdom.Evaluator, error)) Options {
			log, err := record.Open(path, header)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = log.Close() })
			return Options{EarlyStop: 1, Wisdom: wisdom.Options{Run: tune.Options{Log: log}, Open: open}}
		}
		first := options(func(context.Context) (wisdom.Evaluator, error) { return credulous{}, nil })
		k := a.open(p, first)
		for range 9 { // two configurations
			if err := k.Do(t.Context(), func(s *Step) error { return s.Run(a.y, a.x, float32(0)) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(k.Close(), first.Wisdom.Run.Log.(*record.Log).Close()); err != nil {
			t.Fatal(err)
		}
		second := options(nil)
		second.Wisdom.Run.MaxEvaluations = 2
		k = a.open(p, second)
		if fault == none {
			if _, trial := a.step(k, false); trial {
				t.Error("a configuration of the log is tried again")
			}
			if o, over := k.Outcome(); !over || o.Resumed != 2 {
				t.Errorf("%+v", o)
			}
			continue
		}
		err = k.Do(t.Context(), func(*Step) error { t.Error("work was called"); return nil })
		if err == nil || !strings.Contains(err.Error(), ", the best so far: correctness: y: ") {
			t.Error(err)
		}
	}
}

// TestStepsThatEnd: errors of the application, its context and Close end a step, and the search goes on or ends.
func TestStepsThatEnd(t *testing.T) {
	a := newApplication(t)
	k := a.open(problemWith(t, true, none), Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Do(ended, func(*Step) error { t.Error("work was called"); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	own := errors.New("the disk is full")
	if err := k.Do(t.Context(), func(*Step) error { return own }); err != own {
		t.Error(err)
	}
	if err := k.Do(t.Context(), func(*Step) error { return nil }); err == nil || !strings.HasSuffix(err.Error(), ": work did not run the kernel") {
		t.Error(err)
	}
	if err := k.Do(t.Context(), func(s *Step) error { return s.Run(a.y) }); err == nil || err.Error() != "run saxpy: 1 arguments are given, the problem has 3" {
		t.Error(err)
	}
	if _, trial := a.step(k, false); !trial {
		t.Error("the first configuration is not tried")
	}
	if _, over := k.Outcome(); over {
		t.Error("the search is over")
	}
	for range 2 {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := k.Do(t.Context(), func(*Step) error { return nil }); err == nil || err.Error() != "the kernel is closed" {
		t.Error(err)
	}
}

// TestPipeline: the steps of a pipeline run all its launches, with scalars and local memory of the problem.
func TestPipeline(t *testing.T) {
	a := newApplication(t)
	want := []int32{1, 0, 0, 0, 11, 12, 0, 0, 21, 22, 23, 0}
	p, err := problem.New(task.Definition{
		Kernel: task.Kernel{Source: `
// standin: clear is fill(out, 0); mark is set(out, at, value)
__kernel void clear(__global int *out, __local int *zero) { zero[get_local_id(0)] = 0; out[get_global_id(0)] = zero[get_local_id(0)]; }
__kernel void mark(const int at, __global int *out, const int value) { if (get_global_id(0) == 0) out[at] = value + out[at]; }`},
		ProblemSize: []task.Expr{"12"},
		Arguments: []task.Argument{
			{Name: "out", Type: "int32", Size: "12", Output: true},
			{Name: "at", Type: "int32", Value: "4 * i + j"}, {Name: "value", Type: "int32", Value: "10 * i + j + 1"},
			{Name: "zero", Type: "int32", LocalSize: "block_size_x"},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{4, 2}}},
		Stages: []task.Stage{
			{Kernel: "clear", Arguments: []string{"out", "zero"}},
			{Repeat: "3", Index: "i", Stages: []task.Stage{
				{Kernel: "mark", Arguments: []string{"at", "out", "value"}, Repeat: "i + 1", Index: "j", ProblemSize: []task.Expr{"1"}},
			}},
		},
		Verify: &task.Verification{Expected: map[string]any{"out": want}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := a.open(p, Options{})
	steps := 0
	for o, over := k.Outcome(); ; o, over = k.Outcome() {
		out := make([]int32, 12)
		err := k.Do(t.Context(), func(s *Step) error {
			if err := s.Run(a.y, nil, nil, nil); err != nil {
				return err
			}
			return a.launcher.Queue.Read(a.y, 0, cl.Bytes(out))
		})
		if err != nil || fmt.Sprint(out) != fmt.Sprint(want) {
			t.Fatalf("%v: %v", err, out)
		}
		steps++
		if !over {
			continue
		}
		for _, r := range o.Results {
			if r.Status != tune.Correct || len(r.Times) == 0 || len(r.Parts) != 2 || r.Parts[1].Launches != 6 {
				t.Errorf("%+v", r)
			}
		}
		if len(o.Results) != 2 || steps < 2 {
			t.Errorf("%d results after %d steps", len(o.Results), steps)
		}
		return
	}
}

// TestFarWorse: a configuration is given up that is worse than the best by the factor, and none without a best.
func TestFarWorse(t *testing.T) {
	p := problemWith(t, true, none)
	c, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &searching{}
	if s.isFarWorse(p, c, 1e9, 3) {
		t.Error("there is no best")
	}
	s.Observe(tune.Result{Objective: 1})
	for _, test := range []struct {
		ms, factor float64
		want       bool
	}{{3.5, 3, true}, {2.5, 3, false}, {3.5, 1, false}, {1e9, math.Inf(1), false}} {
		if got := s.isFarWorse(p, c, test.ms, test.factor); got != test.want {
			t.Errorf("%v ms, %v times: %t", test.ms, test.factor, got)
		}
	}
}
