package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/wisdom"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write a tuned kernel for an application: a wisdom file and a C header",
		ArgsUsage: "SPEC LOG...",
		Description: `Writes KEY.wisdom with the best configurations of all records, and KEY.h, a C99 header (for
C++, too) that has them with the source of the kernel. Its functions choose the configuration for
a device and a size, and compute the launch.

   ndtune tune kernel.yaml --log kernel.jsonl
   ndtune export kernel.yaml kernel.jsonl -o include

The sizes are the whole-number constants that the problem size of the specification reads. Logs of
several devices and sizes may be given; they are added to a wisdom file that is there, and the
header has all its records, except those of another source of the kernel.
docs/export.md shows a program that uses the header.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: ".", Usage: "`FOLDER` for the files; it is made if necessary"},
			&cli.StringFlag{Name: "key", Usage: "`KEY`: the name of the files and of the functions (default: the name of the kernel)"},
		},
		Action: exportFiles,
	}
}

func exportFiles(c *cli.Context) error {
	if c.NArg() < 2 {
		return wrong("want a specification and at least one record of its kernel: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	s, err := spec.Load(c.Args().First(), spec.Options{})
	if err != nil {
		return &usageError{err}
	}
	var all *wisdom.File
	for _, path := range c.Args().Tail() {
		bests, err := wisdomOf(path, wisdom.Source{Key: c.String("key")})
		if err != nil {
			return err
		}
		for _, best := range bests {
			if all == nil {
				all = best
			} else if err := all.Merge(best); err != nil {
				return wrong("%s: %w", path, err)
			}
		}
	}
	folder := c.String("output")
	wisdomPath, headerPath := filepath.Join(folder, all.Key+".wisdom"), filepath.Join(folder, all.Key+".h")
	kept, err := wisdom.Read(wisdomPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kept = all
	case err != nil:
		return &usageError{err}
	default:
		if err := kept.Merge(all); err != nil {
			return wrong("%s: %w", wisdomPath, err)
		}
	}
	var text bytes.Buffer
	if err := export.WriteHeader(&text, s.Problem, kept); err != nil {
		return wrong("%s: %w", c.Args().First(), err)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return wrong("-o: %w", err)
	}
	if _, err := wisdom.Add(c.Context, wisdomPath, all); err != nil {
		return err
	}
	if err := files.Write(headerPath, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "%s\n%s\n", wisdomPath, headerPath)
	return nil
}
