package main

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/worker"
)

// An evaluator is what measures: a pool of worker processes, or a device in this process.
type evaluator interface {
	tune.Remeasurer
	Evaluated() int
	Close()
}

// evaluationFlags say how configurations are evaluated.
func evaluationFlags() []cli.Flag {
	return []cli.Flag{
		iterationsFlag(),
		&cli.DurationFlag{Name: "build-timeout", Value: worker.DefaultBuildTimeout, Category: categoryEvaluation, Usage: "give up a configuration whose build, with its first launch, takes longer than `DURATION`"},
		&cli.DurationFlag{Name: "kernel-timeout", Value: worker.DefaultKernelTimeout, Category: categoryEvaluation, Usage: "give up a configuration where a later launch takes longer than `DURATION`, or longer than 1s and 20 times the best so far"},
		&cli.BoolFlag{Name: "in-process", Category: categoryEvaluation, Usage: "evaluate in this process, for debugging: a driver that crashes or hangs then ends the run, and there are no time-outs"},
		noPeakFlag(),
	}
}

// searchEvaluationFlags are those of searches beside.
func searchEvaluationFlags() []cli.Flag {
	return append(evaluationFlags(),
		&cli.IntFlag{Name: "workers", Category: categoryEvaluation, DefaultText: "as many as cores and the device's memory allow", Usage: "build in `N` processes; for a CPU, these also measure, one at a time"},
		&cli.Float64Flag{Name: "early-stop", Value: device.DefaultEarlyStop, Category: categoryEvaluation, Usage: "measure a configuration only once where its first timed launch is `FACTOR` times worse than the best so far; 0: always in full"},
	)
}

// checkEvaluationFlags refuses what no evaluation can be done with.
func checkEvaluationFlags(c *cli.Context) error {
	if n := c.Int("iterations"); n < 1 {
		return wrong("--iterations %d: want at least 1", n)
	}
	for _, name := range []string{"build-timeout", "kernel-timeout"} {
		if d := c.Duration(name); d < time.Millisecond {
			return wrong("--%s %s: want a duration of at least 1ms, such as 90s", name, d)
		}
	}
	if n := c.Int("workers"); n < 0 || (n == 0 && c.IsSet("workers")) {
		return wrong("--workers %d: want at least 1", n)
	}
	if f := c.Float64("early-stop"); !(f == 0 || f > 1) {
		return wrong("--early-stop %g: want a factor above 1, or 0 for never", f)
	}
	if !c.Bool("in-process") {
		return nil
	}
	for _, name := range []string{"workers", "build-timeout", "kernel-timeout"} {
		if c.IsSet(name) {
			return wrong("--in-process has no workers to watch: leave out --%s", name)
		}
	}
	return nil
}

// openEvaluator opens what the flags say, for a search or for a single configuration.
func openEvaluator(c *cli.Context, devices []device.Listed, p *problem.Problem, peaks *hardware.Peaks, single bool) (evaluator, error) {
	stop := c.Float64("early-stop")
	if single {
		stop = 0 // each of those that are named is wanted in full
	}
	if c.Bool("in-process") {
		if len(devices) > 1 {
			return nil, wrong("--in-process evaluates on one device, and --device %s names %d; name one of them", c.String("device"), len(devices))
		}
		return opened(device.Open(devices[0].Device, p, device.Options{Peaks: peaks, Iterations: c.Int("iterations"), EarlyStop: stop}))
	}
	var output io.Writer
	if c.Bool("verbose") {
		output = c.App.ErrWriter
	}
	return opened(worker.Open(c.Context, devices, p, worker.Options{
		Workers: c.Int("workers"), Single: single, Peaks: peaks, Iterations: c.Int("iterations"), EarlyStop: stop,
		BuildTimeout: c.Duration("build-timeout"), KernelTimeout: c.Duration("kernel-timeout"),
		Output: output, Note: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) },
	}))
}

// opened is nil where nothing was opened: an interface that holds a nil pointer is not.
func opened[E evaluator](e E, err error) (evaluator, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// spentText says where the time of an evaluation went.
func spentText(e evaluator, results []tune.Result, resumed int) string {
	if pool, ok := e.(*worker.Pool); ok && !pool.InProcess() {
		s := pool.Spent()
		return fmt.Sprintf("time of %s: starting %s, building %s, verifying %s, measuring %s, waiting for the device %s, idle %s",
			countNoun(pool.Started(), "worker"), tenths(s.Starting), tenths(s.Building), tenths(s.Verifying), tenths(s.Measuring), tenths(s.Waiting), tenths(s.Idle))
	}
	var d tune.Durations
	for _, r := range results[min(resumed, len(results)):] {
		d.Build += r.Durations.Build
		d.Verify += r.Durations.Verify
		d.Measure += r.Durations.Measure
	}
	return fmt.Sprintf("time: building %s, verifying %s, measuring %s", tenths(d.Build), tenths(d.Verify), tenths(d.Measure))
}

// tenths is a duration in seconds.
func tenths(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
