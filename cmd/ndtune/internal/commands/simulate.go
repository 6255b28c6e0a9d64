package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/search/command"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/simulate"
	"github.com/ndtune/ndtune/tune/space"
)

type simulateOptions struct {
	strategies, outputs     cli.StringSlice
	rank                    ranking
	maxEvaluations, repeats int
	batch                   int
	seed                    uint64
	prior                   job.Priors
	points                  string // as they are written
	json                    bool

	paths       []string
	checkpoints []int // numbers of evaluations to print, ascending
	chosen      []session.Strategy
}

func simulateCommand(run flags.Runner[simulateOptions]) *cli.Command {
	o := &simulateOptions{maxEvaluations: 200, repeats: 50, batch: 1}
	return &cli.Command{
		Name:      "simulate",
		Usage:     "compare search strategies on recorded spaces, without a device",
		ArgsUsage: "RECORD…",
		Description: `Runs strategies on recorded spaces, in which every configuration was measured (docs/simulate.md).
Prints the best value of the record divided by the best that was found after some numbers of
evaluations, for each record and as the mean over all: 1 is optimal.

   ndtune simulate kernel.jsonl
   ndtune simulate a100.json.gz w7800.json.gz --strategy random_sample,brute_force --repeats 100
   ndtune simulate a100.json.gz --max-evals 50 -o curves.csv -o traces.jsonl
   ndtune simulate a100.json.gz --json`,
		Flags:  o.flags(),
		Action: flags.Action(o, run),
	}
}

func (o *simulateOptions) flags() []cli.Flag {
	return []cli.Flag{
		flags.List(&o.strategies, "strategy", flags.CategorySearch,
			"compare `STRATEGY[,STRATEGY…]`: "+strings.Join(search.Names(), ", ")+", or all, which is all but brute_force and prior_ranking; "+
				job.StrategyForms+"; may be repeated (default: all; with --prior, those that learn from it)"),
		flags.Text(&o.rank.objectives, "objective", flags.CategorySearch,
			"improve `OBJECTIVES` instead of those of the records: time, time_mean, time_min or a metric, maximised after the "+
				"word maximize; several, with commas, give traces alone (-o FILE.jsonl)"),
		flags.Number(&o.maxEvaluations, "max-evals", flags.CategorySearch, "evaluate `N` configurations in each search, failures included"),
		flags.Number(&o.repeats, "repeats", flags.CategorySearch, "search `N` times with each strategy on each record"),
		flags.Number(&o.batch, "batch", flags.CategorySearch, "ask a strategy for `N` configurations at a time, as parallel builds do"),
		flags.Seed(&o.seed, flags.CategorySearch, "seed of all random choices"),
		o.prior.Flag(""),
		flags.Text(&o.points, "checkpoints", flags.CategoryOutput,
			"print the results after `N[,N…]` evaluations (default: 25,50,100,200 below --max-evals, and --max-evals)"),
		flags.Output(&o.outputs, "write the curves to `FILE` (.csv), or the trace of each search (.jsonl); may be repeated"),
		flags.Switch(&o.json, "json", flags.CategoryOutput, "print JSON"),
	}
}

func (o *simulateOptions) Read(c *cli.Context) (err error) {
	if o.paths, err = flags.Paths(c, "a record"); err != nil {
		return err
	}
	if o.checkpoints, err = checkpoints(o.points, o.maxEvaluations); err != nil {
		return ui.Usage(err)
	}
	if err = ui.CheckOutputs("output", o.outputs.Value(), checkCurvesPath, o.paths...); err != nil {
		return err
	}
	if o.chosen, err = session.ParseStrategies(o.strategies.Value()); err != nil {
		return ui.Wrong("--strategy %w", err)
	}
	if err := o.prior.Read(); err != nil {
		return ui.Wrong("--prior: %w", err)
	}
	return o.rank.read()
}

// writes reports whether it writes files with traces, or others.
func (o *simulateOptions) writes(traces bool) bool {
	return slices.ContainsFunc(o.outputs.Value(), func(path string) bool { return isTraces(path) == traces })
}

func simulateStrategies(ctx context.Context, t *ui.Console, o *simulateOptions) error {
	plan, err := o.plan(ctx)
	if err != nil {
		return ui.Usage(err)
	}
	for i, r := range plan.Recordings {
		if n := r.Space.Len(); n < r.SpaceSize {
			fmt.Fprintf(t.Notes, "%s has results of %d of the %d configurations of its space. "+
				"Strategies search among these alone, and its best need not be that of the space.\n", r.Name, n, r.SpaceSize)
		}
		if j := slices.IndexFunc(plan.Recordings[:i], r.Same); j >= 0 {
			fmt.Fprintf(t.Notes, "%s and %s hold the same results; both count in the mean.\n", plan.Recordings[j].Name, r.Name)
		}
	}
	bar := ui.NewProgress(t.Notes, len(plan.Strategies)*len(plan.Recordings)*plan.Repeats, "search", false)
	plan.OnRepeats = bar.Count
	curves, err := simulate.Run(ctx, plan)
	bar.Finish()
	if err != nil {
		return fmt.Errorf("simulate %w", err)
	}
	averages := simulate.Averages(curves)
	switch {
	case slices.ContainsFunc(plan.Recordings, hasSeveral): // which has only traces
	case o.json:
		err = t.JSON(simulate.AtCheckpoints(append(curves, averages...), o.checkpoints))
	default:
		plan.WriteTables(t.Out, curves, averages, o.checkpoints)
	}
	return errors.Join(err, o.write(t, plan, curves, averages))
}

func hasSeveral(r *simulate.Recording) bool { return r.Objective.Several() }

// isTraces reports whether a file gets traces, by its name.
func isTraces(path string) bool { return strings.EqualFold(filepath.Ext(path), ".jsonl") }

// write writes the curves and the traces to the files that the command line names.
func (o *simulateOptions) write(t *ui.Console, plan simulate.Plan, curves, averages []simulate.Curve) error {
	var errs error
	for _, path := range o.outputs.Value() {
		what, encode := "curves", func(w io.Writer) error { return simulate.EncodeCSV(w, append(curves, averages...)) }
		if isTraces(path) {
			what, encode = "traces", func(w io.Writer) error { return simulate.EncodeTraces(w, plan) }
		}
		if err := files.Write(path, encode); err != nil {
			errs = errors.Join(errs, fmt.Errorf("write the %s to %s: %w", what, path, err))
			continue
		}
		fmt.Fprintf(t.Notes, "%s: %s\n", what, path)
	}
	return errs
}

// plan reads the records. Errors are found before anything is simulated.
func (o *simulateOptions) plan(ctx context.Context) (plan simulate.Plan, err error) {
	plan = simulate.Plan{MaxEvaluations: o.maxEvaluations, Repeats: o.repeats, Batch: o.batch, Seed: o.seed}
	if o.writes(true) {
		plan.Traces = new([][]int)
	}
	if plan.Recordings, err = o.recordings(ctx); err != nil {
		return plan, err
	}
	if slices.ContainsFunc(plan.Recordings, hasSeveral) && (plan.Traces == nil || o.json || o.writes(false)) {
		return plan, errors.New("with several objectives, no best value compares the strategies; name one with --objective, " +
			"or write the traces alone, with -o FILE.jsonl")
	}
	if err = o.addPriors(ctx, plan.Recordings); err != nil {
		return plan, err
	}
	if err = o.addStrategies(ctx, &plan); err != nil {
		return plan, err
	}
	for _, s := range plan.Strategies { // each checks its options, on every space
		for _, r := range plan.Recordings {
			strategy, err := s.New(r.Space, search.Options{Objectives: len(r.Objective.All()), Priors: r.Priors})
			if err != nil {
				return plan, fmt.Errorf("--strategy: %w", err)
			}
			strategy.Close()
		}
	}
	return plan, nil
}

// checkCurvesPath refuses files that are neither a table of curves nor traces.
func checkCurvesPath(path string) error {
	if !isTraces(path) && !strings.EqualFold(filepath.Ext(path), ".csv") {
		return fmt.Errorf("%s: curves are written as a .csv, traces as a .jsonl", path)
	}
	return nil
}

// checkpoints returns the numbers of evaluations in a text, or the default ones.
func checkpoints(text string, most int) ([]int, error) {
	if text == "" {
		usual := slices.DeleteFunc([]int{25, 50, 100, 200}, func(n int) bool { return n >= most })
		return append(usual, most), nil
	}
	list := flags.PositiveInts(text)
	if list == nil {
		return nil, fmt.Errorf("--checkpoints %s: want positive numbers, such as 10,20,50", text)
	}
	slices.Sort(list)
	if list[len(list)-1] > most {
		return nil, fmt.Errorf("--checkpoints %s: a search ends after %d evaluations (--max-evals)", text, most)
	}
	return slices.Compact(list), nil
}

// allStrategies returns the strategies that --strategy all compares.
func allStrategies(objectives int) []string {
	return slices.DeleteFunc(search.Names(), func(name string) bool {
		return name == "brute_force" || name == "prior_ranking" || search.Check(name, nil, objectives) != nil
	})
}

// addStrategies adds the chosen strategies to a simulation, each once.
func (o *simulateOptions) addStrategies(ctx context.Context, plan *simulate.Plan) error {
	add := func(s simulate.Strategy) {
		if !slices.ContainsFunc(plan.Strategies, func(t simulate.Strategy) bool { return t.Name == s.Name }) {
			plan.Strategies = append(plan.Strategies, s)
		}
	}
	objectives := len(plan.Recordings[0].Objective.All())
	if len(o.chosen) == 0 {
		names := allStrategies(objectives)
		if o.prior.IsGiven() {
			names = learningStrategies(objectives)
		}
		for _, name := range names {
			add(simulate.Named(name, nil))
		}
	}
	for _, s := range o.chosen {
		switch {
		case s.Command != nil && o.prior.IsGiven():
			return errors.New("--prior: a strategy command learns nothing from a prior; leave out one of them")
		case s.Command != nil:
			add(commandStrategy(ctx, plan, s))
		case s.Name == "all":
			for _, name := range allStrategies(objectives) {
				add(simulate.Named(name, nil))
			}
		default:
			add(simulate.Named(s.Name, s.Options))
		}
	}
	return nil
}

// commandStrategy returns a program as a strategy of a simulation.
func commandStrategy(ctx context.Context, plan *simulate.Plan, choice session.Strategy) simulate.Strategy {
	return simulate.Strategy{Name: choice.Name, New: func(s *space.Space, o search.Options) (search.Strategy, error) {
		r := plan.Recordings[slices.IndexFunc(plan.Recordings, func(r *simulate.Recording) bool { return r.Space == s })]
		return command.New(ctx, s, command.Options{
			Args: choice.Command, Objective: r.Objective, Seed: o.Seed, Budget: o.Budget, Evaluators: plan.Batch,
		})
	}}
}

// recordings reads the records side by side.
func (o *simulateOptions) recordings(ctx context.Context) ([]*simulate.Recording, error) {
	paths := o.paths
	names := job.RecordNames(paths)
	recordings, errs := make([]*simulate.Recording, len(paths)), make([]error, len(paths))
	var wait sync.WaitGroup
	for i, path := range paths {
		wait.Go(func() {
			var r *record.Record
			if r, errs[i] = ui.ReadRecord(ctx, path); errs[i] != nil {
				return
			}
			if errs[i] = o.rank.apply(path, r); errs[i] != nil {
				return
			}
			if recordings[i], errs[i] = simulate.NewRecording(ctx, names[i], r); errs[i] != nil {
				errs[i] = fmt.Errorf("simulate on %s: %w", path, errs[i])
			}
		})
	}
	wait.Wait()
	return recordings, errors.Join(errs...)
}

// addPriors gives the priors to the recordings.
func (o *simulateOptions) addPriors(ctx context.Context, recordings []*simulate.Recording) error {
	priors, err := o.prior.Load(ctx, "", nil)
	if err != nil {
		return fmt.Errorf("--prior: %w", err)
	}
	for _, r := range priors.Named {
		for _, n := range recordings {
			if n.Objective.Several() {
				return errors.New("--prior: a prior helps to improve one objective, and the records have several")
			}
			prior, err := r.Prior(r.Name, n.Space.Parameters(), n.Objective)
			if err != nil {
				return fmt.Errorf("--prior %s: for %s: %w", r.Path, n.Name, err)
			}
			n.Priors = append(n.Priors, prior)
		}
	}
	return nil
}

// learningStrategies returns the strategies that learn from priors.
func learningStrategies(objectives int) []string {
	return slices.DeleteFunc(search.Names(), func(name string) bool { return search.CheckPriors(name, objectives) != nil })
}
