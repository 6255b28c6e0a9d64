package wisdom

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// DefaultTimeLimit is the time of a search of [Tuned] if its options have neither MaxEvaluations nor TimeLimit.
const DefaultTimeLimit = time.Minute

// Options of [Tuned]. All but File may be left out.
type Options struct {
	File   string // path of the wisdom file, which is created if necessary
	Source        // the key, and the size of a problem that has no fixed one

	// Run has the budget and the log of a search. With a log (record.Open), an interrupted search goes on at
	// the next call. If Strategy is nil, it is search.Auto, which begins with the baseline and the best
	// configurations of the nearest sizes; with these, Patience is tune.NeighbourPatience if it is 0.
	Run loop.Options

	// Open opens the evaluator of a search, which Tuned closes: for example a pool of worker processes
	// (worker.Open), which survives a driver that crashes. nil: device.Open, in this process.
	Open func(ctx context.Context) (Evaluator, error)

	// Waits is called once if Tuned waits for another process that tunes the same; it may be nil.
	Waits func()
}

// An Evaluator is a tune.Evaluator that can be closed.
type Evaluator interface {
	tune.Evaluator
	Close()
}

// A Tuning is the result of [Tuned].
type Tuning struct {
	Found
	Variant *problem.Variant // of the configuration: source, build options, launches
	Outcome *tune.Outcome    // of the search that this call has made; nil: there was none
}

// Tuned returns the best configuration of a problem on a device. If the wisdom file knows it, Tuned returns it at
// once: see [Entry]. If not, Tuned searches within the budget of the options, and adds the best
// configurations to the file. Of several processes that miss the same entry at once, one searches, and the
// others wait for its result.
//
// It is an error if the search is interrupted (then the error is that of ctx) or finds no correct
// configuration, if the file cannot be read or written or has wisdom about another kernel, or if the problem
// size is not known. Then nothing is added to the file.
func Tuned(ctx context.Context, d *cl.Device, p *problem.Problem, o Options) (*Tuning, error) {
	identity, err := device.Describe(d)
	if err != nil {
		return nil, err
	}
	e, err := NewEntry(o.File, p, identity, o.Source)
	if err != nil {
		return nil, err
	}
	t := &Tuning{}
	t.Found, err = e.Find(ctx, o.Waits, func(ctx context.Context, neighbours []space.Configuration) (*record.Record, error) {
		evaluator, err := o.open(ctx, d, p)
		if err != nil {
			return nil, err
		}
		defer evaluator.Close()
		run := o.search(p, neighbours)
		if run.MaxEvaluations == 0 && run.TimeLimit == 0 {
			run.TimeLimit = DefaultTimeLimit
		}
		t.Outcome, err = loop.Run(ctx, p, evaluator, run)
		if err != nil {
			return nil, err
		}
		return RecordOf(ctx, p, t.Outcome)
	})
	if err != nil {
		return nil, err
	}
	if t.Variant, err = device.Derive(p, t.Configuration, identity); err != nil {
		return nil, err
	}
	generator := p.Generator()
	defer generator.Close(false)
	return t, p.Generate(ctx, t.Variant, generator)
}

// open opens the evaluator that the options name.
func (o *Options) open(ctx context.Context, d *cl.Device, p *problem.Problem) (Evaluator, error) {
	if o.Open != nil {
		return o.Open(ctx)
	}
	return device.Open(d, p, device.Options{EarlyStop: p.Timing().EarlyStop})
}

// search returns the options of a search that begins with the baseline of the problem and with neighbours, unless
// Run has a strategy of its own.
func (o *Options) search(p *problem.Problem, neighbours []space.Configuration) loop.Options {
	run := o.Run
	if run.Strategy != nil {
		return run
	}
	if len(neighbours) > 0 && run.Patience == 0 {
		run.Patience = tune.NeighbourPatience
	}
	if c, ok := p.Baseline(); ok {
		neighbours = append([]space.Configuration{c}, neighbours...)
	}
	run.Strategy = func(s *space.Space) (search.Strategy, error) {
		return search.New(search.Auto, s, search.Options{Seed: 1, Budget: run.MaxEvaluations, Objectives: len(p.Objective().All()),
			Start: s.Indices(neighbours)})
	}
	return run
}

// RecordOf returns the record of a search that has come to its end, for [Entry.Keep]. It is an error if it was
// interrupted or has not found a correct configuration.
func RecordOf(ctx context.Context, p *problem.Problem, o *tune.Outcome) (*record.Record, error) {
	switch {
	case o.Stop == tune.Interrupted:
		return nil, fmt.Errorf("tune %s: %w", p.KernelName(), cmp.Or(ctx.Err(), context.Canceled))
	case o.Stop == tune.Environment:
		return nil, fmt.Errorf("tune %s: %s", p.KernelName(), o.Cause)
	case o.Best == nil && o.Cause != "":
		return nil, fmt.Errorf("tune %s: no configuration is correct: %s", p.KernelName(), o.Cause)
	case o.Best == nil:
		return nil, fmt.Errorf("tune %s: none of %d configurations is correct", p.KernelName(), len(o.Results))
	}
	h := record.NewHeader(p, "")
	h.Device, h.Verified = o.Device, p.Verified()
	return &record.Record{Header: h, Results: o.Results}, nil
}
