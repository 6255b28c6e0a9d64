// Package job is one search of a command line: its [Options], which all commands that search have, the [Job] with its files, and its
// display.
package job

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
)

// Options say what is searched, how, and where the results go.
type Options struct {
	Spec       Spec
	Evaluation Evaluation
	Device     string // "": the default one

	strategy       string
	start          cli.StringSlice
	Prior          Priors
	MaxEvaluations int           // 0: no limit
	TimeLimit      time.Duration // 0: no limit
	Patience       int           // 0: no end
	Retry          flags.Statuses
	Seed           uint64

	Log     string // "": a new one
	Outputs cli.StringSlice
	Serve   string // "": no page

	Fleet Fleet
	By    session.Strategy
}

// StrategyForms describes the values of --strategy beside the names.
const StrategyForms = "options follow the name, NAME:OPTION=VALUE,OPTION=VALUE; command:COMMAND, such as 'command:python3 walk.py', " +
	"is a program of your own, which is asked and told in lines of JSON (docs/strategy-command.md)"

// Flags control a search and its outputs.
func (o *Options) Flags() []cli.Flag {
	return append(o.Evaluation.Flags(&o.Spec),
		flags.Device(&o.Device, "; several of one model share a search: gpu uses all GPUs of the first one's model, 0:0,0:1 uses two devices"),
		flags.Text(&o.strategy, "strategy", flags.CategorySearch,
			"search with `STRATEGY`: "+strings.Join(search.Names(), ", ")+"; ndtune strategies describes them; "+StrategyForms+" (default: auto)"),
		flags.List(&o.start, "start", flags.CategorySearch,
			"begin with this configuration, `PARAMETER=VALUE,…` for all parameters with several values; may be repeated"),
		o.Prior.searchFlag(),
		flags.Number(&o.MaxEvaluations, "max-evals", flags.CategorySearch,
			"evaluate at most `N` configurations, failures included; those beyond the device's limits do not count"),
		flags.Number(&o.Patience, "patience", flags.CategorySearch,
			"stop after `N` evaluations without 1 % gain (default: never; of several sizes, 50 for all but the first)"),
		flags.Duration(&o.TimeLimit, "time-limit", flags.CategorySearch, "start nothing after `DURATION`, such as 90s or 10m; finish what runs"),
		flags.Retry(&o.Retry),
		flags.Seed(&o.Seed, flags.CategorySearch, "seed of the strategy's random choices"),
		flags.Text(&o.Log, "log", flags.CategoryOutput,
			"keep the run log in `FILE` (of several sizes, in FILE.SIZE.jsonl), and continue the run that it holds (default: a "+
				"new file in the user's state folder)"),
		flags.Output(&o.Outputs, "write the results to `FILE`: .json (T4), .csv or .jsonl (run log), .gz after it; may be repeated"),
		flags.Verbose("show skipped configurations and the reasons, whole build logs, the output of workers, and the use of their time"),
		flags.Quiet("print the best configuration only"),
		flags.Text(&o.Serve, "serve", flags.CategoryOutput,
			"show the running search in browsers on this machine at `HOST:PORT`, such as 127.0.0.1:8080; :0 is a free port"),
	)
}

// ReadSearch checks the options that need no specification. The caller reads those of the specification.
func (o *Options) ReadSearch(c *cli.Context) error {
	if err := o.Evaluation.Read(c); err != nil {
		return err
	}
	choices := []session.Strategy{{Name: search.Auto}}
	if o.strategy != "" {
		var err error
		if choices, err = session.ParseStrategies([]string{o.strategy}); err != nil {
			return ui.Wrong("--strategy %w", err)
		}
	}
	if len(choices) > 1 {
		return ui.Wrong("--strategy %s: a search has one strategy; ndtune simulate compares several", o.strategy)
	}
	o.By = choices[0]
	if err := o.Prior.Read(); err != nil {
		return ui.Wrong("--prior: %w", err)
	}
	return nil
}

// plan returns what the options say about a search of a specification.
func (o *Options) plan(ctx context.Context, s *spec.Spec) (session.Plan, error) {
	p := session.Plan{
		Spec: s, Tool: "ndtune " + ui.VersionText(), LogPath: o.Log, Retry: o.Retry, Seed: o.Seed,
		MaxEvaluations: o.MaxEvaluations, TimeLimit: o.TimeLimit, Patience: o.Patience, Strategy: o.By,
	}
	if p.MaxEvaluations == 0 && p.TimeLimit == 0 {
		p.MaxEvaluations = s.Definition.MaxEvaluations
	}
	if o.By.Command == nil {
		if err := search.Check(o.By.Name, o.By.Options, len(s.Problem.Objective().All())); err != nil {
			return p, ui.Wrong("--strategy: %w", err)
		}
	}
	var err error
	if p.Priors, err = o.Prior.Load(ctx, o.By.Name, s.Problem); err != nil {
		return p, ui.Wrong("--prior: %w", err)
	}
	for _, text := range o.start.Value() {
		configuration, err := spec.ParseConfiguration(s.Problem.Parameters(), text)
		if err != nil {
			return p, ui.Wrong("--start %s: %w", text, err)
		}
		p.Start = append(p.Start, configuration)
	}
	return p, nil
}

// SelectFor finds a device of this machine for a specification, and returns this in the language of the device's kernels.
func SelectFor(selector string, s *spec.Spec) (device.Listed, *spec.Spec, error) {
	l, err := device.SelectFor(selector, s.Problem.Languages()...)
	if err == nil {
		s, err = s.In(device.LanguageOf(*l.Identity))
	}
	return l, s, err
}

// SelectDevices finds devices of this machine that share a search of a kernel in one of some languages.
func SelectDevices(selector string, languages ...source.Language) ([]device.Listed, error) {
	if len(languages) > 1 && (selector == "" || selector == "gpu") {
		all, _ := device.List(source.OpenCL)
		if found, err := device.SelectAlike(all, selector); err == nil && found[0].Type == "gpu" {
			return found, nil // without the time that the driver of CUDA takes: its devices come later
		}
	}
	all, err := device.ListFor(selector, languages...)
	if err != nil {
		return nil, err
	}
	return device.SelectAlike(all, selector)
}

// GoOnCommand returns the command line of this process, with a log if it names none.
func (o *Options) GoOnCommand(log string, more ...string) string {
	words := slices.Clone(os.Args)
	if o.Log == "" {
		more = append(more, "--log", log)
		end := len(words)
		if i := slices.Index(words, "--"); i >= 0 {
			end = i // arguments follow
		}
		words = slices.Insert(words, end, more...)
	}
	return ui.Join(" ", process.Quoted, words...)
}
