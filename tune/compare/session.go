package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// A Target is a device that takes part in a [Session], or several of one kind, at one of the sizes if there are several.
type Target struct {
	Identity hardware.Device // without a timer
	Label    string          // its name among all devices that there are
	Listing  string          // where it is: its selector on this machine (device.Listed.Selector), or its names in a fleet
	Machines []string        // that have its devices; none: this machine
	Size     definition.Size // nil: there is one
	Problem  *problem.Problem
	Header   record.Header // of the problem; the identity of the device is added
	Given    *Source       // a record of a search on it, which then is not tuned again; nil: none

	SearchLog string // path of the run log of its search
	CrossLog  string // path of the run log of the configurations that [Cross] ran on it

	trouble string // why it could not be tuned
	lost    bool   // nothing can be run on it
}

// A Session compares a problem on devices and at its sizes. It has each target tuned, and then runs on each the
// configurations that are wanted of all. Targets on one machine take turns, in their order, because they
// would disturb each other's measurements; those on different machines are measured at the same time. Results are kept
// in run logs: a session with the same logs goes on from there.
type Session struct {
	Given   []Source // records of searches, here or on other machines
	Targets []*Target
	Options Options
	Retry   []tune.Status // see [Cross]

	// Tune searches on a target and keeps the results in its search log. Several goroutines call Tune and Open, for
	// targets on different machines.
	Tune func(context.Context, *Target) error

	// Open opens an evaluator on a target, for the configurations that are wanted on it.
	Open func(ctx context.Context, t *Target, wanted []space.Configuration) (*Opened, error)

	// Fatal reports whether an error of Tune or Open would be the same on every target: it ends
	// the session.
	Fatal func(error) bool

	// Refused reports whether the problem's restrictions leave nothing to run on the target. Such
	// a target is not lost: each wanted configuration gets the reason.
	Refused func(error) bool
}

// Opened is an evaluator on a target, with the log that keeps its results.
type Opened struct {
	Evaluator tune.Evaluator
	Log       tune.Log
	OnResult  func(r tune.Result, resumed bool)
	Close     func(*tune.Outcome) error // the outcome is nil if there is none
}

// Add adds a target. Of the given records, the first search on the device, at the size, is its search.
func (s *Session) Add(t *Target) {
	i := slices.IndexFunc(s.Given, func(g Source) bool {
		return g.isSearch() && g.Record.Header.Size == t.Size.String() && hardware.SameDevice(g.Record.Header.Device, t.Identity)
	})
	if i >= 0 {
		t.Given = &s.Given[i]
	}
	s.Targets = append(s.Targets, t)
}

// Neighbours returns the configurations with which the search on t begins: the bests of the nearest sizes that
// were tuned before t on its device, see [tune.Neighbours]. Names are those sizes.
func (s *Session) Neighbours(t *Target) (configurations []space.Configuration, names []string, err error) {
	var tuned []*Target
	var sizes []definition.Size
	for _, u := range s.Targets[:slices.Index(s.Targets, t)] {
		if u.Listing == t.Listing && u.Size != nil {
			tuned, sizes = append(tuned, u), append(sizes, u.Size)
		}
	}
	var bests [][]space.Configuration
	for _, i := range definition.NearestSizes(t.Size, sizes) {
		r, err := tuned[i].search()
		if err != nil {
			return nil, nil, err
		}
		if r == nil || len(names) == tune.NeighbourSizes {
			continue
		}
		if ranking := tune.Rank(r.Record.Header.Objective, r.Record.Results).Indices; len(ranking) > 0 {
			of := each.Of(ranking, func(place int) space.Configuration { return r.Record.Results[place].Configuration })
			bests, names = append(bests, of), append(names, tuned[i].Size.String())
		}
	}
	return tune.Neighbours(bests), names, nil
}

// search returns the record of the target's search, or nil if there is none.
func (t *Target) search() (*Source, error) {
	if t.Given != nil {
		return t.Given, nil
	}
	return t.read(t.SearchLog)
}

// Run measures on all targets. If one fails, it goes on with the others; the error names the targets
// that failed. It ends with the error of ctx, or a fatal one.
func (s *Session) Run(ctx context.Context) error {
	failed, err := s.onEach(ctx, s.Tune)
	if err != nil {
		return err
	}
	sources, err := s.Sources()
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	wanted, err := Wanted(sources, s.Options)
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	more, err := s.onEach(ctx, func(ctx context.Context, t *Target) error { return s.cross(ctx, t, sources, wanted) })
	if err != nil {
		return err
	}
	return errors.Join(append(failed, more...)...)
}

// onEach calls f for each target, after its calls for earlier targets that share a machine with it. It returns the
// errors of the targets, and the error that ends the session.
func (s *Session) onEach(ctx context.Context, f func(context.Context, *Target) error) (failed []error, err error) {
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	errs, done := make([]error, len(s.Targets)), make([]chan struct{}, len(s.Targets))
	var all sync.WaitGroup
	for i, t := range s.Targets {
		done[i] = make(chan struct{})
		all.Go(func() {
			defer close(done[i])
			for j, earlier := range s.Targets[:i] {
				if t.near(earlier) {
					<-done[j]
				}
			}
			if within.Err() != nil {
				return
			}
			if errs[i] = f(within, t); errs[i] != nil && s.Fatal(errs[i]) {
				end(errs[i])
			}
		})
	}
	all.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		return nil, context.Cause(within)
	}
	for i, t := range s.Targets {
		if errs[i] != nil {
			t.trouble, t.lost = errs[i].Error(), !s.Refused(errs[i])
			failed = append(failed, fmt.Errorf("%s (%s): %s", t.Label, t.Listing, t.trouble))
		}
	}
	return failed, nil
}

// near reports whether two targets share a machine.
func (t *Target) near(u *Target) bool {
	if len(t.Machines) == 0 || len(u.Machines) == 0 {
		return len(t.Machines) == len(u.Machines)
	}
	return slices.ContainsFunc(t.Machines, func(name string) bool { return slices.Contains(u.Machines, name) })
}

// cross runs the wanted configurations on a target.
func (s *Session) cross(ctx context.Context, t *Target, sources []Source, wanted []space.Configuration) error {
	if t.lost {
		return nil // for a reason that is in the error of Run already
	}
	o, err := s.Open(ctx, t, wanted)
	if err != nil {
		return err
	}
	known := slices.DeleteFunc(slices.Clone(sources), func(g Source) bool {
		return g.Record.Header.Size != t.Size.String() || g.Listing != t.Listing && (t.Given == nil || g.Name != t.Given.Name)
	})
	outcome, err := Cross(ctx, t.Problem, o.Evaluator, o.Log, known, wanted, s.Retry, o.OnResult)
	return errors.Join(err, o.Close(outcome))
}

// Sources returns the given records and the current logs of the targets. The searches come first,
// because the first of two results of a configuration counts.
func (s *Session) Sources() ([]Source, error) {
	all := slices.Clone(s.Given)
	var crossed []Source
	for _, t := range s.Targets {
		searched, err := t.read(t.SearchLog)
		if err != nil {
			return nil, err
		}
		if searched == nil && t.Given == nil {
			header := t.Header
			header.Device = t.Identity
			searched = &Source{Name: t.Label, Record: &record.Record{Header: header}, Listing: t.Listing, Trouble: t.trouble}
		}
		if searched != nil {
			all = append(all, *searched)
		}
		again, err := t.read(t.CrossLog)
		if err != nil {
			return nil, err
		}
		if again != nil {
			crossed = append(crossed, *again)
		}
	}
	return append(all, crossed...), nil
}

// read returns a log of the target as a source; nil if there is none, or if it is of another search space: then it is known when it has
// been opened for this one.
func (t *Target) read(path string) (*Source, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && info.Size() == 0) {
		return nil, nil
	}
	r, err := record.Read(path)
	if err != nil || r.Header.InOtherSpace(t.Header) {
		return nil, err
	}
	return &Source{Name: filepath.ToSlash(path), Record: r, Listing: t.Listing, Trouble: t.trouble}, nil
}

// Logs returns the paths of the logs that there are.
func (s *Session) Logs() []string {
	var paths []string
	for _, t := range s.Targets {
		for _, path := range []string{t.SearchLog, t.CrossLog} {
			if _, err := os.Stat(path); err == nil {
				paths = each.AppendNew(paths, path)
			}
		}
	}
	return paths
}
