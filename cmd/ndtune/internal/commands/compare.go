package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

type compareOptions struct {
	job.Options
	devices       string
	configuration string // that gains are relative to; "": the median
	rank          ranking

	paths  []string
	search []string // the flags of a search that are given
}

func compareCommand(run flags.Runner[compareOptions]) *cli.Command {
	o := &compareOptions{devices: device.AllDevices}
	o.Spec.TakesSizes = true
	return &cli.Command{
		Name:      "compare",
		Usage:     "tune one problem on several devices, and show the cost of each best on the others",
		ArgsUsage: "[SPEC] [RECORD…]",
		Description: `Tunes a specification on every device, runs the best configuration of each on all others, and
measures these in turn. Prints what each best costs elsewhere, and which configuration is best over
all devices (docs/compare.md). Ctrl-C keeps the results: the same command with the same --log goes on.

   ndtune compare kernel.yaml --log kernel.jsonl
   ndtune compare kernel.yaml --devices gpu --max-evals 100 -o devices.html -o devices.json
   ndtune compare kernel.yaml --devices 0,1:0 --default block_size_x=256,tile_size=1
   ndtune compare kernel.yaml --fleet nats://127.0.0.1:4222 --log kernel.jsonl

Records from any machines are compared as they are, or measured here as far as one lacks what another has:

   ndtune compare a100.jsonl w7800.jsonl
   ndtune compare kernel.yaml a100.jsonl w7800.jsonl --devices w7800 --log completed.jsonl`,
		Flags:  o.flags(),
		Action: flags.Action(o, run),
	}
}

func (o *compareOptions) flags() []cli.Flag {
	own := []cli.Flag{
		flags.Text(&o.devices, "devices d device", flags.CategoryEvaluation,
			"the `DEVICES` to tune on, each on its own: all, cpu, gpu, or a list of indices, platform:device and parts of "+
				"names, such as 0,1:0; in a fleet, its kinds of devices"),
		flags.Text(&o.configuration, "default", flags.CategorySearch,
			"the configuration that gains are relative to, `PARAMETER=VALUE,…` for all parameters with several values "+
				"(default: the median of the correct ones)"),
		flags.Text(&o.rank.objectives, "objective", flags.CategorySearch,
			"rank records by `OBJECTIVE` instead of that of their search: time, time_mean, time_min or a metric, "+
				"maximised after the word maximize; a specification takes --set spec.objective=OBJECTIVE"),
		flags.Text(&o.Log, "log", flags.CategoryOutput,
			"keep the run logs beside `FILE`, with the device and the size in the name (FILE.jsonl becomes FILE.DEVICE.jsonl), "+
				"and continue the runs that they hold (default: new files in the user's state folder)"),
		flags.Output(&o.Outputs, "write the comparison to `FILE`: .html (a page, with all records), .json, .csv (a row for each configuration and "+
			"device) or .md; may be repeated"),
	}
	names := []string{"device", "start", "serve"}
	for _, f := range own {
		names = append(names, f.Names()[0])
	}
	return slices.Concat(o.Spec.Flags(), flags.Without(o.Options.Flags(), names...), own,
		o.Fleet.SearchFlags("tune on the devices of the fleet"))
}

// flagsForRecords are the flags of a comparison of records alone.
var flagsForRecords = []string{
	"default", "objective", "output", "o", "quiet", "q", "verbose", "v", "fleet",
}

func (o *compareOptions) Read(c *cli.Context) (err error) {
	if o.paths, err = flags.Paths(c, "a specification or records"); err != nil {
		return err
	}
	o.search = slices.DeleteFunc(c.LocalFlagNames(), func(name string) bool { return slices.Contains(flagsForRecords, name) })
	return cmp.Or(o.Spec.Read(), o.ReadSearch(c), o.rank.read(), o.checkOutputs())
}

func (o *compareOptions) checkOutputs() error {
	return ui.CheckOutputs("output", o.Outputs.Value(), func(path string) error {
		if err := compare.CheckPath(path); err != nil && !report.IsPage(path) {
			return fmt.Errorf("%w and .html (a page)", err)
		}
		return nil
	}, append(o.paths, o.Log)...)
}

// A comparing is one run of the command.
type comparing struct {
	*ui.Console
	options   *compareOptions
	outputs   []string
	spec      *spec.Spec      // nil: records only
	sizes     []job.SizedSpec // the specification at each size
	job       *job.Job        // with the options of all searches
	session   compare.Session
	places    []place          // of the session's targets
	stem      string           // of the names of run logs
	fleet     *job.JoinedFleet // nil: this machine
	oneDevice bool             // all targets are on it
	atOnce    bool             // several targets are measured at the same time
}

func runComparison(ctx context.Context, t *ui.Console, o *compareOptions) error {
	k := newComparing(t, o)
	return k.run(ctx, k.read, k.openDefault, k.openDevices)
}

func newComparing(t *ui.Console, o *compareOptions) *comparing {
	k := &comparing{Console: t, options: o, outputs: o.Outputs.Value()}
	k.session.Options.Tool = "ndtune " + ui.VersionText()
	return k
}

// run prepares the comparison in stages, measures and concludes.
func (k *comparing) run(ctx context.Context, stages ...func(context.Context) error) error {
	defer func() { k.fleet.Close() }()
	for _, stage := range stages {
		if err := stage(ctx); err != nil {
			return err
		}
	}
	measured := k.measure(ctx)
	if ui.IsUsage(measured) {
		return measured
	}
	return ui.Joined([]error{k.conclude(ctx), measured})
}

// read reads the files: a specification first, where there is one, then records.
func (k *comparing) read(ctx context.Context) error {
	o := k.options
	for i, path := range o.paths {
		r, err := ui.ReadRecord(ctx, path)
		if err == nil {
			if err := o.rank.apply(path, r); err != nil {
				return err
			}
			if err := job.CheckOneObjective(r.Header.Objective, "ndtune compare", path, "--objective"); err != nil {
				return err
			}
			k.session.Given = append(k.session.Given, compare.Source{Name: path, Record: r})
			continue
		}
		if i > 0 || ui.HasExtensionOfRecord(path) || ui.IsCancelled(err) {
			return ui.Usage(err)
		}
		o.Spec.Path = path
		if k.spec, err = o.Spec.Load(ctx, k.Console); err != nil {
			return err
		}
		if err := job.CheckOneObjective(k.spec.Problem.Objective(), "ndtune compare", path, "--set spec.objective=NAME"); err != nil {
			return err
		}
	}
	switch {
	case k.spec != nil && o.rank.objectives != "":
		return ui.Wrong("--objective ranks records alone; give the specification another objective by --set spec.objective=%s", o.rank.objectives)
	case k.spec != nil:
		return k.checkSpec(ctx)
	case len(k.session.Given) < 2:
		return ui.Wrong("%s is the only record: name those of other devices, or the specification first, to measure on the devices here",
			k.session.Given[0].Name)
	case len(o.search) > 0:
		return ui.Wrong("%s: records are compared as they are; name the specification first, to measure on the devices here", flags.Dashed(o.search[0]))
	}
	return nil
}

// checkSpec refuses what cannot be measured, before a device is opened.
func (k *comparing) checkSpec(ctx context.Context) (err error) {
	if k.sizes, err = job.SizedSpecs(k.spec, k.options.Spec.Changes); err != nil {
		return err
	}
	for _, s := range k.sizes {
		if err := s.Check(ctx); err != nil {
			return err
		}
	}
	for _, s := range k.session.Given {
		i := slices.IndexFunc(k.sizes, func(p job.SizedSpec) bool { return p.Size.String() == s.Record.Header.Size })
		if i < 0 {
			return ui.Wrong("%s is of a size that is not tuned here", s.Name)
		}
		if err := record.NewHeader(k.sizes[i].Problem, k.spec.Path).SameProblem(s.Record.Header); err != nil {
			return ui.Wrong("%s and %s are of different problems: %w", k.spec.Path, s.Name, err)
		}
	}
	if k.job, err = job.New(ctx, k.Console, &k.options.Options, k.spec, k.spec.Path); err != nil {
		return err
	}
	k.job.Outputs = nil // the comparison has them
	return k.job.CheckFiles()
}

// openDefault reads the configuration that gains are over.
func (k *comparing) openDefault(context.Context) error {
	text := k.options.configuration
	if text == "" {
		return nil
	}
	var parameters *space.Parameters
	if k.spec != nil {
		parameters = k.spec.Problem.Parameters()
	} else {
		var err error
		if parameters, err = space.NewParameters(k.session.Given[0].Record.Header.Parameters); err != nil {
			return fmt.Errorf("%s: %w", k.session.Given[0].Name, err)
		}
	}
	c, err := spec.ParseConfiguration(parameters, text)
	if err == nil {
		err = parameters.CheckValues(c)
	}
	if err != nil {
		return ui.Wrong("--default %s: %w", text, err)
	}
	k.session.Options.Default = &c
	return nil
}

// conclude compares what there is now, prints it and writes the outputs.
func (k *comparing) conclude(ctx context.Context) error {
	sources, err := k.session.Sources()
	if err != nil {
		return err
	}
	made, err := compare.New(sources, k.session.Options)
	if err != nil {
		return ui.Usage(err)
	}
	k.print(made)
	var errs []error
	for _, path := range k.outputs {
		if report.IsPage(path) {
			errs = append(errs, writeComparedPage(path, sources, made))
			continue
		}
		errs = append(errs, made.WriteFile(path))
	}
	err = errors.Join(errs...)
	if k.files(ctx, err == nil); err != nil {
		return err
	}
	for _, d := range made.Devices {
		if d.Best == nil {
			return ui.ErrIncorrect
		}
	}
	return nil
}

// print prints the tables on stdout and the notices on stderr.
func (k *comparing) print(c *compare.Comparison) {
	k.Say("")
	fmt.Fprintln(k.Out, c.Title())
	for _, t := range c.Tables() {
		fmt.Fprintf(k.Out, "\n%s\n", t.Title)
		t.Write(k.Out, "  ")
	}
	if why := c.NoOverall(); why != "" {
		fmt.Fprintf(k.Out, "\nno best over all: %s\n", why)
	}
	if len(c.Notices) > 0 {
		k.Say("\n%s", strings.Join(c.Notices, "\n"))
	}
}

// writeComparedPage writes the report of all records that hold results, with the comparison on top.
func writeComparedPage(path string, sources []compare.Source, c *compare.Comparison) error {
	var names []string
	var shown []report.Source
	for _, s := range sources {
		if len(s.Record.Results) > 0 {
			names = append(names, s.Name)
			shown = append(shown, report.Source{Name: s.Name, Record: s.Record})
		}
	}
	for i := range shown {
		shown[i].Name = ui.ShownName(shown[i].Name, names)
	}
	page, err := report.New(shown, c.Tool, time.Now())
	if err != nil {
		return fmt.Errorf("write the comparison to %s: %w", path, err)
	}
	page.Comparison, page.NoComparison = report.Compare(c), ""
	return page.WriteFiles([]string{path}, false)
}

// files prints the names of the outputs, if they were written, and of the run logs: quiet, of logs that are all that is left.
func (k *comparing) files(ctx context.Context, written bool) {
	if written && len(k.outputs) > 0 {
		k.Say("results: %s", strings.Join(k.outputs, ", "))
	}
	hint := ""
	if ctx.Err() != nil {
		hint = fmt.Sprintf(" (the same command with --log %s continues the run)", k.stem)
	}
	if logs := k.session.Logs(); len(logs) > 0 && !(written && k.Quiet) {
		fmt.Fprintf(k.Notes, "run logs: %s%s\n", strings.Join(logs, ", "), hint)
	}
}
