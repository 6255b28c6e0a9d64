package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/search/command"
	"github.com/ndtune/ndtune/tune/simulate"
	"github.com/ndtune/ndtune/tune/space"
)

func strategyTimeoutFlag() cli.Flag {
	return &cli.DurationFlag{Name: "strategy-timeout", Value: command.DefaultTimeout, Category: categorySearch, Usage: "give up the program of --strategy-command if an answer takes longer than `DURATION`"}
}

// strategyCommand returns the words of --strategy-command of a search, or nil.
func strategyCommand(c *cli.Context) ([]string, error) {
	if !c.IsSet("strategy-command") {
		if c.IsSet("strategy-timeout") {
			return nil, wrong("--strategy-timeout is about --strategy-command: add it")
		}
		return nil, nil
	}
	if c.IsSet("strategy") {
		return nil, wrong("--strategy and --strategy-command are two strategies; leave out one of them")
	}
	return commandWords(c, c.String("strategy-command"))
}

// commandWords splits a command, whose program must exist, and checks --strategy-timeout.
func commandWords(c *cli.Context, text string) ([]string, error) {
	if err := checkPositive(c, "strategy-timeout"); err != nil {
		return nil, err
	}
	words, err := process.Words(text)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		return nil, wrong("--strategy-command %s: %w", text, err)
	}
	return words, nil
}

// startCommand starts the strategy command of a search. Before anything else, the program is told the results of the log.
func (t *tuning) startCommand(s *space.Space, o search.Options) (search.Strategy, error) {
	var start []int
	for _, previous := range t.log.Previous() {
		if i, ok := s.Index(previous.Configuration); ok {
			start = append(start, i)
		}
	}
	timeout := t.cli.Duration("strategy-timeout")
	if t.timeLimit > 0 {
		timeout = min(timeout, t.timeLimit) // it must not keep the search from its end
	}
	return command.New(t.cli.Context, s, command.Options{
		Args: t.command, Values: o.Values, Objective: t.spec.Problem.Objective(), Seed: o.Seed, Budget: o.Budget,
		Evaluators: t.evaluator.Capacity(), Start: append(start, o.Start...), Timeout: timeout, Output: verboseOutput(t.cli),
	})
}

// dividedOptions returns the values of --strategy-option for the strategy of --strategy, or for that of --strategy-command.
func dividedOptions(c *cli.Context) (own, others []string, err error) {
	options, commands := c.StringSlice("strategy-option"), c.StringSlice("strategy-command")
	switch {
	case len(commands) == 0 && c.IsSet("strategy-timeout"):
		return nil, nil, errors.New("--strategy-timeout is about --strategy-command: add it")
	case len(commands) == 0 || len(options) == 0:
		return options, nil, nil
	case len(commands) > 1 || c.IsSet("strategy"):
		return nil, nil, fmt.Errorf("--strategy-option %s: of which strategy? Write --strategy NAME:%s, or give a command its options as arguments", options[0], options[0])
	}
	return nil, options, nil
}

// addCommands adds the strategy commands of the command line to a simulation.
func addCommands(c *cli.Context, plan *simulate.Plan, options []string) error {
	values, err := parseOptions(options)
	if err != nil {
		return fmt.Errorf("--strategy-option %w", err)
	}
	for i, text := range c.StringSlice("strategy-command") {
		if i == 0 && c.IsSet("prior") {
			return errors.New("--prior: a strategy command learns nothing from a prior; leave out one of them")
		}
		words, err := commandWords(c, text)
		if err != nil {
			return err
		}
		name := strings.Join(append([]string{text}, options...), " ")
		if slices.ContainsFunc(plan.Strategies, func(s simulate.Strategy) bool { return s.Name == name }) {
			return fmt.Errorf("--strategy-command %s is named twice", text)
		}
		plan.Strategies = append(plan.Strategies, commandStrategy(c, plan, name, words, values))
	}
	return nil
}

// commandStrategy returns a command as a strategy of a simulation.
func commandStrategy(c *cli.Context, plan *simulate.Plan, name string, words []string, values map[string]string) simulate.Strategy {
	return simulate.Strategy{Name: name, New: func(s *space.Space, o search.Options) (search.Strategy, error) {
		r := plan.Recordings[slices.IndexFunc(plan.Recordings, func(r *simulate.Recording) bool { return r.Space == s })]
		return command.New(c.Context, s, command.Options{
			Args: words, Values: values, Objective: r.Objective, Seed: o.Seed, Budget: o.Budget,
			Evaluators: plan.Batch, Timeout: c.Duration("strategy-timeout"),
		})
	}}
}
