package report

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/tune"
)

// TestBrush selects a part of an axis of the parallel coordinates with the pointer: the table
// shows those that cross it there.
func TestBrush(t *testing.T) {
	record := everything(t)
	p := open(t, mustReport(t, Source{"r", record}), browser.Desktop)
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

// TestTable filters, sorts and exports.
func TestTable(t *testing.T) {
	record := everything(t)
	p := open(t, mustReport(t, Source{"r", record}), browser.Desktop)
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
