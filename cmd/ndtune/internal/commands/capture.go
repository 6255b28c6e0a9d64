package commands

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

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/capture"
)

type captureRunOptions struct {
	job.Options // of the launch of each captured configuration
	program     []string
	kernels     cli.StringSlice
	once, json  bool
	limit       int    // of what the layer writes, in MiB
	folder      string // "": that of the program
}

type captureTuneOptions struct {
	job.Options
	folder string
	json   bool
	pages  cli.StringSlice
}

type captureTryOptions struct {
	folder  string
	program []string
	check   string // "": there is none
}

func captureCommand(
	run flags.Runner[captureRunOptions], tune flags.Runner[captureTuneOptions], try flags.Runner[captureTryOptions],
) *cli.Command {
	r, o, y := &captureRunOptions{limit: captureLimit}, &captureTuneOptions{}, &captureTryOptions{}
	return &cli.Command{
		Name:  "capture",
		Usage: "find the kernels on which an application spends its time, and tune them with its data",
		Description: `Runs a program that uses OpenCL, unmodified, under cliloader, Intel's OpenCL Intercept Layer, which
is looked for in PATH, or where NDTUNE_CLILOADER says (docs/capture.md).

   ndtune capture run -- ./simulation input.txt                # writes simulation.capture
   ndtune capture tune simulation.capture --time-limit 10m     # how much faster could it be?
   ndtune capture try simulation.capture -- ./simulation input.txt

Input and output stay the program's. Its exit status is that of the command if it is not 0.`,
		Subcommands: []*cli.Command{{
			Name:      "run",
			Usage:     "show on which kernels a program spends its time, and capture the costliest launches",
			ArgsUsage: "-- PROGRAM [ARGUMENT…]",
			Description: `The program runs twice: once for the times, once to capture the costliest launch of each kernel in
the first 90 % of the time, with its source, options, sizes, arguments and data. If that is not the
first launch of a kernel, it runs once more. Only you may read the folder.

   ndtune capture run -- ./simulation input.txt
   ndtune capture run -o captured --kernel blur --kernel gauss -- ./filter photo.png
   ndtune capture run --once -- ./server      # until Ctrl-C, with the first launch of each kernel

Each captured launch becomes a specification, KERNEL/kernel.yaml in the folder, and is launched
here, to see whether it computes the same in the same time.`,
			Flags: slices.Concat([]cli.Flag{
				flags.List(&r.kernels, "kernel k", categoryCapture, "capture the kernel `NAME`, whatever time it takes; may be repeated"),
				flags.Switch(&r.once, "once", categoryCapture,
					"run the program once: times and captures, of each kernel the first launch, come from the same run"),
				flags.Number(&r.limit, "capture-limit", categoryCapture, "end the program if the layer writes more than `N` MiB in a run"),
				flags.Text(&r.folder, "output o", flags.CategoryOutput, "write to `FOLDER` (default: PROGRAM.capture)"),
				flags.Switch(&r.json, "json", flags.CategoryOutput, "print the profile as JSON"),
				flags.Verbose("show the output of workers and drivers"),
				flags.Device(&r.Device, ""),
			}, flags.Without(r.Evaluation.Flags(&r.Spec), "observe")),
			Action: flags.Action(r, run),
		}, {
			Name:      "tune",
			Usage:     "tune the captured launches, and show what that is worth for the application",
			ArgsUsage: "FOLDER",
			Description: `Tunes the kernels that have values to try, each for its share of the time. Without a limit, it
launches the captured configurations alone. After Ctrl-C, or with changed specifications, the same
command goes on.

   ndtune capture tune simulation.capture --time-limit 10m --report page.html`,
			Flags: slices.Concat([]cli.Flag{
				flags.Switch(&o.json, "json", flags.CategoryOutput, "print the profile and the answer as JSON"),
				flags.List(&o.pages, "report", flags.CategoryOutput, "write a report of all searches to `FILE`: .html (the page) or .md (a table); may be repeated"),
			}, flags.Without(o.Flags(), "output", "log", "start", "prior", "retry-failures", "serve", "observe")),
			Action: flags.Action(o, tune),
		}, {
			Name:      "try",
			Usage:     "run a program without and with the best configurations that are known of its kernels",
			ArgsUsage: "FOLDER -- PROGRAM [ARGUMENT…]",
			Description: `Runs the program once as it is, then with the best configurations that its searches have found, as
far as the layer can put them in the place of its own. It captures nothing.

   ndtune capture try simulation.capture -- ./simulation input.txt
   ndtune capture try simulation.capture --check 'cmp result.txt expected.txt' -- ./simulation input.txt`,
			Flags:  []cli.Flag{flags.Text(&y.check, "check", "", "after each run, run `COMMAND`, which fails if the output of the program is wrong")},
			Action: flags.Action(y, try),
		}},
	}
}

// ninetyPercent is the part of the kernels' time whose kernels are captured.
const ninetyPercent = 0.9

// captureLimit is the most that the layer writes in a run unless a flag says more, in MiB.
const captureLimit = 4096

const categoryCapture = "capture"

// A capturing is a run of the command.
type capturing struct {
	*ui.Console
	options *job.Options
	app     *capture.Application
	profile *capture.Profile
	failed  error // the program's own end, if it is no success
}

func (o *captureRunOptions) Read(c *cli.Context) (err error) {
	if o.program, err = programArguments(c, c.Args().Slice()); err != nil {
		return err
	}
	if o.folder == "" {
		o.folder = filepath.Base(o.program[0]) + ".capture"
	}
	return o.ReadSearch(c)
}

// programArguments refuses arguments that do not name a program.
func programArguments(c *cli.Context, words []string) ([]string, error) {
	if len(words) == 0 {
		return nil, ui.Wrong("name a program: %s %s (see %s --help)", c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, ui.Usage(err)
	}
	return words, nil
}

// runCapture profiles a program, captures its costliest launches, and launches them here.
func runCapture(ctx context.Context, t *ui.Console, o *captureRunOptions) error {
	k := &capturing{Console: t, options: &o.Options}
	k.app = &capture.Application{Args: o.program, Folder: o.folder, Limit: int64(o.limit) << 20}
	if err := k.capture(ctx, o); err != nil {
		return err
	}
	answers, err := k.examine(ctx)
	return cmp.Or(errors.Join(err, k.show(answers, o.json)), k.failed)
}

// capture runs the program for its profile, and to capture its launches.
func (k *capturing) capture(ctx context.Context, o *captureRunOptions) (err error) {
	a := k.app
	if a.Loader, err = capture.FindLoader(); err != nil {
		return ui.Usage(err)
	}
	if entries, _ := os.ReadDir(a.Folder); len(entries) > 0 {
		return ui.Wrong("%s holds something already; remove it, or write to another folder with -o", a.Folder)
	}
	_ = os.Mkdir(a.Folder, 0o700) // it may be there
	if err := os.Chmod(a.Folder, 0o700); err != nil {
		return ui.Wrong("make the folder for captures: %w", err)
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
		a.Folder, figure.Bytes(a.Limit))
	if !o.once {
		if err := k.measure(ctx, names); err != nil {
			return err
		}
	}
	k.profile, err = a.Capture(k.profile, names, func(missing []capture.Launches) bool {
		k.say("The first launches of %s have other sizes than the costliest ones: %s runs once more.",
			ui.Join(", ", func(l capture.Launches) string { return l.Kernel }, missing...), a.Args[0])
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
		k.failed = &ui.ProgramError{Program: k.app.Args[0], Cause: p.End.Cause(), Status: p.Status}
		k.say("%v.", k.failed)
	}
}

// checkLaunches refuses a profile that has no kernels, or not those with the names.
func (k *capturing) checkLaunches(ctx context.Context, names []string) error {
	launched := each.Of(k.profile.Launches, func(l capture.Launches) string { return l.Kernel })
	slices.Sort(launched)
	if len(launched) == 0 && ctx.Err() == nil && k.failed == nil {
		return fmt.Errorf("%s has launched no OpenCL kernel that cliloader sees: it may use another interface, such as CUDA, which has no such layer, link OpenCL statically, or be "+
			"privileged", k.app.Args[0])
	}
	for _, name := range names {
		if !slices.Contains(launched, name) {
			return ui.Wrong("--kernel %s: the program launches no such kernel%s (kernels: %s)", name, nearest.Hint(name, launched),
				strings.Join(slices.Compact(launched), ", "))
		}
	}
	return nil
}

// say tells what the command does, on standard error: standard output is the program's while it runs.
func (k *capturing) say(format string, a ...any) {
	fmt.Fprintf(k.Notes, "ndtune: "+format+"\n", a...)
}
