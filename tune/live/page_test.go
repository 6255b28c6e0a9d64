package live

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// look opens the page of a server.
func look(t *testing.T, s *Server) *browser.Tab {
	t.Helper()
	p := browser.Open(t, s.URL(), browser.Desktop)
	p.Wait(`document.querySelector("html[data-ready], #trouble:not([hidden])")`)
	return p
}

// quiet fails where the page complained, asked for anything but its events, or showed trouble.
func quiet(p *browser.Tab, s *Server) {
	p.T.Helper()
	if trouble := p.Text("#trouble"); trouble != "" {
		p.T.Errorf("the page says: %s", trouble)
	}
	p.Quiet(s.URL()+eventsPath, s.URL()+"favicon.ico")
}

// waitForRows waits until the page has drawn so many results in the summary and in the table.
func waitForRows(p *browser.Tab, n int) {
	p.T.Helper()
	p.Wait(fmt.Sprintf(`document.getElementById("evaluations")?.textContent === %q`, formatted(n)))
}

// formatted is a number of configurations as the page writes it.
func formatted(n int) string {
	text := strconv.Itoa(n)
	if n >= 10000 {
		text = text[:len(text)-3] + "\u2009" + text[len(text)-3:]
	}
	return text
}

// A gated evaluator answers with the results of a search, each when it is let through.
type gated struct {
	search
	gate chan struct{}
}

func (g gated) Device() hardware.Device { return g.header.Device }

func (g gated) Capacity() int { return 1 }

func (g gated) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		select {
		case <-g.gate:
		case <-ctx.Done():
			return tune.Result{}, ctx.Err()
		}
		i := slices.IndexFunc(g.results, func(r tune.Result) bool { return r.Configuration.Key() == c.Key() })
		r := g.results[i]
		r.Configuration, r.Metrics, r.Objective = c, nil, 0
		return r, nil
	})
}

// TestPageFollowsARun opens the page of a real run over a recorded space: counts grow, and at the
// end all numbers are those of the outcome.
func TestPageFollowsARun(t *testing.T) {
	made := newSearch(t, 90)
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: "__kernel void k() {}"}, ProblemSize: []definition.Expr{"1"},
		Parameters: made.header.Parameters,
	}
	problem, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	evaluator := gated{made, make(chan struct{})}
	s := mustOpen(t)
	p := look(t, s)
	if got := p.Text("#live-state"); got != "Waiting for the search to begin" {
		t.Errorf("before the search the page says %q", got)
	}
	run := s.Begin("a.jsonl", made.header, 90)
	outcomes := make(chan *tune.Outcome, 1)
	go func() {
		o, err := loop.Run(context.Background(), problem, evaluator, loop.Options{OnResult: run.Add})
		if err != nil {
			t.Error(err)
		}
		outcomes <- o
	}()
	let := func(n int) {
		for range n {
			evaluator.gate <- struct{}{}
		}
	}
	waitForRows(p, 0)
	if got := p.Text("#summary .card"); got != "No configuration is correct yet" {
		t.Errorf("before the first result the page says %q", got)
	}
	for _, n := range []int{1, 9, 20} {
		let(n)
	}
	waitForRows(p, 30)
	if got := p.Text("#live"); !strings.HasPrefix(got, "Running · 30 of 90 configurations · ") {
		t.Errorf("on top the page says %q", got)
	}
	late := look(t, s) // has all from the beginning
	waitForRows(late, 30)
	let(60)
	outcome := <-outcomes
	run.End(outcome.Results, "Finished")
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	for _, p := range []*browser.Tab{p, late} {
		p.Wait(`document.getElementById("live-state").textContent === "Finished"`)
		waitForRows(p, 90)
		same(p, outcome)
	}
	<-closed
	for _, p := range []*browser.Tab{p, late} {
		p.Wait(`document.getElementById("live-state").textContent === "Finished" && document.getElementById("live").className === ""`)
		quiet(p, s) // and it has not tried to connect again
	}
}

// same compares the page with the outcome.
func same(p *browser.Tab, o *tune.Outcome) {
	p.T.Helper()
	times := browser.Eval[[]float64](p, `Array.from(ndtune.state.run.column("time"), (v) => Number.isNaN(v) ? 0 : v)`)
	configurations := browser.Eval[[]string](p, `Array.from({length: ndtune.state.run.count}, (_, i) => ndtune.state.run.configuration(i))`)
	reasons := browser.Eval[[]string](p, `Array.from({length: ndtune.state.run.count}, (_, i) => ndtune.state.run.reason(i))`)
	if len(times) != len(o.Results) {
		p.T.Fatalf("the page has %d results, not %d", len(times), len(o.Results))
	}
	counts := map[tune.Status]int{}
	for i := range o.Results {
		r := &o.Results[i]
		counts[r.Status]++
		if math.Float64bits(times[i]) != math.Float64bits(r.Time()) || configurations[i] != r.Configuration.String() || reasons[i] != strings.TrimSpace(r.Reason) {
			p.T.Errorf("row %d is %s in %v ms (%s), want %s, %v (%s)", i, configurations[i], times[i], reasons[i], r.Configuration, r.Time(), r.Reason)
		}
	}
	for status, n := range counts {
		if got := p.Text(fmt.Sprintf(".legend [data-status=%s] b", status)); got != strconv.Itoa(n) {
			p.T.Errorf("%s %s, want %d", got, status, n)
		}
	}
	if got, want := p.Text("#best-time"), figure.Milliseconds(o.Best.Time())+" ms"; got != want {
		p.T.Errorf("the best has %q, want %q", got, want)
	}
	p.Do(`document.getElementById("table").scrollIntoView({ behavior: "instant" })`)
	p.Wait(fmt.Sprintf(`document.getElementById("shown").textContent === "%[1]d of %[1]d"`, len(o.Results)))
}

// TestWhatAReaderChoseStays chooses, filters, sorts, scrolls, brushes, opens and selects, while
// results arrive.
func TestWhatAReaderChoseStays(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 300)
	run := s.Begin("a.jsonl", made.header, 300)
	add := func(from, to int) {
		for _, r := range made.results[from:to] {
			run.Add(r, false)
		}
	}
	add(0, 100)
	p := look(t, s)
	waitForRows(p, 100)
	section := func(id string) {
		// Again each time, because a part above that is drawn in between moves this one out of sight.
		p.Wait(fmt.Sprintf(`(document.getElementById(%[1]q).scrollIntoView({ block: "start", behavior: "instant" }), !ndtune.state.parts.find((part) => part.root.id === %[1]q).stale)`, id))
	}
	choose := func(id, label, value string) {
		section(id)
		p.Do(fmt.Sprintf(`
			const label = [...document.querySelectorAll("#%s label")].find((l) => l.firstChild.data.trim() === %q), select = label.querySelector("select");
			select.value = %q;
			select.dispatchEvent(new Event("change"));`, id, label, value))
	}
	choose("distribution", "as", "share")
	choose("scatter", "across", "y")
	choose("scatter", "colour", "")
	choose("heatmap", "across", "y") // by default the two that matter most, in their order
	choose("heatmap", "up", "x")
	choose("heatmap", "colour", "median")
	section("failures")
	p.Click("#failures summary")
	p.Do(`document.querySelector(".facts").open = true`)
	section("parallel")
	box := browser.Eval[[]float64](p, `(() => { const b = document.querySelector("#parallel .chart").getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()`)
	x := box[0] + box[2] - 90 // the last axis
	p.Drag(x, box[1]+box[3]*0.5, x, box[1]+box[3]-24)
	p.Wait(`document.getElementById("shown").textContent.includes("brushed")`)
	section("table")
	p.Click(`#table .head button[data-field="y"]`)
	p.Fill("#query", "y>1")
	p.Do(`document.querySelector("#table .table").scrollTop = 300;`)
	chosen := `JSON.stringify([
		[...document.querySelectorAll(".controls select")].map((s) => s.value),
		[...document.querySelectorAll("details")].map((d) => d.open),
		document.getElementById("query").value, document.querySelector("#table .table").scrollTop,
		document.querySelector("#table [aria-sort=ascending]").dataset.field,
		[...ndtune.state.brush].length,
	])`
	before := browser.Eval[string](p, chosen)
	shown := p.Text("#shown")
	interval := browser.Eval[[]float64](p, `[...ndtune.state.brush.values()][0][0].map((v) => document.getElementById("log").checked ? 10 ** v : v)`)
	add(100, 300)
	waitForRows(p, 300)
	for _, id := range []string{"distribution", "scatter", "heatmap", "failures", "parallel", "table"} {
		p.ClickAt(5, 5) // away from everything
		section(id)
	}
	if after := browser.Eval[string](p, chosen); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	want := 0
	for _, r := range made.results {
		if r.Status == tune.Correct && r.Configuration.Int("y") > 1 && r.Objective >= interval[0] && r.Objective <= interval[1] {
			want++
		}
	}
	if got := p.Text("#shown"); got == shown || got != fmt.Sprintf("%d of 300, brushed above", want) {
		t.Errorf("the table shows %q, before %q, want %d", got, shown, want)
	}
	if got := browser.Eval[int](p, `document.querySelector("#distribution select").options.length`); got != 2 {
		t.Errorf("a choice has %d options", got)
	}
	quiet(p, s)
}

// TestPageOfSeveralSearches shows the newest, and all of them at the end.
func TestPageOfSeveralSearches(t *testing.T) {
	s := mustOpen(t)
	p := look(t, s)
	for i, n := range []int{20, 40} {
		made := newSearch(t, n)
		run := s.Begin([]string{"first.jsonl", "second.jsonl"}[i], made.header, n)
		for _, r := range made.results {
			run.Add(r, false)
		}
		waitForRows(p, n)
		run.End(made.finals(), "Finished")
	}
	p.Wait(`document.querySelectorAll("#runs button").length === 2`)
	if got := p.Texts("#runs button"); !slices.Equal(got, []string{"first.jsonl", "second.jsonl"}) {
		t.Errorf("the searches are %q", got)
	}
	p.Click("#runs button:first-child")
	waitForRows(p, 20)
	if got := p.Text("#best-time"); got != "0.5000 ms" {
		t.Errorf("the final measurement of the first gives %q", got)
	}
	quiet(p, s)
}

// TestPageLosesTheServer: it says so, keeps what it has, and shows another search that is served
// at the same address.
func TestPageLosesTheServer(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 30)
	run := s.Begin("a.jsonl", made.header, 60)
	for _, r := range made.results {
		run.Add(r, false)
	}
	p := look(t, s)
	waitForRows(p, 30)
	address := authority(t, s)
	_ = s.http.Close() // as a process that crashes
	p.Wait(`document.getElementById("live-state").textContent === "The connection is lost; trying again"`)
	waitForRows(p, 30)
	again, err := Open(address, "ndtune test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Close)
	other := newSearch(t, 9)
	next := again.Begin("b.jsonl", other.header, 9)
	for _, r := range other.results {
		next.Add(r, false)
	}
	waitForRows(p, 9)
	p.Wait(`document.getElementById("live-state").textContent === "Running"`)
	next.End(nil, "Finished")
	third := newSearch(t, 12)
	last := again.Begin("c.jsonl", third.header, 12)
	for _, r := range third.results {
		last.Add(r, false)
	}
	waitForRows(p, 12)
	p.Click("#runs button:first-child")
	waitForRows(p, 9) // the first of this server, and not what the other had in its place
	for _, c := range p.Complaints() {
		if !strings.Contains(c, "ERR_CONNECTION_REFUSED") && !strings.Contains(c, "ERR_INCOMPLETE_CHUNKED_ENCODING") {
			t.Errorf("the page complains: %s", c)
		}
	}
}

// TestPageShowsTheFleet: the table of devices is above the results, and follows the fleet.
func TestPageShowsTheFleet(t *testing.T) {
	s := mustOpen(t)
	p := look(t, s)
	show := func(doing string) {
		s.ShowFleet(figure.Table{
			Title: "2 devices in the fleet", Head: []string{"machine/device", "doing"}, Number: []bool{false, false},
			Rows: [][]string{{"a/0:0", doing}, {"b/0:0", "<b>idle</b>"}}, Notes: []string{"b/0:0 refuses a search: too large"},
		})
	}
	show("k")
	p.Wait(`document.querySelector("#fleet:not([hidden]) .footnotes")`)
	if got := p.Text("#fleet"); !strings.Contains(got, "2 devices in the fleet") || !strings.Contains(got, "<b>idle</b>") || !strings.Contains(got, "refuses a search: too large") {
		t.Errorf("the page shows %q", got)
	}
	made := newSearch(t, 5)
	run := s.Begin("a.jsonl", made.header, 5)
	for _, r := range made.results {
		run.Add(r, false)
	}
	show("not heard of")
	waitForRows(p, 5)
	p.Wait(`document.getElementById("fleet").textContent.includes("not heard of")`)
	quiet(p, s)
}
