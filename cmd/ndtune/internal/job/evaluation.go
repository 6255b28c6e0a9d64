package job

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/worker"
)

// Evaluation say how configurations are evaluated.
type Evaluation struct {
	session.Evaluation // with the flags
	allow              string

	inFleet bool            // on other machines
	Shared  *worker.Reserve // of the commands of this process; nil: this is the only one
}

// Flags say how configurations are evaluated. --observe is an option of the specification.
func (o *Evaluation) Flags(s *Spec) []cli.Flag {
	o.BuildTimeout, o.KernelTimeout = worker.DefaultBuildTimeout, worker.DefaultKernelTimeout
	return []cli.Flag{
		flags.Integer(&o.Iterations, "iterations", flags.CategoryEvaluation,
			fmt.Sprintf("timed launches of each configuration (default: measure.launches of the specification, else %d)", definition.DefaultLaunches)),
		flags.Duration(&o.BuildTimeout, "build-timeout", flags.CategoryEvaluation,
			"give up a configuration whose build takes longer than `DURATION`, with the first launch if the driver compiles in it"),
		flags.Duration(&o.KernelTimeout, "kernel-timeout", flags.CategoryEvaluation,
			"give up a configuration if a launch takes longer than `DURATION`, or longer than 1s and 20 times the best "+
				"so far"),
		flags.List(&s.observe, "observe", flags.CategoryEvaluation,
			"observe `QUANTITIES` of the device while each configuration runs, as metrics: "+
				strings.Join(hardware.Quantities(), ", ")+" (docs/observers.md); or of the built kernel: "+
				strings.Join(footprint.Quantities(), ", ")+" (docs/observers.md)"),
		AllowFlag(&o.allow, "let the specification do `WHAT`: settings, change those of the device while it measures: locked clocks, the power limit "+
			"(docs/observers.md)"),
		flags.Integer(&o.Workers, "workers", flags.CategoryEvaluation,
			"at most `N` processes that build; 0: none, for debugging a driver (default: as many as are worth their start)"),
	}
}

// Read refuses a number of workers that there cannot be, and flags about workers if there are none.
func (o *Evaluation) Read(c *cli.Context) error {
	if o.Workers < 0 {
		return ui.Wrong("--workers %d: want a positive number, or 0 for this process", o.Workers)
	}
	switch {
	case o.Iterations < 0 || o.Iterations == 0 && c.IsSet("iterations") && c.Command.Name != "run":
		return ui.Wrong("--iterations %d: want a positive number", o.Iterations)
	case o.Iterations == 0 && c.IsSet("iterations"):
		o.Iterations = device.Untimed
	}
	o.InProcess = o.Workers == 0 && c.IsSet("workers")
	if o.inFleet = c.String("fleet") != ""; o.inFleet && c.IsSet("workers") {
		return ui.Wrong("--workers %d is about this machine, and --fleet or NDTUNE_FLEET about others: leave out one of them, "+
			"or add --fleet ''", o.Workers)
	}
	o.Shared = flags.SharedReserve(c)
	for _, name := range []string{"build-timeout", "kernel-timeout"} {
		if o.InProcess && c.IsSet(name) {
			return ui.Wrong("--workers 0 has no worker to watch: leave out --%s", name)
		}
	}
	return nil
}

// On returns how configurations are evaluated for a console.
func (o *Evaluation) On(t *ui.Console) session.Evaluation {
	e := o.Evaluation
	e.Output, e.AllowSettings = t.Diagnostics(), Allows(o.allow, AllowSettings)
	if no, _ := strconv.ParseBool(os.Getenv(noPeakVariable)); !no && o.Iterations != device.Untimed {
		e.MeasurePeaks = func(ctx context.Context, l device.Listed, d hardware.Device, figures []string, r *worker.Reserve) (*hardware.Peaks, error) {
			return MeasurePeaks(ctx, t, l, d, figures, r)
		}
	}
	return e
}
