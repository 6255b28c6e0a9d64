package worker

import (
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func TestLaunchLimit(t *testing.T) {
	for _, c := range []struct {
		kernelTimeout time.Duration
		best          float64 // milliseconds; 0: unknown
		want          string
	}{
		{10 * time.Second, 0, "a launch took longer than 10s (--kernel-timeout)"},
		{10 * time.Second, 0.001, "a launch took longer than 1s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 50, "a launch took longer than 1s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 75, "a launch took longer than 1.5s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 499, "a launch took longer than 9.98s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 500, "a launch took longer than 10s (--kernel-timeout)"},
		{10 * time.Second, 5000, "a launch took longer than 10s (--kernel-timeout)"},
		{500 * time.Millisecond, 0.001, "a launch took longer than 500ms (--kernel-timeout)"},
	} {
		p := &Pool{problem: doubling(t), options: Options{KernelTimeout: c.kernelTimeout}}
		if c.best > 0 {
			p.best.Store(&tune.Result{Times: []float64{c.best}})
		}
		m := &member{spent: &Spent{}, stage: device.StageMeasure, launch: p.launchLimit(nil)}
		if got := m.overdue(time.Minute); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestStartLimit(t *testing.T) {
	for _, c := range []struct {
		build time.Duration
		bytes int
		want  time.Duration
	}{
		{time.Second, 1000, time.Minute},
		{2 * time.Minute, 1000, 2 * time.Minute},
		{time.Second, 1 << 30, time.Minute + 256*time.Second},
	} {
		p := &Pool{options: Options{BuildTimeout: c.build}}
		p.hello.Problem = make([]byte, c.bytes)
		if got := p.startLimit(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestLaunchLimitOfOtherObjectives has an objective by which what takes long can be the best.
func TestLaunchLimitOfOtherObjectives(t *testing.T) {
	for _, c := range []struct {
		metric   definition.Expr
		maximize bool
		items    int
		want     time.Duration
	}{
		{"items / time", true, 1, time.Second},
		{"items / time", true, 1000000, 10 * time.Second},
		{"time / items", false, 1, time.Second},
		{"time / items", false, 1000000, 10 * time.Second},
		{"0 * time / (items - items)", false, 1, 10 * time.Second}, // nobody knows
	} {
		d, err := makeDoubling("")
		if err != nil {
			t.Fatal(err)
		}
		d.Parameters = append(d.Parameters, space.Parameter{Name: "items", Values: []space.Value{1, 1000000}})
		d.Metrics = []definition.Metric{{Name: "score", Expression: c.metric}}
		d.Objective = score.Objective{Name: "score", Maximize: c.maximize}
		p := &Pool{problem: mustProblem(t, d), options: Options{KernelTimeout: 10 * time.Second}}
		p.best.Store(&tune.Result{Times: []float64{1}, Objective: 1})
		one := &assignment{configuration: configurationOf(t, p.problem, map[string]space.Value{"items": c.items})}
		if got := p.launchLimit(one).most; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if got := p.launchLimit(nil).most; got != 10*time.Second {
			t.Errorf("%+v: %s for several", c, got)
		}
	}
}

// TestStagesAreWatched begins the stages of a task one after the other.
func TestStagesAreWatched(t *testing.T) {
	const pocl, other = "Portable Computing Language", "NVIDIA CUDA"
	begin := time.Now()
	for _, c := range []struct {
		platform string
		built    time.Duration // by a builder
		stages   string
		want     time.Duration // from the last one, or from the build on
		says     string
	}{
		{other, 20 * time.Second, "build,first launch", 10 * time.Second, "the first launch took longer than 10s (--kernel-timeout)"},
		{pocl, 0, "build", 30 * time.Second, "the build took longer than 30s (--build-timeout)"},
		{pocl, 0, "build,first launch", 30 * time.Second, "the build and the first launch took longer than 30s (--build-timeout)"},
		{pocl, 20 * time.Second, "build,first launch", 10 * time.Second, "the build and the first launch took longer than 30s"},
		{pocl, 29900 * time.Millisecond, "build", leastLoad, "the build took longer than 30s"},
		{pocl, 0, "build,first launch,verify", 30 * time.Second, "checking the output took longer than 30s (--build-timeout)"},
		{pocl, 0, "build,first launch,verify,reference", 300 * time.Second, ""},
		{pocl, 0, "build,first launch,verify,measure", 80 * time.Second, "a launch took longer than 10s (--kernel-timeout)"},
	} {
		m := &member{spent: &Spent{}, task: &assignment{build: c.built}, since: begin}
		now, from := begin, begin
		p := &Pool{options: Options{BuildTimeout: 30 * time.Second, KernelTimeout: 10 * time.Second}}
		p.identity.Platform = c.platform
		for s := range strings.SplitSeq(c.stages, ",") {
			now = now.Add(time.Second)
			if s != "first launch" || c.platform != pocl {
				from = now
			}
			launches := 0
			if s == "measure" {
				launches = 8
			}
			m.begin(device.Stage(s), now)
			p.watchStage(m, launches, now)
		}
		deadline, running := m.watch.Deadline()
		if !running || deadline.Sub(from) != c.want {
			t.Errorf("%s after a build of %s: %s, want %s", c.stages, c.built, deadline.Sub(from), c.want)
		}
		if got := m.overdue(p.options.BuildTimeout); c.says != "" && !strings.HasPrefix(got, c.says) {
			t.Errorf("%s: %q, want %q", c.stages, got, c.says)
		}
	}
}
