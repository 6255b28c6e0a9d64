package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
)

func fragmentOf(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteFragment(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFragment: it holds the best, is small, asks for nothing and runs nothing, and every rule of its style is about its own root element.
func TestFragment(t *testing.T) {
	r := mustReport(t, Source{hostileScript, everything(t)}, Source{"b", everything(t)})
	text := fragmentOf(t, r)
	best := r.Runs[0].Summary.Best
	for _, want := range []string{figure.Milliseconds(best.Time) + " ms</span>", "&lt;img src=x onerror=", "final measurement", "<summary>causes of failures: ", `class="bar"`} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in it", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|<img|<!--|<link|url\(|@import|</i>\s*<img|<html|<body|ZgotmplZ`).FindString(text); found != "" {
		t.Errorf("%s stands in it", found)
	}
	if len(text) > 150_000 {
		t.Errorf("it has %d bytes", len(text))
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(text)[1]
	for _, rule := range regexp.MustCompile(`(?m)^([^ {][^{]*)\{`).FindAllStringSubmatch(style, -1) {
		for _, selector := range strings.Split(rule[1], ",") {
			if !strings.Contains(selector, ".ndtune-report") {
				t.Errorf("the style %s is not about the fragment alone", selector)
			}
		}
	}
}

func TestFragmentOfFailures(t *testing.T) {
	recorded := everything(t)
	for i := range recorded.Results {
		recorded.Results[i].Status, recorded.Results[i].Reason = tune.Compile, fmt.Sprintf("error: the cause %c", 'a'+i%25)
	}
	r := mustReport(t, Source{"r", recorded})
	text := fragmentOf(t, r)
	if !strings.Contains(text, "No configuration is correct.") || strings.Contains(text, "<svg") ||
		len(r.Runs[0].Failures) != 25 || strings.Count(text, "the cause ") != 20 {
		t.Errorf("%d causes: %s", len(r.Runs[0].Failures), text)
	}
}

func TestCurve(t *testing.T) {
	recorded := everything(t)
	recorded.Results = recorded.Results[:5]
	for i, ms := range []float64{4, 0, 2, 3, 1} {
		result := &recorded.Results[i]
		if *result = (tune.Result{Configuration: result.Configuration, Status: tune.Runtime, Reason: "it failed"}); ms > 0 {
			result.Status, result.Times, result.Objective = tune.Correct, []float64{ms}, ms
		}
	}
	run := mustReport(t, Source{"r", recorded}).Runs[0]
	want := curve{
		Dots: "M120.0 0.0h0M360.0 100.0h0M480.0 50.0h0M600.0 150.0h0", Best: "M120.0 0.0H360.0V100.0H600.0V150.0H600",
		Low: "1.000", High: "4.000", Axis: "time (ms)", Count: 5,
	}
	if got := run.curve(); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	run.results, run.ranking = run.results[:2], tune.Rank(run.objective, run.results[:2])
	if got := run.curve(); got != nil {
		t.Errorf("a curve of one value: %+v", got)
	}
}

// TestFragmentInNotebooks: the scheme of the notebook comes before that of the system.
func TestFragmentInNotebooks(t *testing.T) {
	text := fragmentOf(t, mustReport(t, Source{"r", everything(t)}))
	path := filepath.Join(t.TempDir(), "notebook.html")
	if err := os.WriteFile(path, []byte("<!doctype html><meta charset=utf-8><body><p>Notebook.</p>"+text), 0o666); err != nil {
		t.Fatal(err)
	}
	const light, dark = "rgb(255, 255, 255)", "rgb(27, 30, 35)"
	for _, system := range []string{light, dark} {
		p := &tab{browser.Open(t, "file://"+path, browser.View{Wide: 900, High: 900, Scale: 1, Dark: system == dark})}
		for theme, want := range map[string]string{"": system, "true": light, "false": dark} {
			got := eval[string](p, fmt.Sprintf(`(document.body.dataset.jpThemeLight = %q, getComputedStyle(document.querySelector(".ndtune-report")).backgroundColor)`, theme))
			if got != want {
				t.Errorf("the system is %s, the theme %q: it is %s", system, theme, got)
			}
		}
		if got := eval[string](p, `getComputedStyle(document.querySelector("p")).fontSize`); got != "16px" {
			t.Errorf("the text around it has %s", got)
		}
		p.Quiet()
	}
}
