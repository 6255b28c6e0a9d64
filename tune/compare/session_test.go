package compare

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

var errEverywhere, errRefused = errors.New("wrong everywhere"), errors.New("the space is empty")

// A testSession compares on devices A, B and C. B has a record of its search, and C cannot be tuned.
type testSession struct {
	Session
	tuned, opened []string
	failure       error // of C
}

func newTestSession(t *testing.T, failure error) *testSession {
	t.Helper()
	s := &testSession{failure: failure}
	p := testProblem(t)
	header := record.Header{Digest: "d1", Parameters: testParameters, Objective: p.Objective()}
	s.Given = []Source{source(t, "b", gpu("B"), row{x: 16, tile: 1, time: 1}, row{x: 32, tile: 1, time: 2})}
	folder := t.TempDir()
	for _, name := range []string{"A", "B", "C"} {
		target := &Target{Identity: gpu(name), Label: name, Listing: "0:" + name, Problem: p, Header: header}
		target.SearchLog, target.CrossLog = filepath.Join(folder, name+".jsonl"), filepath.Join(folder, name+".compared.jsonl")
		s.Add(target)
	}
	s.Tune = func(_ context.Context, target *Target) error {
		s.tuned = append(s.tuned, target.Label)
		switch {
		case target.Label == "C":
			return s.failure
		case target.Given != nil:
			return nil
		}
		r := source(t, target.Label, target.Identity, row{x: 32, tile: 1, time: 1}, row{x: 16, tile: 1, time: 3}).Record
		return record.Write(target.SearchLog, r)
	}
	s.Open = func(_ context.Context, target *Target, wanted []space.Configuration) (*Opened, error) {
		header := header
		header.Device, header.Strategy, header.Iterations = gpu("B"), record.StrategyCompare, 1 // that of a fakeDevice
		log, err := record.Open(target.CrossLog, header)
		if err != nil {
			return nil, err
		}
		s.opened = append(s.opened, target.Label)
		return &Opened{Evaluator: &fakeDevice{}, Log: log, OnResult: func(tune.Result, bool) {}, Close: func(*tune.Outcome) error { return log.Close() }}, nil
	}
	s.Fatal = func(err error) bool { return errors.Is(err, errEverywhere) }
	s.Refused = func(err error) bool { return errors.Is(err, errRefused) }
	return s
}

// TestSessionGoesOn: a device that cannot be tuned keeps no other from being measured; nothing runs
// on it, unless it is only that the restrictions leave nothing.
func TestSessionGoesOn(t *testing.T) {
	for _, test := range []struct {
		failure error
		opened  []string
	}{
		{errors.New("no driver"), []string{"A", "B"}},
		{errRefused, []string{"A", "B", "C"}},
	} {
		s := newTestSession(t, test.failure)
		err := s.Run(t.Context())
		if err == nil || err.Error() != "C (0:C): "+test.failure.Error() {
			t.Errorf("%v", err)
		}
		if !slices.Equal(s.tuned, []string{"A", "B", "C"}) || !slices.Equal(s.opened, test.opened) {
			t.Errorf("tuned %q, opened %q", s.tuned, s.opened)
		}
		sources, err := s.Sources()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range sources {
			names = append(names, strings.TrimSuffix(filepath.Base(g.Name), ".jsonl"))
			if g.Name == "C" && g.Trouble != test.failure.Error() {
				t.Errorf("trouble of C: %q", g.Trouble)
			}
		}
		want := []string{"b", "A", "C"}
		for _, label := range test.opened {
			want = append(want, label+".compared")
		}
		if !slices.Equal(names, want) || len(s.Logs()) != 1+len(test.opened) {
			t.Errorf("sources %q, want %q; logs %q", names, want, s.Logs())
		}
	}
}

// TestSessionEnds: an error that would be the same on each device, and an interruption, end it.
func TestSessionEnds(t *testing.T) {
	s := newTestSession(t, errEverywhere)
	if err := s.Run(t.Context()); err != errEverywhere || len(s.opened) > 0 {
		t.Errorf("%v; opened %q", err, s.opened)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = newTestSession(t, nil)
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) || len(s.tuned) > 0 {
		t.Errorf("%v; tuned %q", err, s.tuned)
	}
}

// TestSessionOnMachines: targets on different machines are measured at the same time, and those that share one after
// the other. A fatal error on one machine ends the work on the others.
func TestSessionOnMachines(t *testing.T) {
	s := newTestSession(t, nil)
	for i, machines := range [][]string{{"x"}, {"y", "z"}, {"z"}} {
		s.Targets[i].Machines = machines
	}
	tune := s.Tune
	met, bEnded := make(chan struct{}), false
	s.Tune = func(ctx context.Context, target *Target) error {
		switch target.Label {
		case "A":
			<-met // B has begun
			return tune(ctx, target)
		case "B":
			met <- struct{}{}
			bEnded = true
			return nil
		}
		if !bEnded {
			t.Error("C began before the end of B, which shares a machine with it")
		}
		return nil
	}
	open := s.Open
	var crossing sync.WaitGroup // A and B at once
	crossing.Add(2)
	var opening sync.Mutex
	s.Open = func(ctx context.Context, target *Target, wanted []space.Configuration) (*Opened, error) {
		if target.Label != "C" {
			crossing.Done()
			crossing.Wait()
		}
		opening.Lock()
		defer opening.Unlock()
		return open(ctx, target, wanted)
	}
	if err := s.Run(t.Context()); err != nil || len(s.opened) != 3 {
		t.Errorf("%v; opened %q", err, s.opened)
	}

	s = newTestSession(t, nil)
	s.Targets[1].Machines = []string{"y"}
	s.Tune = func(ctx context.Context, target *Target) error {
		if target.Label == "B" {
			return errEverywhere
		}
		<-ctx.Done()
		return nil
	}
	if err := s.Run(t.Context()); err != errEverywhere {
		t.Errorf("a fatal error: %v", err)
	}
}
