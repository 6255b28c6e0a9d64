package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/task"
	"github.com/ndtune/ndtune/tune/worker"
)

// evaluationFlags say how configurations are evaluated.
func evaluationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{
			Name: "iterations", Category: categoryEvaluation, Usage: "timed launches of each configuration",
			DefaultText: fmt.Sprintf("measure.launches of the specification, else %d", task.DefaultLaunches),
		},
		&cli.DurationFlag{
			Name: "build-timeout", Value: worker.DefaultBuildTimeout, Category: categoryEvaluation,
			Usage: "give up a configuration whose build takes longer than `DURATION`, with the first launch if the driver compiles in it",
		},
		&cli.DurationFlag{
			Name: "kernel-timeout", Value: worker.DefaultKernelTimeout, Category: categoryEvaluation,
			Usage: "give up a configuration if a launch takes longer than `DURATION`, or longer than 1s and 20 times the best " +
				"so far",
		},
		&cli.StringSliceFlag{
			Name: "observe", Category: categoryEvaluation,
			Usage: "observe `QUANTITIES` of the device while each configuration runs, as metrics: " +
				strings.Join(hardware.Quantities(), ", ") + " (docs/observers.md); or of the built kernel: " +
				strings.Join(footprint.Quantities(), ", ") + " (docs/observers.md)",
		},
		newAllowFlag("let the specification do `WHAT`: settings, change those of the device while it measures: locked clocks, the power limit " +
			"(docs/observers.md); commands, run those that it names on this machine for searches of the fleet of --listen; both with a comma"),
		workersFlag(),
		&cli.BoolFlag{
			Name: "no-peak", EnvVars: []string{"NDTUNE_NO_PEAK"}, Category: categoryEvaluation,
			Usage: "do not measure the peaks of the device if they are unknown: a specification with a roofline then has no % of limit",
		},
	}
}

// workersFlag says how many processes build, or that there are none.
func workersFlag() cli.Flag {
	return &cli.IntFlag{Name: "workers", Category: categoryEvaluation, DefaultText: "as many as cores and the device's memory allow",
		Usage: "build in up to `N` processes, as far as they are worth their start; for a CPU, these also measure, one at a time; " +
			"0: evaluate in this process, for debugging, where nothing is timed out, and a driver that crashes or hangs ends the run"}
}

// inProcess reports whether configurations are evaluated in this process.
func inProcess(c *cli.Context) bool { return c.IsSet("workers") && c.Int("workers") == 0 }

// checkWorkers refuses a number of workers that there cannot be, and flags about workers if there are none.
func checkWorkers(c *cli.Context) error {
	if n := c.Int("workers"); n < 0 {
		return wrong("--workers %d: want a positive number, or 0 for this process", n)
	}
	for _, name := range timeoutFlags {
		if inProcess(c) && c.IsSet(name) {
			return wrong("--workers 0 has no worker to watch: leave out --%s", name)
		}
	}
	return nil
}

// evaluationOf returns how the flags say that configurations are evaluated.
func evaluationOf(c *cli.Context) session.Evaluation {
	e := session.Evaluation{
		InProcess: inProcess(c), Workers: c.Int("workers"), Output: verboseOutput(c), Iterations: c.Int("iterations"),
		BuildTimeout: c.Duration("build-timeout"), KernelTimeout: c.Duration("kernel-timeout"), AllowSettings: allows(c, allowSettings),
	}
	if c.IsSet("iterations") && e.Iterations == 0 {
		e.Iterations = device.Untimed
	}
	if !c.Bool("no-peak") && e.Iterations != device.Untimed {
		e.MeasurePeaks = func(_ context.Context, l device.Listed, d hardware.Device) (*hardware.Peaks, error) {
			return measurePeaks(c, l, d)
		}
	}
	return e
}

// spentText says how the time of an evaluation was spent.
func spentText(e session.Evaluator, results []tune.Result, resumed int) string {
	if pool, ok := e.(*worker.Pool); ok {
		s := pool.Spent()
		return fmt.Sprintf("time of %s: starting %s, building %s, verifying %s, measuring %s, waiting for the device %s, idle %s",
			figure.Count(pool.Started(), "worker"), tenths(s.Starting), tenths(s.Building), tenths(s.Verifying),
			tenths(s.Measuring), tenths(s.Waiting), tenths(s.Idle))
	}
	var d tune.Durations
	for _, r := range results[min(resumed, len(results)):] {
		d.Build += r.Durations.Build
		d.Verify += r.Durations.Verify
		d.Measure += r.Durations.Measure
	}
	return fmt.Sprintf("time: building %s, verifying %s, measuring %s", tenths(d.Build), tenths(d.Verify), tenths(d.Measure))
}

// tenths formats a duration in seconds.
func tenths(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
