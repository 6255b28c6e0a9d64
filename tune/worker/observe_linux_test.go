package worker

import (
	"math"
	"os"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// TestReadingsOfAWorker observes configurations by a command, which the worker that times starts. The command crashes
// in one of its observations: that costs its readings and nothing else.
func TestReadingsOfAWorker(t *testing.T) {
	crash := t.TempDir() + "/crashed"
	script := `while read -r line; do
		case $line in
		*end*)
			[ -e "$0" ] || { touch "$0"; exit 1; }
			echo "{\"launches\": $(echo "$line" | sed 's/.*"launches":\([0-9]*\).*/\1/'), \"parent\": $PPID}";;
		*) echo "{}";;
		esac
	done`
	for _, a := range []arrangement{whole, builders} {
		os.Remove(crash)
		d, err := makeDoubling("")
		if err != nil {
			t.Fatal(err)
		}
		d.Verify = nil // a function stays in its process
		d.Measure = definition.Measure{
			Observe:     []string{"launches", "parent"},
			Instruments: []definition.Instrument{{Quantities: []string{"launches", "parent"}, Command: &definition.Command{Args: []string{"sh", "-c", script, crash}}}},
		}
		p, err := problem.New(d)
		if err != nil {
			t.Fatal(err)
		}
		pool := newTestPool(t, a, p, Options{Workers: 2})
		pool.host.Environment = append(pool.host.Environment, standin.FaultsVariable+"=device waits") // else it launches without a pause
		missing := 0
		var all []space.Configuration
		for _, r := range pool.run(t, loop.Options{Finalists: -1}).Results {
			launches, _ := r.Metric("launches")
			parent, _ := r.Metric("parent")
			all = append(all, r.Configuration)
			switch {
			case r.Status != tune.Correct || len(r.Readings) != 2:
				t.Errorf("%s: %s is %s %q, readings %+v", a, r.Configuration, r.Status, r.Reason, r.Readings)
			case math.IsNaN(launches):
				missing++
			case launches < 1 || parent < 1 || int(parent) == os.Getpid():
				t.Errorf("%s: %s has the metrics %v", a, r.Configuration, r.Metrics)
			}
		}
		if missing != 1 {
			t.Errorf("%s: %d results have no readings", a, missing)
		}
		again, err := pool.Remeasure(t.Context(), "", all[:2], 3, true)
		if err != nil || len(again) != 2 || len(again[0].Readings) != 3 || len(again[1].Readings) != 3 || again[1].Readings[2][0].Missing != "" {
			t.Errorf("%s: observed again: %+v, %v", a, again, err)
		}
	}
}
