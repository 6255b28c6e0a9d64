package device

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// TestDisturbedLaunchesAreRepeated has seven timed launches of 1 ms, the third to the ninth, of which some take longer.
func TestDisturbedLaunchesAreRepeated(t *testing.T) {
	for _, c := range []struct {
		what, disturbed         string
		factor, times, repeated int
	}{
		{"none", "0", 100, 7, 0},
		{"one", "launch == 5", 100, 8, 1},
		{"three", "launch > 4 && launch < 8", 100, 10, 3},
		{"one by less", "launch == 5", 2, 7, 0},
		{"most of them: nothing says that the others are right", "launch > 5", 100, 7, 0},
		{"one, and all that are repeated", "launch == 5 || launch > 9", 100, 11, 4},
		{"the first and the warm-up, which are not timed", "launch < 3", 100, 7, 0},
	} {
		e := open(t, definition.Definition{
			Kernel:      definition.Kernel{Name: "k", Source: fmt.Sprintf("__kernel void k(__global int *a) { } // standin: k is nothing(); k takes 1000000 + 1000000 * %d * (%s)", c.factor, c.disturbed)},
			ProblemSize: []definition.Expr{"1"},
			Arguments:   []definition.Argument{{Name: "a", Type: "int32", Size: "1"}},
			Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{1}}},
		})
		r := e.evaluateFor(t, nil)
		if len(r.Times) != c.times || r.Repeated != c.repeated || slices.Min(r.Times) != 1 {
			t.Errorf("%s %s: %v: %d launches, %d repeated; want %d, %d", c.what, r.Reason, r.Times, len(r.Times), r.Repeated, c.times, c.repeated)
		}
	}
}
