package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/simulate"
)

// A simulation is what the command line asks to simulate, and to print of it.
type simulation struct {
	plan        simulate.Plan
	checkpoints []int // numbers of evaluations, ascending
}

// newSimulation reads the command line, then the records. All that is wrong with either is
// found before anything is simulated.
func newSimulation(c *cli.Context) (*simulation, error) {
	p := &simulation{plan: simulate.Plan{MaxEvaluations: c.Int("max-evals"), Repeats: c.Int("repeats"), Batch: c.Int("batch"), Seed: c.Uint64("seed")}}
	for _, name := range []string{"max-evals", "repeats", "batch"} {
		if n := c.Int(name); n < 1 {
			return nil, fmt.Errorf("--%s %d: want a positive number", name, n)
		}
	}
	var err error
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
			strategy, err := s.New(r.Space(), search.Options{})
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

// checkpoints are the numbers of evaluations that a text lists, or the usual ones.
func checkpoints(text string, most int) ([]int, error) {
	if text == "" {
		usual := slices.DeleteFunc([]int{25, 50, 100, 200}, func(n int) bool { return n >= most })
		return append(usual, most), nil
	}
	var list []int
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--checkpoints %s: want positive numbers, such as 10,20,50", text)
		}
		if n > most {
			return nil, fmt.Errorf("--checkpoints %s: a search ends after %d evaluations (--max-evals)", text, most)
		}
		list = append(list, n)
	}
	slices.Sort(list)
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
