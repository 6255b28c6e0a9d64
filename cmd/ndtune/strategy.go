package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// checkStrategyFlags refuses what can be refused before there is a space.
func (t *tuning) checkStrategyFlags() error {
	options, err := t.strategyOptions()
	if err != nil {
		return err
	}
	switch name := t.cli.String("strategy"); {
	case name != "":
		if err := search.Check(name, options); err != nil {
			return &usageError{fmt.Errorf("--strategy: %w", err)}
		}
	case len(options) > 0:
		return &usageError{errors.New("--strategy-option: name the strategy with --strategy")}
	}
	for _, text := range t.cli.StringSlice("start") {
		if _, err := spec.ParseConfiguration(t.spec.Problem.Parameters(), text); err != nil {
			return &usageError{fmt.Errorf("--start %s: %w", text, err)}
		}
	}
	return nil
}

// openStrategy settles which strategy searches the space, and where it starts.
func (t *tuning) openStrategy() error {
	if t.strategy = t.cli.String("strategy"); t.strategy == "" {
		t.strategy = search.Auto
	}
	var err error
	t.start, err = t.startIndices()
	return err
}

// startIndices are the user's own configurations in the space.
func (t *tuning) startIndices() ([]int, error) {
	var start []int
	for _, text := range t.cli.StringSlice("start") {
		c, err := spec.ParseConfiguration(t.spec.Problem.Parameters(), text)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--start %s: %w", text, err)}
		}
		if err := t.spec.Problem.Admit(c, t.evaluator.Device()); err != nil {
			return nil, &usageError{fmt.Errorf("--start %s: %w", text, err)}
		}
		i, ok := t.space.Index(c)
		if !ok {
			return nil, &usageError{fmt.Errorf("--start %s: the space does not hold it", text)}
		}
		start = append(start, i)
	}
	return start, nil
}

// strategyOptions are those that the flags give, by name.
func (t *tuning) strategyOptions() (map[string]string, error) {
	options := map[string]string{}
	for _, text := range t.cli.StringSlice("strategy-option") {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, &usageError{fmt.Errorf("--strategy-option %s: want OPTION=VALUE", text)}
		}
		if _, twice := options[name]; twice {
			return nil, &usageError{fmt.Errorf("--strategy-option: %s is given twice", name)}
		}
		options[name] = strings.TrimSpace(value)
	}
	return options, nil
}

func (t *tuning) newStrategy(s *space.Space) (search.Strategy, error) {
	options, err := t.strategyOptions()
	if err != nil {
		return nil, err
	}
	return search.New(t.strategy, s, search.Options{
		Seed: t.cli.Uint64("seed"), Budget: t.budget(s), Start: t.start, Values: options,
	})
}

// budget is how many configurations the search may evaluate: the whole space where nothing
// bounds it, and nobody knows how many where only time does.
func (t *tuning) budget(s *space.Space) int {
	n := t.maxEvaluations()
	if n == 0 && t.cli.Duration("time-limit") == 0 {
		return s.Len()
	}
	return n
}

// maxEvaluations is what the command line says, or the specification where it says nothing
// of how long the search may be; 0: no limit.
func (t *tuning) maxEvaluations() int {
	if n := t.cli.Int("max-evals"); n > 0 || t.cli.Duration("time-limit") > 0 {
		return n
	}
	return t.spec.Definition.MaxEvaluations
}
