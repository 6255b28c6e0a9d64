package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "tune one problem on several devices, and say what each best costs on the others",
		ArgsUsage: "[SPEC] [RECORD…]",
		Description: `Tunes a specification on every device of the machine, each with a run log of its own, and
then runs the best of each on all the others, verified, and measures them in turn. Prints
the best of each device, what it costs elsewhere, the one configuration that is best over
all, and the parameters that the devices disagree on (docs/compare.md).

   ndtune compare kernel.yaml --log kernel.jsonl
   ndtune compare kernel.yaml --devices gpu --max-evals 100 -o devices.html -o devices.json
   ndtune compare kernel.yaml --devices 0,1:0 --default block_size_x=256,tile_size=1
   ndtune compare kernel.yaml --log kernel.jsonl --retry-failures

Without a specification it compares records, of any machines, and says what is missing:

   ndtune compare a100.jsonl w7800.jsonl

With both, the bests of the records run on the devices here, and a device of which a record
is given is not tuned again. So the records of two machines are completed:

   ndtune compare kernel.yaml a100.jsonl w7800.jsonl --devices w7800 --log completed.jsonl

Devices are measured one after the other. An interrupted run (Ctrl-C) keeps what it
measured and prints what can be said: the same command with the same --log goes on.`,
		Flags:  compareFlags(),
		Action: runComparison,
	}
}

func compareFlags() []cli.Flag {
	own := []cli.Flag{
		&cli.StringFlag{Name: "devices", Aliases: []string{"d", "device"}, Value: device.AllDevices, Category: categoryEvaluation, Usage: "the `DEVICES` to tune on, each by itself: all, cpu, gpu, or a list of indices, platform:device and parts of names, such as 0,1:0"},
		&cli.StringFlag{Name: "default", Category: categorySearch, Usage: "the configuration that gains are over, `PARAMETER=VALUE,…` for all parameters that have several values (default: the median of the correct ones)"},
		&cli.DurationFlag{Name: "time-limit", Category: categorySearch, Usage: "on each device hand out no configuration after `DURATION`, such as 90s or 10m; those that workers hold are finished"},
		&cli.StringFlag{Name: "log", TakesFile: true, Category: categoryOutput, Usage: "keep the run logs beside `FILE`, with the device in the name: FILE.jsonl becomes FILE.DEVICE.jsonl; and resume what they hold (default: new files in the user's state folder)"},
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, TakesFile: true, Category: categoryOutput, Usage: "write the comparison to `FILE`: .html (a page, with all records), .json, .csv (a row for each configuration and device) or .md; may be repeated"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: categoryOutput, Usage: "show each configuration as it is measured, and why others were skipped"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: categoryOutput, Usage: "print the comparison only"},
	}
	flags := specFlags()
	for _, f := range tuneFlags() {
		name := f.Names()[0]
		if name == "start" || name == "in-process" {
			continue
		}
		same := slices.ContainsFunc(own, func(o cli.Flag) bool { return slices.Contains(o.Names(), name) })
		if !same {
			flags = append(flags, f)
		}
	}
	return append(flags, own...)
}

// A comparing is one run of the command.
type comparing struct {
	cli     *cli.Context
	outputs []string
	spec    *spec.Spec // nil: records only
	path    string     // of the specification
	session compare.Session
	chosen  []device.Listed // of the session's targets
	stem    string          // of the names of run logs
	reserve string          // the file in the state folder that stands for the stem; "": none
}

func runComparison(c *cli.Context) error {
	k := &comparing{cli: c, outputs: c.StringSlice("output")}
	k.session.Options.Tool = "ndtune " + versionText()
	for _, stage := range []func() error{k.checkOutputs, k.read, k.openDefault, k.openDevices} {
		if err := stage(); err != nil {
			return err
		}
	}
	measured := k.measure()
	var usage *usageError
	if errors.As(measured, &usage) {
		return measured
	}
	return joined([]error{k.conclude(), measured})
}

func (k *comparing) checkOutputs() error {
	for i, path := range k.outputs {
		if err := compare.CheckPath(path); err != nil && !report.IsPage(path) {
			return wrong("--output: %w and .html (a page)", err)
		}
		if err := checkFolder(path); err != nil {
			return wrong("--output %s: %w", path, err)
		}
		same := func(other string) bool { return sameFile(other, path) }
		if slices.ContainsFunc(k.outputs[:i], same) || slices.ContainsFunc(append(k.cli.Args().Slice(), k.cli.String("log")), same) {
			return wrong("--output %s: the file is named twice", path)
		}
	}
	return nil
}

// read reads the arguments: a specification first, where there is one, then records.
func (k *comparing) read() error {
	paths := k.cli.Args().Slice()
	if len(paths) == 0 {
		return wrong("name a specification or records: %s SPEC|RECORD… (see %s --help)", k.cli.Command.HelpName, k.cli.Command.HelpName)
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return wrong("%s is named twice", path)
		}
		r, err := record.Read(path)
		if err == nil {
			k.session.Given = append(k.session.Given, compare.Source{Name: path, Record: r})
			continue
		}
		if i > 0 || hasExtensionOfRecord(path) {
			return &usageError{err}
		}
		options, err := specOptions(k.cli)
		if err != nil {
			return err
		}
		if k.spec, err = spec.Load(path, options); err != nil {
			return err
		}
		if err := k.spec.CheckSpace(k.cli.Context); err != nil {
			return err
		}
		k.path = path
	}
	return k.checkArguments()
}

// checkArguments refuses what cannot be compared, before a device is touched.
func (k *comparing) checkArguments() error {
	if k.cli.Bool("quiet") && k.cli.Bool("verbose") {
		return wrong("--quiet and --verbose exclude each other")
	}
	if k.spec == nil {
		if len(k.session.Given) < 2 {
			return wrong("%s is the only record: name those of other devices, or the specification first, to measure on the devices here", k.session.Given[0].Name)
		}
		for _, name := range k.cli.LocalFlagNames() {
			if !slices.Contains([]string{"default", "output", "o", "quiet", "q", "verbose", "v", "no-peak"}, name) {
				return wrong("%s: records are compared as they are; name the specification first, to measure on the devices here", dashed(name))
			}
		}
		return nil
	}
	want := problemHeader(k.spec.Problem, k.path)
	for _, s := range k.session.Given {
		if err := want.SameProblem(s.Record.Header); err != nil {
			return wrong("%s and %s are of different problems: %w", k.path, s.Name, err)
		}
	}
	return (&tuning{cli: k.cli, spec: k.spec, logPath: k.cli.String("log")}).checkFlags()
}

// openDefault reads the configuration that gains are over.
func (k *comparing) openDefault() error {
	text := k.cli.String("default")
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
	if err != nil {
		return wrong("--default %s: %w", text, err)
	}
	if err := parameters.CheckValues(c); err != nil {
		return wrong("--default %s: %w", text, err)
	}
	k.session.Options.Default = &c
	return nil
}

// conclude compares what there is now, prints it and writes the outputs.
func (k *comparing) conclude() error {
	sources, err := k.session.Sources()
	if err != nil {
		return err
	}
	made, err := compare.New(sources, k.session.Options)
	if err != nil {
		return &usageError{err}
	}
	printDevices := printedComparison{k.cli.App.Writer, k.cli.App.ErrWriter, k.cli.Bool("quiet")}
	printDevices.print(made)
	var errs []error
	for _, path := range k.outputs {
		if report.IsPage(path) {
			errs = append(errs, writeComparedPage(path, sources, made))
			continue
		}
		errs = append(errs, made.WriteFile(path))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	k.files()
	for _, d := range made.Devices {
		if d.Best == nil {
			return errReported
		}
	}
	return nil
}

// writeComparedPage writes the report of all records that hold anything, with the comparison on
// top.
func writeComparedPage(path string, sources []compare.Source, c *compare.Comparison) error {
	sources = slices.DeleteFunc(slices.Clone(sources), func(s compare.Source) bool { return len(s.Record.Results) == 0 })
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	var shown []report.Source
	for _, s := range sources {
		shown = append(shown, report.Source{Name: shownName(s.Name, names), Record: s.Record})
	}
	page, err := report.New(shown, c.Tool, time.Now())
	if err != nil {
		return fmt.Errorf("write the comparison to %s: %w", path, err)
	}
	page.Comparison, page.NoComparison = report.Compare(c), ""
	return page.WriteFiles([]string{path}, report.Plot{})
}

// files says where everything was kept.
func (k *comparing) files() {
	if k.cli.Bool("quiet") {
		return
	}
	notes := k.cli.App.ErrWriter
	if len(k.outputs) > 0 {
		fmt.Fprintf(notes, "results: %s\n", strings.Join(k.outputs, ", "))
	}
	logs := k.session.Logs()
	if len(logs) == 0 {
		return
	}
	hint := ""
	if k.cli.Context.Err() != nil {
		hint = fmt.Sprintf(" (the same command with --log %s goes on from there)", k.stem)
	}
	fmt.Fprintf(notes, "run logs: %s%s\n", strings.Join(logs, ", "), hint)
}
