package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/report"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "show recorded results as a page or a table",
		ArgsUsage: "RECORD…",
		Description: `Reads run logs, T4 files and Kernel Tuner cache files, plain or gzipped, and shows them
(docs/report.md): the best configuration and how far it can be
trusted, the course of the search, the parameters that matter, and the failures with their reasons.
Without -o, it prints the best, the finalists and the failures.

   ndtune report kernel.jsonl
   ndtune report kernel.jsonl -o report.html
   ndtune report kernel.jsonl --objective time,nvml_power
   ndtune report kernel.jsonl -o part.html --fragment
   ndtune report a100.json.gz w7800.json.gz -o both.html -o both.md

The page is one file. It works offline, from a disk or in a mail, and makes no requests.`,
		Flags: []cli.Flag{
			outputFlag("write `FILE`: .html (the page) or .md (a table); may be repeated; without it, a table is printed"),
			&cli.BoolFlag{
				Name: "fragment", Category: categoryOutput,
				Usage: "write the page as a small piece of HTML for another page, such as a notebook, without scripts",
			},
			&cli.StringFlag{
				Name: "objective", Category: categoryOutput,
				Usage: "rank by `OBJECTIVES`, several with commas, instead of those of the search: time, time_mean, time_min or a " +
					"metric, each maximised after the word maximize; several give a front (docs/front.md)",
			},
			&cli.StringFlag{
				Name: "choose", Category: categoryOutput,
				Usage: "of several objectives, choose the winner among the front by `EXPRESSION`, such as 'energy <= 1.1 * " +
					"best.energy'",
			},
		},
		Action: writeReport,
	}
}

func writeReport(c *cli.Context) error {
	paths, err := pathArguments(c, "a record")
	if err != nil {
		return err
	}
	outputs := c.StringSlice("output")
	if err := checkOutputs("output", outputs, report.CheckPath, paths...); err != nil {
		return err
	}
	if c.Bool("fragment") && !slices.ContainsFunc(outputs, report.IsPage) {
		return wrong("--fragment is of a page: add -o FILE.html")
	}
	var sources []report.Source
	objective, err := newObjective(c)
	if err != nil {
		return err
	}
	for _, path := range paths {
		r, err := readRecord(c, path)
		if err != nil {
			return &usageError{err}
		}
		if err := objective(path, r); err != nil {
			return err
		}
		sources = append(sources, report.Source{Name: shownName(path, paths), Record: r})
	}
	made, err := await(c.Context, func() (*report.Report, error) { return report.New(sources, "ndtune "+versionText(), time.Now()) })
	if err != nil {
		return &usageError{err}
	}
	if len(outputs) == 0 {
		return made.WriteText(c.App.Writer)
	}
	if err := made.WriteFiles(outputs, c.Bool("fragment")); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "report: %s\n", strings.Join(outputs, ", "))
	return nil
}
