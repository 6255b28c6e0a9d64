package job

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A scripted evaluator takes its times from tables, by configuration: those of the search, and
// those of the final measurement. It stands for a device without a clock.
type scripted struct {
	device         hardware.Device
	search, finals map[string]float64
}

func (s *scripted) Device() hardware.Device { return s.device }

func (s *scripted) Capacity() int { return 1 }

func (s *scripted) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		return tune.Result{Configuration: c, Status: tune.Correct, Verified: true, Times: []float64{s.search[c.Key()]}, Timestamp: time.Unix(1, 0)}, nil
	})
}

func (s *scripted) Cards(context.Context) ([]string, error) { return []string{""}, nil }

func (s *scripted) Remeasure(_ context.Context, _ string, configurations []space.Configuration, _ int, _ bool) ([]tune.Turns, error) {
	var times []tune.Turns
	for _, c := range configurations {
		ms := s.finals[c.Key()]
		times = append(times, tune.Turns{Times: []float64{ms, 0.99 * ms, 9 * ms}}) // the median is ms
	}
	return times, nil
}

// The search of a kernel that makes several steps a launch, as hotspot of Rodinia: 48 and 4 are
// the best of the search by the time of a step, 64 and 3 the best of the final measurement. The
// shortest launch, 48 and 3, is the best of neither, and a step of 16 and 4 took no part in the final
// measurement.
var (
	scriptedSearch = map[string]float64{
		"16,3": 8.1, "16,4": 5.3, "48,3": 3.1, "48,4": 3.7, "64,3": 3.3, "64,4": 4.9,
	}
	scriptedFinals = map[string]float64{"48,3": 3.17, "48,4": 4.13, "64,3": 3.07, "64,4": 4.87}
)

const scriptedWinner = "block_size=64, steps=3"

func scriptedProblem(t *testing.T, o score.Objective) *problem.Problem {
	t.Helper()
	p, err := problem.New(definition.Definition{
		Kernel: definition.Kernel{Name: "hotspot", Source: " "}, ProblemSize: []definition.Expr{"1"},
		Parameters: []space.Parameter{{Name: "block_size", Values: []space.Value{16, 48, 64}}, {Name: "steps", Values: []space.Value{3, 4}}},
		Metrics:    []definition.Metric{{Name: "time a step", Expression: "time / steps"}, {Name: "steps/ms", Expression: "steps / time"}},
		Objective:  o,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scriptedRun searches, as ndtune tune does, with a log at a path, which it may resume. It
// returns the printed results, and what the page of --serve holds.
func scriptedRun(t *testing.T, p *problem.Problem, device, path string) (outcome *tune.Outcome, printed string, page report.Best) {
	t.Helper()
	e := &scripted{device: hardware.Device{Name: device, Timer: hardware.TimerEvent}, search: map[string]float64{}, finals: map[string]float64{}}
	s, err := p.Space(t.Context(), e.device)
	if err != nil {
		t.Fatal(err)
	}
	header := record.Header{
		Digest: p.Digest(), Kernel: p.KernelName(), Device: e.device, Parameters: p.Definition().Parameters,
		Objective: p.Objective(), Metrics: p.MetricNames(e.device), Iterations: 1, Verified: true, Started: time.Unix(0, 0),
	}
	for i := range s.Len() {
		c := s.At(i)
		values := fmt.Sprintf("%d,%d", c.Int("block_size"), c.Int("steps"))
		e.search[c.Key()], e.finals[c.Key()] = scriptedSearch[values], scriptedFinals[values]
	}
	log, err := record.Open(path, header)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out bytes.Buffer
	shown := Printer{
		Console: &ui.Console{Out: &out, Notes: io.Discard}, problem: p,
		Bar: ui.NewProgress(io.Discard, s.Len(), "configuration", true),
	}
	server, err := live.Open("127.0.0.1:0", "ndtune test")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	shownPage := server.Begin(filepath.Base(log.Path()), log.Header(), s.Len())
	outcome, err = loop.Run(context.Background(), p, e, loop.Options{Space: s, Log: log, Finalists: 4, OnResult: func(r tune.Result, resumed bool) {
		shown.Result(r, resumed)
		shownPage.Add(r, resumed)
	}})
	if err != nil {
		t.Fatal(err)
	}
	shownPage.End(outcome.Results, ends[outcome.Stop].page())
	shown.end(outcome, s.Len())
	follower := report.Follow("live", log.Header(), "ndtune test")
	live, err := follower.Report(outcome.Results, true, time.Unix(2, 0))
	if err != nil {
		t.Fatal(err)
	}
	return outcome, out.String(), *live.Runs[0].Summary.Best
}

// TestOneWinner searches with objectives of which the final measurement changes the order, and
// reads what each output says of the winner: the same configuration, with the same figures to the
// last digit.
func TestOneWinner(t *testing.T) {
	for _, o := range []score.Objective{{Name: "time a step"}, {Name: "steps/ms", Maximize: true}} {
		t.Run(strings.ReplaceAll(o.Name, "/", " a "), func(t *testing.T) { oneWinner(t, o) })
	}
}

func oneWinner(t *testing.T, o score.Objective) {
	p, folder := scriptedProblem(t, o), t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	outcome, printed, page := scriptedRun(t, p, "first", at("log.jsonl"))
	ms, steps := scriptedFinals["64,3"], 3.0 // constants would be divided without rounding
	aStep, rate := ms/steps, steps/ms
	want := map[string]float64{"time a step": aStep, "steps/ms": rate}

	best := regexp.MustCompile(`best performing configuration: (.*)`).FindStringSubmatch(printed)
	if best == nil || best[1] != ui.FormatMeasured(scriptedWinner, 3.07, []score.MetricValue{{Name: "time a step", Value: aStep}, {Name: "steps/ms", Value: rate}}) {
		t.Errorf("the terminal: %q", best)
	}
	_, resumed, _ := scriptedRun(t, p, "first", at("log.jsonl"))
	if again := regexp.MustCompile(`best performing configuration: (.*)`).FindStringSubmatch(resumed); len(again) == 0 || again[1] != best[1] {
		t.Errorf("the resumed run: %q", again)
	}
	checkSummary(t, "the live page", &page, want, want[o.Name])

	kept := mustReadRecord(t, at("log.jsonl"))
	written := &record.Record{Header: kept.Header, Results: outcome.Results}
	for _, name := range []string{"results.json", "results.csv"} {
		if err := record.Write(at(name), written); err != nil {
			t.Fatal(err)
		}
	}
	checkCSV(t, at("results.csv"), want)
	checkT4(t, at("results.json"), want, o)
	for _, conversion := range [][2]string{{"log.jsonl", "converted.json"}, {"log.jsonl", "converted.csv"}, {"results.json", "again.jsonl"}} {
		if err := record.Write(at(conversion[1]), mustReadRecord(t, at(conversion[0]))); err != nil {
			t.Fatal(err)
		}
	}
	checkCSV(t, at("converted.csv"), want)
	for _, name := range []string{"log.jsonl", "results.json", "converted.json", "again.jsonl"} {
		made := mustReportOf(t, mustReadRecord(t, at(name)))
		checkSummary(t, "HTML of "+name, made.Runs[0].Summary.Best, want, want[o.Name])
		checkMarkdown(t, name, made, o)
		checkCompared(t, p, at(name), folder)
		tuned := mustReadRecord(t, at(name))
		if found := matmul.BestConfigurations(tuned.Header.Objective, tuned.Results); found[0] != scriptedWinner || found[1] != "block_size=48, steps=4" {
			t.Errorf("--tuned %s of matmul: %v", name, found)
		}
		if found := tune.Best(tuned.Header.Objective, tuned.Results); found.Configuration.String() != scriptedWinner {
			t.Errorf("--tuned %s of diffusion: %s", name, found.Configuration)
		}
	}
}

// checkCSV reads the row of rank 1, as another program would.
func checkCSV(t *testing.T, path string, metrics map[string]float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cell := func(row []string, name string) string {
		at := slices.Index(rows[0], name)
		if at < 0 {
			t.Fatalf("CSV: no column %s in %q", name, rows[0])
		}
		return row[at]
	}
	for _, row := range rows[1:] {
		if cell(row, "rank") != "1" {
			continue
		}
		if got := cell(row, "block_size") + "," + cell(row, "steps"); got != "64,3" || cell(row, "final_time") != "3.07" {
			t.Errorf("CSV: rank 1 is %q", row)
		}
		for name, want := range metrics {
			if got, err := strconv.ParseFloat(cell(row, "final."+name), 64); err != nil || got != want {
				t.Errorf("CSV: %s is %v, want %v", name, got, want)
			}
		}
		return
	}
	t.Errorf("CSV: no row of rank 1 in %q", rows)
}

// checkT4 reads the result of rank 1, as another program would.
func checkT4(t *testing.T, path string, metrics map[string]float64, o score.Objective) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Results []struct {
			Configuration map[string]int
			Rank          int
			NDTune        struct {
				AtFinal struct {
					Metrics   map[string]float64
					Objective float64
				} `json:"at_final"`
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Results {
		if r.Rank != 1 {
			continue
		}
		if r.Configuration["block_size"] != 64 || r.Configuration["steps"] != 3 || !maps.Equal(r.NDTune.AtFinal.Metrics, metrics) || r.NDTune.AtFinal.Objective != metrics[o.Name] {
			t.Errorf("T4: rank 1 is %+v", r)
		}
		return
	}
	t.Errorf("T4: no result of rank 1 in %s", data)
}

func mustReadRecord(t *testing.T, path string) *record.Record {
	t.Helper()
	r, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustReportOf(t *testing.T, r *record.Record) *report.Report {
	t.Helper()
	made, err := report.New([]report.Source{{Name: "r", Record: r}}, "ndtune test", time.Unix(2, 0))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// checkSummary checks the best in the data of a page.
func checkSummary(t *testing.T, where string, b *report.Best, metrics map[string]float64, objective float64) {
	t.Helper()
	if b.Configuration != scriptedWinner || b.Time != 3.07 || !b.Final || b.Objective != objective {
		t.Errorf("%s: %s, %v ms, final %t, objective %v; want %s, 3.07 ms, objective %v", where, b.Configuration, b.Time, b.Final, b.Objective, scriptedWinner, objective)
	}
	if len(b.Metrics) != len(metrics) {
		t.Errorf("%s: metrics %v", where, b.Metrics)
	}
	for _, m := range b.Metrics {
		if !m.AtTime || m.Value != metrics[m.Name] {
			t.Errorf("%s: %s is %v, of the final measurement: %t; want %v", where, m.Name, m.Value, m.AtTime, metrics[m.Name])
		}
	}
}

func checkMarkdown(t *testing.T, where string, made *report.Report, o score.Objective) {
	t.Helper()
	var text bytes.Buffer
	if err := made.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "Best: **3.070 ms**") {
		t.Errorf("Markdown of %s: %s", where, text.String())
	}
	rows := regexp.MustCompile(`(?m)^\| *(\d+) \| *(\d) \|`).FindAllStringSubmatch(text.String(), -1)
	var order []string
	for _, row := range rows {
		order = append(order, row[1]+","+row[2])
	}
	// The finalists by their final measurement: 1.023, 1.033, 1.057, 1.218 ms a step; then the others.
	if got := strings.Join(order, " "); got != "64,3 48,4 48,3 64,4 16,4 16,3" {
		t.Errorf("Markdown of %s: the order %s", where, got)
	}
}

// checkCompared compares a record with one of another device.
func checkCompared(t *testing.T, p *problem.Problem, path, folder string) {
	t.Helper()
	other := filepath.Join(folder, "other.jsonl")
	if _, err := os.Stat(other); err != nil {
		scriptedRun(t, p, "second", other)
	}
	made, err := compare.New([]compare.Source{{Name: path, Record: mustReadRecord(t, path)}, {Name: other, Record: mustReadRecord(t, other)}}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range made.Devices {
		if d.Best == nil || d.Best.Configuration != scriptedWinner || d.Best.Time != 3.07 || !d.Best.InTurn {
			t.Errorf("compare of %s: %+v", filepath.Base(path), d.Best)
			continue
		}
		summary := mustReportOf(t, mustReadRecord(t, path)).Runs[0].Summary
		if d.Best.Gain == nil || summary.OverMedian == nil || *d.Best.Gain != *summary.OverMedian {
			t.Errorf("compare of %s: the gain over the median is %v, in the report %v", filepath.Base(path), text(d.Best.Gain), text(summary.OverMedian))
		}
	}
}

func text(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}
