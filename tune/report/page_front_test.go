package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
)

func pageHasNoFront(p *tab, t *testing.T, _ *record.Record) {
	if !eval[bool](p, `document.getElementById("front").hidden`) {
		t.Error("a record with one objective has a front")
	}
}

// TestPageShowsTheFront compares the points of the line with the front of the record. The second objective has a name that
// would run as HTML.
func TestPageShowsTheFront(t *testing.T) {
	r := everything(t)
	r.Header.Objective.More = []score.Objective{{Name: hostileImage}}
	r.Header.Objective.Choose = "time"
	for i := range r.Results { // the finalists have no metrics of the final measurement, without the formulas
		r.Results[i].Final, r.Results[i].AtFinal = nil, nil
	}
	want := tune.Front(r.Header.Objective, r.Results)
	if len(want) < 2 {
		t.Fatalf("the front has %d configurations", len(want))
	}
	p := open(t, mustReport(t, Source{"r", r}), browser.Desktop)
	got := eval[[]int](p, `echarts.getInstanceByDom(document.querySelector("#front .chart")).getOption().series.find((s) => s.name === "front").data.map((d) => d[2])`)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the line goes through the rows %v, not %v", got, want)
	}
	axes := eval[[]string](p, `(() => { const o = echarts.getInstanceByDom(document.querySelector("#front .chart")).getOption(); return [o.xAxis[0].name, o.yAxis[0].name]; })()`)
	if !slices.Equal(axes, []string{"time (ms)", hostileImage}) {
		t.Errorf("the axes are %q", axes)
	}
	if note := p.Text("#front .note"); !strings.Contains(note, "on the front. The winner is chosen by time.") {
		t.Errorf("the note says %q", note)
	}
	p.Quiet()
}
