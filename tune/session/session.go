// Package session carries out one search, from a specification to its outcome: it finds the peaks of the device and records to
// learn from, opens the evaluator, the space and the run log, searches, and adds the limits that need a measurement of
// their own. These are the stages of a [Session], in this order; a caller that needs some of them alone leaves out the others.
//
// The package chooses no devices, reads no flags and prints nothing. It tells what it does to a [Listener]. An error that
// an option of the caller causes is an [OptionError], which names the option as the command line does.
package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

// A Plan is what is searched, and how. Spec is required.
type Plan struct {
	Spec   *spec.Spec
	Size   definition.Size // of the specification; nil: there is one
	Source string          // where the specification comes from, for the record
	Tool   string          // the program and its version, for the record

	LogPath string        // of the run log, which is continued; "": a new file in the user's state folder
	Retry   []tune.Status // of failures in the log that are evaluated again

	Strategy       Strategy
	Seed           uint64
	MaxEvaluations int           // 0: no limit
	TimeLimit      time.Duration // 0: no limit
	Patience       int           // as in [loop.Options]

	Start      []space.Configuration // to begin with; each must be in the space
	Neighbours []space.Configuration // the bests of other sizes: tried next, as far as the space has them
	Priors     Priors
	Known      []tune.Result // as in [loop.Options]
}

// A Strategy is one of ndtune's, or a program.
type Strategy struct {
	Name    string            // also of a program, for records and messages
	Options map[string]string // of ndtune's strategies
	Command []string          // the words of the program; nil: one of ndtune's strategies
}

// A Place is where configurations are evaluated: on devices of one model of this machine, or of a fleet.
type Place struct {
	Devices []device.Listed   // in a fleet, one, with the identity of its kind
	Fleet   *fleet.Connection // nil: this machine
}

// A Listener is told what a session does. Both functions are required.
type Listener struct {
	Note func(text string) // what a user must know
	Say  func(text string) // what a user may want to know
}

// An OptionError says that an option of the caller cannot be followed, or is missing.
type OptionError struct{ err error }

func (e *OptionError) Error() string { return e.err.Error() }
func (e *OptionError) Unwrap() error { return e.err }

func wrongOption(format string, a ...any) error { return &OptionError{fmt.Errorf(format, a...)} }

// A Session is one search. Its stages fill in the exported fields. The caller must close it.
type Session struct {
	plan       Plan
	place      Place
	evaluation Evaluation
	listener   Listener

	Evaluator Evaluator    // of [Session.OpenEvaluator]
	Space     *space.Space // of [Session.OpenSpace]; nil: the log of measurements of a comparison has none
	Log       *record.Log  // of [Session.OpenLog]
	Found     FoundPriors  // of [Session.OpenSpace]

	begun      *record.Header // of the run log that is continued; nil: a new one
	timer      string         // of a run log by the host's clock, or if timestamps are wrong; "": that of the device
	started    time.Time      // of a new run log; zero: when it is opened
	limits     limits
	controls   controls
	strategy   func(*space.Space) (search.Strategy, error)
	learnsFrom []Prior         // the named ones first
	searcher   search.Strategy // of the search; nil: it has not begun, or is a program
	own        *worker.Reserve // nil: the reserve is the caller's
}

// New returns a session without any stage.
func New(p Plan, at Place, e Evaluation, l Listener) *Session {
	s := &Session{plan: p, place: at, evaluation: e, listener: l, begun: record.Begun(p.LogPath)}
	if s.begun != nil && s.begun.Device.Timer == hardware.TimerHost {
		s.timer = hardware.TimerHost
	}
	return s
}

// Open makes the stages before a search.
func (s *Session) Open(ctx context.Context) error {
	if err := s.FindPeaks(ctx, s.begun); err != nil {
		return err
	}
	if err := s.OpenEvaluator(ctx); err != nil {
		return err
	}
	if err := s.OpenSpace(ctx); err != nil {
		return err
	}
	if err := s.OpenLog(); err != nil {
		return err
	}
	s.sayNoLimit()
	return nil
}

// OpenSpace makes the search space, and finds the configurations and priors that the strategy begins with.
func (s *Session) OpenSpace(ctx context.Context) (err error) {
	if s.Space, err = s.plan.Spec.Space(ctx, s.Evaluator.Device()); err != nil {
		return err
	}
	s.strategy, err = s.newStrategy(ctx)
	return err
}

// Total returns the largest number of configurations that the search evaluates.
func (s *Session) Total() int {
	if s.plan.MaxEvaluations > 0 {
		return min(s.Space.Len(), s.plan.MaxEvaluations)
	}
	return s.Space.Len()
}

// Run searches, and then restores the settings of the devices. The outcome is nil if the search never began.
func (s *Session) Run(ctx context.Context, onResult func(r tune.Result, resumed bool)) (*tune.Outcome, error) {
	p := s.plan
	o := loop.Options{
		Space: s.Space, MaxEvaluations: p.MaxEvaluations, TimeLimit: p.TimeLimit, Patience: p.Patience, Retry: p.Retry, Known: p.Known,
		Strategy: s.strategy, OnResult: onResult,
	}
	if s.Log != nil {
		o.Log = s.Log
		o.UnderWay = s.underWay()
	}
	return s.run(ctx, o)
}

// underWay returns how many proposals are under way: as many as when the run log began, however many the evaluator can use now.
func (s *Session) underWay() int {
	if began := s.Log.Header().Capacity; began > 0 {
		return loop.UnderWay(began, s.plan.MaxEvaluations)
	}
	return loop.EarlierUnderWay(s.Evaluator.Capacity(), s.plan.MaxEvaluations)
}

// run searches. If the driver's timestamps turn out to be wrong, it begins anew by the host's clock, with the failures so far.
func (s *Session) run(ctx context.Context, o loop.Options) (*tune.Outcome, error) {
	if pool, ok := s.Evaluator.(*worker.Pool); ok && s.Space != nil {
		pool.Expect(s.Total())
	}
	outcome, err := loop.Run(ctx, s.plan.Spec.Problem, s.Evaluator, o)
	wrong, is := errors.AsType[*device.TimerError](err)
	if !is {
		return outcome, errors.Join(err, s.controls.restore())
	}
	s.listener.Note(fmt.Sprintf("%s: %v. The host's clock times all launches from now on; what was timed before is timed again.",
		s.Evaluator.Device().Name, wrong))
	s.timer = hardware.TimerHost
	s.Evaluator.Close()
	if err = s.controls.close(); err == nil {
		err = s.OpenEvaluator(ctx)
	}
	if err == nil && s.Log != nil {
		err = s.Log.ByHost(s.has)
	}
	if err != nil {
		return outcome, err
	}
	return s.run(ctx, o)
}

// RunOne evaluates the only configuration of the space, once.
func (s *Session) RunOne(ctx context.Context) (*tune.Outcome, error) {
	return s.run(ctx, loop.Options{Finalists: -1, Untimed: s.options().Iterations == device.Untimed})
}

// Close ends the evaluator, restores the settings of the devices, and closes the log.
func (s *Session) Close() {
	if s.Evaluator != nil {
		s.Evaluator.Close()
	}
	if err := s.controls.close(); err != nil {
		s.listener.Note("ndtune: " + err.Error())
	}
	s.controls = nil
	s.own.Close()
	if s.Log != nil {
		s.Log.Close()
	}
}
