package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// TestModelIsTheRecord compares every column with the results, to the last bit.
func TestModelIsTheRecord(t *testing.T) {
	r := everything(t)
	run := mustReport(t, Source{"r", r}).Runs[0]
	for i, result := range r.Results {
		for j, p := range run.Parameters {
			if got, want := p.Values[run.index(parameterColumn(j))[i]], space.FormatValue(result.Configuration.At(j)); got != want {
				t.Errorf("row %d: %s=%s, want %s", i, p.Name, got, want)
			}
		}
		if got := tune.Statuses()[run.index(columnStatus)[i]]; got != result.Status {
			t.Errorf("row %d: %s, want %s", i, got, result.Status)
		}
		if got := run.index(columnFlags)[i]; got&flagVerified != 0 != result.Verified || got&flagEarly != 0 != result.EarlyStopped {
			t.Errorf("row %d: flags %b, want %v %v", i, got, result.Verified, result.EarlyStopped)
		}
		if got := run.Devices[run.index(columnDevice)[i]-1]; got != result.Device {
			t.Errorf("row %d: device %s, want %s", i, got, result.Device)
		}
		want := math.NaN()
		if len(result.Times) > 0 {
			want = result.Time()
		}
		if got := run.numbers(columnTime)[i]; math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("row %d: time %v, want %v", i, got, want)
		}
		if at := run.index(columnReason)[i]; at == 0 != (result.Status == tune.Correct) {
			t.Errorf("row %d: %s has the reason %d", i, result.Status, at)
		} else if at > 0 {
			reason := run.Reasons[at-1]
			if want := strings.ToValidUTF8(result.Reason, "\uFFFD"); reason.Text != want || run.Failures[reason.Failure].Status != string(result.Status) {
				t.Errorf("row %d: reason %q of %v, want %q", i, reason.Text, run.Failures[reason.Failure], want)
			}
		}
	}
}

// TestEncodeKeepsColumns takes the page's data apart again.
func TestEncodeKeepsColumns(t *testing.T) {
	r := mustReport(t, Source{"a", everything(t)}, Source{"b", everything(t)})
	text, packed, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(text, "<>&\u2028\u2029"); i >= 0 {
		t.Errorf("%q stands in the page as it is", text[i:i+1])
	}
	var back Report
	if err := json.Unmarshal([]byte(text), &back); err != nil {
		t.Fatal(err)
	}
	gzipped, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		t.Fatal(err)
	}
	blob, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range back.Runs {
		if run.Kernel != hostileImage || run.Device.Name != hostileScript {
			t.Errorf("the names are %q and %q", run.Kernel, run.Device.Name)
		}
		for j, c := range run.Columns {
			want := r.Runs[i].Columns[j].bytes()
			if c.Offset%8 != 0 || !bytes.Equal(blob[c.Offset:c.Offset+len(want)], want) {
				t.Errorf("run %d, column %s has changed", i, c.Name)
			}
		}
	}
}

func TestFailuresAreGrouped(t *testing.T) {
	r := everything(t)
	run := mustReport(t, Source{"r", r}).Runs[0]
	counts := map[tune.Status]int{}
	for _, result := range r.Results {
		counts[result.Status]++
	}
	if len(run.Failures) != 5 {
		t.Errorf("%d reasons, not 5: %+v", len(run.Failures), run.Failures)
	}
	for i, f := range run.Failures {
		if f.Count != counts[tune.Status(f.Status)] {
			t.Errorf("%s: %d, want %d", f.Status, f.Count, counts[tune.Status(f.Status)])
		}
		if i > 0 && f.Count > run.Failures[i-1].Count {
			t.Error("the most frequent is not the first")
		}
		if f.Status == "compile" && !strings.Contains(f.Text, "error: "+hostileScript) {
			t.Errorf("a failure to compile is shown as %q", f.Text)
		}
	}
}

func TestLongReasonsAreCut(t *testing.T) {
	r := everything(t)
	for i := range r.Results {
		if r.Results[i].Status == tune.Compile {
			r.Results[i].Reason = "does not build\n" + strings.Repeat("ä", 1<<20) + " error"
		}
	}
	text, _, err := mustReport(t, Source{"r", r}).encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 100<<10 {
		t.Errorf("the report is %d bytes long", len(text))
	}
}

func TestSpent(t *testing.T) {
	r := everything(t)
	spent := mustReport(t, Source{"r", r}).Runs[0].Spent
	var sum tune.Durations
	for _, result := range r.Results {
		sum.Build += result.Durations.Build
		sum.Measure += result.Durations.Measure
	}
	if spent.Build != milliseconds(sum.Build) || spent.Measure != milliseconds(sum.Measure) {
		t.Errorf("%+v, want %v and %v", spent, sum.Build, sum.Measure)
	}
	// One result every 20 ms, none of which takes so long: nothing overlaps.
	n := float64(len(r.Results))
	if *spent.Wall != 20*n || math.Abs(*spent.Wall-*spent.Idle-milliseconds(sum.Build+sum.Measure)-n*0.01) > 1e-6 {
		t.Errorf("by the clock %v, idle %v", *spent.Wall, *spent.Idle)
	}
}

func TestSummary(t *testing.T) {
	r := everything(t)
	s := mustReport(t, Source{"r", r}).Runs[0].Summary
	var times []float64
	for _, result := range r.Results {
		if result.Status == tune.Correct {
			times = append(times, result.Objective)
		}
	}
	slices.Sort(times)
	n := len(times)
	if median := (times[(n-1)/2] + times[n/2]) / 2; *s.Median != median || *s.Worst != times[n-1] {
		t.Errorf("median %v and worst %v, want %v and %v", *s.Median, *s.Worst, median, times[n-1])
	}
	if *s.OverWorst != *s.Worst/s.Best.SearchObjective {
		t.Errorf("%v times better than the worst", *s.OverWorst)
	}
	if s.Combinations != "96" {
		t.Errorf("%s combinations", s.Combinations)
	}
	if !strings.Contains(s.Best.YAML, "block_size_x: 64\ntile: 2\nscale: 0.5\n") {
		t.Errorf("YAML:\n%s", s.Best.YAML)
	}
}

func TestNothingToReport(t *testing.T) {
	if _, err := New(nil, "", created); err == nil {
		t.Error("a report of nothing")
	}
	if _, err := New([]Source{{"empty.csv", &record.Record{}}}, "", created); err == nil || !strings.Contains(err.Error(), "empty.csv") {
		t.Errorf("of a record without results: %v", err)
	}
	r := everything(t)
	for i := range r.Results {
		r.Results[i].Status, r.Results[i].Reason = tune.Runtime, ""
	}
	report := mustReport(t, Source{"r", r})
	if report.Runs[0].Summary.Best != nil || len(report.Runs[0].Notices) != 1 {
		t.Errorf("%+v", report.Runs[0].Summary)
	}
	var b bytes.Buffer
	if err := report.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), "No configuration is correct.") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// TestLargeTimes: what is shown of times is finite.
func TestLargeTimes(t *testing.T) {
	r := everything(t)
	i := slices.IndexFunc(r.Results, func(r tune.Result) bool { return r.Status == tune.Correct })
	r.Results = r.Results[i : i+1]
	r.Results[0].Times = []float64{1e308, 1e308}
	want := "report r: the times of " + r.Results[0].Configuration.String() + " are too large to be computed with; remove this result"
	report, err := New([]Source{{"r", r}}, "", created)
	if err == nil {
		_, _, err = report.encode()
	}
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestARankIsOfAWholeRun: rows that a page lacks come without ranks, since they may have changed those
// that it has.
func TestARankIsOfAWholeRun(t *testing.T) {
	r := mustReport(t, Source{"r", everything(t)})
	for from, want := range map[int]bool{0: true, 10: false} {
		part, err := r.Part(from, Progress{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(part), `"name":"rank"`); got != want {
			t.Errorf("from row %d on: a column of ranks: %t", from, got)
		}
	}
}

// numbers is a column of numbers; nil where the run has none of that name.
func (run *Run) numbers(name string) []float64 {
	for _, c := range run.Columns {
		if c.Name == name {
			return c.numbers
		}
	}
	return nil
}
