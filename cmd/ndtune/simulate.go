package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
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
			fmt.Fprintf(c.App.ErrWriter, "%s and %s hold the same results; both count in the mean.\n", plan.Recordings[j].Name, r.Name)
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
			title = p.plan.Recordings[0].Name
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

// A simulation is the plan in a command line, and the columns of the tables to print.
type simulation struct {
	plan        simulate.Plan
	checkpoints []int // numbers of evaluations, ascending
}

// newSimulation reads the command line, then the records. Errors in either are found before anything
// is simulated.
func newSimulation(c *cli.Context) (*simulation, error) {
	p := &simulation{plan: simulate.Plan{MaxEvaluations: c.Int("max-evals"), Repeats: c.Int("repeats"), Batch: c.Int("batch"), Seed: c.Uint64("seed")}}
	err := checkPositive(c, "max-evals", "repeats", "batch")
	if err != nil {
		return nil, err
	}
	if p.checkpoints, err = checkpoints(c.String("checkpoints"), p.plan.MaxEvaluations); err != nil {
		return nil, err
	}
	if err := checkSimulationFiles(c); err != nil {
		return nil, err
	}
	if p.plan.Strategies, err = strategies(c.StringSlice("strategy"), c.StringSlice("strategy-option")); err != nil {
		return nil, err
	}
	if p.plan.Recordings, err = readRecordings(c); err != nil {
		return nil, err
	}
	for _, s := range p.plan.Strategies { // what they think of their options, on every space
		for _, r := range p.plan.Recordings {
			strategy, err := s.New(r.Space, search.Options{})
			if err != nil {
				return nil, fmt.Errorf("--strategy: %w", err)
			}
			strategy.Close()
		}
	}
	return p, nil
}

func checkSimulationFiles(c *cli.Context) error {
	output, plot := c.String("output"), c.String("plot")
	if output != "" && !strings.EqualFold(filepath.Ext(output), ".csv") {
		return fmt.Errorf("--output %s: curves are written as a .csv", output)
	}
	if plot != "" {
		if err := picture.Check(plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	for flag, path := range map[string]string{"output": output, "plot": plot} {
		if path == "" {
			continue
		}
		if err := checkFolder(path); err != nil {
			return fmt.Errorf("--%s %s: %w", flag, path, err)
		}
		if slices.ContainsFunc(c.Args().Slice(), func(r string) bool { return filepath.Clean(r) == filepath.Clean(path) }) {
			return fmt.Errorf("--%s %s: that is a record, which is to be read", flag, path)
		}
	}
	return nil
}

// checkpoints are the numbers of evaluations in a text, or the default ones.
func checkpoints(text string, most int) ([]int, error) {
	if text == "" {
		usual := slices.DeleteFunc([]int{25, 50, 100, 200}, func(n int) bool { return n >= most })
		return append(usual, most), nil
	}
	list := positiveInts(text)
	if list == nil {
		return nil, fmt.Errorf("--checkpoints %s: want positive numbers, such as 10,20,50", text)
	}
	slices.Sort(list)
	if list[len(list)-1] > most {
		return nil, fmt.Errorf("--checkpoints %s: a search ends after %d evaluations (--max-evals)", text, most)
	}
	return slices.Compact(list), nil
}

func strategyNames() string { return strings.Join(search.Names(), ", ") }

// strategies are those that --strategy names, each once. Options are those of
// --strategy-option.
func strategies(named, options []string) ([]simulate.Strategy, error) {
	list := strings.Split(strings.Join(named, ","), ",")
	if len(named) == 0 {
		list = []string{"all"}
	}
	if len(options) > 0 {
		if len(list) > 1 || list[0] == "all" {
			return nil, fmt.Errorf("--strategy-option %s: of which strategy? Write --strategy NAME:%s", options[0], options[0])
		}
		for _, o := range options {
			if name, _, ok := strings.Cut(o, "="); !ok || name == "" {
				return nil, fmt.Errorf("--strategy-option %s: want OPTION=VALUE", o)
			}
			list[0] += ":" + o
		}
	}
	var found []simulate.Strategy
	add := func(s simulate.Strategy) {
		if !slices.ContainsFunc(found, func(t simulate.Strategy) bool { return t.Name == s.Name }) {
			found = append(found, s)
		}
	}
	for _, text := range list {
		if text = strings.TrimSpace(text); text == "all" {
			for _, name := range search.Names() {
				if name != "brute_force" {
					add(simulate.Named(name, nil))
				}
			}
			continue
		}
		s, err := strategyOf(text)
		if err != nil {
			return nil, fmt.Errorf("--strategy %s: %w", text, err)
		}
		add(s)
	}
	return found, nil
}

// strategyOf reads NAME:OPTION=VALUE:OPTION=VALUE.
func strategyOf(text string) (simulate.Strategy, error) {
	parts := strings.Split(text, ":")
	if parts[0] == "" {
		return simulate.Strategy{}, fmt.Errorf("a strategy has no name (there are %s)", strategyNames())
	}
	options := map[string]string{}
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return simulate.Strategy{}, fmt.Errorf("%q is no option: want NAME:OPTION=VALUE", part)
		}
		if _, twice := options[name]; twice {
			return simulate.Strategy{}, fmt.Errorf("the option %s stands twice", name)
		}
		options[name] = value
	}
	return simulate.Named(parts[0], options), nil
}

// readRecordings reads the records that the command line names, side by side.
func readRecordings(c *cli.Context) ([]*simulate.Recording, error) {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return nil, fmt.Errorf("name a record: %s RECORD… (see %s --help)", c.Command.HelpName, c.Command.HelpName)
	}
	names, err := recordNames(paths)
	if err != nil {
		return nil, err
	}
	recordings, errs := make([]*simulate.Recording, len(paths)), make([]error, len(paths))
	var wait sync.WaitGroup
	for i, path := range paths {
		wait.Go(func() {
			var r *record.Record
			if r, errs[i] = record.Read(path); errs[i] != nil {
				return
			}
			if recordings[i], errs[i] = simulate.NewRecording(c.Context, names[i], r); errs[i] != nil {
				errs[i] = fmt.Errorf("simulate on %s: %w", path, errs[i])
			}
		})
	}
	wait.Wait()
	return recordings, errors.Join(errs...)
}

// recordNames are the names of files without folders and extensions, or the whole paths where
// that would be the name of several, or of the mean over all.
func recordNames(paths []string) ([]string, error) {
	names, count := make([]string, len(paths)), map[string]int{simulate.AllRecords: 1}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, fmt.Errorf("the record %s is named twice", path)
		}
		name := filepath.Base(path)
		for _, extension := range []string{".gz", ".json", ".jsonl", ".csv"} {
			if cut := len(name) - len(extension); cut > 0 && strings.EqualFold(name[cut:], extension) {
				name = name[:cut]
			}
		}
		names[i] = name
		count[name]++
	}
	for i, name := range names {
		if count[name] > 1 {
			names[i] = paths[i]
		}
	}
	return names, nil
}
