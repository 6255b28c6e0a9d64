package commands

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/record"
)

type convertOptions struct {
	in, out, format    string
	force, skipDamaged bool
}

func convertCommand(run flags.Runner[convertOptions]) *cli.Command {
	o := &convertOptions{}
	return &cli.Command{
		Name:      "convert",
		Usage:     "turn recorded results into another format",
		ArgsUsage: "IN OUT",
		Description: `Reads a run log, a T4 file or a Kernel Tuner cache file, plain or gzipped, whatever its name, and
writes it in the format of --to, or of the extension of OUT. Times are exact to the last bit. A line
lists the data that the format cannot hold.

   ndtune convert kernel.jsonl kernel.csv
   ndtune convert convolution_A100.json.gz convolution_A100.jsonl.gz
   ndtune convert kernel.jsonl kernel.json --to cache
   ndtune convert --skip-damaged kernel.jsonl intact.jsonl

Every command refuses records of more than 256 MiB, before or after unpacking.
NDTUNE_MAX_RECORD_MIB=1024 in the environment sets another limit.`,
		Flags: []cli.Flag{
			flags.Text(&o.format, "to", flags.CategoryOutput,
				"`FORMAT` of OUT: t4, csv, log (run log) or cache (Kernel Tuner) (default: by its extension: .json t4, .csv "+
					"csv, .jsonl log, and .gz)"),
			flags.Switch(&o.force, "force f", flags.CategoryOutput, "replace OUT if it exists"),
			flags.Switch(&o.skipDamaged, "skip-damaged", flags.CategoryOutput, "leave out the damaged lines of a run log, and list them"),
		},
		Action: flags.Action(o, run),
	}
}

func convert(ctx context.Context, t *ui.Console, o *convertOptions) error {
	var damaged []record.DamagedLine
	r, err := ui.Await(ctx, func() (r *record.Record, err error) {
		if o.skipDamaged {
			r, damaged, err = record.ReadSkipping(o.in)
			return r, err
		}
		return record.Read(o.in)
	})
	if err != nil {
		return ui.Usage(err)
	}
	if err := record.WriteAs(o.out, r, o.format); err != nil {
		return err
	}
	count := figure.Count(len(r.Results), "configuration")
	fmt.Fprintf(t.Notes, "%s: %s of a %s as %s\n", o.out, count, formatNames[r.Header.Format], formatNames[o.format])
	if lacks := record.Lacks(o.format); lacks != "" {
		fmt.Fprintf(t.Notes, "A %s cannot hold %s.\n", formatNames[o.format], lacks)
	}
	if len(damaged) > 0 {
		fmt.Fprintf(t.Notes, "%s: %s left out\n", o.in, figure.Count(len(damaged), "damaged line"))
		ui.List(t.Notes, 10, damaged)
	}
	return nil
}

func (o *convertOptions) Read(c *cli.Context) (err error) {
	if c.Args().Len() != 2 {
		return ui.Wrong("name two files: %s IN OUT (see %s --help)", c.Command.HelpName, c.Command.HelpName)
	}
	o.in, o.out = c.Args().Get(0), c.Args().Get(1)
	if o.format == "" {
		if o.format, err = record.FormatOf(o.out); err != nil {
			return ui.Wrong("%w, or name a format with --to: %s", err, strings.Join(record.Formats(), ", "))
		}
	} else if err := record.CheckFormat(o.format); err != nil {
		return ui.Wrong("--to: %w", err)
	}
	if err := ui.CheckWritable(o.out); err != nil {
		return ui.Wrong("write to %s: %w", o.out, err)
	}
	if info, err := os.Stat(o.out); err == nil && info.Mode().IsRegular() && !o.force {
		return ui.Wrong("%s exists already; --force replaces it", o.out)
	}
	return nil
}

// formatNames are the names of formats in messages, by those of --to and of records.
var formatNames = map[string]string{
	"log": "run log", record.FormatLog: "run log", "t4": "T4 file", record.FormatT4: "T4 file",
	"cache": "Kernel Tuner cache file", record.FormatCache: "Kernel Tuner cache file",
	"csv": "CSV table",
}
