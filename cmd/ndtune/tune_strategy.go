package main

import (
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/search/command"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// readStrategy reads the strategy, its options and the configurations to begin with.
func (t *tuning) readStrategy() error {
	choices := []strategyChoice{{name: search.Auto}}
	if text := t.cli.String("strategy"); text != "" {
		var err error
		if choices, err = parseStrategies([]string{text}); err != nil {
			return wrong("--strategy %w", err)
		}
	}
	if len(choices) > 1 {
		return wrong("--strategy %s: a search has one strategy; ndtune simulate compares several", t.cli.String("strategy"))
	}
	t.strategy = choices[0]
	if err := t.strategy.check(len(t.spec.Problem.Objective().All())); err != nil {
		return wrong("--strategy: %w", err)
	}
	var err error
	if t.priors, t.finds, err = readPriors(t.cli, t.strategy.name, t.spec.Problem); err != nil {
		return wrong("--prior: %w", err)
	}
	t.named = len(t.priors)
	for _, text := range t.cli.StringSlice("start") {
		configuration, err := spec.ParseConfiguration(t.spec.Problem.Parameters(), text)
		if err != nil {
			return wrong("--start %s: %w", text, err)
		}
		t.start = append(t.start, configuration)
	}
	return nil
}

// strategyIn returns the function that makes the strategy in the space, with the configurations to begin with and the priors.
func (t *tuning) strategyIn() (func(s *space.Space) (search.Strategy, error), error) {
	options := search.Options{Seed: t.cli.Uint64("seed"), Budget: t.maxEvaluations, Values: t.strategy.options, Objectives: len(t.spec.Problem.Objective().All())}
	if t.maxEvaluations == 0 && t.timeLimit == 0 {
		options.Budget = t.space.Len()
	}
	begin := func(configurations ...space.Configuration) {
		for _, c := range configurations {
			if i, ok := t.space.Index(c); ok {
				options.Start = append(options.Start, i)
			}
		}
	}
	if c, ok := t.spec.Problem.Baseline(); ok {
		begin(c)
	}
	for _, c := range t.start {
		if err := t.spec.Problem.Admit(c, t.evaluator.Device()); err != nil {
			return nil, wrong("--start %s: %w", c, err)
		}
		if _, ok := t.space.Index(c); !ok {
			return nil, wrong("--start %s: the space does not hold it", c)
		}
		begin(c)
	}
	begin(t.neighbours...)
	begin(t.findPriors(options.Budget)...)
	for _, prior := range t.priors {
		p, err := prior.Prior(prior.name, t.space.Parameters(), t.spec.Problem.Objective())
		if err != nil {
			return nil, wrong("--prior %s: %w", prior.path, err)
		}
		options.Priors = append(options.Priors, p)
	}
	return func(s *space.Space) (search.Strategy, error) {
		if t.strategy.command != nil {
			return t.startCommand(s, options)
		}
		if t.log != nil {
			options.Start = append(options.Start, t.reused(s)...)
		}
		var err error
		t.searcher, err = search.New(t.strategy.name, s, options)
		return t.searcher, err
	}, nil
}

// reused returns the configurations that the log knows from older search spaces, the best first. The strategy begins with
// them, and so learns their results, which cost nothing.
func (t *tuning) reused(s *space.Space) []int {
	results := slices.Clone(t.log.Previous()[:min(t.log.Header().Reused, t.log.Resumed())])
	slices.SortStableFunc(results, func(a, b tune.Result) int {
		o := t.spec.Problem.Objective()
		switch {
		case a.Rankable() && (!b.Rankable() || o.Better(a.Objective, b.Objective)):
			return -1
		case b.Rankable() && (!a.Rankable() || o.Better(b.Objective, a.Objective)):
			return 1
		}
		return 0
	})
	var indices []int
	for _, r := range results {
		if i, ok := s.Index(r.Configuration); ok {
			indices = append(indices, i)
		}
	}
	return indices
}

// sayTrust says what the search found its priors to be worth.
func (t *tuning) sayTrust() {
	if len(t.priors) == 0 || t.searcher == nil {
		return
	}
	trusts := search.Trusts(t.searcher)
	for _, trust := range trusts {
		t.say("%s", trustText(trust))
	}
	if len(trusts) == 0 && t.strategy.name == search.Auto {
		t.say("The search needed no prior: its budget covers the space, or ends before there is a model.")
	}
}

// startCommand starts the program that is the strategy of a search. Before anything else, it is told the results of the log.
func (t *tuning) startCommand(s *space.Space, o search.Options) (search.Strategy, error) {
	var start []int
	for _, previous := range t.log.Previous() {
		if i, ok := s.Index(previous.Configuration); ok {
			start = append(start, i)
		}
	}
	timeout := command.DefaultTimeout
	if t.timeLimit > 0 {
		timeout = min(timeout, t.timeLimit) // it must not keep the search from its end
	}
	return command.New(t.cli.Context, s, command.Options{
		Args: t.strategy.command, Objective: t.spec.Problem.Objective(), Seed: o.Seed, Budget: o.Budget,
		Evaluators: t.evaluator.Capacity(), Start: append(start, o.Start...), Timeout: timeout, Output: verboseOutput(t.cli),
	})
}
