package worker

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

func TestPrinted(t *testing.T) {
	var shown lines
	p := newPrinted(&shown, 7)
	for _, piece := range []string{"one\ntw", "o\r\n", "", "\xff\n", "and", " the rest"} {
		p.add([]byte(piece))
	}
	if got, want := shown.String(), "worker 7: one\nworker 7: two\nworker 7: \uFFFD\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.finish()
	p.finish()
	if got, want := shown.String(), "worker 7: one\nworker 7: two\nworker 7: \uFFFD\nworker 7: and the rest\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.text(); got != "one\ntwo\r\n\uFFFD\nand the rest" {
		t.Errorf("%q is kept", got)
	}
}

// TestOutputOfManyWorkers has workers that print at once, to a writer that takes no two at once.
func TestOutputOfManyWorkers(t *testing.T) {
	var shown bytes.Buffer
	p := newPool(nil, []tune.Device{{}}, nil, Options{Workers: 1, Output: &shown})
	var all sync.WaitGroup
	for number := range 4 {
		all.Go(func() {
			printed := newPrinted(p.launcher.output, number)
			for range 100 {
				printed.add([]byte("a line\n"))
			}
		})
	}
	all.Wait()
	if n := strings.Count(shown.String(), ": a line\n"); n != 400 {
		t.Errorf("%d lines", n)
	}
}

// TestPrintedIsBounded prints megabytes, in lines and in none.
func TestPrintedIsBounded(t *testing.T) {
	for _, piece := range []string{strings.Repeat("x", 99) + "\n", strings.Repeat("x", 100)} {
		var shown lines
		p := newPrinted(&shown, 1)
		for range 50_000 {
			p.add([]byte(piece))
		}
		p.add([]byte("the end"))
		p.finish()
		if text := p.text(); len(text) > 2*keepPrinted || len(text) < keepPrinted || !strings.HasSuffix(text, "the end") {
			t.Errorf("%d bytes are kept", len(text))
		}
		if cap(p.last) > 8*keepPrinted || cap(p.line) > 8*keepPrinted {
			t.Errorf("%d and %d bytes are held", cap(p.last), cap(p.line))
		}
		if n := shown.count("x"); n < 50_000*99 {
			t.Errorf("%d characters of %d were shown", n, 50_000*99)
		}
		p = newPrinted(nil, 1)
		p.add([]byte(piece))
		if len(p.line) > 0 {
			t.Error("lines are gathered for nobody")
		}
	}
}
