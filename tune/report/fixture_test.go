package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

var created = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

// hostile are names that would run if the page took any of them for HTML or script.
const (
	hostileImage  = `<img src=x onerror="window.pwned=1">`
	hostileScript = `</script><script>window.pwned=1</script>`
	hostileRich   = "{a|b} & \u2028 <!--<script>"
)

// everything is a record with one of each: all statuses, metrics, final times, several devices,
// parameters of all kinds, and hostile names wherever a name can be.
func everything(t testing.TB) *record.Record {
	t.Helper()
	list := []space.Parameter{
		{Name: "block_size_x", Values: []space.Value{64, 16, 32, 128}},
		{Name: "tile", Values: []space.Value{1, 2, 4, 8}},
		{Name: "scale", Values: []space.Value{0.5, 1.0}},
		{Name: "mode", Values: []space.Value{"plain", hostileImage, hostileRich}},
		{Name: "fixed", Values: []space.Value{7}},
	}
	r := &record.Record{Header: record.Header{
		Format: record.FormatLog, Version: 1, Kernel: hostileImage, Source: hostileScript,
		Device:     hardware.Device{Name: hostileScript, Vendor: "v", Platform: "p " + hostileImage, Driver: hostileImage, Timer: hardware.TimerEvent},
		Parameters: list, Constants: []definition.Constant{{Name: "n", Value: hostileScript}}, ProblemSize: []int{256, 128},
		Objective: score.Objective{Name: "time"}, Metrics: []string{"GB/s", hostileImage}, Iterations: 7, Verified: true,
		Strategy: hostileImage, Seed: 3, Started: created, Tool: "ndtune test",
	}}
	s := mustSpace(t, list)
	for i := range s.Len() {
		r.Results = append(r.Results, oneOfEach(s.At(i), i))
	}
	for _, i := range []int{3, 4, 5, 8} {
		result := &r.Results[i]
		result.Final = []float64{result.Time() * 0.99, result.Time() * 0.98, result.Time()}
	}
	judgeFinals(r.Results)
	return r
}

// judgeFinals sets the metrics, which are rates, and the objective, the time, of final measurements.
func judgeFinals(results []tune.Result) {
	for i := range results {
		r := &results[i]
		if len(r.Final) == 0 {
			continue
		}
		r.AtFinal = &score.Judgement{Objective: r.FinalTime()}
		for _, m := range r.Metrics {
			r.AtFinal.Metrics = append(r.AtFinal.Metrics, score.MetricValue{Name: m.Name, Value: m.Value * r.Time() / r.FinalTime()})
		}
	}
}

func mustSpace(t testing.TB, list []space.Parameter) *space.Space {
	t.Helper()
	parameters, err := space.NewParameters(list)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), parameters, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func oneOfEach(c space.Configuration, i int) tune.Result {
	r := tune.Result{
		Configuration: c, Device: fmt.Sprintf("1:%d", i%2),
		Durations: tune.Durations{Build: time.Duration(i%7) * time.Millisecond, Measure: 1500 * time.Microsecond, Framework: 10 * time.Microsecond},
		Timestamp: created.Add(time.Duration(i+1) * 20 * time.Millisecond),
	}
	switch {
	case i%11 == 1:
		r.Status, r.Reason = tune.Compile, fmt.Sprintf("CL_BUILD_PROGRAM_FAILURE\nline %d: error: %s", i, hostileScript)
	case i%11 == 2:
		r.Status, r.Reason = tune.Runtime, hostileImage
	case i%13 == 7:
		r.Status, r.Reason = tune.Correctness, fmt.Sprintf("u_new[%d] is 0.5, want 0.25\xff", i)
	case i%17 == 9:
		r.Status, r.Reason = tune.Constraints, "local memory 65536 B > device limit 49152 B"
	case i%19 == 10:
		r.Status, r.Reason = tune.Timeout, "no answer in 10s"
	default:
		x, tile := float64(c.Int("block_size_x")), float64(c.Int("tile"))
		base := 0.05*math.Pow(math.Abs(math.Log2(x/32))+1, 1.5)/math.Sqrt(tile) + 0.001*float64(i%5)
		r.Status, r.Verified = tune.Correct, i%3 != 0
		r.Times = []float64{base, base * 1.01, base * 1.003}
		r.Objective = r.Time()
		r.Metrics = []score.MetricValue{{Name: "GB/s", Value: 12.5 / r.Time()}, {Name: hostileImage, Value: float64(i) * x}}
		r.EarlyStopped = i%23 == 0
	}
	return r
}

func mustReport(t testing.TB, sources ...Source) *Report {
	t.Helper()
	r, err := New(sources, "ndtune test", created)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMain(m *testing.M) { browser.Main(m) }

// A tab is an open report.
type tab struct{ *browser.Tab }

// open opens a report from a file, as a reader does.
func open(t *testing.T, r *Report, v browser.View) *tab {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	p := &tab{browser.Open(t, "file://"+path, v)}
	p.Wait(`document.querySelector("html[data-ready], #trouble:not([hidden])")`)
	if trouble := p.Text("#trouble"); trouble != "" {
		t.Fatalf("the page says: %s", trouble)
	}
	return p
}

// eval is the value of a JavaScript expression; a promise is waited for.
func eval[T any](p *tab, expression string) T {
	p.T.Helper()
	return browser.Eval[T](p.Tab, expression)
}
