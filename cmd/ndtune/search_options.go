package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/spec"
)

// searchOptions say what is searched, how, and where the results go.
type searchOptions struct {
	spec       specOptions
	evaluation evaluationOptions
	device     string // "": the default one

	strategy       string
	start          cli.StringSlice
	prior          priorOptions
	maxEvaluations int           // 0: no limit
	timeLimit      time.Duration // 0: no limit
	patience       int           // 0: no end
	retry          statuses
	seed           uint64

	log     string // "": a new one
	outputs cli.StringSlice
	serve   string // "": no page

	fleet fleetOptions
	by    session.Strategy
}

// flags control a search and its outputs.
func (o *searchOptions) flags() []cli.Flag {
	return append(o.evaluation.flags(&o.spec),
		deviceFlag(&o.device, "; several of one model share a search: gpu uses all GPUs of the first one's model, 0:0,0:1 uses two devices"),
		textFlag(&o.strategy, "strategy", categorySearch,
			"search with `STRATEGY`: "+strategyNames()+"; ndtune strategies describes them; "+strategyForms+" (default: auto)"),
		listFlag(&o.start, "start", categorySearch,
			"begin with this configuration, `PARAMETER=VALUE,…` for all parameters with several values; may be repeated"),
		o.prior.searchFlag(),
		numberFlag(&o.maxEvaluations, "max-evals", categorySearch,
			"evaluate at most `N` configurations, failures included; those beyond the device's limits do not count"),
		numberFlag(&o.patience, "patience", categorySearch,
			"stop after `N` evaluations without 1 % gain (default: never; of several sizes, 50 for all but the first)"),
		durationFlag(&o.timeLimit, "time-limit", categorySearch, "start nothing after `DURATION`, such as 90s or 10m; finish what runs"),
		newRetryFlag(&o.retry),
		seedFlag(&o.seed, categorySearch, "seed of the strategy's random choices"),
		textFlag(&o.log, "log", categoryOutput,
			"keep the run log in `FILE` (of several sizes, in FILE.SIZE.jsonl), and continue the run that it holds (default: a "+
				"new file in the user's state folder)"),
		outputFlag(&o.outputs, "write the results to `FILE`: .json (T4), .csv or .jsonl (run log), .gz after it; may be repeated"),
		verboseFlag("show skipped configurations and the reasons, whole build logs, the output of workers, and the use of their time"),
		quietFlag("print the best configuration only"),
		textFlag(&o.serve, "serve", categoryOutput,
			"show the running search in browsers on this machine at `HOST:PORT`, such as 127.0.0.1:8080; :0 is a free port"),
	)
}

// readSearch checks the options that need no specification. The caller reads those of the specification.
func (o *searchOptions) readSearch(c *cli.Context) error {
	if err := o.evaluation.read(c); err != nil {
		return err
	}
	choices := []session.Strategy{{Name: search.Auto}}
	if o.strategy != "" {
		var err error
		if choices, err = parseStrategies([]string{o.strategy}); err != nil {
			return wrong("--strategy %w", err)
		}
	}
	if len(choices) > 1 {
		return wrong("--strategy %s: a search has one strategy; ndtune simulate compares several", o.strategy)
	}
	o.by = choices[0]
	if err := o.prior.read(); err != nil {
		return wrong("--prior: %w", err)
	}
	return nil
}

// plan returns what the options say about a search of a specification.
func (o *searchOptions) plan(ctx context.Context, s *spec.Spec) (session.Plan, error) {
	p := session.Plan{
		Spec: s, Tool: "ndtune " + versionText(), LogPath: o.log, Retry: o.retry, Seed: o.seed,
		MaxEvaluations: o.maxEvaluations, TimeLimit: o.timeLimit, Patience: o.patience, Strategy: o.by,
	}
	if p.MaxEvaluations == 0 && p.TimeLimit == 0 {
		p.MaxEvaluations = s.Definition.MaxEvaluations
	}
	if o.by.Command == nil {
		if err := search.Check(o.by.Name, o.by.Options, len(s.Problem.Objective().All())); err != nil {
			return p, wrong("--strategy: %w", err)
		}
	}
	var err error
	if p.Priors, err = o.prior.load(ctx, o.by.Name, s.Problem); err != nil {
		return p, wrong("--prior: %w", err)
	}
	for _, text := range o.start.Value() {
		configuration, err := spec.ParseConfiguration(s.Problem.Parameters(), text)
		if err != nil {
			return p, wrong("--start %s: %w", text, err)
		}
		p.Start = append(p.Start, configuration)
	}
	return p, nil
}
