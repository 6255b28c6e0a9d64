package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/record"
)

func convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "turn recorded results into another format",
		ArgsUsage: "IN OUT",
		Description: `Reads a run log, a T4 file, a Kernel Tuner cache file or a CSV table of ndtune, plain or
gzipped, whatever its name, and writes it in the format that the extension of OUT stands
for or that --to names. Times stay as they are, to the last bit. What the format has no
place for is said.

   ndtune convert kernel.jsonl kernel.csv
   ndtune convert convolution_A100.json.gz convolution_A100.jsonl.gz
   ndtune convert kernel.jsonl kernel.json --to cache

A cache file is one that Kernel Tuner can resume and simulate on.

A run log with damaged lines is refused. With --skip-damaged the other lines are
converted, and it is said what is left out; IN stays as it is:

   ndtune convert --skip-damaged kernel.jsonl intact.jsonl

A file that holds or unpacks to more than 256 MiB is refused, here and wherever records are
read; NDTUNE_MAX_RECORD_MIB=1024 in the environment sets another limit.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Category: categoryOutput, Usage: "`FORMAT` of OUT: t4, csv, log (run log) or cache (Kernel Tuner) (default: by its extension: .json t4, .csv csv, .jsonl log, .gz after it)"},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Category: categoryOutput, Usage: "replace OUT where it exists"},
			&cli.BoolFlag{Name: "skip-damaged", Category: categoryOutput, Usage: "leave out the damaged lines of a run log, and say what is lost"},
		},
		Action: convert,
	}
}

func convert(c *cli.Context) error {
	in, out, format, err := conversion(c)
	if err != nil {
		return &usageError{err}
	}
	read := record.Read
	var damaged []record.DamagedLine
	if c.Bool("skip-damaged") {
		read = func(path string) (r *record.Record, err error) {
			r, damaged, err = record.ReadSkipping(path)
			return r, err
		}
	}
	r, err := read(in)
	if err != nil {
		return &usageError{err}
	}
	lost, err := record.Losses(r, format)
	if err != nil {
		return fmt.Errorf("write %s as %s: %w", in, format, err)
	}
	if err := record.WriteAs(out, r, format); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "%s: %s of a %s as %s\n", out, countNoun(len(r.Results), "configuration"), formatName(r.Header.Format), formatName(format))
	if len(damaged) > 0 {
		fmt.Fprint(c.App.ErrWriter, damageText(in, damaged))
	}
	if len(lost) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "What that format has no place for, and is lost: %s.\n", strings.Join(lost, "; "))
	}
	return nil
}

var errSkipWithoutLog = errors.New("--skip-damaged is about the file of --log: name one")

// repairLog takes the damaged lines out of the run log at path, where that is asked for, and
// says what is lost.
func repairLog(c *cli.Context, path string) error {
	if !c.Bool("skip-damaged") {
		return nil
	}
	damaged, kept, err := record.Repair(path)
	switch {
	case err != nil:
		return wrong("--skip-damaged: %w", err)
	case len(damaged) > 0:
		fmt.Fprintf(c.App.ErrWriter, "%sThe file as it was is kept as %s.\n", damageText(path, damaged), kept)
	}
	return nil
}

// damageText says which lines of a run log were left out, and what each seems to have held.
func damageText(path string, damaged []record.DamagedLine) string {
	const most = 10
	text := fmt.Sprintf("%s: %s left out\n", path, countNoun(len(damaged), "damaged line"))
	for _, d := range damaged[:min(most, len(damaged))] {
		text += fmt.Sprintf("  %s\n", d)
	}
	if more := len(damaged) - most; more > 0 {
		text += fmt.Sprintf("  and %d more\n", more)
	}
	return text
}

// conversion is what the command line asks for.
func conversion(c *cli.Context) (in, out, format string, err error) {
	if c.Args().Len() != 2 {
		return "", "", "", fmt.Errorf("name two files: %s IN OUT (see %s --help)", c.Command.HelpName, c.Command.HelpName)
	}
	in, out, format = c.Args().Get(0), c.Args().Get(1), c.String("to")
	if format == "" {
		if format, err = record.FormatOf(out); err != nil {
			return "", "", "", fmt.Errorf("%w, or name a format with --to: %s", err, strings.Join(record.Formats(), ", "))
		}
	} else if err := record.CheckFormat(format); err != nil {
		return "", "", "", fmt.Errorf("--to: %w", err)
	}
	if err := checkFolder(out); err != nil {
		return "", "", "", fmt.Errorf("write to %s: %w", out, err)
	}
	if info, err := os.Stat(out); err == nil && info.Mode().IsRegular() && !c.Bool("force") {
		return "", "", "", fmt.Errorf("%s exists already; --force replaces it", out)
	}
	return in, out, format, nil
}

// formatName is a format for people.
func formatName(format string) string {
	switch format {
	case "log", record.FormatLog:
		return "run log"
	case "t4", record.FormatT4:
		return "T4 file"
	case "cache", record.FormatCache:
		return "Kernel Tuner cache file"
	}
	return "CSV table"
}
