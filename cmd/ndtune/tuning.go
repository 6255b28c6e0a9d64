package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// A tuning is one search from the command line: the specification, the device, the log,
// and what is shown and kept.
type tuning struct {
	cli       *cli.Context
	spec      *spec.Spec
	source    string // what the record says it came from
	title     string // a line before the results; "": none
	logPath   string // "": a new file in the user's state folder
	outputs   []string
	devices   []device.Listed // empty: those that the command line names
	evaluator evaluator
	peaks     foundPeaks
	quick     *quickPeaks // of the command
	space     *space.Space
	strategy  string
	start     []int // indices
	log       *record.Log
	printer   *printer
	again     []string     // flags that a command needs to go on with this search alone
	page      *live.Server // nil: there is none; of whoever opened it
	shown     *live.Run    // on the page
}

// newTuning is a search of a specification as the flags say. The label, where there is one,
// goes into the names of the files, for commands that tune several kernels.
func newTuning(c *cli.Context, s *spec.Spec, source, label string) (*tuning, error) {
	t := &tuning{cli: c, spec: s, source: source, logPath: labelled(c.String("log"), label), quick: &quickPeaks{}}
	for _, path := range c.StringSlice("output") {
		t.outputs = append(t.outputs, labelled(path, label))
	}
	return t, t.checkFlags()
}

// search opens all that it needs and runs. The outcome is nil where it never began.
func (t *tuning) search() (*tune.Outcome, error) {
	defer t.close()
	for _, stage := range []func() error{t.repairLog, t.openDevice, t.openSpace, t.openLog} {
		if err := stage(); err != nil {
			return nil, err
		}
	}
	return t.run()
}

// checkFlags refuses what can be refused before a device is touched.
func (t *tuning) checkFlags() error {
	c := t.cli
	if err := checkPositive(c, "max-evals", "time-limit"); err != nil {
		return err
	}
	if err := checkEvaluationFlags(c); err != nil {
		return err
	}
	if err := t.checkStrategyFlags(); err != nil {
		return err
	}
	if c.IsSet(retryName) && t.logPath == "" {
		return wrong("--%s: name the run log with --log FILE; without one, a new log is begun", retryName)
	}
	if c.Bool("quiet") && c.Bool("verbose") {
		return wrong("--quiet and --verbose exclude each other")
	}
	seen := map[string]string{}
	for _, path := range append([]string{t.logPath}, t.outputs...) {
		if path == "" {
			continue
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return wrong("%s: %w", path, err)
		}
		if _, twice := seen[absolute]; twice {
			return wrong("the file %s is named twice among --log and --output", path)
		}
		seen[absolute] = path
	}
	if c.Bool("skip-damaged") && t.logPath == "" {
		return &usageError{errSkipWithoutLog}
	}
	if t.logPath != "" {
		if err := checkFolder(t.logPath); err != nil {
			return wrong("--log %s: %w", t.logPath, err)
		}
	}
	for _, path := range t.outputs {
		if _, err := record.FormatOf(path); err != nil {
			return wrong("--output: %w", err) // which names the path
		}
		if err := checkFolder(path); err != nil {
			return wrong("--output %s: %w", path, err)
		}
	}
	return nil
}

func (t *tuning) openDevice() error {
	var err error
	if len(t.devices) == 0 {
		if t.devices, err = selectDevices(t.cli); err != nil {
			return err
		}
	}
	if t.peaks, err = findPeaks(t.cli, t.devices[0], t.spec.Problem, t.logPath); err != nil {
		return err
	}
	t.evaluator, err = openEvaluator(t.cli, t.devices, t.spec.Problem, t.peaks.peaks, false)
	return err
}

func (t *tuning) openSpace() error {
	var err error
	if t.space, err = t.spec.Space(t.cli.Context, t.evaluator.Device()); err != nil {
		return err
	}
	return t.openStrategy()
}

// problemHeader is the header of a record of a problem, without a device and a search.
func problemHeader(p *problem.Problem, source string) record.Header {
	h := record.Header{
		Digest: p.Digest(), Kernel: p.KernelName(), Source: source,
		ProblemSize: p.FixedProblemSize(), Constants: p.Definition().Constants, Objective: p.Objective(),
	}
	for i := range p.Parameters().Len() {
		h.Parameters = append(h.Parameters, p.Parameters().At(i))
	}
	return h
}

func (t *tuning) header() record.Header {
	p := t.spec.Problem
	h := problemHeader(p, t.source)
	h.Device = t.evaluator.Device()
	h.Metrics, h.Verified = p.MetricNames(h.Device), p.Verified()
	h.Iterations, h.Strategy, h.Seed = t.cli.Int("iterations"), t.strategy, t.cli.Uint64("seed")
	h.Started, h.Tool = time.Now(), "ndtune "+versionText()
	return h
}

func (t *tuning) repairLog() error { return repairLog(t.cli, t.logPath) }

func (t *tuning) openLog() error {
	header, path := t.header(), t.logPath
	var err error
	if path == "" {
		if path, err = record.DefaultPath(header); err != nil {
			return fmt.Errorf("choose a place for the run log: %w (name one with --log FILE)", err)
		}
	}
	t.log, err = record.Open(path, header)
	switch {
	case err != nil && t.logPath != "":
		return wrong("--log: %w", err) // the named file does not fit
	case err != nil:
		return err
	}
	t.log.Notify(func(text string) { fmt.Fprintln(t.cli.App.ErrWriter, text) })
	return nil
}

func (t *tuning) close() {
	if t.evaluator != nil {
		t.evaluator.Close()
	}
	if t.log != nil {
		t.log.Close()
	}
}

// run searches, prints, and writes the outputs whatever way the search ended.
func (t *tuning) run() (*tune.Outcome, error) {
	total := t.total()
	t.printer = newPrinter(t.cli, t.spec.Problem, total)
	if t.title != "" && !t.cli.Bool("quiet") {
		fmt.Fprintf(t.cli.App.Writer, "\n%s\n", t.title)
	}
	t.printer.begin(t.evaluator.Device(), t.devices, t.space, t.log, t.peaks.later)
	t.beginPage(total)

	outcome, err := tune.Run(t.cli.Context, t.spec.Problem, t.evaluator, t.options(func(r tune.Result, resumed bool) {
		t.printer.result(r, resumed)
		t.showResult(r, resumed)
	}))
	spent := ""
	if outcome != nil && t.cli.Bool("verbose") {
		spent = spentText(t.evaluator, outcome.Results, outcome.Resumed) + "\n"
	}
	if outcome != nil && err == nil {
		t.printer.bar.finish()
		err = t.addLimits(outcome)
	}
	t.endPage(outcome, err)
	if outcome == nil {
		return nil, err
	}
	t.printer.end(outcome, t.evaluator.Evaluated())
	if outcome.Stop == tune.Environment {
		fmt.Fprintln(t.cli.App.ErrWriter, environmentText(outcome, t.log.Path(), goOnCommand(t.cli, t.log.Path(), t.again...)))
	}
	fmt.Fprint(t.cli.App.ErrWriter, spent)
	return outcome, errors.Join(err, t.conclude(outcome, err))
}

// total is the number of configurations that the search evaluates at most.
func (t *tuning) total() int {
	if n := t.maxEvaluations(); n > 0 {
		return min(t.space.Len(), n)
	}
	return t.space.Len()
}

func (t *tuning) options(onResult func(tune.Result, bool)) tune.Options {
	return tune.Options{
		Space: t.space, Strategy: t.newStrategy, MaxEvaluations: t.maxEvaluations(), TimeLimit: t.cli.Duration("time-limit"),
		Log: t.log, Retry: retried(t.cli), OnResult: onResult,
	}
}

// addLimits completes the results of a search whose peaks were not known as it began, and keeps
// the peaks in the log. The evaluator is closed before: its device is measured by another process.
func (t *tuning) addLimits(o *tune.Outcome) error {
	if !t.peaks.later {
		return nil
	}
	t.evaluator.Close()
	if !addLimits(t.cli, t.devices[0], t.spec.Problem, o, t.quick) {
		return nil
	}
	return t.log.AppendPeaks(o.Device.Peaks, t.spec.Problem.MetricNames(o.Device), o.Results, func(r *tune.Result) float64 {
		return t.spec.Problem.LimitTime(r.Configuration, o.Device)
	})
}

// conclude writes the outputs and turns an outcome into an error for the exit status.
func (t *tuning) conclude(outcome *tune.Outcome, failed error) error {
	kept := &record.Record{Header: t.log.Header(), Results: outcome.Results}
	var errs []error
	for _, path := range t.outputs {
		if err := record.Write(path, kept); err != nil {
			errs = append(errs, err)
		}
	}
	lost := t.log.Check()
	t.printer.files(t.log.Path(), t.outputs, outcome, len(errs) == 0, lost == nil)
	if lost != nil {
		errs = append(errs, lost)
	}
	switch {
	case failed != nil, len(errs) > 0:
		return errors.Join(errs...)
	case outcome.Stop == tune.Interrupted || errors.Is(t.cli.Context.Err(), context.Canceled):
		return errInterrupted
	case outcome.Best == nil, outcome.Stop == tune.Environment:
		return errReported
	}
	return nil
}

// checkStrategyFlags refuses what can be refused before there is a space.
func (t *tuning) checkStrategyFlags() error {
	options, err := t.strategyOptions()
	if err != nil {
		return err
	}
	switch name := t.cli.String("strategy"); {
	case name != "":
		if err := search.Check(name, options); err != nil {
			return wrong("--strategy: %w", err)
		}
	case len(options) > 0:
		return wrong("--strategy-option: name the strategy with --strategy")
	}
	for _, text := range t.cli.StringSlice("start") {
		if _, err := spec.ParseConfiguration(t.spec.Problem.Parameters(), text); err != nil {
			return wrong("--start %s: %w", text, err)
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
			return nil, wrong("--start %s: %w", text, err)
		}
		if err := t.spec.Problem.Admit(c, t.evaluator.Device()); err != nil {
			return nil, wrong("--start %s: %w", text, err)
		}
		i, ok := t.space.Index(c)
		if !ok {
			return nil, wrong("--start %s: the space does not hold it", text)
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
			return nil, wrong("--strategy-option %s: want OPTION=VALUE", text)
		}
		if _, twice := options[name]; twice {
			return nil, wrong("--strategy-option: %s is given twice", name)
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

// budget is the number of configurations that the search may evaluate: the whole space if it has no
// limit, 0 (unknown) if only time limits it.
func (t *tuning) budget(s *space.Space) int {
	n := t.maxEvaluations()
	if n == 0 && t.cli.Duration("time-limit") == 0 {
		return s.Len()
	}
	return n
}

// maxEvaluations is the limit of the command line, or that of the specification if the command line
// limits neither the number nor the time; 0: no limit.
func (t *tuning) maxEvaluations() int {
	if n := t.cli.Int("max-evals"); n > 0 || t.cli.Duration("time-limit") > 0 {
		return n
	}
	return t.spec.Definition.MaxEvaluations
}
