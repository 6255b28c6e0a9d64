package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/internal/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }

// A tab is an open report.
type tab struct{ *browser.Tab }

// open opens a report from a file, as a reader does.
func open(t *testing.T, r *Report, v browser.View) *tab {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	p := &tab{browser.Open(t, "file://"+path, v)}
	p.Wait(`document.querySelector("html[data-ready], #trouble:not([hidden])")`)
	if trouble := p.Text("#trouble"); trouble != "" {
		t.Fatalf("the page says: %s", trouble)
	}
	return p
}

// eval is the value of a JavaScript expression; a promise is waited for.
func eval[T any](p *tab, expression string) T {
	p.T.Helper()
	return browser.Eval[T](p.Tab, expression)
}
