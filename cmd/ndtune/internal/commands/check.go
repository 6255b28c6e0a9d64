package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/check"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// bestChecked is how many of the best configurations of a log are checked.
const bestChecked = 10

type checkOptions struct {
	spec             job.Spec
	device           string // "": the simulator alone
	noSimulator      bool
	launches, jobs   int
	record           string
	most             int           // configurations; 0: as many as cover all pairs of values
	timeLimit, limit time.Duration // of all; of a configuration
	format           string
	outputs          cli.StringSlice
}

func checkCommand(run flags.Runner[checkOptions]) *cli.Command {
	o := &checkOptions{launches: check.DefaultLaunches, limit: check.DefaultLimit, format: "text"}
	return &cli.Command{
		Name:      "check",
		Usage:     "find faults of a kernel: data races, accesses out of bounds, uninitialised memory, divergent barriers",
		ArgsUsage: "SPEC",
		Description: `Runs configurations of a kernel in the simulator Oclgrind, with the constants of check.set, and
says which line is at fault in which configurations (docs/check.md): those that cover each pair of
values, and the ten best of a log. With --device, they are launched on a real device too. Those of a
kernel in CUDA C are launched on one in any case, also under compute-sanitizer if it is installed.

   ndtune check kernel.yaml
   ndtune check kernel.yaml --record kernel.jsonl --jobs 4 --time-limit 10m
   ndtune check kernel.yaml -o check.json -o check.md
   ndtune check kernel.yaml --device gpu --no-simulator
   ndtune check kernel_cuda.yaml

Exit status: 0 no fault; 1 faults, or nothing could be checked.`,
		Flags: append(o.spec.Flags(),
			flags.Text(&o.device, "device d", flags.CategoryEvaluation,
				"launch on `DEVICE` too: index, platform:device, cpu, gpu, cuda, or a part of its name (default: the simulator alone; of CUDA C, the first)"),
			flags.Switch(&o.noSimulator, "no-simulator", flags.CategoryEvaluation, "check on the device of --device alone"),
			flags.Number(&o.launches, "launches", flags.CategoryEvaluation, "on the device, launch each configuration `N` times on the same data"),
			flags.Text(&o.record, "record", flags.CategorySearch, fmt.Sprintf("check the %d best configurations of `RECORD` first", bestChecked)),
			flags.Number(&o.most, "max-configurations", flags.CategorySearch,
				"check at most `N` configurations (default: as many as cover all pairs of values)"),
			flags.Duration(&o.timeLimit, "time-limit", flags.CategorySearch, "end after `DURATION`, such as 10m, and report what was found until then"),
			flags.Duration(&o.limit, "kernel-timeout", flags.CategorySearch, "give up a configuration after `DURATION`"),
			flags.Number(&o.jobs, "jobs j", flags.CategorySearch, "simulate `N` configurations at once (default: as many as cores)"),
			flags.Text(&o.format, "format", flags.CategoryOutput, "print the report as `FORMAT`: "+strings.Join(check.Formats(), ", ")),
			flags.Output(&o.outputs, "write the report to `FILE` too: .json, .md or .txt; may be repeated"),
			flags.Quiet("show no progress"),
		),
		Action: flags.Action(o, run),
	}
}

func (o *checkOptions) Read(c *cli.Context) error {
	if err := o.spec.ReadArgument(c); err != nil {
		return err
	}
	if !slices.Contains(check.Formats(), o.format) {
		return ui.Wrong("--format %s: want one of %s", o.format, strings.Join(check.Formats(), ", "))
	}
	return ui.CheckOutputs("output", o.outputs.Value(), func(path string) error {
		if check.FormatOf(path) == "" {
			return fmt.Errorf("%s: want a file .json, .md or .txt", path)
		}
		return nil
	}, o.spec.Path, o.record)
}

func checkSpec(ctx context.Context, t *ui.Console, o *checkOptions) error {
	s, err := o.spec.LoadChecked(ctx, t)
	if err != nil {
		return err
	}
	how, s, err := o.on(t, s)
	if err != nil {
		return err
	}
	on := check.SimulatedDevice()
	if how.Device != "" {
		on = how.Identity
	}
	configurations, pairs, err := o.configurations(ctx, s, on)
	if err != nil {
		return err
	}
	if hint := how.Hint(s.Problem); hint != "" {
		t.Note(hint)
	}
	r, err := check.Run(ctx, s.Problem, configurations, how)
	if err != nil {
		return err
	}
	r.Spec = s.Path
	if o.most == 0 && r.Stopped == "" {
		r.Pairs = pairs
	}
	err = r.Write(t.Out, o.format)
	for _, path := range o.outputs.Value() {
		err = errors.Join(err, r.WriteFile(path))
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case r.Checked() == 0:
		return fmt.Errorf("no configuration was checked to its end")
	case !r.Clean():
		return ui.ErrIncorrect
	}
	return nil
}

// on returns how a specification is checked, and the specification in the language of the device. CUDA C has no simulator: it is checked on
// a device in any case.
func (o *checkOptions) on(t *ui.Console, s *spec.Spec) (how check.Options, in *spec.Spec, err error) {
	how = check.Options{
		Set: s.CheckConstants, Launches: o.launches, Jobs: cmp.Or(o.jobs, runtime.GOMAXPROCS(0)), Limit: o.limit, TimeLimit: o.timeLimit,
	}
	if o.device != "" || s.Problem.Language() == source.CUDA {
		var listed device.Listed
		if listed, s, err = job.SelectFor(o.device, s); err != nil {
			return how, nil, err
		}
		how.Device, how.Identity = listed.Selector(), *listed.Identity
	}
	how.File = s.SourceName()
	if !o.noSimulator {
		if err = how.Watch(s.Problem.Language()); err != nil && how.Identity.IsCUDA() {
			t.Note("On the device alone: " + err.Error() + ".")
		} else if err != nil {
			return how, nil, err
		}
	}
	display := ui.NewProgress(t.Notes, 0, "check", t.Quiet)
	how.Progress = func(done, all, findings int) {
		display.Total = all
		display.Describe(figure.Count(findings, "finding"))
		display.Count(1)
		if done == all {
			display.Finish()
		}
	}
	return how, s, nil
}

// configurations chooses the configurations to check. Pairs is the number of pairs of values that they cover.
func (o *checkOptions) configurations(ctx context.Context, s *spec.Spec, on hardware.Device) (all []space.Configuration, pairs int, err error) {
	whole, err := s.Space(ctx, on)
	if none := (*space.EmptyError)(nil); errors.As(err, &none) && o.device == "" {
		return nil, 0, fmt.Errorf("%w, on the simulator; check on a device that the restrictions ask for: --device gpu --no-simulator", err)
	}
	if err != nil {
		return nil, 0, err
	}
	best, err := o.best(ctx, s, whole)
	if err != nil {
		return nil, 0, err
	}
	all, pairs = check.Choose(whole, best, check.SizeOf(s.Problem, on))
	if o.most > 0 && len(all) > o.most {
		all = all[:o.most]
	}
	return all, pairs, nil
}

// best returns the best configurations of the record that are in the space.
func (o *checkOptions) best(ctx context.Context, s *spec.Spec, whole *space.Space) (best []space.Configuration, err error) {
	path := o.record
	if path == "" {
		return nil, nil
	}
	r, err := ui.ReadRecord(ctx, path)
	if err != nil {
		return nil, ui.Usage(err)
	}
	if err := r.SetObjective(s.Problem.Objective().First()); err != nil {
		return nil, ui.Wrong("%s: %w", path, err)
	}
	if best = check.Best(whole, s.Problem.Objective().First(), r.Results, bestChecked); len(best) == 0 {
		return nil, ui.Wrong("%s has no correct configuration of this search space", path)
	}
	return best, nil
}
