package session

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/spec"
)

// TestReusedComeFirst: a strategy begins with the results of an older space, the best first and failures last, also when the
// search is resumed.
func TestReusedComeFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	load := func(blocks string) *Session {
		parameters, err := spec.ParseAssignments([]string{"block_size_x=" + blocks})
		if err != nil {
			t.Fatal(err)
		}
		s, err := spec.Load(filepath.Join("..", "..", "cmd", "ndtune", "testdata", "specs", "add.yaml"), spec.Options{Parameters: parameters})
		if err != nil {
			t.Fatal(err)
		}
		own := New(Plan{Spec: s}, Place{}, Evaluation{}, Listener{})
		if own.Space, err = s.Space(t.Context(), hardware.Device{}); err != nil {
			t.Fatal(err)
		}
		if own.Log, err = record.OpenReusing(path, record.NewHeader(s.Problem, "add.yaml"), own.has); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { own.Log.Close() })
		return own
	}
	keep := func(own *Session, c int, status tune.Status, ms float64) {
		if err := own.Log.Append(tune.Result{Configuration: own.Space.At(c), Status: status, Times: []float64{ms}, Objective: ms}); err != nil {
			t.Fatal(err)
		}
	}
	wide := load("16,32")
	for i, ms := range []float64{3, 0, 2, 9, 8, 1} {
		status := tune.Correct
		if i == 1 {
			status = tune.Compile
		}
		keep(wide, i, status, ms)
	}
	wide.Log.Close()
	narrow := load("64,32,16")
	reused := func(own *Session) (keys []string) {
		for _, i := range own.reused(own.Space) {
			keys = append(keys, own.Space.At(i).Key())
		}
		return keys
	}
	want := []string{"32,4", "16,4", "16,1", "32,2", "32,1", "16,2"}
	if got := reused(narrow); !slices.Equal(got, want) {
		t.Errorf("%q come first, want %q", got, want)
	}
	keep(narrow, 0, tune.Correct, 0.5)
	narrow.Log.Close()
	again := load("64,32,16")
	if got := reused(again); !slices.Equal(got, want) || len(again.Log.Previous()) != 7 {
		t.Errorf("%q come first of %d, want %q", got, len(again.Log.Previous()), want)
	}
}

// capable is an evaluator that can use so many configurations.
type capable struct {
	Evaluator
	capacity int
}

func (c capable) Device() hardware.Device { return hardware.Device{Name: "a device"} }
func (c capable) Capacity() int           { return c.capacity }

// TestProposalsUnderWayAreThoseOfTheLog: a run log that goes on elsewhere has as many proposals under way as where it began. One of an older
// program, which does not tell, has as many as that program had.
func TestProposalsUnderWayAreThoseOfTheLog(t *testing.T) {
	s, err := spec.Load(filepath.Join("..", "..", "cmd", "ndtune", "testdata", "specs", "add.yaml"), spec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := func(path string, capacity, budget int) *Session {
		own := New(Plan{Spec: s, LogPath: path, MaxEvaluations: budget}, Place{}, Evaluation{}, Listener{})
		own.Evaluator = capable{capacity: capacity}
		if own.Space, err = s.Space(t.Context(), hardware.Device{}); err != nil {
			t.Fatal(err)
		}
		if err := own.OpenLog(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { own.Log.Close() })
		return own
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	for _, c := range []struct{ capacity, budget, want int }{{50, 400, 50}, {4, 400, 50}, {4, 100, 25}} {
		own := open(path, c.capacity, c.budget)
		if got := own.underWay(); got != c.want {
			t.Errorf("with a capacity of %d and a budget of %d: %d, want %d", c.capacity, c.budget, got, c.want)
		}
		own.Log.Close()
	}
	older := filepath.Join(t.TempDir(), "older.jsonl")
	h := open(path, 4, 400).header(nil)
	h.Capacity = 0
	log, err := record.Open(older, h)
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	if got := open(older, 50, 400).underWay(); got != 32 {
		t.Errorf("of an older log: %d", got)
	}
}
