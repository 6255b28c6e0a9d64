package worker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// clocked is a problem whose configurations differ in a clock, and in the size of a work-group.
func clocked(t *testing.T) *problem.Problem {
	t.Helper()
	return mustProblem(t, definition.Definition{
		Kernel:      definition.Kernel{Name: "one", Source: "__kernel void one(__global int *y) { y[get_global_id(0)] += 1; } // standin: one is increment(y, 1)"},
		ProblemSize: []definition.Expr{"64"},
		Arguments:   []definition.Argument{{Name: "y", Type: "int32", Size: "64", Output: true}},
		Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{4, 8}}, {Name: "mhz", Values: []space.Value{900, 1200}}},
		Measure:     definition.Measure{Settings: []definition.Setting{{Name: hardware.Clock, Expression: "mhz"}}},
	})
}

// TestSettingsArePassedToTheOwner lets the process of the pool change the settings before configurations are timed, in the search and in
// turn. Those with one setting follow one another in each round.
func TestSettingsArePassedToTheOwner(t *testing.T) {
	for _, a := range arrangements {
		p := clocked(t)
		var seen []string
		now := ""
		setter := func(all []hardware.Setting) (bool, error) {
			text := fmt.Sprint(os.Getpid(), all)
			changed := text != now
			now = text
			seen = append(seen, all[0].String())
			return changed, nil
		}
		pool := openTestPool(t, a, p, Options{Workers: 1, Set: []device.Setter{setter}})
		o := pool.run(t, loop.Options{Finalists: -1})
		if got := slices.Sorted(slices.Values(seen)); strings.Join(got, ", ") != "clock 1200 MHz, clock 1200 MHz, clock 900 MHz, clock 900 MHz" {
			t.Errorf("%s: the settings of the search are %q", a, got)
		}
		var all []space.Configuration
		for _, r := range o.Results {
			wantStatus(t, string(a)+" "+r.Configuration.Key(), r, tune.Correct, "")
			all = append(all, r.Configuration)
		}
		seen = nil
		times, err := pool.Remeasure(t.Context(), "", all, 3, false)
		round := "clock 900 MHz, clock 900 MHz, clock 1200 MHz, clock 1200 MHz"
		if got := strings.Join(seen, ", "); err != nil || len(times) != 4 || len(times[3].Times) != 3 || got != strings.Join([]string{round, round, round}, ", ") {
			t.Errorf("%s: measured in turn at %s: %v, %v", a, got, times, err)
		}
	}
}

// TestSettingsThatCannotBeChanged ends a search whose owner refuses to change a setting, and opens no pool that must not.
func TestSettingsThatCannotBeChanged(t *testing.T) {
	for _, a := range arrangements {
		refuses := func([]hardware.Setting) (bool, error) { return false, errors.New("the device is locked") }
		pool := openTestPool(t, a, clocked(t), Options{Workers: 1, Set: []device.Setter{refuses}})
		if _, err := loop.Run(t.Context(), pool.problem, pool, loop.Options{}); err == nil || !strings.Contains(err.Error(), "the device is locked") {
			t.Errorf("%s: %v", a, err)
		}
	}
	l := testDevice(t)
	if _, err := Open(t.Context(), []device.Listed{l}, clocked(t), Options{}); !errors.Is(err, device.ErrNotSet) {
		t.Errorf("without a setter: %v", err)
	}
}
