package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/score"
)

// onDevices are records of one problem with hostile names on three devices. The best of the first
// fails on the second and was not measured on the third; the times of the second and the third are
// others, so that the bests differ.
func onDevices(t *testing.T) []Source {
	t.Helper()
	var sources []Source
	for i, name := range []string{hostileScript, hostileImage, hostileRich} {
		r := everything(t)
		r.Header.Digest, r.Header.Device.Name = []string{"d", "d", ""}[i], name // without a digest, a notice says so
		sources = append(sources, Source{name + ".jsonl", r})
		for j := range r.Results {
			q := &r.Results[j]
			if i == 0 || q.Status != tune.Correct {
				continue
			}
			slower := float64(i) + math.Abs(float64(q.Configuration.Int("tile"))/float64(2*i)-1)
			for _, times := range [][]float64{q.Times, q.Final} {
				for k := range times {
					times[k] *= slower
				}
			}
			q.Objective, q.AtFinal = q.Time(), nil
		}
		judgeFinals(r.Results)
	}
	best := tune.Rank(score.Objective{Name: "time"}, sources[0].Record.Results).Indices[0]
	failed := &sources[1].Record.Results[best]
	failed.Status, failed.Reason, failed.Times, failed.Final, failed.AtFinal = tune.Runtime, hostileImage+"\nand more", nil, nil, nil
	sources[2].Record.Results = slices.Delete(sources[2].Record.Results, best, best+1)
	return sources
}

// TestPageShowsTheComparison reads the figures of the page and compares them with the Comparison.
func TestPageShowsTheComparison(t *testing.T) {
	r := mustReport(t, onDevices(t)...)
	c := r.Comparison
	if c == nil || len(c.Devices) != 3 || c.Overall == nil || len(c.Notices) == 0 {
		t.Fatalf("the comparison is %+v", c)
	}
	p := open(t, r, browser.Desktop)
	if got := p.Text("#comparison h1"); got != c.Comparison.Title() {
		t.Errorf("the title is %q, want %q", got, c.Comparison.Title())
	}
	p.sameCells("tr:not(.over, .gap)", slices.Concat(c.Matrix...), c)
	p.sameCells("tr.over", c.Overall.Cells, c)
	for _, table := range c.Comparison.Tables() {
		id := map[string]string{compare.TableDevices: "#compare-devices", compare.TableMatrix: "#compare-matrix"}[table.Name]
		if id == "" {
			continue
		}
		if got := p.Texts(id + " .footnotes li"); !slices.Equal(got, trimmed(table.Notes)) {
			t.Errorf("below %s stands %q, want %q", id, got, table.Notes)
		}
		if table.Name != compare.TableMatrix {
			if got := p.Texts(id + " tbody :is(th, td)"); !slices.Equal(got, trimmed(slices.Concat(table.Rows...))) {
				t.Errorf("%s has %q, want %q", id, got, table.Rows)
			}
		}
	}
	if got := p.Text("#compare-overall .chosen"); got != strings.TrimSpace(c.Overall.Configuration) {
		t.Errorf("the best over all is %q, want %q", got, c.Overall.Configuration)
	}
	if got, want := p.Text("#compare-overall > p:last-child"), figure.Number(c.Overall.Portability); !strings.Contains(got, want) {
		t.Errorf("portability %q, want %s", got, want)
	}
	if got := p.Texts("#compare-notices p"); !slices.Equal(got, trimmed(c.Notices)) {
		t.Errorf("the notices are %q, want %q", got, c.Notices)
	}
	p.useEverything()
	if eval[bool](p, `window.pwned !== undefined || document.querySelector("img, #comparison script") !== null`) {
		t.Error("a name has become an element or has run")
	}
	p.Quiet()
}

// sameCells compares the cells of some rows of the matrix with the comparison. Every state must be
// among those of the devices.
func (p *tab) sameCells(rows string, cells []compare.Cell, c *Comparison) {
	p.T.Helper()
	at := func(part string) []string {
		return eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => %s)`, ".matrix tbody "+rows+" td", part))
	}
	big, small, title, color := at(`e.querySelector("b").textContent`), at(`e.querySelector("small").textContent`), at(`e.title`), at(`e.style.background`)
	if len(big) != len(cells) {
		p.T.Fatalf("%d cells, want %d", len(big), len(cells))
	}
	seen := map[string]bool{}
	for i, cell := range cells {
		seen[cell.State] = true
		var wantBig, wantSmall string
		switch cell.State {
		case compare.StateMeasured:
			wantBig, wantSmall = figure.Number(*cell.Slowdown)+"×", figure.Milliseconds(*cell.Time)+" ms"
			if !cell.InTurn {
				wantBig = "~" + wantBig
			}
		case compare.StateFailed:
			wantBig, wantSmall = fmt.Sprintf("fails [%d]", slices.Index(c.Reasons(), cell.Why())+1), cell.Status.Text()
			if title[i] != cell.Reason || !strings.Contains(p.Text("#compare-matrix .footnotes"), cell.Why()) {
				p.T.Errorf("cell %d has the reason %q, want %q", i, title[i], cell.Reason)
			}
		case compare.StateMissing:
			wantBig, wantSmall = "?", "not measured"
		}
		if big[i] != wantBig || small[i] != wantSmall || (color[i] != "") != (cell.State == compare.StateMeasured) {
			p.T.Errorf("cell %d shows %q, %q on %q, want %q, %q", i, big[i], small[i], color[i], wantBig, wantSmall)
		}
	}
	if len(cells) > len(c.Devices) && (!seen[compare.StateMeasured] || !seen[compare.StateFailed] || !seen[compare.StateMissing]) {
		p.T.Errorf("not all states are shown: %v", seen)
	}
}

// TestComparisonCanBeRead opens it in the light, and in the dark on a phone; then it switches. Black or white on any
// colour has a contrast of at least 4.58.
func TestComparisonCanBeRead(t *testing.T) {
	r := mustReport(t, onDevices(t)...)
	for _, view := range []browser.View{
		{Wide: 1280, High: 900, Scale: 1}, {Wide: 360, High: 740, Scale: 2, Mobile: true, Dark: true},
	} {
		p := open(t, r, view)
		for range 2 {
			if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > view.Wide {
				t.Errorf("%+v: the page is %d wide", view, wide)
			}
			contrast := eval[float64](p, `(() => {
				const luminance = (color) => {
					const [r, g, b] = color.match(/\d+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
					return 0.2126 * r + 0.7152 * g + 0.0722 * b;
				};
				return Math.min(...[...document.querySelectorAll(".matrix td.measured")].map((e) => {
					const style = getComputedStyle(e), [low, high] = [luminance(style.color), luminance(style.backgroundColor)].sort((a, b) => a - b);
					return (high + 0.05) / (low + 0.05);
				}));
			})()`)
			if contrast < 4.58 {
				t.Errorf("%+v: a cell has the contrast %v", view, contrast)
			}
			p.Click("#scheme")
		}
		p.Quiet()
	}
}

// TestWhatIsCompared: records of one problem on several devices, and no others.
func TestWhatIsCompared(t *testing.T) {
	made := func(change func([]Source)) *Report {
		sources := onDevices(t)
		change(sources)
		return mustReport(t, sources...)
	}
	if r := made(func([]Source) {}); r.Comparison == nil || r.NoComparison != "" {
		t.Errorf("records of three devices: %v, %q", r.Comparison, r.NoComparison)
	}
	for name, change := range map[string]func([]Source){
		"another problem": func(s []Source) { s[1].Record.Header.Digest = "e" },
		"one device": func(s []Source) {
			for i := range s {
				s[i].Record.Header.Device = s[0].Record.Header.Device
			}
		},
		"a device without a name": func(s []Source) { s[1].Record.Header.Device.Name = " " },
	} {
		if r := made(change); r.Comparison != nil || r.NoComparison != "" {
			t.Errorf("%s: it is compared, or it is said why not: %q", name, r.NoComparison)
		}
	}
	r := made(func(s []Source) { s[1].Record.Results[0].Status, s[1].Record.Results[0].Objective = tune.Correct, -1 })
	if r.Comparison != nil || !strings.Contains(r.NoComparison, "the objective time is -1") {
		t.Errorf("a negative objective: %v, %q", r.Comparison, r.NoComparison)
	}
	p := open(t, r, browser.Desktop)
	if got := p.Text("#comparison"); !strings.Contains(got, r.NoComparison) {
		t.Errorf("the page says %q", got)
	}
	p.Quiet()
}

// TestReasonsOfCellsAreCut: what a build log can be has no place in a cell.
func TestReasonsOfCellsAreCut(t *testing.T) {
	sources := onDevices(t)
	long := strings.Repeat("x", 2*maxReason)
	for i := range sources[1].Record.Results {
		if r := &sources[1].Record.Results[i]; r.Status != tune.Correct {
			r.Reason = long
		}
	}
	r := mustReport(t, sources...)
	var b bytes.Buffer
	if err := r.Comparison.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), `"`+long) || !strings.Contains(b.String(), "[…]") {
		t.Error("a reason of 8 KiB is in the page")
	}
}
