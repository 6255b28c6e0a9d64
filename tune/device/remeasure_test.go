package device

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// TestTheFinalMeasurementWarmsUp has configurations whose buffers have different sizes, so that each turn makes
// them anew. A launch that is not timed comes before the timed one.
func TestTheFinalMeasurementWarmsUp(t *testing.T) {
	e := open(t, definition.Definition{
		Kernel:      definition.Kernel{Name: "count", Source: "__kernel void count(__global int *launches) { launches[0]++; } // standin: count is increment(launches, 1)"},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "launches", Type: "int32", Size: "size"}},
		Parameters:  []space.Parameter{{Name: "size", Values: []space.Value{64, 128}}},
	})
	all := []space.Configuration{configurationOf(t, e.problem, nil), configurationOf(t, e.problem, map[string]space.Value{"size": 128})}
	times, err := e.Remeasure(context.Background(), "", all, 3, false)
	if err != nil || len(times[0].Times) != 3 || len(times[1].Times) != 3 {
		t.Fatalf("%v, %v", times, err)
	}
	if launches := e.read(t, "launches").Float(0); launches != 2 {
		t.Errorf("%v launches on the buffer of the last turn, want one to warm up and one that is timed", launches)
	}
}

func TestTheFinalMeasurementTakesTurns(t *testing.T) {
	e := open(t, definition.Definition{
		Kernel: definition.Kernel{Name: "enter", Source: `
#if mine == 4
    no such statement;
#endif
__kernel void enter(__global int *book) { book[1 + book[0]++] = mine; }`},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "book", Type: "int32", Size: "64"}},
		Parameters:  []space.Parameter{{Name: "mine", Values: []space.Value{1, 2, 3, 4}}},
	})
	var all []space.Configuration
	for _, id := range []int{1, 2, 4, 3} {
		all = append(all, configurationOf(t, e.problem, map[string]space.Value{"mine": id}))
	}
	times, err := e.Remeasure(context.Background(), "", all, 4, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{4, 4, 0, 4} {
		if len(times[i].Times) != want || len(times) != 4 || (want == 0) != strings.HasPrefix(times[i].Reason, "compile: ") {
			t.Errorf("configuration %d: %d times, want %d", i, len(times[i].Times), want)
		}
	}
	book := e.read(t, "book")
	var order []float64
	for i := range int(book.Float(0)) {
		order = append(order, book.Float(1+i))
	}
	// The first launch of the last configuration stands first, then the rounds. Where a round
	// begins depends on whether it could be enqueued at once.
	if len(order) != 13 || order[0] != 3 {
		t.Fatalf("launched %v, want 3 and four rounds of three", order)
	}
	for i := 1; i < len(order); i += 3 {
		if round := slices.Sorted(slices.Values(order[i : i+3])); !slices.Equal(round, []float64{1, 2, 3}) {
			t.Fatalf("launched %v, want each once in every round", order)
		}
	}
}

func TestTheFinalMeasurementSurvivesALostSession(t *testing.T) {
	var e *Evaluator
	d := poisonable(&e)
	e = open(t, d)
	var all []space.Configuration
	for _, v := range []map[string]space.Value{{}, {"poison": 1}, {"block_size_x": 64}} {
		all = append(all, configurationOf(t, e.problem, v))
	}
	times, err := e.Remeasure(context.Background(), "", all, 3, false)
	if err != nil || len(times[0].Times) != 3 || len(times[1].Times) != 0 || len(times[2].Times) != 3 {
		t.Errorf("%v, %v", times, err)
	}
}

// TestTheFinalMeasurementBuildsNothingAgain has a compiler that fails after 21 builds.
func TestTheFinalMeasurementBuildsNothingAgain(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("the compiler of a real driver does not fail on request")
	}
	var times []space.Value
	for i := range mostKept + 1 {
		times = append(times, i+1)
	}
	e := open(t, definition.Definition{
		Kernel: definition.Kernel{Name: "last", Source: `__kernel void last(__global int *x) {}
// standin: last is nothing(); last takes 1000 * thousands; build fails "no licence ` + rand.Text() + `" after 21`}, // a count of its own
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "x", Type: "int32", Size: "1"}},
		Parameters:  []space.Parameter{{Name: "thousands", Values: times}},
	})
	var all []space.Configuration
	for i := range times {
		all = append(all, configurationOf(t, e.problem, map[string]space.Value{"thousands": mostKept + 1 - i}))
		if r, err := e.One(t.Context(), all[i], Prebuilt{}); err != nil || r.Status != tune.Correct {
			t.Fatalf("%v, %+v", err, r)
		}
	}
	measured, err := e.Remeasure(t.Context(), "", all, 3, false)
	for i, times := range measured {
		if want := 3; err != nil || i > 0 && len(times.Times) != want || i == 0 && (len(times.Times) > 0 || times.Reason == "") {
			t.Errorf("%v, configuration %d: %v", err, i, times)
		}
	}
}
