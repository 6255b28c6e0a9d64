package record

import (
	"context"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// Recorded is a record as an Evaluator: it stands for the device that the record was
// measured on and answers at once with what was measured then. Nothing runs, no device is
// needed. It can be used by several goroutines at once.
type Recorded struct {
	device  hardware.Device
	layout  *layout
	results []tune.Result
	index   map[string]int
}

var _ tune.Evaluator = (*Recorded)(nil)

// NewRecorded makes an evaluator over a record, which must not be changed any more.
func NewRecorded(r *Record) (*Recorded, error) {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return nil, err
	}
	e := &Recorded{r.Header.Device, l, r.Results, make(map[string]int, len(r.Results))}
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return nil, err
		}
		if _, twice := e.index[d.key()]; !twice {
			e.index[d.key()] = i
		}
	}
	return e, nil
}

// Device is the device that the record was measured on.
func (e *Recorded) Device() hardware.Device { return e.device }

// Capacity is 1: an answer takes no time, and a strategy learns most from one at a time.
func (e *Recorded) Capacity() int { return 1 }

// Result is the recorded result of a configuration, found by the names and values of its
// parameters, without metrics and objective, which are Run's to set. A configuration that
// is not in the record breaks a constraint.
func (e *Recorded) Result(c space.Configuration) tune.Result {
	d, err := e.layout.digits(c)
	if err == nil {
		if i, ok := e.index[d.key()]; ok {
			r := e.results[i]
			r.Configuration = c
			r.Metrics, r.Objective, r.Final, r.AtFinal = nil, 0, nil, nil
			return r
		}
	}
	reason := "the configuration is not in the record"
	if err != nil {
		reason += ": " + err.Error()
	}
	return tune.Result{Configuration: c, Status: tune.Constraints, Reason: reason}
}

// Evaluate answers every configuration with its [Recorded.Result].
func (e *Recorded) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, more := <-in:
			if !more {
				return nil
			}
			select {
			case out <- e.Result(c):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// Space is the search space of the configurations in the record. It enumerates no more
// than is recorded, however large the product of all values is.
func (r *Record) Space(ctx context.Context) (*space.Space, error) {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return nil, err
	}
	recorded := make([]map[string]bool, l.parameters.Len()) // by their first n values
	for i := range recorded {
		recorded[i] = make(map[string]bool)
	}
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return nil, err
		}
		for n := range d {
			recorded[n][d[:n+1].key()] = true
		}
	}
	restrictions := make([]space.Restriction, len(recorded))
	for n := range recorded {
		restrictions[n] = space.Restriction{
			Reads: slices.Clone(l.parameters.Names()[:n+1]),
			Func: func(c space.Configuration) bool {
				d, err := l.digits(c)
				return err == nil && recorded[n][d[:n+1].key()]
			},
		}
	}
	return space.New(ctx, l.parameters, restrictions, nil)
}
