package simulate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A Tuning searches for better options of a strategy, as [tune.Run] searches for a better configuration of a kernel: the options are the
// parameters of its [Tuning.Problem], and an [Evaluator] evaluates them by the mean score of the strategy on recordings.
type Tuning struct {
	Strategy  string
	Repeats   int // searches on each recording for an evaluation
	Seed      uint64
	OnRepeats func(n int) // see [Plan]

	options  []search.Option
	make     func(values map[string]string) Strategy
	scorings []*Scoring
	known    map[string]float64 // scores by strategy with options, recording and seed
}

// NewTuningOf returns a tuning of any strategy, which is made with the values of options. Each option is one of its texts; the strategy has
// its defaults if it is made with none.
func NewTuningOf(name string, make func(values map[string]string) Strategy, options map[string][]string, scorings []*Scoring, repeats int, seed uint64) (*Tuning, error) {
	if len(options) == 0 {
		return nil, errors.New("name the options to tune, with the values to try")
	}
	t := &Tuning{Strategy: name, Repeats: repeats, Seed: seed, make: make, scorings: scorings, known: map[string]float64{}}
	for _, option := range slices.Sorted(maps.Keys(options)) {
		t.options = append(t.options, search.Option{Name: option, Kind: search.Choice, Choices: options[option]})
	}
	return t, nil
}

// NewTuning returns a tuning of a strategy on recordings. It is an error if the strategy does not exist or has no options.
func NewTuning(strategy string, scorings []*Scoring, repeats int, seed uint64) (*Tuning, error) {
	if err := search.Check(strategy, nil, 1); err != nil {
		return nil, err
	}
	all := search.Descriptions()
	d := all[slices.IndexFunc(all, func(d search.Description) bool { return d.Name == strategy })]
	if len(d.Options) == 0 {
		var others []string
		for _, d := range all {
			if len(d.Options) > 0 {
				others = append(others, d.Name)
			}
		}
		return nil, fmt.Errorf("the strategy %s has no options: tune one of %s", strategy, strings.Join(others, ", "))
	}
	named := func(values map[string]string) Strategy { return Named(strategy, values) }
	return &Tuning{Strategy: strategy, Repeats: repeats, Seed: seed, options: d.Options, make: named, scorings: scorings, known: map[string]float64{}}, nil
}

// The objective of a tuning is a score, which is at most 1. The loop wants a positive time, of which it computes the objective.
const (
	objectiveName       = "score"
	objectiveExpression = "2 - time"
)

func timeOf(score float64) float64 { return 2 - score }

// Problem returns the problem of the tuning. Its parameters are the options of the strategy, with their candidates, or with the
// given texts of values. The defaults are its baseline, if they are among the values.
func (t *Tuning) Problem(given map[string][]string) (*problem.Problem, error) {
	d := problem.Definition{
		Kernel:      problem.Kernel{Name: t.Strategy, Source: t.about()},
		ProblemSize: []problem.Expr{"1"},
		Metrics:     []problem.Metric{{Name: objectiveName, Expression: objectiveExpression}},
		Objective:   problem.Objective{Name: objectiveName, Maximize: true},
		Baseline:    map[string]space.Value{},
	}
	var names []string
	for _, o := range t.options {
		names = append(names, o.Name)
		texts := o.Candidates()
		if of, ok := given[o.Name]; ok {
			texts = of
		}
		p := space.Parameter{Name: o.Name}
		for _, text := range texts {
			v, err := o.Value(text)
			if err != nil {
				return nil, fmt.Errorf("the strategy %s: %w", t.Strategy, err)
			}
			p.Values = append(p.Values, v)
		}
		d.Parameters = append(d.Parameters, p)
		standard, err := o.Value(o.Default)
		if err == nil && d.Baseline != nil && slices.Contains(p.Values, standard) {
			d.Baseline[o.Name] = standard
		} else {
			d.Baseline = nil
		}
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("the strategy %s has no option %q%s (options: %s)", t.Strategy, name, nearest.Hint(name, names), strings.Join(names, ", "))
		}
	}
	return problem.New(d)
}

// about says what an evaluation depends on beside the options, so that results of another tuning are not taken for its own.
func (t *Tuning) about() string {
	text := fmt.Sprintf("// options of the strategy %s: %d searches on each record, seed %d\n", t.make(nil).Name, t.Repeats, t.Seed)
	for _, s := range t.scorings {
		text += fmt.Sprintf("// %d configurations, %016x\n", s.recording.Space.Len(), uint64(newSeeds(0, "", s.recording)))
	}
	return text
}

// Values returns the options of a configuration as texts.
func (t *Tuning) Values(c space.Configuration) map[string]string {
	values := map[string]string{}
	for _, o := range t.options {
		v, _ := c.Get(o.Name)
		values[o.Name] = space.FormatValue(v)
		if f, ok := v.(float64); ok {
			values[o.Name] = strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return values
}

// IsDefault reports whether all options of a configuration have their defaults.
func (t *Tuning) IsDefault(c space.Configuration) bool {
	return !slices.ContainsFunc(t.options, func(o search.Option) bool {
		v, _ := c.Get(o.Name)
		standard, err := o.Value(o.Default)
		return err != nil || v != standard
	})
}

// Groups returns what can be left out of the recordings to see what a tuning is worth elsewhere: the kernels, or the recordings if
// all are of one kernel, or if a kernel is unknown. It returns nil if there is only one.
func (t *Tuning) Groups() []string {
	for _, of := range []func(*Recording) string{kernelOf, nameOf} {
		var groups []string
		for _, s := range t.scorings {
			if g := of(s.recording); !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
		if len(groups) > 1 && !slices.Contains(groups, "") {
			return groups
		}
	}
	return nil
}

func kernelOf(n *Recording) string { return n.Kernel }
func nameOf(n *Recording) string   { return n.Name }

// split returns the scorings of a group, and the others.
func (t *Tuning) split(group string) (of, others []*Scoring) {
	for _, s := range t.scorings {
		if group != "" && (s.recording.Kernel == group || s.recording.Name == group) {
			of = append(of, s)
		} else {
			others = append(others, s)
		}
	}
	return of, others
}

// An Evaluator evaluates options by their mean score. Each recording has the same weight.
type Evaluator struct {
	*Tuning
	on []*Scoring
}

var _ tune.Remeasurer = (*Evaluator)(nil)

// Evaluator returns an evaluator by the recordings that are not of a group; "" is no group.
func (t *Tuning) Evaluator(without string) *Evaluator {
	_, on := t.split(without)
	return &Evaluator{t, on}
}

// Device names the simulation.
func (*Evaluator) Device() hardware.Device { return hardware.Device{Name: "simulation"} }

// Capacity is 1: an evaluation uses all cores.
func (*Evaluator) Capacity() int { return 1 }

// Recordings returns the number of recordings.
func (e *Evaluator) Recordings() int { return len(e.on) }

// Evaluate is [tune.Evaluator].
func (e *Evaluator) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		began := time.Now()
		score, err := e.score(ctx, c, e.Seed)
		r := tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{timeOf(score)}, Durations: tune.Durations{Measure: time.Since(began)}}
		var failed *searchError
		switch {
		case ctx.Err() != nil:
			return tune.Result{}, ctx.Err()
		case errors.As(err, &failed):
			r.Status, r.Reason, r.Times = tune.Runtime, err.Error(), nil
			return r, nil
		}
		return r, err
	})
}

// FinalRounds is the number of evaluations of each of the best in the final measurement, each with other seeds. It says which options are
// the best, which the best of many evaluations with the same seeds are not: they were lucky, too.
const FinalRounds = 3

// Remeasure is [tune.Remeasurer]. It has its own number of rounds.
func (e *Evaluator) Remeasure(ctx context.Context, configurations []space.Configuration, _ int) ([][]float64, error) {
	times := make([][]float64, len(configurations))
	for round := range FinalRounds {
		for i, c := range configurations {
			score, err := e.score(ctx, c, e.Seed+1+uint64(round))
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], timeOf(score))
		}
	}
	return times, nil
}

// A searchError is the error of options with which the strategy cannot be scored.
type searchError struct{ error }

// score returns the mean score of options. Scores that are known are not computed again.
func (e *Evaluator) score(ctx context.Context, c space.Configuration, seed uint64) (float64, error) {
	strategy := e.make(e.Values(c))
	key := func(s *Scoring) string { return fmt.Sprint(seed, " ", strategy.Name, " ", s.recording.Name) }
	missing := slices.DeleteFunc(slices.Clone(e.on), func(s *Scoring) bool { _, known := e.known[key(s)]; return known })
	if len(missing) > 0 {
		p := Plan{Strategies: []Strategy{strategy}, Repeats: e.Repeats, Seed: seed, OnRepeats: e.OnRepeats}
		for _, s := range missing {
			p.Recordings = append(p.Recordings, s.recording)
		}
		traces, err := runTraces(ctx, p, missing)
		if err != nil {
			return 0, err
		}
		scores, errs := make([]float64, len(missing)), make([]error, len(missing))
		var wait sync.WaitGroup
		for i, s := range missing {
			wait.Go(func() { scores[i], errs[i] = s.newFinds(traces[i]).mean() })
		}
		wait.Wait()
		for i, s := range missing {
			if errs[i] != nil {
				return 0, &searchError{fmt.Errorf("on %s: %w", s.recording.Name, errs[i])}
			}
			e.known[key(s)] = scores[i]
		}
	}
	mean := 0.0
	for _, s := range e.on {
		mean += e.known[key(s)] / float64(len(e.on))
	}
	return mean, nil
}

// finalRepeats is how often more than in an evaluation the strategy searches for [Tuning.Compare].
const finalRepeats = 4

// Compare scores the defaults and the options of a configuration by searches that no evaluation has made, on the recordings of a
// group; "" is all. If these options are the defaults, there is one score for both.
func (t *Tuning) Compare(ctx context.Context, c space.Configuration, group string) (defaults, tuned []Score, err error) {
	on := t.scorings
	if group != "" {
		on, _ = t.split(group)
	}
	p := Plan{
		Strategies: []Strategy{t.make(nil)},
		Repeats:    finalRepeats * t.Repeats, Seed: t.Seed + 1 + FinalRounds, OnRepeats: t.OnRepeats,
	}
	if !t.IsDefault(c) {
		p.Strategies = append(p.Strategies, t.make(t.Values(c)))
	}
	for _, s := range on {
		p.Recordings = append(p.Recordings, s.recording)
	}
	scores, err := RunScores(ctx, p, on)
	if err != nil {
		return nil, nil, err
	}
	return scores[:len(on)], scores[len(scores)-len(on):], nil
}
