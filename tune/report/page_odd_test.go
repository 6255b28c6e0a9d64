package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// TestOddRecords opens pages of records that lack most of what others have, or have much of it.
func TestOddRecords(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*record.Record)
		big    string // what stands on top; empty: that nothing is correct
	}{
		{"nothing is correct", func(r *record.Record) {
			for i := range r.Results {
				r.Results[i].Status, r.Results[i].Reason = tune.Compile, fmt.Sprint("reason ", i)
			}
		}, ""},
		{"one result", func(r *record.Record) { r.Results = r.Results[:1] }, "0.1420 ms"},
		{"bare, as of a table", func(r *record.Record) {
			r.Header = record.Header{Format: record.FormatCSV, Parameters: r.Header.Parameters, Objective: tune.Objective{Name: "time"}}
			for i := range r.Results {
				q := &r.Results[i]
				r.Results[i] = tune.Result{Configuration: q.Configuration, Status: q.Status, Times: q.Times, Objective: q.Objective}
			}
		}, "0.01775 ms"},
		{"more is better", func(r *record.Record) {
			r.Header.Objective = tune.Objective{Name: "GB/s", Maximize: true}
			for i := range r.Results {
				r.Results[i].Final, r.Results[i].AtFinal = nil, nil
				r.Results[i].Objective, _ = r.Results[i].Metric("GB/s")
			}
		}, "0.01775 ms"},
		{"a parameter of a thousand values", func(r *record.Record) {
			list := []space.Parameter{{Name: "x"}}
			for v := range 1000 {
				list[0].Values = append(list[0].Values, v)
			}
			r.Header.Parameters, r.Results = list, nil
			s := mustSpace(t, list)
			for i := range s.Len() {
				ms := float64(i+1) / 8
				r.Results = append(r.Results, tune.Result{Configuration: s.At(i), Status: tune.Correct, Times: []float64{ms}, Objective: ms, Timestamp: created.Add(time.Duration(i) * time.Second)})
			}
		}, "0.1250 ms"},
		{"times that differ by rounding", func(r *record.Record) {
			r.Results = r.Results[:1:1]
			for i, ms := range []float64{0.1 + 0.2, 0.3, 0.3} {
				q := r.Results[0]
				q.Configuration = everything(t).Results[i].Configuration
				q.Times, q.Objective, q.Metrics = []float64{ms}, ms, []tune.MetricValue{{Name: "GB/s", Value: 1e17 + 16*float64(i)}}
				r.Results = append(r.Results, q)
			}
			r.Results = r.Results[1:]
		}, "0.3000 ms"},
		{"parameters of one value", func(r *record.Record) {
			r.Header.Parameters = []space.Parameter{{Name: "x", Values: []space.Value{1}}}
			r.Results = []tune.Result{{Configuration: mustSpace(t, r.Header.Parameters).At(0), Status: tune.Correct, Times: []float64{2, 2}, Objective: 2}}
		}, "2.000 ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := everything(t)
			test.change(r)
			report := mustReport(t, Source{"r", r})
			p := open(t, report, browser.Desktop)
			if test.big == "" {
				if got := p.Text("#summary h2"); got != "No configuration is correct" {
					t.Errorf("the page begins with %q", got)
				}
			} else if got := p.Text("#best-time"); got != test.big || got != figure.Milliseconds(report.Runs[0].Summary.Best.Time)+" ms" {
				t.Errorf("the best has %q, want %q", got, test.big)
			}
			p.useEverything()
			p.Quiet()
		})
	}
}
