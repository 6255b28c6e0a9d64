package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

// A job is one search of a command line, with the files and displays of its results.
type job struct {
	*console
	options    *searchOptions
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

// newJob makes a search of a specification that the options describe. The caller may change its log and its outputs before [job.checkFiles].
func newJob(ctx context.Context, t *console, o *searchOptions, s *spec.Spec, source string) (*job, error) {
	j := &job{console: t, options: o, outputs: o.outputs.Value(), evaluation: o.evaluation.on(t)}
	var err error
	j.plan, err = o.plan(ctx, s)
	j.plan.Source = source
	return j, err
}

// chooseDevices selects the devices of one search: of this machine, or of a fleet, which the caller closes.
func (j *job) chooseDevices(ctx context.Context) (*searchFleet, error) {
	o := j.options
	f, err := o.fleet.join(ctx, j.console, func(kinds []device.Listed) error {
		kind, err := device.Select(kinds, o.device)
		j.place.Devices = []device.Listed{kind}
		return err
	})
	if f != nil {
		j.place.Fleet = f.Connection
	} else if err == nil {
		j.place.Devices, err = selectDevices(o.device)
	}
	return f, err
}

// checkFiles refuses a log and outputs that cannot be written.
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
func (o *evaluationOptions) prepareWorker(t *console, selector string) (r *worker.Reserve, done func()) {
	r, done = o.shared, func() {}
	if o.InProcess || o.inFleet {
		return nil, done
	}
	if r == nil {
		r = worker.NewReserve(t.diagnostics())
		done = r.Close
	}
	_ = r.Prepare() // the pool starts another one, and tells why it cannot
	go func() {
		if devices, err := selectDevices(selector); err == nil {
			r.Warm(devices[0])
		}
	}()
	return r, done
}

// searchAndWrite makes the search, and writes its outputs. The outcome is nil if the search did not begin.
func (j *job) searchAndWrite(ctx context.Context) (*tune.Outcome, error) {
	defer j.close()
	outcome, err := j.searchAndShow(ctx)
	if outcome == nil {
		return nil, err
	}
	if outcome.Stop == tune.Environment {
		log := j.session.Log.Path()
		j.note(environmentText(outcome, log, j.options.goOnCommand(log, j.again...)))
	}
	fmt.Fprint(j.notes, j.spent)
	return outcome, errors.Join(err, j.conclude(ctx, outcome, err))
}

// begin begins the session.
func (j *job) begin() {
	j.session = session.New(j.plan, j.place, j.evaluation, j.listener())
}

// searchAndShow makes the search, and shows it and its end.
func (j *job) searchAndShow(ctx context.Context) (*tune.Outcome, error) {
	if j.place.Devices == nil {
		reserve, done := j.options.evaluation.prepareWorker(j.console, j.options.device)
		defer done()
		j.evaluation.Reserve = reserve
		var err error
		if j.place.Devices, err = selectDevices(j.options.device); err != nil {
			return nil, err
		}
	}
	j.begin()
	if err := j.session.Open(ctx); err != nil {
		return nil, err
	}
	if j.stream != nil {
		j.session.Log.Follow(j.stream.lines)
	}
	if j.title != "" && !j.quiet {
		fmt.Fprintf(j.out, "\n%s\n", j.title)
	}
	j.display = newSearchDisplay(ctx, j)
	outcome, err := j.session.Run(ctx, j.display.result)
	if outcome != nil && j.verbose {
		j.spent = spentText(j.session.Evaluator, outcome.Results, outcome.Resumed) + "\n"
	}
	if outcome != nil && err == nil {
		j.display.printer.bar.finish()
		err = j.session.AddLimits(ctx, outcome)
	}
	j.display.end(outcome, err)
	if j.stream != nil && outcome != nil {
		end := &j.stream.end
		end.Why, end.Cause, end.Log = outcome.Stop, outcome.Cause, j.session.Log.Path()
		if outcome.Best != nil {
			end.Best = &outcome.Best.Configuration
			l, err := j.plan.Spec.Problem.Limit(outcome.Best.Configuration, outcome.Device)
			if err == nil && score.IsBeaten(l.Share(outcome.Best.Figures().Time)) {
				end.Beaten = l.Peak()
			}
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
	if j.plan.Neighbours = neighbours; j.options.patience == 0 {
		j.plan.Patience = tune.NeighbourPatience
	}
}

// conclude writes the outputs and turns an outcome into an error for the exit status.
func (j *job) conclude(ctx context.Context, outcome *tune.Outcome, failed error) error {
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
	case outcome.Stop == tune.Interrupted:
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
