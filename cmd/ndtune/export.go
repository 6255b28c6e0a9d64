package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
	"github.com/ndtune/ndtune/tune/wisdom"
)

func exportCommand() *cli.Command {
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
   c             KEY.h, a header for C99 and C++
   python        KEY.py, a module for PyOpenCL
   kernel_tuner  KEY_kernel_tuner.json, the results as Kernel Tuner stores them, and KEY_targets.h,
                 its header with the best configuration of each device

docs/export.md shows a program in each language, and describes the other files.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: ".", Usage: "`FOLDER` for the files; it is made if necessary"},
			&cli.StringFlag{Name: "key", Usage: "`KEY`: the name of the files and of the functions (default: the name of the kernel)"},
			&cli.StringFlag{
				Name:  "problem-size",
				Usage: "problem size, `X[,Y[,Z]]`: expressions over the constants of a specification that has none",
			},
			&cli.StringFlag{Name: "lang", Value: "c,python", Usage: "`LIST` of what to write besides the wisdom: c, python, kernel_tuner"},
		},
		Action: exportFiles,
	}
}

// An exporting is one run of the command.
type exporting struct {
	spec    *spec.Spec
	size    []task.Expr // nil: that of the specification
	records []*record.Record
	wisdom  *wisdom.File // of the records and of the file that is there
	folder  string
}

// languages are the languages of --lang, besides kernelTuner.
var languages = map[string]*export.Language{"c": export.C, "python": export.Python}

const kernelTuner = "kernel_tuner"

func exportFiles(c *cli.Context) error {
	if c.NArg() < 2 {
		return wrong("want a specification and at least one record of its kernel: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	for _, name := range strings.Split(c.String("lang"), ",") {
		if languages[name] == nil && name != kernelTuner {
			return wrong("--lang %s: %q is none of c, kernel_tuner, python", c.String("lang"), name)
		}
	}
	s, err := spec.Load(c.Args().First(), spec.Options{})
	if err != nil {
		return &usageError{err}
	}
	e := &exporting{spec: s, folder: c.String("output"), size: splitExpressions(c.String("problem-size"))}
	var all *wisdom.File
	for _, path := range c.Args().Tail() {
		r, err := record.Read(path)
		if err != nil {
			return &usageError{err}
		}
		if err := e.giveSize(r); err != nil {
			return wrong("%s: --problem-size: %w", path, err)
		}
		best, err := wisdom.FromLog(r, wisdom.Source{Key: c.String("key")})
		if err != nil {
			return wrong("%s: %w", path, err)
		}
		e.records = append(e.records, r)
		if all == nil {
			all = best
		} else if err := all.Merge(best); err != nil {
			return wrong("%s: %w", path, err)
		}
	}
	wisdomPath := e.path(all.Key + ".wisdom")
	e.wisdom, err = wisdom.Read(wisdomPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.wisdom = all
	case err != nil:
		return &usageError{err}
	default:
		if err := e.wisdom.Merge(all); err != nil {
			return wrong("%s: %w", wisdomPath, err)
		}
	}
	var outputs []export.File
	for _, name := range strings.Split(c.String("lang"), ",") {
		made, err := e.made(name)
		if err != nil {
			return wrong("%s: %w", c.Args().First(), err)
		}
		outputs = append(outputs, made...)
	}
	if err := os.MkdirAll(e.folder, 0o777); err != nil {
		return wrong("-o: %w", err)
	}
	if _, err := wisdom.Add(c.Context, wisdomPath, all); err != nil {
		return err
	}
	fmt.Fprintln(c.App.Writer, wisdomPath)
	for _, f := range outputs {
		path := e.path(f.Name)
		if err := files.Write(path, func(w io.Writer) error { _, err := w.Write(f.Content); return err }); err != nil {
			return err
		}
		fmt.Fprintln(c.App.Writer, path)
	}
	return nil
}

// giveSize gives a record the size of the problem, if it is an option.
func (e *exporting) giveSize(r *record.Record) error {
	if e.size == nil {
		return nil
	}
	size, err := export.ProblemSize(e.size, r.Header.Constants)
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
func splitExpressions(text string) (all []task.Expr) {
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

// path returns the path of a file in the folder of the command.
func (e *exporting) path(name string) string { return filepath.Join(e.folder, name) }

// made returns the files of a name of --lang.
func (e *exporting) made(name string) ([]export.File, error) {
	if l := languages[name]; l != nil {
		f, err := l.Export(e.spec.Problem, e.wisdom, e.size)
		return []export.File{f}, err
	}
	results, targets := e.wisdom.Key+"_kernel_tuner.json", e.wisdom.Key+"_targets.h"
	old, err := files.ReadFile(e.path(results))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r, h, err := export.KernelTuner(old, e.spec.Problem, e.records)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.path(results), err)
	}
	return []export.File{{Name: results, Content: r}, {Name: targets, Content: h}}, nil
}
