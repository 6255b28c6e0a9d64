package report

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// brushOfPage selects a part of an axis of the parallel coordinates with the pointer: the table
// shows those that cross it there.
func brushOfPage(p *tab, t *testing.T, record *record.Record) {
	p.Fill("#query", "")
	all := p.Text("#shown")
	box := eval[[]float64](p, `(() => {
		document.querySelector("#parallel .chart").scrollIntoView({ block: "center", behavior: "instant" });
		const box = document.querySelector("#parallel .chart").getBoundingClientRect();
		return [box.x, box.y, box.width, box.height];
	})()`)
	// The last axis, of the time: it stands 90 px from the right; its lower half are the good ones.
	x, from, to := box[0]+box[2]-90, box[1]+box[3]*0.6, box[1]+box[3]-24
	p.Drag(x, from, x, to)
	p.Wait(`document.getElementById("shown").textContent.includes("brushed")`)
	interval := eval[[]float64](p, `[...ndtune.state.brush.values()][0][0].map((v) => document.getElementById("log").checked ? 10 ** v : v)`)
	want := 0
	for _, r := range record.Results {
		if r.Status == tune.Correct && r.Objective >= interval[0] && r.Objective <= interval[1] {
			want++
		}
	}
	if got := p.Text("#shown"); got == all || got != fmt.Sprintf("%d of %d, brushed above", want, len(record.Results)) {
		t.Errorf("the table shows %s, want %d (between %v)", got, want, interval)
	}
	p.Quiet()
}

// tableOfPage filters, sorts and exports.
func tableOfPage(p *tab, t *testing.T, record *record.Record) {
	count := func(is func(*tune.Result) bool) int {
		n := 0
		for i := range record.Results {
			if is(&record.Results[i]) {
				n++
			}
		}
		return n
	}
	for query, is := range map[string]func(*tune.Result) bool{
		"block_size_x=16": func(r *tune.Result) bool { return r.Configuration.Int("block_size_x") == 16 },
		"block_size_x!=16 tile>=4": func(r *tune.Result) bool {
			return r.Configuration.Int("block_size_x") != 16 && r.Configuration.Int("tile") >= 4
		},
		"status=compile":          func(r *tune.Result) bool { return r.Status == tune.Compile },
		"time<0.1":                func(r *tune.Result) bool { return r.Status == tune.Correct && r.Time() < 0.1 },
		"scale=1":                 func(r *tune.Result) bool { return r.Configuration.Float("scale") == 1 },
		"ANSWER":                  func(r *tune.Result) bool { return strings.Contains(r.Reason, "answer") },
		"nothing_has_this_text":   func(*tune.Result) bool { return false },
		"GB/s>100 status=correct": func(r *tune.Result) bool { v, _ := r.Metric("GB/s"); return v > 100 },
		"mode=plain block_size_x<64": func(r *tune.Result) bool {
			v, _ := r.Configuration.Get("mode")
			return v == "plain" && r.Configuration.Int("block_size_x") < 64
		},
	} {
		p.Fill("#query", query)
		if got, want := p.Text("#shown"), fmt.Sprintf("%d of %d", count(is), len(record.Results)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(eval[string](p, `ndtune.csvOf(ndtune.state.run, [...Array(ndtune.state.run.count).keys()])`))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(record.Results)+1 {
		t.Fatalf("the export has %d rows", len(rows))
	}
	at := slices.Index(rows[0], "time")
	for i, r := range record.Results {
		want := ""
		if len(r.Times) > 0 {
			want = strconv.FormatFloat(r.Time(), 'f', -1, 64)
		}
		if got := rows[i+1][at]; got != want {
			t.Errorf("row %d of the export has the time %s, want %s", i+1, got, want)
		}
		if got := rows[i+1][slices.Index(rows[0], "status")]; got != string(r.Status) {
			t.Errorf("row %d of the export has the status %s, want %s", i+1, got, r.Status)
		}
	}
	p.Quiet()
}

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
		{"one result", func(r *record.Record) { r.Results = r.Results[:1] }, "0.1418 ms"},
		{"bare, as of a table", func(r *record.Record) {
			r.Header = record.Header{Format: record.FormatT4, Parameters: r.Header.Parameters, Objective: score.Objective{Name: "time"}}
			for i := range r.Results {
				q := &r.Results[i]
				r.Results[i] = tune.Result{Configuration: q.Configuration, Status: q.Status, Times: q.Times, Objective: q.Objective}
			}
		}, "0.01773 ms"},
		{"more is better", func(r *record.Record) {
			r.Header.Objective = score.Objective{Name: "GB/s", Maximize: true}
			for i := range r.Results {
				r.Results[i].Final, r.Results[i].AtFinal = nil, nil
				r.Results[i].Objective, _ = r.Results[i].Metric("GB/s")
			}
		}, "0.01773 ms"},
		{"a parameter of hundreds of values", func(r *record.Record) {
			list := []space.Parameter{{Name: "x"}, {Name: "y", Values: []space.Value{1, 2}}}
			for v := range 300 {
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
				q.Times, q.Objective, q.Metrics = []float64{ms}, ms, []score.MetricValue{{Name: "GB/s", Value: 1e17 + 16*float64(i)}}
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
			// A call with some hundred thousand arguments fails: there is none with an argument for each result.
			p.Do(`for (const name of ["min", "max"]) {
				const f = Math[name];
				Math[name] = (...a) => { if (a.length > 500) throw new RangeError("too many arguments"); return f(...a); };
			}`)
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
