package record

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

func table(t *testing.T, r *Record) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := EncodeCSV(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestCSV(t *testing.T) {
	h := Header{
		Parameters: []space.Parameter{{Name: "x", Values: []space.Value{16}}, {Name: "f", Values: []space.Value{2.0, 0.5}}, {Name: "time", Values: []space.Value{"=a", "b"}}},
		Metrics:    []string{"GB/s", "status"},
	}
	l, err := newLayout(h.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	r := &Record{h, []tune.Result{
		{
			Configuration: l.configuration(digits{0, 0, 0}), Status: tune.Correct, Verified: true,
			Times: []float64{1, 2, 6}, Final: []float64{2.5, 3, 2},
			AtFinal:   &problem.Judgement{Metrics: []problem.MetricValue{{Name: "GB/s", Value: 4.5}}, Objective: 2.5},
			Metrics:   []problem.MetricValue{{Name: "status", Value: -7}, {Name: "GB/s", Value: math.NaN()}},
			Durations: tune.Durations{Build: 1500 * time.Microsecond},
			Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600)),
		},
		{Configuration: l.configuration(digits{0, 1, 1}), Status: tune.Compile, Reason: "-D x=1\r\nerror: \xff\x00"},
	}}
	want := [][]string{
		{"x", "f", "parameter.time", "status", "time", "time_min", "time_median", "time_max", "time_stddev", "final_time", "GB/s", "metric.status",
			"verified", "rank", "final.GB/s", "final.status", "final_runs", "reason", "build_ms", "verify_ms", "measure_ms", "framework_ms", "search_ms", "timestamp", "runs"},
		{"16", "2.0", "'=a", "correct", "3", "1", "2", "6", "2.6457513110645907", "2.5", "NaN", "-7",
			"true", "1", "4.5", "", "2.5 3 2", "", "1.5", "0", "0", "0", "0", "2026-01-02T02:04:05.0000006Z", "1 2 6"},
		{"16", "0.5", "b", "compile", "", "", "", "", "", "", "", "",
			"false", "", "", "", "", "'-D x=1\nerror: \ufffd\ufffd", "0", "0", "0", "0", "0", "", ""},
	}
	got := table(t, r)
	for i := range want {
		if strings.Join(got[i], "|") != strings.Join(want[i], "|") {
			t.Errorf("row %d\n%q, want\n%q", i, got[i], want[i])
		}
	}
}

func TestCSVHasTheCircumstancesOfAnyResult(t *testing.T) {
	h := Header{Parameters: []space.Parameter{{Name: "x", Values: []space.Value{1, 2}}}, Metrics: []string{"device"}}
	l, err := newLayout(h.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	plain := tune.Result{Configuration: l.configuration(digits{0}), Status: tune.Correct}
	stopped, second := plain, plain
	stopped.Configuration, stopped.EarlyStopped = l.configuration(digits{1}), true
	second.Configuration, second.Device = l.configuration(digits{1}), "1:0"
	both := stopped
	both.Device = "1:0"
	for name, c := range map[string]struct {
		result tune.Result
		want   string // the metric, and what follows it up to the reason, of header and rows
	}{
		"neither":       {func() tune.Result { r := plain; r.Configuration = second.Configuration; return r }(), "device|verified|reason;|false|;|false|;"},
		"early stopped": {stopped, "device|verified|early_stopped|reason;|false|false|;|false|true|;"},
		"a device":      {second, "metric.device|verified|device|reason;|false||;|false|1:0|;"},
		"both":          {both, "metric.device|verified|early_stopped|device|reason;|false|false||;|false|true|1:0|;"},
	} {
		rows := table(t, &Record{h, []tune.Result{plain, c.result}})
		got := ""
		metric, reason := slices.Index(rows[0], "final_time")+1, slices.Index(rows[0], "reason")
		for _, row := range rows {
			got += strings.Join(row[metric:reason+1], "|") + ";"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCSVNeutralisesFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
		"+1":                 "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
		" =1": "' =1", "\n=1": "'\n=1", "\t=1": "'\t=1", "\tx": "'\tx", "\r=1": "'\n=1",
		"a=1": "a=1", "": "", " ": " ", "é": "é",
	} {
		if got := csvText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestCSVRows(t *testing.T) {
	for seed := range uint64(50) {
		r := newMaker(seed).record(20)
		rows := table(t, r) // all rows have the length of the header
		if len(rows) != len(r.Results)+1 {
			t.Fatalf("%d rows, want %d", len(rows), len(r.Results)+1)
		}
	}
}

func csvOf(t testing.TB, r *Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := EncodeCSV(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCSVRoundTrip reads tables of whatever a run can bring forth, but for what tables mend
// or have no place for.
func TestCSVRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		m := newMaker(seed)
		want := m.record(30)
		want.Header.Metrics = []string{"GB/s", "a \"b\""}
		want.Header.Objective = objectiveOf([]string{"time", "GB/s"}[m.IntN(2)])
		for i := range want.Results {
			r := &want.Results[i]
			r.Global, r.Local, r.Offset, r.Parts = nil, nil, nil, nil // a table has no place for them
			r.Durations = tune.Durations{Build: time.Duration(m.IntN(1e12)), Measure: time.Duration(m.IntN(1e12)), Search: 1}
			r.Reason = csvMend.Replace(strings.ToValidUTF8(r.Reason, "\ufffd"))
			if r.Status != tune.Correct && r.Reason == "" {
				r.Reason = "no reason was recorded"
			}
			if r.Status == tune.Correct {
				r.Times, r.Metrics = []float64{m.Float64(), m.Float64()}, []problem.MetricValue{{Name: "GB/s", Value: m.Float64()}}
				r.Objective = objectiveValue(r, want.Header.Objective)
				if m.IntN(2) == 0 {
					r.Final = []float64{m.Float64(), m.Float64()}
					r.AtFinal = &problem.Judgement{Metrics: []problem.MetricValue{{Name: "GB/s", Value: m.Float64()}}}
					r.AtFinal.Objective = finalObjective(r.Final, r.AtFinal.Metrics, want.Header.Objective)
				}
			}
		}
		got := mustDecode(t, csvOf(t, want))
		if len(want.Results) != len(got.Results) {
			t.Fatalf("%d results, want %d", len(got.Results), len(want.Results))
		}
		for i := range got.Results {
			a, b := &got.Results[i], &want.Results[i]
			if !sameValues(a.Configuration, b.Configuration) && !slices.ContainsFunc(want.Header.Parameters, func(p space.Parameter) bool { return p.Name == "type" }) {
				t.Errorf("configuration %s, want %s", a.Configuration, b.Configuration) // the text "16" becomes a number
			}
			a.Configuration = b.Configuration
			if diff := difference(*a, *b); diff != "" {
				t.Fatalf("seed %d, result %d: %s", seed, i, diff)
			}
		}
		if h := got.Header; h.Format != FormatCSV || !slices.Equal(h.Metrics, want.Header.Metrics) || !h.Objective.Equal(want.Header.Objective) && len(want.Results) > 0 {
			t.Errorf("header %+v", h)
		}
	}
}

func TestCSVNamesComeBack(t *testing.T) {
	h := Header{
		Parameters: []space.Parameter{{Name: "status", Values: []space.Value{1, 2}}, {Name: "x", Values: []space.Value{2.0, 0.5, 3}}, {Name: "s", Values: []space.Value{"=a", "'=a", "'a", "", "0x10", "1e5x", "inf", "007"}}},
		Metrics:    []string{"x", "verified", "=1", "time"},
	}
	l, err := newLayout(h.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	want := &Record{Header: h}
	for i := range 8 {
		want.Results = append(want.Results, tune.Result{
			Configuration: l.configuration(digits{uint16(i % 2), uint16(i % 3), uint16(i)}), Status: tune.Correct, Times: []float64{2}, Objective: 2,
			Metrics: []problem.MetricValue{{Name: "x", Value: 5}, {Name: "verified", Value: 6}, {Name: "=1", Value: 7}, {Name: "time", Value: 8}},
		})
	}
	got := mustDecode(t, csvOf(t, want))
	sameResults(t, got.Results, want.Results)
	if !slices.Equal(got.Header.Metrics, h.Metrics) {
		t.Errorf("metrics %q", got.Header.Metrics)
	}
}

// TestCSVFromOthers reads tables that somebody has worked on.
func TestCSVFromOthers(t *testing.T) {
	const header = "x,status,time,time_min,time_median,time_max,time_stddev,final_time,GB/s,verified,note\n"
	r := mustDecode(t, "\ufeff"+header+"16,correct,2.5,,,,,,7,true,mine\r\n8,compile,,,,,,,,false,\n16,correct,1,,,,,,7,true,again\n")
	if len(r.Results) != 2 || !slices.Equal(r.Results[0].Times, []float64{2.5}) || !r.Results[0].Verified || r.Results[0].Objective != 2.5 {
		t.Errorf("%+v", r.Results)
	}
	if second := r.Results[1]; second.Status != tune.Compile || second.Reason != "no reason was recorded" || second.Metrics != nil {
		t.Errorf("%+v", second)
	}
	if got := r.Header.Parameters; len(got) != 1 || !slices.Equal(got[0].Values, []space.Value{8, 16}) {
		t.Errorf("parameters %v", got)
	}
	if r := mustDecode(t, header); len(r.Results) != 0 || len(r.Header.Parameters) != 0 {
		t.Errorf("a table without rows: %+v", r)
	}
	for says, data := range map[string]string{
		"neither a run log nor":      "x,status,time\n1,correct,2\n",
		"row 2: the status \"fine\"": header + "16,fine,2.5,,,,,,7,true,\n",
		"row 3: time: \"fast\" is":   header + "16,correct,2.5,,,,,,7,true,\n8,correct,fast,,,,,,7,true,\n",
		"row 2: GB/s: \"many\" is":   header + "16,correct,2.5,,,,,,many,true,\n",
		"wrong number of fields":     header + "16,correct\n",
		"row 1: a parameter stands":  "x," + header + "1,16,correct,2.5,,,,,,7,true,\n",
		`"a b" is not a name that a`: "a b,y" + header[1:] + "1,16,correct,2.5,,,,,,7,true,\n",
	} {
		if _, err := Decode([]byte(data)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
