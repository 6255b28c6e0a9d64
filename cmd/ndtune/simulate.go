package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/simulate"
)

func simulateCommand() *cli.Command {
	return &cli.Command{
		Name:      "simulate",
		Usage:     "compare search strategies on recorded spaces, without a device",
		ArgsUsage: "RECORD…",
		Description: `Runs strategies on spaces whose configurations were all measured before: run logs, T4 files,
Kernel Tuner cache files and CSV tables of ndtune, plain or gzipped (docs/simulate.md).
Prints for each record, and as the mean over all, the best value known divided by the best
one found after so many evaluations: 1 is the best there is. A failed configuration counts
as an evaluation.

   ndtune simulate kernel.jsonl
   ndtune simulate a100.json.gz w7800.json.gz --strategy random_sample,brute_force --repeats 100
   ndtune simulate a100.json.gz --max-evals 50 -o curves.csv --plot curves.png
   ndtune simulate a100.json.gz --json

Options of a strategy stand behind its name: --strategy NAME:OPTION=VALUE:OPTION=VALUE.`,
		Flags:  simulateFlags(),
		Action: runSimulation,
	}
}

func simulateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "strategy", Category: categorySearch, Usage: "`STRATEGY[,STRATEGY…]` to compare, each with :OPTION=VALUE behind it, or all, which is all but brute_force: " + strategyNames() + " (default: all)"},
		&cli.StringSliceFlag{Name: "strategy-option", Category: categorySearch, Usage: "`OPTION=VALUE` of the strategy, where there is one only; may be repeated"},
		&cli.IntFlag{Name: "max-evals", Value: 200, Category: categorySearch, Usage: "evaluate `N` configurations in each search, failures included"},
		&cli.IntFlag{Name: "repeats", Value: 50, Category: categorySearch, Usage: "search `N` times with each strategy on each record"},
		&cli.IntFlag{Name: "batch", Value: 1, Category: categorySearch, Usage: "ask a strategy for `N` configurations at a time, as a device with many builders does"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Category: categorySearch, Usage: "seed of all random choices"},
		&cli.StringFlag{Name: "checkpoints", Category: categoryOutput, Usage: "print what was found after `N[,N…]` evaluations (default: 25,50,100,200 as far as --max-evals goes, and its end)"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, TakesFile: true, Category: categoryOutput, Usage: "write the whole curves to `FILE`, a .csv"},
		&cli.StringFlag{Name: "plot", TakesFile: true, Category: categoryOutput, Usage: "draw the curves, as the mean over the records with a band of one standard error, into `FILE`: .png, .svg or .pdf"},
		&cli.BoolFlag{Name: "json", Category: categoryOutput, Usage: "print JSON"},
	}
}

func runSimulation(c *cli.Context) error {
	p, err := newSimulation(c)
	if err != nil {
		return &usageError{err}
	}
	plan := p.plan
	for i, r := range plan.Recordings {
		if j := slices.IndexFunc(plan.Recordings[:i], r.Same); j >= 0 {
			fmt.Fprintf(c.App.ErrWriter, "%s and %s hold the same results; both count in the mean.\n", plan.Recordings[j].Name(), r.Name())
		}
	}
	bar := newBar(c.App.ErrWriter, len(plan.Strategies)*len(plan.Recordings)*plan.Repeats, "searches")
	if bar != nil {
		plan.OnRepeats = func(n int) { _ = bar.Add(n) } // an error of the terminal is none of the simulation
	}
	curves, err := simulate.Run(c.Context, plan)
	if bar != nil {
		_ = bar.Finish()
		_ = bar.Clear()
	}
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	if err != nil {
		return fmt.Errorf("simulate %w", err)
	}
	averages := simulate.Averages(curves)
	if c.Bool("json") {
		err = printCurvesJSON(c.App.Writer, append(curves, averages...), p.checkpoints)
	} else {
		printCurves(c.App.Writer, plan, curves, averages, p.checkpoints)
	}
	return errors.Join(err, p.write(c, curves, averages))
}

// write keeps the curves in the files that the command line names, and says where.
func (p *simulation) write(c *cli.Context, curves, averages []simulate.Curve) error {
	var errs []error
	wrote := func(what, path string, err error) {
		if err == nil {
			fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", what, path)
		}
		errs = append(errs, err)
	}
	if path := c.String("output"); path != "" {
		wrote("curves", path, writeCurves(path, append(curves, averages...)))
	}
	if path := c.String("plot"); path != "" {
		title := "mean over " + countNoun(len(p.plan.Recordings), "record")
		if len(p.plan.Recordings) == 1 {
			title = p.plan.Recordings[0].Name()
		}
		title += ", " + countNoun(p.plan.Repeats, "repeat")
		wrote("picture", path, simulate.Plot(path, title, averages))
	}
	return errors.Join(errs...)
}

func writeCurves(path string, curves []simulate.Curve) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the curves: %w", err)
	}
	if err := errors.Join(simulate.EncodeCSV(f, curves), f.Close()); err != nil {
		return fmt.Errorf("write the curves to %s: %w", path, err)
	}
	return nil
}
