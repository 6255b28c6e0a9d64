package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "show recorded results as a page, a picture or a table",
		ArgsUsage: "RECORD…",
		Description: `Reads run logs, T4 files, Kernel Tuner cache files and CSV tables of ndtune, plain or
gzipped, and shows what they hold (docs/report.md): the best configuration and whether it
can be trusted, the course of the search, what matters, what failed and why.

   ndtune report kernel.jsonl -o report.html
   ndtune report a100.json.gz w7800.json.gz -o both.html -o both.md
   ndtune report kernel.jsonl -o times.png --plot distribution
   ndtune report kernel.jsonl -o tiles.svg --plot heat-map -p tile_size_x,tile_size_y

The page is one file: it works offline, from a disk or in a mail, and asks nobody for
anything.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, TakesFile: true, Category: categoryOutput, Usage: "write `FILE`: .html (the page), .md (a table), .png, .svg or .pdf (one plot); may be repeated"},
			&cli.StringFlag{Name: "plot", Category: categoryOutput, Usage: "`NAME` of the plot of a picture: " + strings.Join(report.PlotNames(), ", ") + " (default: " + report.PlotNames()[0] + ")"},
			&cli.StringFlag{Name: "parameter", Aliases: []string{"p"}, Category: categoryOutput, Usage: "`PARAMETER[,PARAMETER]` of a scatter or of a heat map (default: those that matter most)"},
		},
		Action: writeReport,
	}
}

func writeReport(c *cli.Context) error {
	outputs, plot, err := reportOutputs(c)
	if err != nil {
		return &usageError{err}
	}
	var sources []report.Source
	for _, path := range c.Args().Slice() {
		r, err := record.Read(path)
		if err != nil {
			return &usageError{err}
		}
		sources = append(sources, report.Source{Name: shownName(path, c.Args().Slice()), Record: r})
	}
	made, err := report.New(sources, "ndtune "+versionText(), time.Now())
	if err != nil {
		return &usageError{err}
	}
	if err := made.CheckParameters(plot); err != nil {
		return wrong("--parameter: %w", err)
	}
	if err := made.WriteFiles(outputs, plot); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "report: %s\n", strings.Join(outputs, ", "))
	return nil
}

// reportOutputs is what the command line asks for. All that is wrong with it is found before
// a record is read.
func reportOutputs(c *cli.Context) ([]string, report.Plot, error) {
	outputs, records := c.StringSlice("output"), c.Args().Slice()
	plot := report.Plot{Name: c.String("plot")}
	for _, name := range strings.Split(c.String("parameter"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			plot.Parameters = append(plot.Parameters, name)
		}
	}
	if len(records) == 0 {
		return nil, plot, fmt.Errorf("name a record: %s RECORD… -o report.html (see %s --help)", c.Command.HelpName, c.Command.HelpName)
	}
	if len(outputs) == 0 {
		return nil, plot, errors.New("name a file to write: -o report.html")
	}
	for i, path := range records {
		if slices.Contains(records[:i], path) {
			return nil, plot, fmt.Errorf("the record %s is named twice", path)
		}
	}
	if err := report.CheckPlot(plot.Name); err != nil {
		return nil, plot, fmt.Errorf("--plot: %w", err)
	}
	for i, path := range outputs {
		if err := report.CheckPath(path); err != nil {
			return nil, plot, fmt.Errorf("-o %w", err)
		}
		if err := checkFolder(path); err != nil {
			return nil, plot, fmt.Errorf("-o %s: %w", path, err)
		}
		same := func(other string) bool { return sameFile(other, path) }
		if slices.ContainsFunc(records, same) {
			return nil, plot, fmt.Errorf("-o %s: that is a record, which is to be read", path)
		}
		if slices.ContainsFunc(outputs[:i], same) {
			return nil, plot, fmt.Errorf("-o %s stands twice", path)
		}
	}
	if !slices.ContainsFunc(outputs, report.IsPlot) && (c.IsSet("plot") || c.IsSet("parameter")) {
		return nil, plot, errors.New("--plot and --parameter are of a picture: add -o plot.png or .svg")
	}
	return outputs, plot, nil
}
