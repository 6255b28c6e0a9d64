package main

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

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/record"
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

func exportCommand(run runner[exportOptions]) *cli.Command {
	o := &exportOptions{folder: ".", lang: "c,python"}
	return &cli.Command{
		Name:      "export",
		Usage:     "write a tuned kernel for an application: a wisdom file, a C header and a Python module",
		ArgsUsage: "SPEC LOG...",
		Description: `Writes KEY.wisdom with the best configurations of all records, and files for an application. They
have the configurations with the source of the kernel, and functions that choose the
configuration for a device and a size and compute the launch.

   ndtune tune kernel.yaml --log kernel.jsonl
   ndtune export kernel.yaml kernel.jsonl -o tuned

The sizes are the whole-number constants that the problem size of the specification, the size of a
buffer, or the repeat of a pipeline reads. A pipeline whose specification has no problem_size, or
one that reads parameters, needs --problem-size:

   ndtune export scan.yaml scan.jsonl --problem-size n

Logs of several devices and sizes may be given; they are added to a wisdom file that is there. The
other files are replaced, and have all its records, except those of another source of the kernel.
If one of them cannot be made, nothing is written.

--lang is a list of the files to write besides the wisdom:
   c       KEY.h, a header for C99 and C++
   python  KEY.py, a module for PyOpenCL

docs/export.md shows a program in each language.`,
		Flags: []cli.Flag{
			textFlag(&o.folder, "output o", "", "`FOLDER` for the files; it is made if necessary"),
			textFlag(&o.key, "key", "", "`KEY`: the name of the files and of the functions (default: the name of the kernel)"),
			textFlag(&o.size, "problem-size", "", "problem size, `X[,Y[,Z]]`: expressions over the constants of a specification that has none"),
			textFlag(&o.lang, "lang", "", "`LIST` of what to write besides the wisdom: c, python"),
		},
		Action: action(o, run),
	}
}

// languages are the languages of --lang.
var languages = map[string]*export.Language{"c": export.C, "python": export.Python}

func (o *exportOptions) read(c *cli.Context) error {
	if c.NArg() < 2 {
		return wrong("want a specification and at least one record of its kernel: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	o.spec, o.records, o.problemSize = c.Args().First(), c.Args().Tail(), splitExpressions(o.size)
	for name := range strings.SplitSeq(o.lang, ",") {
		if languages[name] == nil {
			return wrong("--lang %s: %q is none of c, python", o.lang, name)
		}
		o.languages = append(o.languages, languages[name])
	}
	return nil
}

func exportFiles(ctx context.Context, t *console, o *exportOptions) error {
	s, err := spec.Load(o.spec, spec.Options{})
	if err != nil {
		return &usageError{err}
	}
	var all *wisdom.File // the wisdom of the records
	for _, path := range o.records {
		r, err := readRecord(ctx, path)
		if err != nil {
			return &usageError{err}
		}
		if err := giveSize(r, o.problemSize); err != nil {
			return wrong("%s: --problem-size: %w", path, err)
		}
		best, err := wisdom.FromLog(r, wisdom.Source{Key: o.key})
		if err != nil {
			return wrong("%s: %w", path, err)
		}
		if all == nil {
			all = best
		} else if err := all.Merge(best); err != nil {
			return wrong("%s: %w", path, err)
		}
	}
	wisdomPath := filepath.Join(o.folder, all.Key+".wisdom")
	known, err := wisdom.Read(wisdomPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		known = all
	case err != nil:
		return &usageError{err}
	default:
		if err := known.Merge(all); err != nil {
			return wrong("%s: %w", wisdomPath, err)
		}
	}
	var outputs []export.File
	for _, language := range o.languages {
		made, err := language.Export(s.Problem, known, o.problemSize)
		if err != nil {
			return wrong("%s: %w", o.spec, err)
		}
		outputs = append(outputs, made)
	}
	if err := os.MkdirAll(o.folder, 0o777); err != nil {
		return wrong("-o: %w", err)
	}
	for _, path := range append(each.Of(outputs, func(f export.File) string { return filepath.Join(o.folder, f.Name) }), wisdomPath) {
		if err := checkWritable(path); err != nil {
			return wrong("write to %s: %w", path, err)
		}
	}
	if _, err := wisdom.Add(ctx, wisdomPath, all); err != nil {
		return err
	}
	fmt.Fprintln(t.out, wisdomPath)
	for _, f := range outputs {
		path := filepath.Join(o.folder, f.Name)
		if err := files.Write(path, func(w io.Writer) error { _, err := w.Write(f.Content); return err }); err != nil {
			return err
		}
		fmt.Fprintln(t.out, path)
	}
	return nil
}

// giveSize gives a record the size of the problem, if it is an option.
func giveSize(r *record.Record, expressions []definition.Expr) error {
	if expressions == nil {
		return nil
	}
	size, err := export.ProblemSize(expressions, r.Header.Constants)
	switch own := r.Header.ProblemSize; {
	case err != nil:
		return err
	case len(own) > 0 && !slices.Equal(own, size):
		return fmt.Errorf("the record's size is %s, not %s", figure.Sizes(own), figure.Sizes(size))
	}
	r.Header.ProblemSize = size
	return nil
}

// splitExpressions splits a text at the commas that are not within parentheses.
func splitExpressions(text string) (all []definition.Expr) {
	start, depth := 0, 0
	for i, c := range text + "," {
		switch {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' && depth <= 0 && text != "":
			all = append(all, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return all
}
