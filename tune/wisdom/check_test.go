package wisdom

import (
	"math"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/record"
)

func TestCheckLeavesOneOut(t *testing.T) {
	small, large := run(t, []int{64, 64}, 1, 2, 4, 8), run(t, []int{128, 128}, 5, 3, 12, 0)
	other := run(t, []int{64, 64}, 0, 9, 3, 6)
	other.Header.Device.Name, other.Header.Device.Vendor, other.Header.Device.Architecture = "other", "another", ""
	trials, err := Check([]*record.Record{small, large, other}, Source{})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		without                     Absence
		level                       Level
		x                           int
		cost, overall, median, draw float64
	}
	nan := math.NaN()
	want := []row{
		// At 128 and on the other device, x = 2 has 1 and 3 times the best, x = 3 has 4 and 1.
		{NoSize, SameDevice, 2, 2, 2, 3, 5.0 / 3},
		{NoDevice, BestOverall, 3, 4, 4, 3, 5.0 / 4},
		// At 64 and on the other device, x = 2 has 2 and 3 times the best, x = 3 has 4 and 1.
		{NoSize, SameDevice, 1, 5.0 / 3, 4, 5.0 / 3, 5.0 / 3},
		{NoDevice, BestOverall, 3, 4, 4, 5.0 / 3, 5.0 / 4},
		// x = 1 fails on the other device. At the two sizes it has 1 and 5/3 times the best, x = 2 has 2 and 1.
		{NoDevice, BestOverall, 1, nan, nan, 2, nan},
	}
	if len(trials) != len(want) {
		t.Fatalf("%d trials; want %d", len(trials), len(want))
	}
	for i, w := range want {
		g := trials[i]
		got := row{g.Without, g.Choice.Level, g.Choice.Record.Configuration["x"].(int), g.Cost, g.Overall, g.Median, g.Draws}
		same := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b) }
		if got.without != w.without || got.level != w.level || got.x != w.x || !same(got.cost, w.cost) || !same(got.overall, w.overall) || !same(got.median, w.median) || !same(got.draw, w.draw) {
			t.Errorf("trial %d is %+v\nwant %+v", i, got, w)
		}
	}
	if s := Summarize(trials, NoDevice); s.Trials != 3 || s.Known != 2 || math.Abs(s.Mean-4) > 1e-12 || math.Abs(s.Worst-4) > 1e-12 {
		t.Errorf("summary %+v", s)
	}
}

func TestCheckNeedsOthers(t *testing.T) {
	one := run(t, []int{64}, 1)
	foreign := run(t, []int{128}, 1)
	foreign.Header.Kernel = "other"
	for want, records := range map[string][]*record.Record{
		"there is none":                             {one},
		"record 2 is of another kernel":             {one, foreign},
		"record 1: it has no correct configuration": {run(t, []int{64}, 0)},
	} {
		if _, err := Check(records, Source{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want %q", err, want)
		}
	}
}
