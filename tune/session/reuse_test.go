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
