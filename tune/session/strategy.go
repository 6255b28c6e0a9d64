package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/search/command"
	"github.com/ndtune/ndtune/tune/space"
)

// newStrategy returns the function that makes the strategy in the space, with the configurations to begin with and the priors.
func (s *Session) newStrategy(ctx context.Context) (func(*space.Space) (search.Strategy, error), error) {
	p := s.plan.Spec.Problem
	o := search.Options{
		Seed: s.plan.Seed, Budget: s.plan.MaxEvaluations, Values: s.plan.Strategy.Options, Objectives: len(p.Objective().All()),
	}
	if s.plan.MaxEvaluations == 0 && s.plan.TimeLimit == 0 {
		o.Budget = s.Space.Len()
	}
	var begin []space.Configuration
	if c, ok := p.Baseline(); ok {
		begin = append(begin, c)
	}
	for _, c := range s.plan.Start {
		err := p.Admit(c, s.Evaluator.Device())
		if _, ok := s.Space.Index(c); err == nil && !ok {
			err = errors.New("the space does not hold it")
		}
		if err != nil {
			return nil, wrongOption("--start %s: %w", c, err)
		}
	}
	priors, nearest := s.findPriors(o.Budget)
	o.Start = s.Space.Indices(slices.Concat(begin, s.plan.Start, s.plan.Neighbours, nearest))
	for _, prior := range priors {
		learnt, err := prior.Prior(prior.Name, s.Space.Parameters(), p.Objective())
		if err != nil {
			return nil, wrongOption("--prior %s: %w", prior.Path, err)
		}
		o.Priors = append(o.Priors, learnt)
	}
	s.learnsFrom = priors
	return func(all *space.Space) (search.Strategy, error) {
		if s.plan.Strategy.Command != nil {
			return s.startCommand(ctx, all, o)
		}
		o := o
		if s.Log != nil {
			o.Start = slices.Concat(o.Start, s.reused(all))
		}
		var err error
		s.searcher, err = search.New(s.plan.Strategy.Name, all, o)
		return s.searcher, err
	}, nil
}

// startCommand starts the program that is the strategy. Before anything else, it is told the results of the log.
func (s *Session) startCommand(ctx context.Context, all *space.Space, o search.Options) (search.Strategy, error) {
	start := all.Indices(each.Of(slices.Concat(s.Log.Reuse().Outdated, s.Log.Previous()), configurationOf))
	timeout := command.DefaultTimeout
	if s.plan.TimeLimit > 0 {
		timeout = min(timeout, s.plan.TimeLimit) // it must not keep the search from its end
	}
	return command.New(ctx, all, command.Options{
		Args: s.plan.Strategy.Command, Objective: s.plan.Spec.Problem.Objective(), Seed: o.Seed, Budget: o.Budget,
		Evaluators: s.Evaluator.Capacity(), Start: append(start, o.Start...), Timeout: timeout, Output: s.evaluation.Output,
	})
}

// reused returns the configurations that the log knows from older search spaces or by another clock, the best first. The strategy begins
// with them, and so learns their results, of which those in older spaces cost nothing.
func (s *Session) reused(all *space.Space) []int {
	results := slices.Concat(s.Log.Reuse().Outdated, s.Log.Previous()[:min(s.Log.Header().Reused, len(s.Log.Previous()))])
	value := func(r tune.Result) float64 {
		if !r.Rankable() {
			return math.NaN()
		}
		return r.Objective
	}
	slices.SortStableFunc(results, func(a, b tune.Result) int { return s.plan.Spec.Problem.Objective().Compare(value(a), value(b)) })
	return all.Indices(each.Of(results, configurationOf))
}

func configurationOf(r tune.Result) space.Configuration { return r.Configuration }

// Trusts says what the search found its priors to be worth. Known is false if it had none.
func (s *Session) Trusts() (all []search.Trust, known bool) {
	if len(s.learnsFrom) == 0 || s.searcher == nil {
		return nil, false
	}
	return search.Trusts(s.searcher), true
}

// commandPrefix begins a value of --strategy that is a program of the user's own.
const commandPrefix = "command:"

var strategyOption = regexp.MustCompile(`^\s*\w+\s*=`)

// ParseStrategies reads values of --strategy: each is a program, or a list of strategies with commas between them. A piece
// of a list that is an option belongs to the strategy before it.
func ParseStrategies(texts []string) ([]Strategy, error) {
	var all []Strategy
	for _, text := range texts {
		if command, ok := strings.CutPrefix(text, commandPrefix); ok {
			words, err := commandWords(command)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			all = append(all, Strategy{Name: text, Command: words})
			continue
		}
		for i, piece := range strings.Split(text, ",") {
			name, option, hasOption := strings.Cut(piece, ":")
			switch {
			case i > 0 && strategyOption.MatchString(piece):
				option, hasOption = piece, true
			case strings.TrimSpace(name) == "" || strategyOption.MatchString(piece):
				return nil, fmt.Errorf("%s: the name of a strategy is missing (there are %s)", text, strings.Join(search.Names(), ", "))
			default:
				all = append(all, Strategy{Name: strings.TrimSpace(name), Options: map[string]string{}})
			}
			last := all[len(all)-1]
			if !hasOption {
				continue
			}
			if err := setOption(last.Options, option); err != nil {
				return nil, fmt.Errorf("%s: option %w", last.Name, err)
			}
		}
	}
	return all, nil
}

// setOption reads OPTION=VALUE.
func setOption(options map[string]string, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return fmt.Errorf("%s: want OPTION=VALUE", text)
	}
	if _, twice := options[name]; twice {
		return fmt.Errorf("%s is given twice", name)
	}
	options[name] = strings.TrimSpace(value)
	return nil
}

// commandWords splits a command, whose program must exist.
func commandWords(text string) ([]string, error) {
	words, err := process.Words(text)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	return words, err
}
