package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/report"
)

type reportOptions struct {
	paths    []string
	outputs  cli.StringSlice // empty: a table is printed
	fragment bool
	rank     ranking
}

func reportCommand(run flags.Runner[reportOptions]) *cli.Command {
	o := &reportOptions{}
	return &cli.Command{
		Name:      "report",
		Usage:     "show recorded results as a page or a table",
		ArgsUsage: "RECORD…",
		Description: `Shows run logs, T4 files and Kernel Tuner cache files (docs/report.md): the best configuration and
how far it can be trusted, the course of the search, the parameters that matter, and the failures.
The page is one file, and makes no requests. Without -o, a table is printed.

   ndtune report kernel.jsonl
   ndtune report kernel.jsonl -o report.html
   ndtune report kernel.jsonl --objective time,nvml_power
   ndtune report kernel.jsonl -o part.html --fragment
   ndtune report a100.json.gz w7800.json.gz -o both.html -o both.md`,
		Flags: []cli.Flag{
			flags.Output(&o.outputs, "write `FILE`: .html (the page) or .md (a table); may be repeated; without it, a table is printed"),
			flags.Switch(&o.fragment, "fragment", flags.CategoryOutput,
				"write the page as a small piece of HTML for another page, such as a notebook, without scripts"),
			flags.Text(&o.rank.objectives, "objective", flags.CategoryOutput,
				"rank by `OBJECTIVES`, several with commas, instead of those of the search: time, time_mean, time_min or a "+
					"metric, each maximised after the word maximize; several give a front (docs/front.md)"),
			flags.Text(&o.rank.choose, "choose", flags.CategoryOutput,
				"of several objectives, choose the winner among the front by `EXPRESSION`, such as 'energy <= 1.1 * "+
					"best.energy'"),
		},
		Action: flags.Action(o, run),
	}
}

func (o *reportOptions) Read(c *cli.Context) (err error) {
	if o.paths, err = flags.Paths(c, "a record"); err != nil {
		return err
	}
	if err := ui.CheckOutputs("output", o.outputs.Value(), report.CheckPath, o.paths...); err != nil {
		return err
	}
	if o.fragment && !slices.ContainsFunc(o.outputs.Value(), report.IsPage) {
		return ui.Wrong("--fragment is of a page: add -o FILE.html")
	}
	return o.rank.read()
}

func writeReport(ctx context.Context, t *ui.Console, o *reportOptions) error {
	var sources []report.Source
	for _, path := range o.paths {
		r, err := ui.ReadRecord(ctx, path)
		if err != nil {
			return ui.Usage(err)
		}
		if err := o.rank.apply(path, r); err != nil {
			return err
		}
		sources = append(sources, report.Source{Name: ui.ShownName(path, o.paths), Record: r})
	}
	made, err := ui.Await(ctx, func() (*report.Report, error) { return report.New(sources, "ndtune "+ui.VersionText(), time.Now()) })
	if err != nil {
		return ui.Usage(err)
	}
	outputs := o.outputs.Value()
	if len(outputs) == 0 {
		return made.WriteText(t.Out)
	}
	if err := made.WriteFiles(outputs, o.fragment); err != nil {
		return err
	}
	fmt.Fprintf(t.Notes, "report: %s\n", strings.Join(outputs, ", "))
	return nil
}
