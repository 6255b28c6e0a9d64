package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/check"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// bestChecked is how many of the best configurations of a log are checked.
const bestChecked = 10

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "find faults of a kernel: data races, accesses out of bounds, uninitialised memory, divergent barriers",
		ArgsUsage: "SPEC",
		Description: `Runs configurations of a kernel in the simulator Oclgrind, with the constants of check.set, and
says which line is at fault in which configurations (docs/check.md). The configurations cover each
value of each parameter, each pair of values, and the ten best of a log. With --device, they are
launched on a real device too, at the size of the specification: between guard zones, on memory with
two fills, several times, and with the work-groups in the opposite order.

   ndtune check kernel.yaml
   ndtune check kernel.yaml --record kernel.jsonl --jobs 4 --time-limit 10m
   ndtune check kernel.yaml -o check.json -o check.md
   ndtune check kernel.yaml --device gpu --no-simulator

Exit status: 0 no fault; 1 faults, or nothing could be checked; 2 the command line or the
specification is wrong; 130 interrupted.`,
		Flags: append(specFlags(),
			&cli.StringFlag{
				Name: "device", Aliases: []string{"d"}, Category: categoryEvaluation,
				Usage: "launch on `DEVICE` too: index, platform:device, cpu, gpu, or a part of its name (default: the simulator alone)",
			},
			&cli.BoolFlag{Name: "no-simulator", Category: categoryEvaluation, Usage: "check on the device of --device alone"},
			&cli.IntFlag{
				Name: "launches", Value: check.DefaultLaunches, Category: categoryEvaluation,
				Usage: "on the device, launch each configuration `N` times on the same data",
			},
			&cli.StringFlag{
				Name: "record", TakesFile: true, Category: categorySearch,
				Usage: fmt.Sprintf("check the %d best configurations of `RECORD` first", bestChecked),
			},
			&cli.IntFlag{
				Name: "max-configurations", Category: categorySearch,
				Usage: "check at most `N` configurations (default: as many as cover all pairs of values)",
			},
			&cli.DurationFlag{
				Name: "time-limit", Category: categorySearch,
				Usage: "end after `DURATION`, such as 10m, and report what was found until then",
			},
			&cli.DurationFlag{
				Name: "kernel-timeout", Value: check.DefaultLimit, Category: categorySearch,
				Usage: "give up a configuration after `DURATION`",
			},
			&cli.IntFlag{
				Name: "jobs", Aliases: []string{"j"}, Value: runtime.GOMAXPROCS(0), DefaultText: "as many as cores", Category: categorySearch,
				Usage: "simulate `N` configurations at once",
			},
			&cli.StringFlag{
				Name: "format", Value: "text", Category: categoryOutput,
				Usage: "print the report as `FORMAT`: " + strings.Join(check.Formats(), ", "),
			},
			outputFlag(nil, "write the report to `FILE` too: .json, .md or .txt; may be repeated"),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: categoryOutput, Usage: "show no progress"},
		),
		Action: runCheck,
	}
}

func runCheck(c *cli.Context) error {
	s, err := loadSpec(c)
	if err != nil {
		return err
	}
	o, err := checkOptions(c, s)
	if err != nil {
		return err
	}
	on := check.SimulatedDevice()
	if o.Device != "" {
		on = o.Identity
	}
	configurations, pairs, err := checkedConfigurations(c, s, o, on)
	if err != nil {
		return err
	}
	if hint := o.Hint(s.Problem); hint != "" {
		fmt.Fprintln(c.App.ErrWriter, hint)
	}
	r, err := check.Run(c.Context, s.Problem, configurations, o)
	if err != nil {
		return err
	}
	r.Spec = s.Path
	if !c.IsSet("max-configurations") && r.Stopped == "" {
		r.Pairs = pairs
	}
	if err := writeCheck(c, r); err != nil {
		return err
	}
	switch {
	case c.Context.Err() != nil:
		return c.Context.Err()
	case r.Checked() == 0:
		return fmt.Errorf("no configuration was checked to its end")
	case !r.Clean():
		return errIncorrect
	}
	return nil
}

// checkOptions returns the options that the command line names.
func checkOptions(c *cli.Context, s *spec.Spec) (o check.Options, err error) {
	if format := c.String("format"); !slices.Contains(check.Formats(), format) {
		return o, wrong("--format %s: want one of %s", format, strings.Join(check.Formats(), ", "))
	}
	if err := checkOutputs("output", c.StringSlice("output"), func(path string) error {
		if check.FormatOf(path) == "" {
			return fmt.Errorf("%s: want a file .json, .md or .txt", path)
		}
		return nil
	}, s.Path, c.String("record")); err != nil {
		return o, err
	}
	o = check.Options{
		File: checkedFile(s), Set: s.CheckConstants, Launches: c.Int("launches"), Jobs: c.Int("jobs"),
		Limit: c.Duration("kernel-timeout"), TimeLimit: c.Duration("time-limit"),
	}
	if !c.Bool("no-simulator") {
		if o.Simulator, err = check.Oclgrind(); err != nil {
			return o, err
		}
	}
	if c.IsSet("device") {
		listed, err := selectDevice(c)
		if err != nil {
			return o, err
		}
		o.Device, o.Identity = listed.Selector(), *listed.Identity
	}
	display := newProgress(c.App.ErrWriter, 0, "check", c.Bool("quiet"))
	o.Progress = func(done, all, findings int) {
		display.total = all
		display.describe(figure.Count(findings, "finding"))
		display.count(1)
		if done == all {
			display.finish()
		}
	}
	return o, nil
}

// checkedFile returns the file of the kernel's source as the specification names it, or the specification itself if it contains the source.
func checkedFile(s *spec.Spec) string {
	if s.SourcePath == "" {
		return filepath.Base(s.Path)
	}
	if relative, err := filepath.Rel(filepath.Dir(s.Path), s.SourcePath); err == nil {
		return relative
	}
	return s.SourcePath
}

// checkedConfigurations chooses the configurations to check. Pairs is the number of pairs of values that they cover.
func checkedConfigurations(
	c *cli.Context, s *spec.Spec, o check.Options, on hardware.Device,
) (all []space.Configuration, pairs int, err error) {
	whole, err := s.Space(c.Context, on)
	if none := (*space.EmptyError)(nil); errors.As(err, &none) && o.Device == "" {
		return nil, 0, fmt.Errorf("%w, on the simulator; check on a device that the restrictions ask for: --device gpu --no-simulator", err)
	}
	if err != nil {
		return nil, 0, err
	}
	best, err := bestOfLog(c, s, whole)
	if err != nil {
		return nil, 0, err
	}
	all, pairs = check.Choose(whole, best, check.SizeOf(s.Problem, on))
	if most := c.Int("max-configurations"); most > 0 && len(all) > most {
		all = all[:most]
	}
	return all, pairs, nil
}

// bestOfLog returns the best configurations of the record of --record that are in the space.
func bestOfLog(c *cli.Context, s *spec.Spec, whole *space.Space) (best []space.Configuration, err error) {
	path := c.String("record")
	if path == "" {
		return nil, nil
	}
	r, err := readRecord(c.Context, path)
	if err != nil {
		return nil, &usageError{err}
	}
	if err := r.SetObjective(s.Problem.Objective().First()); err != nil {
		return nil, wrong("%s: %w", path, err)
	}
	for _, place := range tune.Rank(s.Problem.Objective().First(), r.Results).Indices {
		values := map[string]space.Value{}
		of := r.Results[place].Configuration
		for i, name := range of.Parameters().Names() {
			values[name] = of.At(i)
		}
		maps.DeleteFunc(values, func(name string, _ space.Value) bool { _, own := s.Problem.Parameters().Index(name); return !own })
		own, err := s.Problem.Parameters().ConfigureFirst(values)
		if err != nil {
			continue
		}
		if _, inside := whole.Index(own); inside {
			best = append(best, own)
		}
		if len(best) == bestChecked {
			break
		}
	}
	if len(best) == 0 {
		return nil, wrong("%s has no correct configuration of this search space", path)
	}
	return best, nil
}

// writeCheck prints the report and writes its files.
func writeCheck(c *cli.Context, r *check.Report) error {
	err := r.Write(c.App.Writer, c.String("format"))
	for _, path := range c.StringSlice("output") {
		err = errors.Join(err, r.WriteFile(path))
	}
	return err
}

func finalistsFlag() cli.Flag {
	return &cli.BoolFlag{
		Name: "check", Category: categoryEvaluation,
		Usage: "check the finalists for faults of the kernel at the end, on the device and in Oclgrind if it is installed " +
			"(docs/check.md)",
	}
}

// checkFinalistsFlag refuses --check for a search at several sizes.
func checkFinalistsFlag(c *cli.Context, s *spec.Spec) error {
	if c.Bool("check") && len(s.Sizes) > 0 {
		return wrong("--check is for a search at one size: use ndtune check SPEC --set %s --record FILE", s.Sizes[0])
	}
	return nil
}

// checkFinalists checks the finalists of a search for faults of the kernel, or the best configurations if there are no finalists.
func (j *job) checkFinalists(outcome *tune.Outcome) error {
	if !j.cli.Bool("check") || outcome == nil || outcome.Best == nil || j.cli.Context.Err() != nil {
		return nil
	}
	ranking := tune.Rank(j.plan.Spec.Problem.Objective(), outcome.Results)
	var configurations []space.Configuration
	for i, place := range ranking.Indices {
		if i == max(1, ranking.Finalists) {
			break
		}
		configurations = append(configurations, outcome.Results[place].Configuration)
	}
	s, d := j.plan.Spec, j.place.Devices[0]
	o := check.Options{
		File: checkedFile(s), Set: s.CheckConstants, Device: d.Selector(), Identity: *d.Identity, Jobs: runtime.GOMAXPROCS(0),
	}
	var err error
	if o.Simulator, err = check.Oclgrind(); err != nil {
		j.say("--check: on the device alone: %v", err)
	}
	if hint := o.Hint(s.Problem); hint != "" {
		j.say("--check: %s", hint)
	}
	r, err := check.Run(j.cli.Context, s.Problem, configurations, o)
	if err != nil {
		return err
	}
	r.Spec = s.Path
	fmt.Fprintln(j.cli.App.ErrWriter)
	if err := r.Write(j.cli.App.ErrWriter, "text"); err != nil {
		return err
	}
	if !r.Clean() {
		return errIncorrect
	}
	return nil
}
