package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

// A job is one search of a command line, with the files and displays of its results.
type job struct {
	cli        *cli.Context
	plan       session.Plan
	place      session.Place
	evaluation session.Evaluation
	outputs    []string

	title    string       // a line before the results
	again    []string     // flags that a command needs to go on with this search alone
	compared bool         // one of the searches of a comparison
	page     *live.Server // its owner closes it

	session *session.Session // of the search; nil: it has not begun
	display searchDisplay
	spent   string // a line about the time of the workers, for --verbose
}

// newJob reads the flags of a search.
func newJob(c *cli.Context, s *spec.Spec, source, logPath string, outputs ...string) (*job, error) {
	if err := checkWorkers(c); err != nil {
		return nil, err
	}
	j := &job{cli: c, outputs: outputs, evaluation: evaluationOf(c), plan: session.Plan{
		Spec: s, Source: source, Tool: "ndtune " + versionText(), LogPath: logPath, Retry: retried(c), Seed: c.Uint64("seed"),
		MaxEvaluations: c.Int("max-evals"), TimeLimit: c.Duration("time-limit"), Patience: c.Int("patience"),
	}}
	if j.plan.MaxEvaluations == 0 && j.plan.TimeLimit == 0 {
		j.plan.MaxEvaluations = s.Definition.MaxEvaluations
	}
	if err := j.readStrategy(); err != nil {
		return nil, err
	}
	return j, j.checkFiles()
}

// chooseDevices selects the devices of one search: of this machine, or of a fleet, which the caller closes.
func (j *job) chooseDevices() (*searchFleet, error) {
	f, err := joinFleet(j.cli, 1, func(f *searchFleet) error {
		selector := j.cli.String("device")
		if selector == noDevice {
			selector = ""
		}
		kind, err := device.Select(f.listed(), selector)
		j.place = session.Place{Fleet: f.Connection, Devices: []device.Listed{kind}}
		return err
	})
	if f == nil && err == nil {
		j.place.Devices, err = selectDevices(j.cli)
	}
	return f, err
}

// readStrategy reads the strategy, the priors and the configurations to begin with.
func (j *job) readStrategy() error {
	choices := []session.Strategy{{Name: search.Auto}}
	if text := j.cli.String("strategy"); text != "" {
		var err error
		if choices, err = parseStrategies([]string{text}); err != nil {
			return wrong("--strategy %w", err)
		}
	}
	if len(choices) > 1 {
		return wrong("--strategy %s: a search has one strategy; ndtune simulate compares several", j.cli.String("strategy"))
	}
	p := j.plan.Spec.Problem
	j.plan.Strategy = choices[0]
	if s := choices[0]; s.Command == nil {
		if err := search.Check(s.Name, s.Options, len(p.Objective().All())); err != nil {
			return wrong("--strategy: %w", err)
		}
	}
	var err error
	if j.plan.Priors, err = readPriors(j.cli, choices[0].Name, p); err != nil {
		return wrong("--prior: %w", err)
	}
	for _, text := range j.cli.StringSlice("start") {
		configuration, err := spec.ParseConfiguration(p.Parameters(), text)
		if err != nil {
			return wrong("--start %s: %w", text, err)
		}
		j.plan.Start = append(j.plan.Start, configuration)
	}
	return nil
}

func (j *job) checkFiles() error {
	log := j.plan.LogPath
	if log != "" {
		if err := checkWritable(log); err != nil {
			return wrong("--log %s: %w", log, err)
		}
	}
	return checkOutputs("output", j.outputs, func(path string) error {
		_, err := record.FormatOf(path)
		return err
	}, log)
}

// prepareWorker starts the first worker of a search on this machine, before its device is chosen and also while a specification is
// awaited. It and this process load the drivers meanwhile, and it opens the device. The caller calls done after the last search. The
// reserve that holds it is nil if the search has no workers here.
func prepareWorker(c *cli.Context) (r *worker.Reserve, done func()) {
	if inProcess(c) || c.IsSet("fleet") || c.IsSet("listen") {
		return nil, func() {}
	}
	if s := sharedOf(c); s != nil {
		r, done = s.reserve, func() {}
	} else {
		r = worker.NewReserve(verboseOutput(c))
		done = r.Close
	}
	_ = r.Prepare() // the pool starts another one, and tells why it cannot
	go func() {
		if devices, err := selectDevices(c); err == nil {
			r.Warm(devices[0])
		}
	}()
	return r, done
}

// searchAndWrite makes the search, and writes its outputs. The outcome is nil if the search did not begin.
func (j *job) searchAndWrite() (*tune.Outcome, error) {
	defer j.close()
	outcome, err := j.searchAndShow()
	if outcome == nil {
		return nil, err
	}
	if outcome.Stop == tune.Environment {
		log := j.session.Log.Path()
		fmt.Fprintln(j.cli.App.ErrWriter, environmentText(outcome, log, goOnCommand(j.cli, log, j.again...)))
	}
	fmt.Fprint(j.cli.App.ErrWriter, j.spent)
	return outcome, errors.Join(err, j.conclude(outcome, err))
}

// begin begins the session.
func (j *job) begin() {
	j.session = session.New(j.plan, j.place, j.evaluation, listener(j.cli))
}

// searchAndShow makes the search, and shows it and its end.
func (j *job) searchAndShow() (*tune.Outcome, error) {
	c := j.cli
	if j.place.Devices == nil {
		reserve, done := prepareWorker(c)
		defer done()
		j.evaluation.Reserve = reserve
		var err error
		if j.place.Devices, err = selectDevices(c); err != nil {
			return nil, err
		}
	}
	j.begin()
	if err := j.session.Open(c.Context); err != nil {
		return nil, err
	}
	out := streamOf(c.App)
	if out != nil {
		j.session.Log.Follow(out.lines)
	}
	if j.title != "" && !c.Bool("quiet") {
		fmt.Fprintf(c.App.Writer, "\n%s\n", j.title)
	}
	j.display = newSearchDisplay(j)
	outcome, err := j.session.Run(c.Context, j.display.result)
	if outcome != nil && c.Bool("verbose") {
		j.spent = spentText(j.session.Evaluator, outcome.Results, outcome.Resumed) + "\n"
	}
	if outcome != nil && err == nil {
		j.display.printer.bar.finish()
		err = j.session.AddLimits(c.Context, outcome)
	}
	j.display.end(outcome, err)
	if out != nil && outcome != nil {
		out.end.Why, out.end.Cause, out.end.Log = outcome.Stop, outcome.Cause, j.session.Log.Path()
		if outcome.Best != nil {
			out.end.Best = &outcome.Best.Configuration
		}
	}
	return outcome, err
}

// beginWith has the search begin with the best configurations of others, and end early unless the user says when.
func (j *job) beginWith(neighbours []space.Configuration, of string) {
	if len(neighbours) == 0 {
		return
	}
	j.say("It begins with %s of %s.", figure.Count(len(neighbours), "best configuration"), of)
	if j.plan.Neighbours = neighbours; !j.cli.IsSet("patience") {
		j.plan.Patience = tune.NeighbourPatience
	}
}

// conclude writes the outputs and turns an outcome into an error for the exit status.
func (j *job) conclude(outcome *tune.Outcome, failed error) error {
	log := j.session.Log
	kept := &record.Record{Header: log.Header(), Results: outcome.Results}
	var unwritten error
	for _, path := range j.outputs {
		unwritten = errors.Join(unwritten, record.Write(path, kept))
	}
	lost := log.Check()
	j.display.printer.files(log.Path(), j.outputs, outcome, unwritten == nil, lost == nil)
	err := errors.Join(unwritten, lost)
	switch {
	case failed != nil:
		return unwritten // what has failed may be the log
	case err != nil:
		return err
	case outcome.Stop == tune.Interrupted || j.cli.Context.Err() != nil:
		return context.Canceled
	case outcome.Stop == tune.Environment:
		return errReported
	case outcome.Best == nil:
		return errIncorrect
	}
	return nil
}

// close ends the session, if it has begun.
func (j *job) close() {
	if j.session != nil {
		j.session.Close()
	}
}

func (j *job) say(format string, a ...any) { say(j.cli, format, a...) }

// say prints a note, unless the command is quiet.
func say(c *cli.Context, format string, a ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", a...)
	}
}

// listener prints what a session tells.
func listener(c *cli.Context) session.Listener {
	return session.Listener{
		Note: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) },
		Say:  func(text string) { say(c, "%s", text) },
	}
}

// verboseOutput receives the output of workers and drivers; nil without --verbose.
func verboseOutput(c *cli.Context) io.Writer {
	if c.Bool("verbose") {
		return c.App.ErrWriter
	}
	return nil
}
