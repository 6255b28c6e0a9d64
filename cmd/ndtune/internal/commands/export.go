package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/wisdom"
)

type exportOptions struct {
	spec        string
	records     []string
	folder, key string
	size, lang  string // as they are written

	problemSize []definition.Expr // nil: that of the specification
	languages   []*export.Language
}

func exportCommand(run flags.Runner[exportOptions]) *cli.Command {
	o := &exportOptions{folder: ".", lang: defaultLanguages}
	return &cli.Command{
		Name:      "export",
		Usage:     "write a tuned kernel for an application: a wisdom file, a C header and a Python module",
		ArgsUsage: "SPEC LOG...",
		Description: `Writes KEY.wisdom with the best configurations of all records, and files for an application
(docs/export.md): KEY.h for C99 and C++, and KEY.py for PyOpenCL (of CUDA C, KEY.h alone). They have
the configurations with the source of the kernel, and functions that choose one for a device and a
size and compute the launch. A wisdom file that is there gets the records. If a file cannot be made,
nothing is written.

   ndtune tune kernel.yaml --log kernel.jsonl
   ndtune export kernel.yaml kernel.jsonl -o tuned

A specification without a fixed problem_size, such as that of a pipeline, needs --problem-size:

   ndtune export scan.yaml scan.jsonl --problem-size n`,
		Flags: []cli.Flag{
			flags.Text(&o.folder, "output o", "", "`FOLDER` for the files; it is made if necessary"),
			flags.Text(&o.key, "key", "", "`KEY`: the name of the files and of the functions (default: the name of the kernel)"),
			flags.Text(&o.size, "problem-size", "", "problem size, `X[,Y[,Z]]`: expressions over the constants of a specification that has none"),
			flags.Text(&o.lang, "lang", "", "`LIST` of what to write besides the wisdom: c, python"),
		},
		Action: flags.Action(o, run),
	}
}

// defaultLanguages are those of --lang; of a kernel in CUDA C, it is C alone.
const defaultLanguages = "c,python"

// languages are the languages of --lang.
var languages = map[string]*export.Language{"c": export.C, "python": export.Python}

func (o *exportOptions) Read(c *cli.Context) error {
	if c.NArg() < 2 {
		return ui.Wrong("want a specification and at least one record of its kernel: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	o.spec, o.records, o.problemSize = c.Args().First(), c.Args().Tail(), export.SplitSize(o.size)
	for name := range strings.SplitSeq(o.lang, ",") {
		if languages[name] == nil {
			return ui.Wrong("--lang %s: %q is none of c, python", o.lang, name)
		}
		o.languages = append(o.languages, languages[name])
	}
	return nil
}

func exportFiles(ctx context.Context, t *ui.Console, o *exportOptions) error {
	s, err := spec.Load(o.spec, spec.Options{})
	if err != nil {
		return ui.Usage(err)
	}
	var all *wisdom.File // the wisdom of the records
	for _, path := range o.records {
		r, err := ui.ReadRecord(ctx, path)
		if err != nil {
			return ui.Usage(err)
		}
		if err := export.GiveSize(r, o.problemSize); err != nil {
			return ui.Wrong("%s: --problem-size: %w", path, err)
		}
		best, err := wisdom.FromLog(r, wisdom.Source{Key: o.key})
		if err != nil {
			return ui.Wrong("%s: %w", path, err)
		}
		if all == nil {
			all = best
		} else if err := all.Merge(best); err != nil {
			return ui.Wrong("%s: %w", path, err)
		}
	}
	if l := device.LanguageOf(all.Records[0].Device); slices.Contains(s.Problem.Languages(), l) {
		if s, err = s.In(l); err != nil {
			return err
		}
	}
	if o.lang == defaultLanguages && s.Problem.Language() == source.CUDA {
		o.languages = []*export.Language{export.C}
	}
	wisdomPath := filepath.Join(o.folder, all.Key+".wisdom")
	known, err := wisdom.Read(wisdomPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		known = all
	case err != nil:
		return ui.Usage(err)
	default:
		if err := known.Merge(all); err != nil {
			return ui.Wrong("%s: %w", wisdomPath, err)
		}
	}
	var outputs []export.File
	for _, language := range o.languages {
		made, err := language.Export(s.Problem, known, o.problemSize)
		if err != nil {
			return ui.Wrong("%s: %w", o.spec, err)
		}
		outputs = append(outputs, made)
	}
	if err := os.MkdirAll(o.folder, 0o777); err != nil {
		return ui.Wrong("-o: %w", err)
	}
	for _, path := range append(each.Of(outputs, func(f export.File) string { return filepath.Join(o.folder, f.Name) }), wisdomPath) {
		if err := ui.CheckWritable(path); err != nil {
			return ui.Wrong("write to %s: %w", path, err)
		}
	}
	if _, err := wisdom.Add(ctx, wisdomPath, all); err != nil {
		return err
	}
	fmt.Fprintln(t.Out, wisdomPath)
	for _, f := range outputs {
		path := filepath.Join(o.folder, f.Name)
		if err := files.Write(path, func(w io.Writer) error { _, err := w.Write(f.Content); return err }); err != nil {
			return err
		}
		fmt.Fprintln(t.Out, path)
	}
	return nil
}
