package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
)

func near(v *float64, want float64) bool { return v != nil && math.Abs(*v-want) < 1e-12 }

// TestTwoDevices has all figures computed by hand. On A, 16/1 is best with 1 ms and 32/1 takes
// 2 ms; on B it is 32/1 with 4 ms and 16/1 takes 10. 16/2 takes 1.25 and 5: 80 % on both.
func TestTwoDevices(t *testing.T) {
	c := mustCompare(t, Options{},
		source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}, row{x: 32, tile: 1, time: 2}, row{x: 16, tile: 2, time: 1.25}, row{x: 64, tile: 1, time: 9}),
		source(t, "b", gpu("B"), row{x: 16, tile: 1, time: 10}, row{x: 32, tile: 1, time: 4}, row{x: 16, tile: 2, time: 5}, row{x: 64, tile: 1, time: 0, status: tune.Compile}),
	)
	for i, want := range [][]float64{{1, 2.5}, {2, 1}} {
		for j := range want {
			if cell := c.Matrix[i][j]; cell.State != StateMeasured || !near(cell.Slowdown, want[j]) {
				t.Errorf("cell %d, %d is %+v, want %v", i, j, cell, want[j])
			}
		}
	}
	if c.Matrix[0][1].InTurn || !near(c.Matrix[0][1].Time, 10) {
		t.Errorf("the best of A on B: %+v", c.Matrix[0][1])
	}
	a, b := c.Devices[0], c.Devices[1]
	if a.Best.Configuration != "x=16, tile=1" || a.Best.Time != 1 || b.Best.Configuration != "x=32, tile=1" || b.Best.Time != 4 {
		t.Errorf("the bests are %+v and %+v", a.Best, b.Best)
	}
	// The medians of 1, 1.25, 2, 9 and of 4, 5, 10.
	if !near(a.Best.Gain, 1.625) || !near(b.Best.Gain, 1.25) {
		t.Errorf("the gains are %v and %v", *a.Best.Gain, *b.Best.Gain)
	}
	if a.Evaluated != 4 || a.Correct != 4 || b.Evaluated != 4 || b.Correct != 3 {
		t.Errorf("counted: %+v, %+v", a, b)
	}
	o := c.Overall
	if o == nil || o.Configuration != "x=16, tile=2" || o.Candidates != 3 || len(o.BestOf) != 0 {
		t.Fatalf("the best over all: %+v", o)
	}
	if !near(o.Cells[0].Slowdown, 1.25) || !near(o.Cells[1].Slowdown, 1.25) || !near(&o.Portability, 0.8) {
		t.Errorf("it costs %v and %v, portability %v", *o.Cells[0].Slowdown, *o.Cells[1].Slowdown, o.Portability)
	}
	if len(c.Missing) > 0 {
		t.Errorf("missing: %v", c.Missing)
	}
}

// TestFailedAndMissing: what fails says why; what was not measured is neither a failure nor a candidate.
func TestFailedAndMissing(t *testing.T) {
	c := mustCompare(t, Options{},
		source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}, row{x: 64, tile: 2, time: 3}),
		source(t, "b b", gpu("B"), row{x: 32, tile: 1, time: 4}, row{x: 16, tile: 1, status: tune.Correctness}, row{x: 64, tile: 2, time: 8}),
	)
	if cell := c.Matrix[0][1]; cell.State != StateFailed || cell.Status != tune.Correctness || cell.Slowdown != nil || cell.Why() != "correctness: because of correctness […]" {
		t.Errorf("the failed cell is %+v", cell)
	}
	if cell := c.Matrix[1][0]; cell.State != StateMissing || cell.Time != nil {
		t.Errorf("the missing cell is %+v", cell)
	}
	if !slices.Equal(c.Missing, []Place{{1, 0}}) || c.Measure == "" {
		t.Errorf("missing: %v: %s", c.Missing, c.Measure)
	}
	if want := "on the machine of A, with the same --set and -p as then: ndtune compare k.yaml a 'b b' --devices A --log FILE"; !strings.HasPrefix(c.Measure, want) {
		t.Errorf("to get it: %s", c.Measure)
	}
	// Only 64/2 is correct on both: 1/3 and 1/2, so 2 / (3 + 2).
	if c.Overall == nil || c.Overall.Configuration != "x=64, tile=2" || !near(&c.Overall.Portability, 0.4) || c.Overall.Candidates != 1 {
		t.Fatalf("the best over all: %+v", c.Overall)
	}
	g, err := gather([]Source{source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}), source(t, "b", gpu("B"), row{x: 32, tile: 1, time: 4}, row{x: 16, tile: 1, status: tune.Runtime})})
	if err != nil {
		t.Fatal(err)
	}
	if g.overall() != nil {
		t.Error("there is a best over all, and nothing is correct on both")
	}
}

// TestInTurn: measurements that were taken in turn count before those of searches, and what was
// then better than the search's best takes its place.
func TestInTurn(t *testing.T) {
	crossed := source(t, "b.compared", gpu("B"), row{x: 16, tile: 1, time: 9, final: 3}, row{x: 32, tile: 1, time: 9, final: 6}, row{x: 64, tile: 1, time: 1, final: 4.5})
	crossed.Record.Header.Strategy = record.StrategyCompare
	c := mustCompare(t, Options{}, crossed, // a search counts first, wherever it stands
		source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1, final: 2}, row{x: 32, tile: 1, time: 1.5, final: 2.5}),
		source(t, "b", gpu("B"), row{x: 32, tile: 1, time: 4, final: 5}, row{x: 64, tile: 2, time: 5, final: 5.5}),
	)
	a, b := c.Devices[0], c.Devices[1]
	if a.Best.Time != 2 || !a.Best.InTurn || b.Best.Configuration != "x=16, tile=1" || b.Best.Time != 3 {
		t.Fatalf("the bests are %+v and %+v", a.Best, b.Best)
	}
	if b.Evaluated != 2 || !slices.Equal(b.Records, []string{"b", "b.compared"}) {
		t.Errorf("B: %+v", b)
	}
	// The bests of both are one configuration now.
	if cell := c.Matrix[0][1]; !near(cell.Slowdown, 1) || !cell.InTurn {
		t.Errorf("the best of A on B: %+v", cell)
	}
	g, err := gather([]Source{source(t, "b", gpu("B"), row{x: 32, tile: 1, time: 4, final: 5}, row{x: 64, tile: 2, time: 5, final: 5.5}), crossed})
	if err != nil {
		t.Fatal(err)
	}
	m := g.devices[0]
	for _, test := range []struct {
		x, tile  int
		slowdown float64
		inTurn   bool
	}{
		{32, 1, 2, true},   // 6 / 3 in turn, not 4 / 9
		{64, 1, 1.5, true}, // 4.5 / 3
		{64, 2, 5, false},  // 5 beside the least that was not taken in turn, 1
		{16, 1, 1, true},   // itself
	} {
		r := m.relate(g.key(configuration(t, test.x, test.tile)))
		if math.Abs(r.slowdown-test.slowdown) > 1e-12 || r.inTurn != test.inTurn {
			t.Errorf("%d/%d: %+v, want %v", test.x, test.tile, r, test.slowdown)
		}
	}
}

// TestDefault holds the bests against a configuration.
func TestDefault(t *testing.T) {
	d := configuration(t, 64, 2)
	c := mustCompare(t, Options{Default: &d},
		source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}, row{x: 64, tile: 2, time: 3}),
		source(t, "b", gpu("B"), row{x: 16, tile: 1, time: 1}, row{x: 64, tile: 2, status: tune.Timeout}),
		source(t, "c", gpu("C"), row{x: 16, tile: 1, time: 1}),
	)
	if b := c.Devices[0].Best; !near(b.Gain, 3) {
		t.Errorf("the gain on A is %v", b.Gain)
	}
	if b := c.Devices[1].Best; b.Gain != nil || b.WhyNoGain != "the default fails on it: timeout: because of timeout […]" {
		t.Errorf("the gain on B is %+v", b)
	}
	if b := c.Devices[2].Best; b.Gain != nil || b.WhyNoGain != "the default was not measured on it" {
		t.Errorf("the gain on C is %+v", b)
	}
	wanted, err := Wanted([]Source{source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1})}, Options{Default: &d})
	if err != nil || len(wanted) != 2 || wanted[1].String() != "x=64, tile=2" {
		t.Errorf("wanted: %v, %v", wanted, err)
	}
}

// TestMaximize ranks by a metric that is maximised: ratios are of its inverse. Final measurements
// count where the metric is known at their times.
func TestMaximize(t *testing.T) {
	of := func(name string, values ...float64) Source {
		s := source(t, name, gpu(name), row{x: 16, tile: 1, time: 1, final: 9}, row{x: 32, tile: 1, time: 1, final: 1})
		s.Record.Header.Objective = score.Objective{Name: "GFLOP/s", Maximize: true}
		for i, v := range values {
			s.Record.Results[i].Objective = v
		}
		return judged(s)
	}
	c := mustCompare(t, Options{}, of("A", 100, 50), of("B", 30, 120))
	if !near(c.Matrix[0][1].Slowdown, 4) || !near(c.Matrix[1][0].Slowdown, 2) || c.Matrix[0][1].InTurn {
		t.Errorf("the matrix is %+v", c.Matrix)
	}
	again := of("A", 100, 50)
	again.Record.Results[0].AtFinal, again.Record.Results[1].AtFinal = &score.Judgement{Objective: 70}, &score.Judgement{Objective: 80}
	c = mustCompare(t, Options{}, again, of("B", 30, 120))
	if d := c.Devices[0].Best; d.Configuration != "x=32, tile=1" || !d.InTurn || d.Time != 1 || !near(d.Gain, 50.0/75) {
		t.Errorf("the best of A in the final measurement is %+v", d)
	}
	if _, err := New([]Source{of("A", 100, 0), of("B", 1, 1)}, Options{}); err == nil || !strings.Contains(err.Error(), "A: x=32, tile=1: the objective GFLOP/s is 0") {
		t.Errorf("an objective of 0: %v", err)
	}
}

// TestLimits: the share of the limit is that at the time of the cell.
func TestLimits(t *testing.T) {
	limited := func(name string, shares ...float64) Source {
		s := source(t, name, gpu(name), row{x: 16, tile: 1, time: 2, final: 1}, row{x: 32, tile: 1, time: 2, final: 2})
		for i, v := range shares {
			s.Record.Results[i].Metrics = []score.MetricValue{{Name: score.MetricOfLimit, Value: v}}
		}
		return judged(s)
	}
	// At 2 ms 40 % of A's limit, so at 1 ms 80 %; B: 20 % at 2 ms, so 40 %.
	c := mustCompare(t, Options{}, limited("A", 40, 40), limited("B", 20, 20))
	if !near(c.Devices[0].Best.OfLimit, 80) || !near(c.Overall.Cells[1].OfLimit, 40) {
		t.Errorf("of the limit: %v, %v", *c.Devices[0].Best.OfLimit, *c.Overall.Cells[1].OfLimit)
	}
}

// TestProperties compares random records: the diagonal is 1, no slow-down is below it, no
// portability is above 1, and no candidate has a higher one than the best over all.
func TestProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 300 {
		var sources []Source
		for d := range 1 + random.IntN(5) {
			var rows []row
			for _, x := range []int{16, 32, 64} {
				for _, tile := range []int{1, 2} {
					w := row{x: x, tile: tile, time: 1 + random.Float64()}
					switch random.IntN(6) {
					case 0:
						continue
					case 1:
						w.status = tune.Runtime
					case 2, 3:
						w.final = 1 + random.Float64()
					}
					rows = append(rows, w)
				}
			}
			name := string(rune('A' + d%3)) // so that some records combine
			sources = append(sources, source(t, name, gpu(name), rows...))
		}
		c := mustCompare(t, Options{}, sources...)
		for i := range c.Matrix {
			for j, cell := range c.Matrix[i] {
				if i == j && (cell.State != StateMeasured || *cell.Slowdown != 1) {
					t.Fatalf("%d: the diagonal is %+v", n, cell)
				}
				if cell.Slowdown != nil && *cell.Slowdown < 1 {
					t.Fatalf("%d: a slow-down is %v", n, *cell.Slowdown)
				}
			}
		}
		g, err := gather(sources)
		if err != nil {
			t.Fatal(err)
		}
		if c.Overall == nil {
			if len(g.usable()) > 1 && len(g.candidates()) > 0 {
				t.Fatalf("%d: no best over all of %d candidates", n, len(g.candidates()))
			}
			continue
		}
		highest := c.Overall.Portability
		if highest > 1 || highest <= 0 {
			t.Fatalf("%d: the portability is %v", n, highest)
		}
		for _, key := range g.candidates() {
			if p := g.portability(key); p > highest && !c.Overall.InTurn {
				t.Fatalf("%d: a candidate has %v, the best %v", n, p, highest)
			}
		}
	}
}

// TestJSON: all of it survives, also where numbers are unknown.
func TestJSON(t *testing.T) {
	c := mustCompare(t, Options{Tool: "ndtune"}, source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}), source(t, "b", gpu("B")))
	if c.Devices[1].Best != nil || c.Devices[1].Measured || c.Devices[1].WhyNone != "nothing was measured on it" || c.Overall != nil {
		t.Errorf("B: %+v", c.Devices[1])
	}
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Comparison
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.WriteJSON(&again); err != nil || again.String() != b.String() {
		t.Errorf("%v: %s became %s", err, b.String(), again.String())
	}
}

// TestRoughRatiosAreExplained: a ~ is explained also where it stands only beside the best over all.
func TestRoughRatiosAreExplained(t *testing.T) {
	c := mustCompare(t, Options{},
		source(t, "a", gpu("A"), row{x: 16, tile: 1, time: 1}, row{x: 16, tile: 2, time: 1.25}, row{x: 32, tile: 1, status: tune.Compile}),
		source(t, "b", gpu("B"), row{x: 32, tile: 1, time: 4}, row{x: 16, tile: 2, time: 5}, row{x: 16, tile: 1, status: tune.Compile}),
	)
	if c.Overall == nil || c.Overall.Cells[0].InTurn || slices.ContainsFunc(slices.Concat(c.Matrix...), isRough) {
		t.Fatalf("the best over all is %+v, the matrix %+v", c.Overall, c.Matrix)
	}
	for _, table := range c.Tables() {
		if table.Name == TableMatrix && !slices.ContainsFunc(table.Notes, func(n string) bool { return strings.HasPrefix(n, "~: ") }) {
			t.Errorf("the notes are %q", table.Notes)
		}
	}
}

// TestGainOverTheMedianOfRates: the median is of the rates, as in a report, and not of their inverses.
func TestGainOverTheMedianOfRates(t *testing.T) {
	rates := func(name string) Source {
		s := source(t, name, gpu(name), row{x: 16, tile: 1, time: 2}, row{x: 32, tile: 1, time: 4})
		s.Record.Header.Objective = score.Objective{Name: "GB/s", Maximize: true}
		return s
	}
	c := mustCompare(t, Options{}, rates("a"), rates("b"))
	if got := c.Devices[0].Best.Gain; got == nil || math.Abs(*got-4.0/3) > 1e-12 {
		t.Errorf("the gain over the median of 2 and 4 is %v, want 4/3", *got)
	}
}

// TestWriteFileKeepsLinkAndMode writes through a link: the link and the mode of its target stay.
func TestWriteFileKeepsLinkAndMode(t *testing.T) {
	target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err) // Windows asks for a privilege
	}
	if err := (&Comparison{}).WriteFile(link); err != nil {
		t.Fatal(err)
	}
	there, err := os.Lstat(link)
	if err != nil || there.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link became %v, %v", there.Mode(), err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the target has %d bytes, mode %v; want some, 0600: %v", info.Size(), info.Mode(), err)
	}
}
