package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// wisdomOptions are those of all commands about a wisdom file.
type wisdomOptions struct {
	path        string
	key         string // "": the name of the kernel
	size        string // as it is written
	json        bool
	problemSize []int // nil: not given
}

func (o *wisdomOptions) keyFlag() cli.Flag {
	return flags.Text(&o.key, "key", "", "`KEY` of the wisdom (default: the name of the kernel)")
}

func (o *wisdomOptions) problemSizeFlag(usage string) cli.Flag {
	return flags.Text(&o.size, "problem-size", "", usage+": `X[,Y[,Z]]`")
}

// readFile reads the arguments, the first of which is the wisdom file, and the problem size.
func (o *wisdomOptions) readFile(c *cli.Context, what string) (others []string, err error) {
	paths, err := flags.Paths(c, what)
	if err != nil {
		return nil, err
	}
	o.path = paths[0]
	if c.IsSet("problem-size") {
		o.problemSize = flags.PositiveInts(o.size)
		if len(o.problemSize) < 1 || len(o.problemSize) > 3 {
			return nil, ui.Wrong("--problem-size %s: want one to three positive numbers, such as 4096,1024", o.size)
		}
	}
	return paths[1:], nil
}

// checkPath refuses a path that no wisdom can be written to.
func (o *wisdomOptions) checkPath() error {
	if filepath.Ext(o.path) != ".wisdom" {
		return ui.Wrong("%s: the name of a wisdom file ends with .wisdom", o.path)
	}
	if err := ui.CheckWritable(o.path); err != nil {
		return ui.Wrong("write to %s: %w", o.path, err)
	}
	return nil
}

type wisdomAddOptions struct {
	wisdomOptions
	logs []string
}

type wisdomShowOptions struct {
	wisdomOptions
	device, spec string
	set          cli.StringSlice
	constants    map[string]int // that set gives
}

func wisdomCommand(
	add flags.Runner[wisdomAddOptions], show flags.Runner[wisdomShowOptions], tune flags.Runner[wisdomTuneOptions],
) *cli.Command {
	a, s := &wisdomAddOptions{}, &wisdomShowOptions{}
	return &cli.Command{
		Name:  "wisdom",
		Usage: "keep the best configurations of a kernel by device and size, and look them up",
		Description: `A wisdom file has the best configurations of one kernel on several devices and at several sizes
(docs/wisdom.md).

   ndtune wisdom add matmul.wisdom h200.jsonl a100.jsonl
   ndtune wisdom show matmul.wisdom --device gpu --problem-size 2048,2048
   ndtune wisdom tune matmul.wisdom matmul.yaml --set m=2048 --set n=2048`,
		Subcommands: []*cli.Command{{
			Name:      "add",
			Usage:     "add the best results of records to a wisdom file",
			ArgsUsage: "FILE.wisdom LOG...",
			Description: `Merges the five best configurations of each record into the file, which is created if necessary.
Of each device, driver, source and size, it keeps the five best. Several processes may add at once.

   ndtune wisdom add matmul.wisdom h200.jsonl a100.jsonl
   ndtune wisdom add scan.wisdom scan.jsonl --key scan --problem-size 1048576`,
			Flags: []cli.Flag{
				a.keyFlag(),
				a.problemSizeFlag("problem size of the records that have none"),
				flags.Switch(&a.json, "json", "", "print the whole file as JSON"),
			},
			Action: flags.Action(a, add),
		}, {
			Name:      "show",
			Usage:     "show a wisdom file, or the configuration that it has for a device and a size",
			ArgsUsage: "FILE.wisdom",
			Description: `Shows all records and the best configuration over all, or, with --problem-size, the configuration
for a device of this machine, and how it matches (docs/wisdom.md).

   ndtune wisdom show matmul.wisdom
   ndtune wisdom show matmul.wisdom --device gpu --problem-size 2048,2048
   ndtune wisdom show matmul.wisdom --problem-size 2048,2048 --set k=512
   ndtune wisdom show matmul.wisdom --problem-size 2048,2048 --spec matmul.yaml --json`,
			Flags: []cli.Flag{
				flags.Text(&s.device, "device d", "",
					"`DEVICE` to choose for: index, "+
						"platform:device, cpu, gpu, or a part of its name (default: the first GPU, else the first device)"),
				s.problemSizeFlag("problem size to choose for"),
				flags.List(&s.set, "set", "",
					"with --problem-size, a constant that is no part of the problem size, "+
						"`CONSTANT=NUMBER`; may be repeated"),
				flags.Text(&s.spec, "spec", "",
					"with --problem-size, say whether the source is that of "+
						"the specification `FILE`"),
				flags.JSON(&s.json),
			},
			Action: flags.Action(s, show),
		}, wisdomTuneCommand(tune)},
	}
}

func (o *wisdomAddOptions) Read(c *cli.Context) (err error) {
	if o.logs, err = o.readFile(c, "a wisdom file and records"); err != nil {
		return err
	}
	if len(o.logs) == 0 {
		return ui.Wrong("name the records to add: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	return o.checkPath()
}

func addWisdom(ctx context.Context, t *ui.Console, o *wisdomAddOptions) error {
	path := o.path
	all, err := wisdom.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ui.Usage(err)
	}
	var more []*wisdom.File
	for _, log := range o.logs {
		r, err := ui.ReadRecord(ctx, log)
		if err != nil {
			return ui.Usage(err)
		}
		best, err := wisdom.FromLog(r, wisdom.Source{Key: o.key, ProblemSize: o.problemSize})
		if err != nil {
			return ui.Wrong("%s: %w", log, err)
		}
		if all == nil {
			all = &wisdom.File{Key: best.Key, Parameters: best.Parameters, Objective: best.Objective}
		}
		if err := all.Merge(best); err != nil {
			return ui.Wrong("%s does not fit %s: %w", log, path, err)
		}
		more = append(more, best)
		first := best.Records[0]
		fmt.Fprintf(t.Notes, "%s: %s on %s at %s\n",
			log, figure.Count(len(best.Records), "configuration"), first.Device.Name, figure.Sizes(first.ProblemSize))
	}
	if all, err = wisdom.Add(ctx, path, more...); err != nil {
		return err
	}
	fmt.Fprintf(t.Notes, "%s: %s of %s\n", path, figure.Count(len(all.Records), "record"), all.Key)
	noteSkipped(t.Notes, path, all)
	if o.json {
		return t.JSON(all.Content())
	}
	return nil
}

func (o *wisdomShowOptions) Read(c *cli.Context) error {
	more, err := o.readFile(c, "a wisdom file")
	switch {
	case err != nil:
		return err
	case len(more) > 0:
		return ui.Wrong("one wisdom file at a time, not %s", strings.Join(c.Args().Slice(), " "))
	case o.problemSize == nil && (o.device != "" || o.spec != "" || c.IsSet("set")):
		return ui.Wrong("a device, a specification or a constant is looked up with a problem size: add --problem-size X[,Y[,Z]]")
	}
	o.constants = map[string]int{}
	for _, text := range o.set.Value() {
		name, value, _ := strings.Cut(text, "=")
		n := flags.PositiveInts(value)
		if name = strings.TrimSpace(name); name == "" || len(n) != 1 {
			return ui.Wrong("--set %s: want CONSTANT=NUMBER with a positive number, such as k=512", text)
		}
		o.constants[name] = n[0]
	}
	return nil
}

func showWisdom(_ context.Context, t *ui.Console, o *wisdomShowOptions) error {
	f, err := wisdom.Read(o.path)
	if err != nil {
		return ui.Usage(err)
	}
	noteSkipped(t.Notes, o.path, f)
	if o.problemSize != nil {
		return chooseWisdom(t, f, o)
	}
	if o.json {
		return t.JSON(f.Content())
	}
	f.WriteTable(t.Out)
	return nil
}

// chooseWisdom shows the configuration for a device and a problem size.
func chooseWisdom(t *ui.Console, f *wisdom.File, o *wisdomShowOptions) error {
	q := wisdom.Query{ProblemSize: o.problemSize, Constants: o.constants}
	var listed device.Listed
	var err error
	if o.spec == "" {
		listed, err = device.SelectFor(o.device)
	} else {
		var s *spec.Spec
		if s, err = spec.Load(o.spec, spec.Options{}); err != nil {
			return err
		}
		if listed, s, err = job.SelectFor(o.device, s); err == nil {
			q.SourceDigest = s.Problem.KernelDigest()
		}
	}
	if err != nil {
		return err
	}
	if q.Device, err = device.Describe(listed.Device); err != nil {
		return err
	}
	choice, err := f.Choose(q)
	if err != nil {
		return err
	}
	if o.json {
		return t.JSON(choice.Content())
	}
	fmt.Fprintf(t.Out, "%s\n", f.Text(&choice.Record))
	fmt.Fprintf(t.Notes, "for %s at %s: %s\n", strings.TrimSpace(q.Device.Name), figure.Sizes(q.ProblemSize), choice)
	return nil
}

// noteSkipped lists the first lines that could not be read.
func noteSkipped(w io.Writer, path string, f *wisdom.File) {
	if n := len(f.Skipped); n > 0 {
		fmt.Fprintf(w, "%s: %s skipped\n", path, figure.Count(n, "line"))
		ui.List(w, 5, f.Skipped)
	}
}
