package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/wisdom"
	"github.com/ndtune/ndtune/tune/worker"
)

func tuneCommand() *cli.Command {
	return &cli.Command{
		Name:      "tune",
		Usage:     "search a specification's space for its fastest configuration",
		ArgsUsage: "SPEC",
		Description: `Reads a specification (docs/spec.md), builds and verifies its configurations on a device,
times the correct ones, and prints each result as it arrives and the best at the end. Before
it names the winner, it measures the ten best, the finalists, again, in rounds with one launch of
each. A table of them on stderr says which are indistinguishable from the winner (docs/report.md).

   ndtune tune kernel.yaml
   ndtune tune kernel.yaml --device gpu --set n=4096 -o results.json -o results.csv
   ndtune tune kernel.yaml -p block_size_x=32,64 -v
   ndtune tune kernel.yaml --max-evals 100 --log kernel.jsonl
   ndtune tune kernel.yaml --serve 127.0.0.1:0
   ndtune tune kernel.yaml --set n=1024,2048,4096 --log kernel.jsonl
   ndtune tune kernel.yaml --max-evals 50 --prior other-device.jsonl

An interrupted run (Ctrl-C) keeps its results: the same command with the same --log
continues it, also after values of parameters or restrictions have changed (docs/spec.md). Add
--retry-failures to evaluate failed configurations again:

   ndtune tune kernel.yaml --log kernel.jsonl --retry-failures
   ndtune tune kernel.yaml --log kernel.jsonl --retry-failures=compile,timeout

Several values of a constant, or sizes in the specification, tune it at each of these sizes, with a
run log for each. Each size begins with the best configurations of the nearest sizes before it. A table shows
the cost of each best at the other sizes, and the best over all sizes (docs/sizes.md).

With --wisdom, the best configurations are added to a wisdom file. With --if-missing, a
search is made only for what the file does not know yet; several processes that miss the same
make one search (docs/wisdom.md):

   ndtune tune kernel.yaml --if-missing --wisdom kernel.wisdom --set n=4096 --time-limit 60s

With --fleet, the devices of one kind in a fleet of machines share the search (docs/fleet.md):

   ndtune tune kernel.yaml --fleet nats://127.0.0.1:4222 --device gpu
   ndtune tune kernel.yaml --listen 127.0.0.1:4222 --device gpu

With --listen, the command runs the server of the fleet and an agent for this machine itself, and
prints the command for other machines.

With --serve, browsers show the report of the running search at the printed address. A
browser on another machine needs the token in that address (docs/report.md).`,
		Flags: slices.Concat(specFlags(), tuneFlags(), wisdomFlags(), []cli.Flag{finalistsFlag()}, searchFleetFlags("evaluate on the devices of the fleet", "with --listen: as soon as one has a device that --device names")),
		Action: func(c *cli.Context) error {
			s, err := loadFrom(c, loadSizes)
			if err != nil {
				return err
			}
			if err := checkWisdomFlags(c); err != nil {
				return err
			}
			if err := checkFinalistsFlag(c, s); err != nil {
				return err
			}
			switch {
			case c.Bool("if-missing"):
				return tuneMissing(c, s)
			case len(s.Sizes) > 0:
				if err := checkOneObjective(s.Problem.Objective(), "a search at several sizes", s.Path); err != nil {
					return err
				}
				return tuneSizes(c, s)
			}
			if err := s.CheckSpace(c.Context); err != nil {
				return err
			}
			t, err := newTuning(c, s, c.Args().First(), c.String("log"), c.StringSlice("output")...)
			if err != nil {
				return err
			}
			page, closePage, err := openPage(c)
			if err != nil {
				return err
			}
			defer closePage()
			t.page = page
			t.prepareWorker()
			defer t.closeReserve()
			f, err := t.chooseDevices()
			if err != nil {
				return err
			}
			defer f.close()
			if t.entry, err = openEntry(c, sizedSpec{Spec: s}, t.devices[0]); err != nil {
				return err
			}
			outcome, err := t.search()
			return joined([]error{err, t.keepWisdom(t.entry, outcome), t.checkFinalists(outcome)})
		},
	}
}

// A tuning is one search from the command line: the specification, the devices, the log, and the
// files and displays of its results.
type tuning struct {
	cli     *cli.Context
	spec    *spec.Spec
	source  string // the origin of the specification, for the record
	logPath string // "": a new file in the user's state folder
	outputs []string

	strategy       strategyChoice
	start          []space.Configuration
	priors         []namedRecord
	named          int                   // of the priors, those that the command line names, which come first
	finds          bool                  // other priors, by itself
	found          []string              // notes about the others
	entry          *wisdom.Entry         // in the file of --wisdom; nil: there is none
	searcher       search.Strategy       // of the last search
	neighbours     []space.Configuration // the bests of other sizes, tried first if the space has them
	patience       int                   // 0: without end
	maxEvaluations int                   // 0: no limit
	timeLimit      time.Duration

	size     problem.Size // of the specification; nil: there is one
	title    string       // a line before the results
	again    []string     // flags that a command needs to go on with this search alone
	compared bool         // one of the searches of a comparison
	page     *live.Server // its owner closes it

	fleet      *fleet.Connection // nil: this machine; its owner closes it
	started    time.Time         // of the run log; zero: when it is opened
	devices    []device.Listed
	peaks      *hardware.Peaks
	limitLater bool            // addLimits finds the peaks after the search
	needs      *problem.Needs  // peaks to be measured during the search, for addLimits; nil: none
	reserve    *worker.Reserve // of this machine; nil: no worker was started yet
	evaluator  evaluator
	controls   controls // of the settings of the devices
	space      *space.Space
	log        *record.Log
	printer    *printer
	shown      *live.Run // on the page
	leaveFleet func()    // ends followFleet; nil: it has not begun
	spent      string    // a line about the time of the workers, for --verbose
}

// newTuning reads the flags of a search.
func newTuning(c *cli.Context, s *spec.Spec, source, logPath string, outputs ...string) (*tuning, error) {
	t := &tuning{
		cli: c, spec: s, source: source, logPath: logPath, outputs: outputs,
		maxEvaluations: c.Int("max-evals"), timeLimit: c.Duration("time-limit"), patience: c.Int("patience"),
	}
	if t.maxEvaluations == 0 && t.timeLimit == 0 {
		t.maxEvaluations = s.Definition.MaxEvaluations
	}
	for _, read := range []func() error{func() error { return checkWorkers(c) }, t.readStrategy, t.checkFiles} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *tuning) checkFiles() error {
	if t.logPath != "" {
		if err := checkFolder(t.logPath); err != nil {
			return wrong("--log %s: %w", t.logPath, err)
		}
	}
	return checkOutputs("output", t.outputs, func(path string) error {
		_, err := record.FormatOf(path)
		return err
	}, t.logPath)
}

// search opens all that the search needs, and runs it. The outcome is nil if the search did not begin.
func (t *tuning) search() (*tune.Outcome, error) {
	defer t.close()
	outcome, err := t.run()
	if outcome == nil {
		return nil, err
	}
	if outcome.Stop == tune.Environment {
		fmt.Fprintln(t.cli.App.ErrWriter, environmentText(outcome, t.log.Path(), goOnCommand(t.cli, t.log.Path(), t.again...)))
	}
	fmt.Fprint(t.cli.App.ErrWriter, t.spent)
	return outcome, errors.Join(err, t.conclude(outcome, err))
}

// run opens the device, the space and the log, searches, and shows the search and its end.
func (t *tuning) run() (*tune.Outcome, error) {
	if t.devices == nil {
		t.prepareWorker()
		var err error
		if t.devices, err = selectDevices(t.cli); err != nil {
			return nil, err
		}
	}
	if err := t.findPeaks(t.logPath); err != nil {
		return nil, err
	}
	options, err := t.prepare()
	if err != nil {
		return nil, err
	}
	if err := t.openLog(); err != nil {
		return nil, err
	}
	total := t.total()
	t.printer = newPrinter(t.cli, t.spec.Problem, total, t.compared)
	if t.title != "" && !t.cli.Bool("quiet") {
		fmt.Fprintf(t.cli.App.Writer, "\n%s\n", t.title)
	}
	t.printer.begin(t.evaluator.Device(), t.devices, t.space, t.log, t.limitLater)
	for _, prior := range t.priors[:t.named] {
		t.say("%s", prior.text(t.spec.Problem))
	}
	for _, note := range t.found {
		t.say("%s", note)
	}
	t.beginPage(total)
	options.Log, options.OnResult = t.log, func(r tune.Result, resumed bool) {
		t.printer.result(r, resumed)
		t.showResult(r, resumed)
	}
	outcome, err := tune.Run(t.cli.Context, t.spec.Problem, t.evaluator, options)
	if outcome != nil && t.cli.Bool("verbose") {
		t.spent = spentText(t.evaluator, outcome.Results, outcome.Resumed) + "\n"
	}
	err = errors.Join(err, t.controls.restore())
	if outcome != nil && err == nil {
		t.printer.bar.finish()
		err = t.addLimits(outcome)
	}
	t.endPage(outcome, err)
	if outcome != nil {
		t.printer.end(outcome, t.evaluator.Evaluated())
		t.sayTrust()
	}
	return outcome, err
}

// say prints a note, unless the command is quiet.
func say(c *cli.Context, format string, a ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", a...)
	}
}

func (t *tuning) say(format string, a ...any) { say(t.cli, format, a...) }

func (t *tuning) close() {
	if t.evaluator != nil {
		t.evaluator.Close()
	}
	if err := t.controls.close(); err != nil {
		fmt.Fprintf(t.cli.App.ErrWriter, "ndtune: %v\n", err)
	}
	t.controls = nil
	t.closeReserve()
	if t.log != nil {
		t.log.Close()
	}
}

// total returns the largest number of configurations that the search evaluates.
func (t *tuning) total() int {
	if t.maxEvaluations > 0 {
		return min(t.space.Len(), t.maxEvaluations)
	}
	return t.space.Len()
}

// prepare opens the evaluator and the space, and returns the options of the search in it.
func (t *tuning) prepare() (tune.Options, error) {
	if err := t.openEvaluator(false); err != nil {
		return tune.Options{}, err
	}
	var err error
	if t.space, err = t.spec.Space(t.cli.Context, t.evaluator.Device()); err != nil {
		return tune.Options{}, err
	}
	strategy, err := t.strategyIn()
	return tune.Options{
		Space: t.space, MaxEvaluations: t.maxEvaluations, TimeLimit: t.timeLimit, Patience: t.patience, Retry: retried(t.cli), Strategy: strategy,
	}, err
}

// conclude writes the outputs and turns an outcome into an error for the exit status.
func (t *tuning) conclude(outcome *tune.Outcome, failed error) error {
	kept := &record.Record{Header: t.log.Header(), Results: outcome.Results}
	var unwritten error
	for _, path := range t.outputs {
		unwritten = errors.Join(unwritten, record.Write(path, kept))
	}
	lost := t.log.Check()
	t.printer.files(t.log.Path(), t.outputs, outcome, unwritten == nil, lost == nil)
	err := errors.Join(unwritten, lost)
	switch {
	case failed != nil, err != nil:
		return err
	case outcome.Stop == tune.Interrupted || t.cli.Context.Err() != nil:
		return context.Canceled
	case outcome.Stop == tune.Environment:
		return errReported
	case outcome.Best == nil:
		return errIncorrect
	}
	return nil
}
