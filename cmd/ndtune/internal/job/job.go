package job

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

// A Job is one search of a command line, with the files and displays of its results.
type Job struct {
	*ui.Console
	options    *Options
	Plan       session.Plan
	Place      session.Place
	Evaluation session.Evaluation
	Outputs    []string

	Title    string       // a line before the results
	Again    []string     // flags that a command needs to go on with this search alone
	Compared bool         // one of the searches of a comparison
	Page     *live.Server // nil: one of its own, if the options ask for a page; else its owner closes it

	Session *session.Session // of the search; nil: it has not begun
	display searchDisplay
	spent   string // a line about the time of the workers, for --verbose
}

// New makes a search of a specification that the options describe. The caller may change its log and its outputs before [Job.CheckFiles].
func New(ctx context.Context, t *ui.Console, o *Options, s *spec.Spec, source string) (*Job, error) {
	j := &Job{Console: t, options: o, Outputs: o.Outputs.Value(), Evaluation: o.Evaluation.On(t)}
	var err error
	j.Plan, err = o.plan(ctx, s)
	j.Plan.Source = source
	return j, err
}

// ChooseDevices selects the devices of one search: of this machine, or of a fleet, which the caller closes. The specification is in the
// language of their kernels then.
func (j *Job) ChooseDevices(ctx context.Context) (*JoinedFleet, error) {
	o, languages := j.options, j.Plan.Spec.Problem.Languages()
	f, err := o.Fleet.Join(ctx, j.Console, func(kinds []device.Listed) error {
		fit := device.For(kinds, languages...)
		if len(fit) == 0 {
			return ui.Wrong("the fleet has no device for a kernel in %s", languages[0].Name())
		}
		kind, err := device.Select(fit, o.Device)
		j.Place.Devices = []device.Listed{kind}
		return err
	})
	if f != nil {
		j.Place.Fleet = f.Connection
	} else if err == nil {
		j.Place.Devices, err = SelectDevices(o.Device, languages...)
	}
	if err == nil {
		j.Plan.Spec, err = j.Plan.Spec.In(device.LanguageOf(*j.Place.Devices[0].Identity))
	}
	return f, err
}

// CheckFiles refuses a log and outputs that cannot be written.
func (j *Job) CheckFiles() error {
	log := j.Plan.LogPath
	if log != "" {
		if err := ui.CheckWritable(log); err != nil {
			return ui.Wrong("--log %s: %w", log, err)
		}
	}
	return ui.CheckOutputs("output", j.Outputs, func(path string) error {
		_, err := record.FormatOf(path)
		return err
	}, log)
}

// PrepareWorker starts the first worker of a search on this machine, before its device is chosen and also while a specification is
// awaited. It and this process load the drivers meanwhile, and it opens the device. The caller calls done after the last search. The
// reserve that holds it is nil if the search has no workers here. The languages are those that the kernel probably has, the default first: another one costs time alone.
func (o *Evaluation) PrepareWorker(t *ui.Console, selector string, languages []source.Language) (r *worker.Reserve, done func()) {
	r, done = o.Shared, func() {}
	if o.InProcess || o.inFleet {
		return nil, done
	}
	if r == nil {
		r = worker.NewReserve(t.Diagnostics())
		done = r.Close
	}
	language := languages[0]
	if device.NamesCUDA(selector) && slices.Contains(languages, source.CUDA) {
		language = source.CUDA
	}
	_ = r.Prepare(language) // the pool starts another one, and tells why it cannot
	go func() {
		if devices, err := SelectDevices(selector, language); err == nil {
			r.Warm(devices[0])
		}
	}()
	return r, done
}

// SearchAndWrite makes the search, and writes its outputs. The outcome is nil if the search did not begin.
func (j *Job) SearchAndWrite(ctx context.Context) (*tune.Outcome, error) {
	defer j.Close()
	if j.Page == nil {
		page, closePage, err := j.options.OpenPage(j.Console)
		if err != nil {
			return nil, err
		}
		defer closePage()
		j.Page = page
	}
	outcome, err := j.SearchAndShow(ctx)
	if outcome == nil {
		return nil, err
	}
	if outcome.Stop == tune.Environment {
		log := j.Session.Log.Path()
		j.Note(EnvironmentText(outcome, log, j.options.GoOnCommand(log, j.Again...)))
	}
	fmt.Fprint(j.Notes, j.spent)
	return outcome, errors.Join(err, j.conclude(outcome, err))
}

// Begin begins the session.
func (j *Job) Begin() {
	j.Session = session.New(j.Plan, j.Place, j.Evaluation, j.Listener())
}

// SearchAndShow makes the search, and shows it and its end.
func (j *Job) SearchAndShow(ctx context.Context) (*tune.Outcome, error) {
	if j.Place.Devices == nil {
		reserve, done := j.options.Evaluation.PrepareWorker(j.Console, j.options.Device, j.Plan.Spec.Problem.Languages())
		defer done()
		j.Evaluation.Reserve = reserve
		if _, err := j.ChooseDevices(ctx); err != nil {
			return nil, err
		}
	}
	j.Begin()
	if err := j.Session.Open(ctx); err != nil {
		return nil, err
	}
	if j.Stream != nil {
		j.Session.Log.Follow(j.Stream.Lines)
	}
	if j.Title != "" && !j.Quiet {
		fmt.Fprintf(j.Out, "\n%s\n", j.Title)
	}
	j.display = newSearchDisplay(ctx, j)
	outcome, err := j.Session.Run(ctx, j.display.result)
	if outcome != nil && j.Verbose {
		j.spent = j.Session.Spent(outcome) + "\n"
	}
	if outcome != nil && err == nil {
		j.display.printer.Bar.Finish()
		err = j.Session.AddLimits(ctx, outcome)
	}
	j.display.end(outcome, err)
	if j.Stream != nil && outcome != nil {
		end := &j.Stream.End
		end.Why, end.Cause, end.Log = outcome.Stop, outcome.Cause, j.Session.Log.Path()
		if outcome.Best != nil {
			end.Best = &outcome.Best.Configuration
			l, err := j.Plan.Spec.Problem.Limit(outcome.Best.Configuration, outcome.Device)
			if err == nil && score.IsBeaten(l.Share(outcome.Best.Figures().Time)) {
				end.Beaten = l.Peak()
			}
		}
	}
	return outcome, err
}

// BeginWith has the search begin with the best configurations of others, and end early unless the user says when.
func (j *Job) BeginWith(neighbours []space.Configuration, of string) {
	if len(neighbours) == 0 {
		return
	}
	j.Say("It begins with %s of %s.", figure.Count(len(neighbours), "best configuration"), of)
	if j.Plan.Neighbours = neighbours; j.options.Patience == 0 {
		j.Plan.Patience = tune.NeighbourPatience
	}
}

// conclude writes the outputs and turns an outcome into an error for the exit status.
func (j *Job) conclude(outcome *tune.Outcome, failed error) error {
	log := j.Session.Log
	kept := &record.Record{Header: log.Header(), Results: outcome.Results}
	var unwritten error
	for _, path := range j.Outputs {
		unwritten = errors.Join(unwritten, record.Write(path, kept))
	}
	lost := log.Check()
	j.display.printer.files(log.Path(), j.Outputs, outcome, unwritten == nil, lost == nil)
	err := errors.Join(unwritten, lost)
	switch {
	case failed != nil:
		return unwritten // what has failed may be the log
	case err != nil:
		return err
	case outcome.Stop == tune.Interrupted:
		return context.Canceled
	case outcome.Stop == tune.Environment:
		return ui.ErrReported
	case outcome.Best == nil:
		return ui.ErrIncorrect
	}
	return nil
}

// Close ends the session, if it has begun.
func (j *Job) Close() {
	if j.Session != nil {
		j.Session.Close()
	}
}

// EnvironmentText describes the log of a run that the environment stopped, and how to continue the run.
func EnvironmentText(o *tune.Outcome, log, command string) string {
	text := fmt.Sprintf("The configurations may not be at fault. The log %s holds %s", log, figure.Count(len(o.Results), "result"))
	if o.Withdrawn > 0 {
		text += fmt.Sprintf("; it omits %s, to be evaluated again", figure.Count(o.Withdrawn, "failure"))
	}
	return text + ". Remove the cause and continue with:\n  " + command
}
