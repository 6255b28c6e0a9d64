package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/capture"
)

func captureCommand() *cli.Command {
	return &cli.Command{
		Name:      "capture",
		Usage:     "find the kernels on which an application spends its time, and capture them",
		ArgsUsage: "-- PROGRAM [ARGUMENT…]",
		Description: `Runs a program that uses OpenCL, unmodified, under cliloader, Intel's OpenCL Intercept Layer, and
shows on which kernels its devices spend their time (docs/capture.md). The program runs twice, or
more often if the costliest launch of a kernel is not its first: once for the times, once to
capture the costliest launch of each kernel in the first 90 % of the time: its source, options,
sizes and arguments, and the content of its buffers before and after.

   ndtune capture -- ./simulation input.txt
   ndtune capture -o captured --kernel blur --kernel gauss -- ./filter photo.png
   ndtune capture --once -- ./server      # until Ctrl-C, with the first launch of each kernel

Input and output stay the program's. Its exit status is that of this command if it is not 0.
What was captured until the program crashes or is interrupted can be used. A capture holds what
the application had in memory: only its owner may read the folder.

cliloader is looked for in PATH, or where NDTUNE_CLILOADER says.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{
				Name: "kernel", Aliases: []string{"k"}, Category: categoryCapture,
				Usage: "capture the kernel `NAME`, whatever time it takes; may be repeated",
			},
			&cli.BoolFlag{
				Name: "once", Category: categoryCapture,
				Usage: "run the program once: times and captures, of each kernel the first launch, come from the same run",
			},
			&cli.StringFlag{
				Name: "capture-limit", Value: "4GiB", Category: categoryCapture,
				Usage: "end the program if a run writes more than `SIZE`, such as 500MiB",
			},
			&cli.StringFlag{
				Name: "output", Aliases: []string{"o"}, TakesFile: true, Category: categoryOutput,
				Usage: "write to `FOLDER` (default: PROGRAM.capture)",
			},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Category: categoryOutput, Usage: "replace the captures that the folder has"},
			&cli.BoolFlag{Name: "json", Category: categoryOutput, Usage: "print the profile as JSON"},
		},
		Action: captureProgram,
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

// capturing is a run of the command.
type capturing struct {
	cli     *cli.Context
	app     *capture.Application
	kernels []string
	profile *capture.Profile
	failed  error // the program's own end, if it is no success
}

// captureProgram profiles a program, and captures its kernels.
func captureProgram(c *cli.Context) error {
	a, err := newApplication(c)
	if err != nil {
		return err
	}
	k := &capturing{cli: c, app: a, kernels: c.StringSlice("kernel")}
	times := "twice: first for the times of its kernels, then to capture the costliest"
	if c.Bool("once") {
		times = "once, and the first launch of each kernel is captured"
	}
	k.say("%s runs %s.", a.Args[0], times)
	k.say("What is captured goes to %s, for you alone: it is what the application has in memory. A run that writes more than %s "+
		"(--capture-limit) is ended.", a.Folder, formatBytes(a.Limit))
	wanted := capture.Wanted{Kernels: k.kernels, Timed: c.Bool("once")}
	if !wanted.Timed {
		if wanted.Launches, err = k.measure(); err != nil {
			return err
		}
	}
	captured, err := k.capture(wanted)
	if err != nil && k.profile == nil {
		return err
	}
	if err := errors.Join(err, k.profile.Write(a.Folder), k.print(captured)); err != nil {
		return err
	}
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	return k.failed
}

// newApplication reads the program of the command line, and makes the folder.
func newApplication(c *cli.Context) (a *capture.Application, err error) {
	a = &capture.Application{Args: c.Args().Slice(), Folder: c.String("output")}
	if len(a.Args) == 0 {
		return nil, wrong("name a program: %s %s (see %s --help)", c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	}
	if a.Limit, err = parseBytes(c.String("capture-limit")); err != nil {
		return nil, wrong("--capture-limit %s: %w", c.String("capture-limit"), err)
	}
	if _, err := exec.LookPath(a.Args[0]); err != nil {
		return nil, &usageError{err}
	}
	if a.Loader, err = capture.FindLoader(); err != nil {
		return nil, &usageError{err}
	}
	if a.Folder == "" {
		a.Folder = filepath.Base(a.Args[0]) + ".capture"
	}
	if err := checkFolder(filepath.Join(a.Folder, "..", "-")); err != nil {
		return nil, wrong("write to %s: %w", a.Folder, err)
	}
	return a, makeFolder(a.Folder, c.Bool("force"))
}

// makeFolder makes a folder for captures, for its owner alone.
func makeFolder(folder string, replace bool) error {
	entries, err := os.ReadDir(folder)
	switch {
	case os.IsNotExist(err):
		return os.Mkdir(folder, 0o700)
	case err != nil:
		return &usageError{err}
	case len(entries) == 0:
	case !replace:
		return wrong("%s holds something already; --force replaces captures, -o writes to another folder", folder)
	default:
		if _, err := capture.ReadProfile(folder); err != nil {
			return wrong("--force replaces captures only: %w", err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.Chmod(folder, 0o700)
}

// measure runs the program for its profile, and chooses the launches to capture.
func (k *capturing) measure() ([]capture.Launches, error) {
	ran, err := k.app.Measure()
	if ran != nil {
		err = errors.Join(err, ran.Remove())
		k.ended(ran)
	}
	if err != nil {
		return nil, err
	}
	if k.cli.Context.Err() != nil {
		k.say("Nothing was captured; --once captures in the first run, until Ctrl-C.")
		return nil, k.cli.Context.Err()
	}
	if len(ran.Profile.Launches) == 0 && k.failed != nil {
		k.say("It ended before there was a report of its times, so the first launch of each kernel is captured now.")
		return nil, nil
	}
	k.profile = &ran.Profile
	if err := k.checkLaunches(); err != nil {
		return nil, err
	}
	wanted := k.profile.Costliest(ninetyPercent, k.kernels...)
	k.say("%s runs again, to capture %s.", k.app.Args[0], figure.Count(len(wanted), "launch"))
	return wanted, nil
}

// capture captures launches of the program.
func (k *capturing) capture(wanted capture.Wanted) ([]capture.Captured, error) {
	ran, captured, err := k.app.Capture(wanted, func(missing []capture.Launches) bool {
		if k.cli.Context.Err() != nil {
			return false
		}
		k.say("The first launches of %s have other sizes than the costliest ones: %s runs once more.",
			joinTexts(", ", func(l capture.Launches) string { return l.Kernel }, missing...), k.app.Args[0])
		return true
	})
	if ran == nil {
		return nil, err
	}
	k.ended(ran)
	if k.profile == nil {
		k.profile = &ran.Profile
	}
	for _, c := range captured {
		k.profile.Note(c.Launches)
	}
	if fault := k.checkLaunches(); fault != nil {
		return nil, errors.Join(err, fault)
	}
	var limit *capture.LimitError
	if errors.As(err, &limit) { // what was captured until then can be used
		k.say("%v, and the program was ended.", err)
		err = nil
	}
	return captured, err
}

// ended notes how the program ended.
func (k *capturing) ended(ran *capture.Ran) {
	k.failed = nil
	if ran.End.Status() != 0 {
		k.failed = &programError{k.app.Args[0], ran.End.Cause(), ran.End.Status()}
		k.say("%v.", k.failed)
	}
}

// checkLaunches refuses a profile that has no kernels, or not those that are named.
func (k *capturing) checkLaunches() error {
	var names []string
	for _, l := range k.profile.Launches {
		names = append(names, l.Kernel)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has launched no OpenCL kernel that cliloader sees: it may use another interface, link OpenCL statically, or be "+
			"privileged", k.app.Args[0])
	}
	for _, kernel := range k.kernels {
		if !slices.Contains(names, kernel) {
			slices.Sort(names)
			return wrong("--kernel %s: the program launches no such kernel%s (kernels: %s)", kernel, nearest.Hint(kernel, names),
				strings.Join(slices.Compact(names), ", "))
		}
	}
	return nil
}

// say tells what the command does, on standard error: standard output is the program's while it runs.
func (k *capturing) say(format string, a ...any) {
	fmt.Fprintf(k.cli.App.ErrWriter, "ndtune: "+format+"\n", a...)
}

// print prints the profile and what was captured.
func (k *capturing) print(captured []capture.Captured) error {
	for _, c := range captured {
		if c.Refused != nil {
			k.say("%s cannot be tuned: %v", c.Kernel, c.Refused)
		}
	}
	if k.cli.Bool("json") {
		return printJSON(k.cli.App.Writer, k.profile)
	}
	printTitled(k.cli.App.Writer, profileTable(k.profile, k.app.Folder))
	return nil
}

// maxRows is the number of launch shapes that a table has.
const maxRows = 25

// profileTable shows the launches of an application by their cost.
func profileTable(p *capture.Profile, folder string) figure.Table {
	ms := func(ns float64) string { return figure.Milliseconds(ns / 1e6) }
	t := figure.Table{
		Title: fmt.Sprintf("%s: %s ms on the device, of them %s ms in transfers, in %s ms altogether", p.Program[0],
			ms(float64(p.Kernels()+p.Transfers)), ms(float64(p.Transfers)), ms(float64(p.Wall))),
		Head:   []string{"kernel", "global size", "local size", "calls", "ms", "ms each", "share", "captured in"},
		Number: []bool{false, false, false, true, true, true, true, false},
	}
	devices := map[string]bool{}
	for i, l := range p.Launches {
		if devices[l.Device] = true; i >= maxRows && l.Folder == "" {
			continue
		}
		local, in := "NULL", ""
		if l.Local != nil {
			local = figure.Sizes(l.Local)
		}
		if l.Folder != "" {
			in = filepath.Join(folder, l.Folder)
		}
		row := []string{l.Kernel, figure.Sizes(l.Global), local, "", "", "", "", in}
		if l.Calls > 0 {
			row[3], row[4], row[5] = strconv.Itoa(l.Calls), ms(float64(l.Total)), ms(l.Mean())
			row[6] = fmt.Sprintf("%.1f %%", 100*p.Share(float64(l.Total)))
		}
		t.Rows = append(t.Rows, row)
	}
	if more := len(p.Launches) - len(t.Rows); more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %s; %s has them all", figure.Count(more, "cheaper shape"),
			filepath.Join(folder, capture.ProfileFile)))
	}
	if p.Kernels() > 0 {
		t.Notes = append(t.Notes, "device: "+strings.Join(slices.Sorted(maps.Keys(devices)), ", "))
	} else {
		t.Title = p.Program[0] + ": the program ended before there was a report of its times"
	}
	return t
}

var byteUnits = map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// parseBytes reads a size such as 500MiB.
func parseBytes(text string) (int64, error) {
	number := strings.TrimRight(text, "BKMGTi ")
	unit, known := byteUnits[strings.TrimSpace(text[len(number):])]
	n, err := strconv.ParseFloat(number, 64)
	if !known || err != nil || n <= 0 || n*float64(unit) > 1<<60 {
		return 0, errors.New("want a size, such as 500MiB or 4GiB")
	}
	return int64(n * float64(unit)), nil
}
