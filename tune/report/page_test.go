package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// TestPage looks at one page in all its parts.
func TestPage(t *testing.T) {
	recorded := everything(t)
	p := open(t, mustReport(t, Source{hostileScript, recorded}), browser.Desktop)
	defer func() { p.T = t }()
	for _, part := range []struct {
		name string
		test func(*tab, *testing.T, *record.Record)
	}{
		{"the record", pageShowsTheRecord}, {"no front", pageHasNoFront}, {"formats", pageFormatsAsTheTerminal}, {"charts", chartsAreDrawn},
		{"table", tableOfPage}, {"brush", brushOfPage}, {"policy", policyOfPage},
	} {
		t.Run(part.name, func(t *testing.T) {
			p.T = t
			part.test(p, t, recorded)
		})
	}
}

// pageShowsTheRecord reads the figures of the page and compares them with the record.
func pageShowsTheRecord(p *tab, t *testing.T, record *record.Record) {
	best := 0
	for _, i := range []int{3, 4, 5, 8} { // the finalists
		if f := record.Results[i].FinalTime(); f > 0 && (best == 0 || f < record.Results[best].FinalTime()) && record.Results[i].Status == tune.Correct {
			best = i
		}
	}
	b := record.Results[best]
	if got, want := p.Text("#best-time"), figure.Milliseconds(b.FinalTime())+" ms"; got != want {
		t.Errorf("best time %q, want %q", got, want)
	}
	var values []string
	for i := range b.Configuration.Len() {
		values = append(values, space.FormatValue(b.Configuration.At(i)))
	}
	if got := p.Texts("#best-values dd"); !slices.Equal(got, trimmed(values)) {
		t.Errorf("best values %q, want %q", got, values)
	}
	if got, want := p.Text(".paste code"), problem.BuildOptions(b.Configuration, nil); got != strings.TrimSpace(want) {
		t.Errorf("options %q, want %q", got, want)
	}
	if got, want := p.Texts(".figures b")[0], figure.Number(12.5/b.FinalTime()); got != want {
		t.Errorf("GB/s at the final time %q, want %q", got, want)
	}
	if got := p.Text("#evaluations"); got != strconv.Itoa(len(record.Results)) {
		t.Errorf("%s evaluations, want %d", got, len(record.Results))
	}
	counts := map[tune.Status]int{}
	for _, r := range record.Results {
		counts[r.Status]++
	}
	for status, n := range counts {
		if got := p.Text(fmt.Sprintf(".legend [data-status=%s] b", status)); got != strconv.Itoa(n) {
			t.Errorf("%s %s, want %d", got, status, n)
		}
	}
	if got, want := p.Text("h1"), hostileImage; got != want {
		t.Errorf("the kernel is shown as %q, want %q", got, want)
	}
	if names, values := p.Texts(".facts dt"), p.Texts(".facts dd"); len(names) != len(values) || !slices.Contains(names, "problem size") || !slices.Contains(values, "256 × 128") {
		t.Errorf("the facts are %q: %q", names, values)
	}
	p.sameColumns(record.Results)
	p.sameRows(record.Results)
	p.Quiet()
}

func trimmed(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strings.TrimSpace(text)
	}
	return all
}

// sameColumns compares, to the last bit, what the page has decoded with the results.
func (p *tab) sameColumns(results []tune.Result) {
	p.T.Helper()
	for name, of := range map[string]func(*tune.Result) float64{
		"time":      func(r *tune.Result) float64 { return r.Time() },
		"min":       func(r *tune.Result) float64 { return r.Stats().Min },
		"max":       func(r *tune.Result) float64 { return r.Stats().Max },
		"mean":      func(r *tune.Result) float64 { return r.Stats().Mean },
		"deviation": func(r *tune.Result) float64 { return r.Stats().StandardDeviation },
		"final":     (*tune.Result).FinalTime,
		"build":     func(r *tune.Result) float64 { return milliseconds(r.Durations.Build) },
		"end":       func(r *tune.Result) float64 { return milliseconds(r.Timestamp.Sub(created)) },
		"m1":        func(r *tune.Result) float64 { v, _ := r.Metric(hostileImage); return v },
		"launches":  func(r *tune.Result) float64 { return float64(len(r.Times)) },
	} {
		got := eval[[]float64](p, fmt.Sprintf(`Array.from(ndtune.state.run.column(%q), (v) => Number.isNaN(v) ? 0 : v)`, name))
		if len(got) != len(results) {
			p.T.Fatalf("column %s has %d rows, not %d", name, len(got), len(results))
		}
		for i := range results {
			if want := of(&results[i]); math.Float64bits(got[i]) != math.Float64bits(want) && got[i] != want {
				p.T.Errorf("%s of row %d is %v, want %v", name, i, got[i], want)
			}
		}
	}
	configurations := eval[[]string](p, `Array.from({length: ndtune.state.run.count}, (_, i) => ndtune.state.run.configuration(i))`)
	for i := range results {
		if want := results[i].Configuration.String(); configurations[i] != want {
			p.T.Errorf("row %d is %s, want %s", i, configurations[i], want)
		}
	}
}

// sameRows compares what the table shows first, by the time, with the results.
func (p *tab) sameRows(results []tune.Result) {
	p.T.Helper()
	order := tune.Rank(score.Objective{Name: "time"}, results).Indices
	heads := p.Texts("#table .head button")
	for i, row := range order[:5] {
		r := &results[row]
		cells := p.Texts(fmt.Sprintf("#table .rows .row:nth-child(%d) span", i+1))
		for column, want := range map[string]string{
			"#": strconv.Itoa(row + 1), "block_size_x": strconv.Itoa(r.Configuration.Int("block_size_x")), "status": "correct",
			"rank ↑": strconv.Itoa(i + 1), "time (ms)": figure.Milliseconds(r.Time()), "min (ms)": figure.Milliseconds(r.Stats().Min),
			"GB/s": figure.Number(12.5 / r.Time()), "launches": "3", "build (ms)": figure.Milliseconds(milliseconds(r.Durations.Build)),
		} {
			at := slices.Index(heads, column)
			if at < 0 {
				p.T.Fatalf("the table has no column %q: %q", column, heads)
			}
			if cells[at] != want {
				p.T.Errorf("row %d of the table, %s: %q, want %q", i+1, column, cells[at], want)
			}
		}
	}
}

// pageFormatsAsTheTerminal compares the two ways to write a number.
func pageFormatsAsTheTerminal(p *tab, t *testing.T, _ *record.Record) {
	numbers := []float64{0, 1, -1, 0.5, 1000, 999.96, 9999.96, 12345.5, 12344.5, 2.5, 1e20, 1e21, 1.5e22, 1e-5, 1.2346e-12, 5e-324, 0.0001, 1e-9, 1.0005, 147.6975, 0.49405, 1234.5, 1235.5, 0.0625, 1.0625, 33.0625}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		numbers = append(numbers, math.Exp(60*random.Float64()-30))
	}
	for range 500 {
		numbers = append(numbers, float64(random.IntN(200000))/16) // many of them halfway
	}
	var literals []string
	for _, v := range numbers {
		literals = append(literals, strconv.FormatFloat(v, 'g', -1, 64))
	}
	list := "[" + strings.Join(literals, ",") + "]"
	shown, times := eval[[]string](p, list+".map(ndtune.formatNumber)"), eval[[]string](p, list+".map(ndtune.formatTime)")
	for i, v := range numbers {
		if want := figure.Number(v); shown[i] != want {
			t.Errorf("the page writes %v as %s, the terminal as %s", v, shown[i], want)
		}
		if want := figure.Milliseconds(v); times[i] != want {
			t.Errorf("the page writes %v ms as %s, the terminal as %s", v, times[i], want)
		}
	}
}

// TestNothingOfTheRecordRuns looks at a page of hostile names in all its parts.
func TestNothingOfTheRecordRuns(t *testing.T) {
	p := open(t, mustReport(t, Source{hostileImage, everything(t)}, Source{hostileScript, everything(t)}), browser.Desktop)
	p.useEverything()
	if eval[bool](p, `window.pwned !== undefined || document.querySelector("img, #summary script, #sections script") !== null`) {
		t.Error("a name has become an element or has run")
	}
	if n := eval[int](p, `document.scripts.length`); n != 4 {
		t.Errorf("the page has %d scripts, not its 4", n)
	}
	p.Quiet()
}

// useEverything tries every choice of every control, points at every chart, brushes, sorts,
// filters and opens what can be opened.
func (p *tab) useEverything() {
	p.T.Helper()
	p.Do(`
		for (const s of [...document.querySelectorAll("select")].map((_, i) => i)) {
			for (let k = 0; ; k++) {
				const select = document.querySelectorAll("select")[s]; // made anew with each choice
				if (!select || k >= select.options.length) break;
				select.selectedIndex = k;
				select.dispatchEvent(new Event("change"));
			}
		}
		for (const click of ["#log", "#log", "#scheme", "#scheme", "#table .head button:nth-child(3)", "#table .head button:nth-child(3)"]) document.querySelector(click).click();
		for (const d of document.querySelectorAll("details")) d.open = true;
	`)
	for i := range eval[int](p, `document.querySelectorAll(".chart").length`) {
		p.pointAt(i)
	}
	for i := range p.Texts("#runs button") {
		p.Do(fmt.Sprintf(`document.querySelectorAll("#runs button")[%d].click()`, i))
	}
}

// pointAt moves the pointer over a chart and clicks on it.
func (p *tab) pointAt(chart int) {
	p.T.Helper()
	box := eval[[]float64](p, fmt.Sprintf(`(() => {
		const chart = document.querySelectorAll(".chart")[%d];
		chart.scrollIntoView({ block: "center", behavior: "instant" });
		const box = chart.getBoundingClientRect();
		return [box.x, box.y, box.width, box.height];
	})()`, chart))
	if box[2] == 0 {
		return // hidden
	}
	for _, at := range [][2]float64{{0.2, 0.35}, {0.7, 0.6}} {
		p.PointAt(box[0]+box[2]*at[0], box[1]+box[3]*at[1])
	}
	p.ClickAt(box[0]+box[2]/2, box[1]+box[3]/2)
}

// chartsAreDrawn finds something on each chart, and what a point says where it is.
func chartsAreDrawn(p *tab, t *testing.T, _ *record.Record) {
	for i, label := range eval[[]string](p, `[...document.querySelectorAll(".chart")].map((c) => c.getAttribute("aria-label"))`) {
		colors := eval[int](p, fmt.Sprintf(`(() => {
			const canvas = document.querySelectorAll(".chart")[%d].querySelector("canvas");
			const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
			return new Set(pixels).size;
		})()`, i))
		if colors < 20 {
			t.Errorf("%s has %d colours: it is empty", label, colors)
		}
	}
	p.Quiet()
}

// TestSchemesAndSizes opens the page in the light, and in the dark on a phone.
func TestSchemesAndSizes(t *testing.T) {
	r := mustReport(t, Source{"r", everything(t)}, Source{"s", everything(t)})
	lightness := func(p *tab) int {
		return eval[int](p, `Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0])`)
	}
	for _, test := range []struct {
		name string
		view browser.View
	}{
		{"light", browser.Desktop}, {"dark phone", browser.View{Wide: 360, High: 740, Scale: 2, Mobile: true, Dark: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := open(t, r, test.view)
			if light := lightness(p) > 128; light == test.view.Dark {
				t.Errorf("the paper has the lightness %d", lightness(p))
			}
			if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > test.view.Wide {
				t.Errorf("the page is %d wide, and the screen %d", wide, test.view.Wide)
			}
			p.Click("#scheme")
			if light := lightness(p) > 128; light != test.view.Dark {
				t.Errorf("after the switch the paper has the lightness %d", lightness(p))
			}
			if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > test.view.Wide {
				t.Errorf("after the switch the page is %d wide, and the screen %d", wide, test.view.Wide)
			}
			p.Quiet()
		})
	}
}

// TestDirectionOfWriting: in pages, fragments and Markdown, characters that change it are escapes.
func TestDirectionOfWriting(t *testing.T) {
	recorded := everything(t)
	recorded.Header.Device.Driver = "the \u2067cause" // Markdown has no reasons of failures
	for i := range recorded.Results {
		if r := &recorded.Results[i]; r.Reason != "" {
			r.Reason = "the \u2067cause"
		}
	}
	recorded.Header.Kernel = "a\u202eb"
	r := mustReport(t, Source{"r", recorded})
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	check := func(where, text string) {
		t.Helper()
		if strings.ContainsAny(text, "\u202e\u2067") || !strings.Contains(text, `a\u202eb`) || !strings.Contains(text, `the \u2067cause`) {
			t.Errorf("%s has not the escapes: %.300q", where, text)
		}
	}
	check("Markdown", strings.ReplaceAll(b.String(), `\\`, `\`))
	check("the fragment", fragmentOf(t, r))
	p := open(t, r, browser.Desktop)
	check("the page", eval[string](p, `document.title + document.body.innerText`))
	p.Quiet()
}

// policyOfPage tries what an injected script would: to run, to load and to send.
func policyOfPage(p *tab, t *testing.T, _ *record.Record) {
	if eval[bool](p, `(() => {
		const script = document.createElement("script");
		script.textContent = "window.pwned = 1";
		document.body.append(script);
		const div = document.createElement("div");
		div.innerHTML = '<a onclick="window.pwned = 1">x</a>';
		document.body.append(div);
		div.firstChild.click();
		return window.pwned !== undefined;
	})()`) {
		t.Error("an injected script runs")
	}
	if got := eval[string](p, `fetch("https://example.invalid/").then(() => "sent", (e) => "refused")`); got != "refused" {
		t.Errorf("a request is %s", got)
	}
	complaints := strings.Join(p.Complaints(), "\n")
	if refused := strings.Count(complaints, "Content Security Policy"); refused < 3 {
		t.Errorf("the policy has refused %d things, not 3:\n%s", refused, complaints)
	}
}
