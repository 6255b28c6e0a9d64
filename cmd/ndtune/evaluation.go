package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/worker"
)

// An evaluator measures configurations: a pool of worker processes, or a device in this process.
type evaluator interface {
	tune.Remeasurer
	Evaluated() int
	Close()
}

// evaluationFlags say how configurations are evaluated.
func evaluationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "iterations", Category: categoryEvaluation, DefaultText: fmt.Sprintf("measure.launches of the specification, else %d", problem.DefaultLaunches), Usage: "timed launches of each configuration"},
		&cli.DurationFlag{Name: "build-timeout", Value: worker.DefaultBuildTimeout, Category: categoryEvaluation, Usage: "give up a configuration whose build, with its first launch, takes longer than `DURATION`"},
		&cli.DurationFlag{Name: "kernel-timeout", Value: worker.DefaultKernelTimeout, Category: categoryEvaluation, Usage: "give up a configuration if a later launch takes longer than `DURATION`, or longer than 1s and 20 times the best so far"},
		&cli.StringSliceFlag{Name: "observe", Category: categoryEvaluation, Usage: "observe `QUANTITIES` of the device while each configuration runs, as metrics: " + strings.Join(hardware.Quantities(), ", ") + " (docs/observers.md); or of the built kernel: " + strings.Join(footprint.Quantities(), ", ") + " (docs/footprint.md)"},
		newAllowFlag("let the specification do `WHAT`: settings, change those of the device while it measures: locked clocks, the power limit " +
			"(docs/observers.md); commands, run those that it names on this machine for searches of the fleet of --listen; both with a comma"),
		workersFlag(),
		&cli.BoolFlag{Name: "no-peak", EnvVars: []string{"NDTUNE_NO_PEAK"}, Category: categoryEvaluation, Usage: "do not measure the peaks of the device if they are unknown: a specification with a roofline then has no % of limit"},
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

// openEvaluator opens an evaluator as the flags say. Named reports whether it is for configurations that
// the user named: each of them is measured in full.
func (t *tuning) openEvaluator(named bool) error {
	c, p := t.cli, t.spec.Problem
	stop := p.Timing().EarlyStop
	if named {
		stop = 0
	}
	if err := checkSettingsAllowed(c, p); err != nil {
		return err
	}
	if t.fleet != nil {
		return t.openFleet(stop)
	}
	if err := t.openControls(); err != nil {
		return err
	}
	setters := t.controls.setters()
	if inProcess(c) {
		if len(t.devices) > 1 {
			return wrong("--workers 0 evaluates on one device, and --device %s names %d; name one of them", c.String("device"), len(t.devices))
		}
		o := device.Options{Peaks: t.peaks, Iterations: t.iterations(), EarlyStop: stop}
		if len(setters) > 0 {
			o.Set = setters[0]
		}
		e, err := device.Open(t.devices[0].Device, p, o)
		if err == nil {
			t.evaluator = e
		}
		return err
	}
	if t.reserve == nil {
		t.reserve = worker.NewReserve(verboseOutput(c))
	}
	pool, err := worker.Open(c.Context, t.devices, p, worker.Options{
		Workers: c.Int("workers"), Single: named, Peaks: t.peaks, Iterations: t.iterations(), EarlyStop: stop,
		BuildTimeout: c.Duration("build-timeout"), KernelTimeout: c.Duration("kernel-timeout"), Set: setters,
		Reserve: t.reserve, Needs: t.needs, Note: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) },
	})
	if err == nil {
		t.evaluator = pool
	}
	return err
}

// prepareWorker starts the first worker of a search on this machine before its device is chosen, so that it loads the drivers meanwhile.
func (t *tuning) prepareWorker() {
	if c := t.cli; inProcess(c) || c.IsSet("fleet") || c.IsSet("listen") {
		return
	}
	t.reserve = worker.NewReserve(verboseOutput(t.cli))
	_ = t.reserve.Prepare() // openEvaluator starts another one, and tells why it cannot
}

// closeReserve ends the workers that are left.
func (t *tuning) closeReserve() {
	t.reserve.Close()
	t.reserve = nil
}

// iterations returns the number of timed launches of a configuration.
func (t *tuning) iterations() int {
	return cmp.Or(t.cli.Int("iterations"), t.spec.Problem.Timing().Launches)
}

// verboseOutput receives the output of workers and drivers; nil without --verbose.
func verboseOutput(c *cli.Context) io.Writer {
	if c.Bool("verbose") {
		return c.App.ErrWriter
	}
	return nil
}

// spentText says how the time of an evaluation was spent.
func spentText(e evaluator, results []tune.Result, resumed int) string {
	if pool, ok := e.(*worker.Pool); ok {
		s := pool.Spent()
		return fmt.Sprintf("time of %s: starting %s, building %s, verifying %s, measuring %s, waiting for the device %s, idle %s",
			figure.Count(pool.Started(), "worker"), tenths(s.Starting), tenths(s.Building), tenths(s.Verifying), tenths(s.Measuring), tenths(s.Waiting), tenths(s.Idle))
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
