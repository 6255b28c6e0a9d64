package job

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/worker"
)

// An Evaluation says how configurations are evaluated.
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

// The values of --allow.
const (
	AllowCommands = "commands" // an agent runs commands that specifications name
	AllowSettings = "settings" // specifications change settings of devices
)

// Allowed returns the values of --allow that a command has.
func Allowed(command string) []string {
	if command == "agent" {
		return []string{AllowCommands, AllowSettings}
	}
	return []string{AllowSettings}
}

// AllowFlag is --allow.
func AllowFlag(to *string, usage string) cli.Flag {
	return &cli.StringFlag{Name: "allow", Destination: to, Category: flags.CategoryEvaluation, Usage: usage, Action: func(c *cli.Context, value string) error {
		for what := range strings.SplitSeq(value, ",") {
			if all := Allowed(c.Command.Name); !slices.Contains(all, what) {
				return ui.Wrong("--allow %s: want %s", value, strings.Join(all, " or "))
			}
		}
		return nil
	}}
}

// Allows reports whether --allow has a value.
func Allows(allow, what string) bool {
	return slices.Contains(strings.Split(allow, ","), what)
}

// noPeakVariable is the environment variable by which scripts say that unknown peaks shall not be measured.
const noPeakVariable = "NDTUNE_NO_PEAK"

// MeasurePeaks measures figures of a device, or all if none is named, and keeps them in the user's state folder, with those that the
// device has. It returns all of them. If they cannot be kept, that is only noted.
func MeasurePeaks(
	ctx context.Context, t *ui.Console, l device.Listed, d hardware.Device, figures []string, r *worker.Reserve,
) (*hardware.Peaks, error) {
	bar := ui.NewProgress(t.Notes, len(peak.Parts(figures...)), "part", t.Quiet)
	if r == nil {
		r = worker.NewReserve(t.Diagnostics())
		defer r.Close()
	}
	o := worker.PeakOptions{Figures: figures, Timer: d.Timer, Begin: func(part string, number int) {
		bar.Done = number - 1
		bar.Describe(l.Name + ": " + part)
	}}
	peaks, err := r.MeasurePeaks(ctx, l, o)
	bar.Finish()
	if err != nil {
		return d.Peaks, err
	}
	if d.Peaks == nil || len(figures) == 0 {
		d.Peaks = peaks
	} else {
		d.Peaks.Add(peaks)
	}
	d.Timer = peaks.Timer
	if err := record.KeepPeaks(d); err != nil {
		t.Note(err.Error())
	}
	return d.Peaks, nil
}
