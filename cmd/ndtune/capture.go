package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/report"
)

type captureOptions struct {
	searchOptions
	program     []string
	kernels     cli.StringSlice
	once, json  bool
	limit       int    // of what the layer writes, in MiB
	with, check string // "": none
	folder      string
	pages       cli.StringSlice
}

func captureCommand(run runner[captureOptions]) *cli.Command {
	o := &captureOptions{}
	return &cli.Command{
		Name:      "capture",
		Usage:     "find the kernels on which an application spends its time, and capture them",
		ArgsUsage: "[-- PROGRAM [ARGUMENT…]]",
		Description: `Runs a program that uses OpenCL, unmodified, under cliloader, Intel's OpenCL Intercept Layer, and
shows on which kernels its devices spend their time (docs/capture.md). The program runs twice, or
more often if the costliest launch of a kernel is not its first: once for the times, once to
capture the costliest launch of each kernel in the first 90 % of the time: its source, options,
sizes and arguments, and the content of its buffers before and after.

   ndtune capture -- ./simulation input.txt
   ndtune capture -o captured --kernel blur --kernel gauss -- ./filter photo.png
   ndtune capture --once -- ./server      # until Ctrl-C, with the first launch of each kernel

Each captured launch becomes a specification, KERNEL/kernel.yaml in the folder, with its data. It is
launched here, to see whether it computes the same in the same time. With --time-limit, the kernels
are tuned, each for its share of the time, and a table shows what that is worth for the application.
Without PROGRAM, the command goes on with a folder, also after Ctrl-C or with changed specifications:

   ndtune capture --time-limit 10m --report page.html -- ./simulation input.txt
   ndtune capture -o simulation.capture --time-limit 10m

Input and output stay the program's. Its exit status is that of this command if it is not 0.
What was captured until the program crashes or is interrupted can be used. A capture holds what
the application had in memory: only its owner may read the folder.

cliloader is looked for in PATH, or where NDTUNE_CLILOADER says.`,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{
				Name: "kernel", Aliases: []string{"k"}, Destination: &o.kernels, Category: categoryCapture,
				Usage: "capture the kernel `NAME`, whatever time it takes; may be repeated",
			},
			&cli.BoolFlag{
				Name: "once", Destination: &o.once, Category: categoryCapture,
				Usage: "run the program once: times and captures, of each kernel the first launch, come from the same run",
			},
			&cli.IntFlag{
				Name: "capture-limit", Destination: &o.limit, Value: 4096, Category: categoryCapture, Usage: "end the program if the layer writes more than `N` MiB in a run",
			},
			&cli.StringFlag{
				Name: "with", Destination: &o.with, TakesFile: true, Category: categoryCapture,
				Usage: "run the program without and with the best configurations that the searches in `FOLDER` have found, as far as they can be injected",
			},
			&cli.StringFlag{
				Name: "check", Destination: &o.check, Category: categoryCapture,
				Usage: "with --with: after each run, run `COMMAND`, which fails if the output of the program is wrong",
			},
			&cli.StringFlag{
				Name: "output", Aliases: []string{"o"}, Destination: &o.folder, TakesFile: true, Category: categoryOutput,
				Usage: "write to `FOLDER` (default: PROGRAM.capture)",
			},
			&cli.BoolFlag{Name: "json", Destination: &o.json, Category: categoryOutput, Usage: "print the profile and the answer as JSON"},
			&cli.StringSliceFlag{
				Name: "report", Destination: &o.pages, TakesFile: true, Category: categoryOutput,
				Usage: "write a report of all searches to `FILE`: .html (the page) or .md (a table); may be repeated",
			},
		}, without(o.flags(), "output", "log", "start", "prior", "retry-failures", "serve")...),
		Action: action(o, run),
	}
}

// ninetyPercent is the part of the kernels' time whose kernels are captured.
const ninetyPercent = 0.9

const categoryCapture = "capture"

// A programError says that the program of the user failed, which has been reported. Its status is that of the command.
type programError struct {
	program, cause string
	status         int
}

func (e *programError) Error() string { return fmt.Sprintf("%s ended %s", e.program, e.cause) }
func (e *programError) Unwrap() error { return errReported }

// A capturing is a run of the command.
type capturing struct {
	*console
	options *captureOptions
	app     *capture.Application
	profile *capture.Profile
	failed  error // the program's own end, if it is no success
}

func (o *captureOptions) read(c *cli.Context) error {
	o.program = c.Args().Slice()
	if err := checkOutputs("report", o.pages.Value(), report.CheckPath); err != nil {
		return err
	}
	switch {
	case o.check != "" && o.with == "":
		return wrong("--check needs --with: it judges the output of a program that runs with other configurations")
	case len(o.program) > 0:
	case o.with != "":
		return wrong("name the program to run with what %s holds: %s --with FOLDER -- PROGRAM", o.with, c.Command.HelpName)
	case o.folder == "":
		return wrong("name a program: %s %s (see %s --help)", c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	}
	return cmp.Or(o.spec.read(), o.readSearch(c))
}

// captureProgram profiles a program, captures its costliest launches, and tunes them.
func captureProgram(ctx context.Context, t *console, o *captureOptions) error {
	k := &capturing{console: t, options: o, app: &capture.Application{Args: o.program, Folder: o.folder, Limit: int64(o.limit) << 20}}
	var err error
	if len(o.program) > 0 {
		err = k.run(ctx)
	} else if k.profile, err = capture.ReadProfile(k.app.Folder); err != nil {
		err = &usageError{err}
	}
	if err != nil || o.with != "" {
		return err
	}
	answers, err := k.tune(ctx)
	if o.json {
		err = errors.Join(err, t.json(struct {
			*capture.Profile
			Launches []*answer `json:"launches"`
		}{k.profile, answers}))
	} else {
		printTitled(t.out, k.table(answers))
	}
	return cmp.Or(errors.Join(err, writeSearches(answers, o.pages.Value())), k.failed)
}

// run runs the program: for its profile and to capture its launches, or with what others have found.
func (k *capturing) run(ctx context.Context) (err error) {
	o, a := k.options, k.app
	if _, err := exec.LookPath(a.Args[0]); err != nil {
		return &usageError{err}
	}
	if a.Loader, err = capture.FindLoader(); err != nil {
		return &usageError{err}
	}
	if o.with != "" {
		return k.runWith(ctx, o.with)
	}
	a.Folder = cmp.Or(a.Folder, filepath.Base(a.Args[0])+".capture")
	if entries, _ := os.ReadDir(a.Folder); len(entries) > 0 {
		return wrong("%s holds something already; remove it, or write to another folder with -o", a.Folder)
	}
	_ = os.Mkdir(a.Folder, 0o700) // it may be there
	if err := os.Chmod(a.Folder, 0o700); err != nil {
		return wrong("make the folder for captures: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(a.Folder) // it stays unless it is empty
		}
	}()
	names, times := o.kernels.Value(), "twice, first for the times of its kernels, then to capture the costliest"
	if o.once {
		times = "once, and the first launch of each kernel is captured"
	}
	k.say("%s runs %s.", a.Args[0], times)
	k.say("%s, for you alone, gets what the application has in memory. A run that writes more than %s (--capture-limit) is ended.",
		a.Folder, formatBytes(a.Limit))
	if !o.once {
		if err := k.measure(ctx, names); err != nil {
			return err
		}
	}
	k.profile, err = a.Capture(k.profile, names, func(missing []capture.Launches) bool {
		k.say("The first launches of %s have other sizes than the costliest ones: %s runs once more.",
			joinTexts(", ", func(l capture.Launches) string { return l.Kernel }, missing...), a.Args[0])
		return ctx.Err() == nil
	})
	if errors.Is(err, capture.ErrLimit) {
		k.say("%v, so the program was ended; what was captured until then stays.", err)
		err = nil
	}
	if k.profile == nil || err != nil {
		return err
	}
	k.ended(k.profile)
	return errors.Join(k.profile.Write(a.Folder), k.checkLaunches(ctx, names))
}

// measure runs the program for its profile, and chooses the launches to capture.
func (k *capturing) measure(ctx context.Context, names []string) error {
	p, err := k.app.Measure()
	if err != nil {
		return err
	}
	switch k.ended(p); {
	case ctx.Err() != nil:
		k.say("Nothing was captured; --once captures in the first run, until Ctrl-C.")
		return ctx.Err()
	case len(p.Launches) == 0 && k.failed != nil:
		k.say("It ended before there was a report of its times, so the first launch of each kernel is captured now.")
		return nil
	}
	k.profile = p
	if err := k.checkLaunches(ctx, names); err != nil {
		return err
	}
	k.say("%s runs again, to capture %s.", k.app.Args[0], figure.Count(p.Choose(ninetyPercent, names...), "launch"))
	return nil
}

// ended notes how the program ended.
func (k *capturing) ended(p *capture.Profile) {
	if k.failed = nil; p.Status != 0 {
		k.failed = &programError{k.app.Args[0], p.End.Cause(), p.Status}
		k.say("%v.", k.failed)
	}
}

// checkLaunches refuses a profile that has no kernels, or not those with the names.
func (k *capturing) checkLaunches(ctx context.Context, names []string) error {
	var launched []string
	for _, l := range k.profile.Launches {
		launched = append(launched, l.Kernel)
	}
	slices.Sort(launched)
	if len(launched) == 0 && ctx.Err() == nil && k.failed == nil {
		return fmt.Errorf("%s has launched no OpenCL kernel that cliloader sees: it may use another interface, link OpenCL statically, or be "+
			"privileged", k.app.Args[0])
	}
	for _, name := range names {
		if !slices.Contains(launched, name) {
			return wrong("--kernel %s: the program launches no such kernel%s (kernels: %s)", name, nearest.Hint(name, launched),
				strings.Join(slices.Compact(launched), ", "))
		}
	}
	return nil
}

// say tells what the command does, on standard error: standard output is the program's while it runs.
func (k *capturing) say(format string, a ...any) {
	fmt.Fprintf(k.notes, "ndtune: "+format+"\n", a...)
}
