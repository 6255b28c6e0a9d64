package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/record"
)

type convertOptions struct {
	in, out, format    string
	force, skipDamaged bool
}

func convertCommand(run runner[convertOptions]) *cli.Command {
	o := &convertOptions{}
	return &cli.Command{
		Name:      "convert",
		Usage:     "turn recorded results into another format",
		ArgsUsage: "IN OUT",
		Description: `Reads a run log, a T4 file or a Kernel Tuner cache file, plain or gzipped, whatever its
name, and writes it in the format of --to, or of the extension of OUT. Times are exact to
the last bit. A line lists the data that the format cannot hold.

   ndtune convert kernel.jsonl kernel.csv
   ndtune convert convolution_A100.json.gz convolution_A100.jsonl.gz
   ndtune convert kernel.jsonl kernel.json --to cache

Kernel Tuner can resume a cache file, and simulate on it.

A run log with damaged lines is refused. With --skip-damaged, the other lines are
converted, and the lost ones are listed; IN is not changed:

   ndtune convert --skip-damaged kernel.jsonl intact.jsonl

Every command refuses records of more than 256 MiB, before or after unpacking.
NDTUNE_MAX_RECORD_MIB=1024 in the environment sets another limit.`,
		Flags: []cli.Flag{
			textFlag(&o.format, "to", categoryOutput,
				"`FORMAT` of OUT: t4, csv, log (run log) or cache (Kernel Tuner) (default: by its extension: .json t4, .csv "+
					"csv, .jsonl log, and .gz)"),
			switchFlag(&o.force, "force f", categoryOutput, "replace OUT if it exists"),
			switchFlag(&o.skipDamaged, "skip-damaged", categoryOutput, "leave out the damaged lines of a run log, and list them"),
		},
		Action: action(o, run),
	}
}

func convert(ctx context.Context, t *console, o *convertOptions) error {
	var damaged []record.DamagedLine
	r, err := await(ctx, func() (r *record.Record, err error) {
		if o.skipDamaged {
			r, damaged, err = record.ReadSkipping(o.in)
			return r, err
		}
		return record.Read(o.in)
	})
	if err != nil {
		return &usageError{err}
	}
	if err := record.WriteAs(o.out, r, o.format); err != nil {
		return err
	}
	count := figure.Count(len(r.Results), "configuration")
	fmt.Fprintf(t.notes, "%s: %s of a %s as %s\n", o.out, count, formatNames[r.Header.Format], formatNames[o.format])
	if lacks := record.Lacks(o.format); lacks != "" {
		fmt.Fprintf(t.notes, "A %s cannot hold %s.\n", formatNames[o.format], lacks)
	}
	if len(damaged) > 0 {
		fmt.Fprint(t.notes, damageText(o.in, damaged))
	}
	return nil
}

// damageText lists the lines that were left out of a run log, with their probable contents.
func damageText(path string, damaged []record.DamagedLine) string {
	const most = 10
	text := fmt.Sprintf("%s: %s left out\n", path, figure.Count(len(damaged), "damaged line"))
	for _, d := range damaged[:min(most, len(damaged))] {
		text += fmt.Sprintf("  %s\n", d)
	}
	if more := len(damaged) - most; more > 0 {
		text += fmt.Sprintf("  and %d more\n", more)
	}
	return text
}

func (o *convertOptions) read(c *cli.Context) (err error) {
	if c.Args().Len() != 2 {
		return wrong("name two files: %s IN OUT (see %s --help)", c.Command.HelpName, c.Command.HelpName)
	}
	o.in, o.out = c.Args().Get(0), c.Args().Get(1)
	if o.format == "" {
		if o.format, err = record.FormatOf(o.out); err != nil {
			return wrong("%w, or name a format with --to: %s", err, strings.Join(record.Formats(), ", "))
		}
	} else if err := record.CheckFormat(o.format); err != nil {
		return wrong("--to: %w", err)
	}
	if err := checkWritable(o.out); err != nil {
		return wrong("write to %s: %w", o.out, err)
	}
	if info, err := os.Stat(o.out); err == nil && info.Mode().IsRegular() && !o.force {
		return wrong("%s exists already; --force replaces it", o.out)
	}
	return nil
}

// formatNames are the names of formats in messages, by those of --to and of records.
var formatNames = map[string]string{
	"log": "run log", record.FormatLog: "run log", "t4": "T4 file", record.FormatT4: "T4 file",
	"cache": "Kernel Tuner cache file", record.FormatCache: "Kernel Tuner cache file",
	"csv": "CSV table",
}
