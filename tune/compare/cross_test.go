package compare

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// A fakeDevice answers at once: with x milliseconds, and the failure of 64/2.
type fakeDevice struct {
	evaluated  []string
	remeasured int
}

func (f *fakeDevice) Device() hardware.Device { return gpu("B") }
func (f *fakeDevice) Capacity() int           { return 1 }

func (f *fakeDevice) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		f.evaluated = append(f.evaluated, c.String())
		if c.Int("x") == 64 && c.Int("tile") == 2 {
			return tune.Result{Configuration: c, Status: tune.Runtime, Reason: "it does not run"}, nil
		}
		return tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{c.Float("x")}, Verified: true}, nil
	})
}

func (f *fakeDevice) Cards(context.Context) ([]string, error) { return []string{""}, nil }

func (f *fakeDevice) Remeasure(_ context.Context, _ string, all []space.Configuration, rounds int, _ bool) ([]tune.Turns, error) {
	f.remeasured++
	times := make([]tune.Turns, len(all))
	for i, c := range all {
		times[i].Times = slices.Repeat([]float64{2 * c.Float("x")}, rounds)
	}
	return times, nil
}

func testProblem(t *testing.T) *problem.Problem {
	t.Helper()
	p, err := problem.New(definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: "__kernel void k(__global int *out) {}"}, ProblemSize: []definition.Expr{"64"},
		Arguments:    []definition.Argument{{Name: "out", Type: "int32", Size: "64", Output: true}},
		Parameters:   testParameters,
		Restrictions: []space.Restriction{{Expression: `device.name != "B" || x != 32 || tile != 2`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCross runs what is wanted, and no more: neither what the log holds, nor what has failed, nor
// what the restrictions refuse on this device.
func TestCross(t *testing.T) {
	p := testProblem(t)
	path := filepath.Join(t.TempDir(), "b.compared.jsonl")
	wanted := []space.Configuration{
		configuration(t, 16, 1), configuration(t, 32, 1), configuration(t, 32, 2), configuration(t, 64, 2), configuration(t, 64, 1),
	}
	known := []Source{source(t, "b", gpu("B"), row{x: 64, tile: 1, status: tune.Compile}, row{x: 16, tile: 1, time: 3})}
	run := func(wanted []space.Configuration) (*fakeDevice, *record.Record) {
		t.Helper()
		log, err := record.Open(path, record.Header{Digest: "d1", Device: gpu("B"), Parameters: testParameters, Strategy: record.StrategyCompare, Iterations: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		f := &fakeDevice{}
		if _, err := Cross(t.Context(), p, f, log, known, wanted, nil, nil); err != nil {
			t.Fatal(err)
		}
		r, err := record.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return f, r
	}
	f, r := run(wanted)
	if want := []string{"x=16, tile=1", "x=32, tile=1", "x=64, tile=2"}; !slices.Equal(f.evaluated, want) || f.remeasured != 1 {
		t.Errorf("evaluated %q, and %d times again", f.evaluated, f.remeasured)
	}
	c := mustCompare(t, Options{}, source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}, row{x: 32, tile: 2, time: 0.5}), known[0], Source{Name: "c", Record: r})
	if cell := c.Matrix[0][1]; cell.Why() != `constraints: restrictions[0], device.name != "B" || x != 32 || tile != 2, refuses it` {
		t.Errorf("what is refused: %+v", cell)
	}
	if b := c.Devices[1].Best; b.Configuration != "x=16, tile=1" || b.Time != 32 || !b.InTurn {
		t.Errorf("the best: %+v", b)
	}
	if f, again := run(wanted); len(f.evaluated) > 0 || f.remeasured > 0 || len(again.Results) != len(r.Results) {
		t.Errorf("the second time %q were evaluated, and %d times again; %d results", f.evaluated, f.remeasured, len(again.Results))
	}
	// What is not of this space can neither be run nor kept.
	elsewhere, err := space.NewParameters([]space.Parameter{{Name: "x", Values: []space.Value{8}}, {Name: "tile", Values: []space.Value{1}}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := elsewhere.Configure(map[string]space.Value{"x": 8, "tile": 1})
	if err != nil {
		t.Fatal(err)
	}
	if f, again := run(append(wanted, other)); len(f.evaluated) > 0 || len(again.Results) != len(r.Results) {
		t.Errorf("of another space %q were evaluated; %d results", f.evaluated, len(again.Results))
	}
	// One more is measured alone, and then in turn with the others.
	known = nil
	f, r = run(wanted)
	if want := []string{"x=64, tile=1"}; !slices.Equal(f.evaluated, want) || f.remeasured != 1 || len(r.Results) != 5 {
		t.Errorf("evaluated %q, and %d times again; %d results", f.evaluated, f.remeasured, len(r.Results))
	}
}

// TestWanted: the bests of all, what a device's own search found, and the candidates that come
// closest, each once.
func TestWanted(t *testing.T) {
	wanted, err := Wanted([]Source{
		source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}, row{x: 32, tile: 1, time: 2}, row{x: 16, tile: 2, time: 1.25}, row{x: 64, tile: 1, time: 9}),
		source(t, "b", gpu("B"), row{x: 32, tile: 1, time: 4}, row{x: 16, tile: 2, time: 5}, row{x: 64, tile: 1, time: 5}, row{x: 64, tile: 2, time: 6}),
	}, Options{})
	var texts []string
	for _, c := range wanted {
		texts = append(texts, c.String())
	}
	if want := []string{"x=16, tile=1", "x=32, tile=1", "x=16, tile=2", "x=64, tile=1"}; err != nil || !slices.Equal(texts, want) {
		t.Errorf("%q, %v; want %q", texts, err, want)
	}
}
