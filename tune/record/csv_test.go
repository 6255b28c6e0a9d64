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
	"github.com/ndtune/ndtune/tune/score"
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
			Configuration: l.configuration(indices{0, 0, 0}), Status: tune.Correct, Verified: true,
			Times: []float64{1, 2, 6}, Final: []float64{2.5, 3, 2},
			AtFinal:   &score.Judgement{Metrics: []score.MetricValue{{Name: "GB/s", Value: 4.5}}, Objective: 2.5},
			Metrics:   []score.MetricValue{{Name: "status", Value: -7}, {Name: "GB/s", Value: math.NaN()}},
			Durations: tune.Durations{Build: 1500 * time.Microsecond},
			Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600)),
		},
		{Configuration: l.configuration(indices{0, 1, 1}), Status: tune.Compile, Reason: "-D x=1\r\nerror: \xff\x00"},
	}}
	want := [][]string{
		{"x", "f", "parameter.time", "status", "time", "time_min", "time_median", "time_mean", "time_max", "time_stddev", "final_time", "GB/s", "metric.status",
			"verified", "rank", "final.GB/s", "final.status", "final_runs", "reason", "build_ms", "verify_ms", "measure_ms", "framework_ms", "search_ms", "timestamp", "runs"},
		{"16", "2.0", "'=a", "correct", "2", "1", "2", "3", "6", "2.6457513110645907", "2.5", "NaN", "-7",
			"true", "1", "4.5", "", "2.5 3 2", "", "1.5", "0", "0", "0", "0", "2026-01-02T02:04:05.0000006Z", "1 2 6"},
		{"16", "0.5", "b", "compile", "", "", "", "", "", "", "", "", "",
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
	plain := tune.Result{Configuration: l.configuration(indices{0}), Status: tune.Correct}
	stopped, second := plain, plain
	stopped.Configuration, stopped.EarlyStopped = l.configuration(indices{1}), true
	second.Configuration, second.Device = l.configuration(indices{1}), "1:0"
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
