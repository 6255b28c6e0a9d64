package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/worker"
)

// evaluationOptions say how configurations are evaluated.
type evaluationOptions struct {
	session.Evaluation // with the flags
	allow              string

	inFleet bool            // on other machines
	shared  *worker.Reserve // of the commands of this process; nil: this is the only one
}

func (o *evaluationOptions) flags(s *specOptions) []cli.Flag {
	o.BuildTimeout, o.KernelTimeout = worker.DefaultBuildTimeout, worker.DefaultKernelTimeout
	return []cli.Flag{
		numberFlag(&o.Iterations, "iterations", categoryEvaluation,
			fmt.Sprintf("timed launches of each configuration (default: measure.launches of the specification, else %d)", definition.DefaultLaunches)),
		durationFlag(&o.BuildTimeout, "build-timeout", categoryEvaluation,
			"give up a configuration whose build takes longer than `DURATION`, with the first launch if the driver compiles in it"),
		durationFlag(&o.KernelTimeout, "kernel-timeout", categoryEvaluation,
			"give up a configuration if a launch takes longer than `DURATION`, or longer than 1s and 20 times the best "+
				"so far"),
		listFlag(&s.observe, "observe", categoryEvaluation,
			"observe `QUANTITIES` of the device while each configuration runs, as metrics: "+
				strings.Join(hardware.Quantities(), ", ")+" (docs/observers.md); or of the built kernel: "+
				strings.Join(footprint.Quantities(), ", ")+" (docs/observers.md)"),
		newAllowFlag(&o.allow, "let the specification do `WHAT`: settings, change those of the device while it measures: locked clocks, the power limit "+
			"(docs/observers.md)"),
		numberFlag(&o.Workers, "workers", categoryEvaluation,
			"at most `N` processes that build; 0: none, for debugging a driver (default: as many as are worth their start)"),
	}
}

// read refuses a number of workers that there cannot be, and flags about workers if there are none.
func (o *evaluationOptions) read(c *cli.Context) error {
	if o.Workers < 0 {
		return wrong("--workers %d: want a positive number, or 0 for this process", o.Workers)
	}
	if o.Iterations == 0 && c.IsSet("iterations") {
		o.Iterations = device.Untimed
	}
	o.InProcess = o.Workers == 0 && c.IsSet("workers")
	if o.inFleet = c.String("fleet") != ""; o.inFleet && c.IsSet("workers") {
		return wrong("--workers %d is about this machine, and --fleet or NDTUNE_FLEET about others: leave out one of them, "+
			"or add --fleet ''", o.Workers)
	}
	o.shared = sharedReserve(c)
	for _, name := range []string{"build-timeout", "kernel-timeout"} {
		if o.InProcess && c.IsSet(name) {
			return wrong("--workers 0 has no worker to watch: leave out --%s", name)
		}
	}
	return nil
}

// on returns how configurations are evaluated for a console.
func (o *evaluationOptions) on(t *console) session.Evaluation {
	e := o.Evaluation
	e.Output, e.AllowSettings = t.diagnostics(), allows(o.allow, allowSettings)
	if no, _ := strconv.ParseBool(os.Getenv(noPeakVariable)); !no && o.Iterations != device.Untimed {
		e.MeasurePeaks = func(ctx context.Context, l device.Listed, d hardware.Device, figures []string, r *worker.Reserve) (*hardware.Peaks, error) {
			return measurePeaks(ctx, t, l, d, figures, r)
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
