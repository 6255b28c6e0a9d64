package process

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

func TestPrinted(t *testing.T) {
	var shown strings.Builder
	p := NewHost[int, int]("worker", "", &shown).printed(7)
	for _, piece := range []string{"one\ntw", "o\r\n", "", "\xff\n", "and", " the rest"} {
		p.Write([]byte(piece))
	}
	if got, want := shown.String(), "worker 7: one\nworker 7: two\nworker 7: \uFFFD\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.end()
	p.end()
	if got, want := shown.String(), "worker 7: one\nworker 7: two\nworker 7: \uFFFD\nworker 7: and the rest\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.end(); got != "one\ntwo\r\n\uFFFD\nand the rest" {
		t.Errorf("%q is kept", got)
	}
}

// TestOutputOfManyChildren has children that print at once, to a writer that takes no two at once.
func TestOutputOfManyChildren(t *testing.T) {
	var shown bytes.Buffer
	h := NewHost[int, int]("worker", "", &shown)
	var all sync.WaitGroup
	for number := range 4 {
		all.Go(func() {
			p := h.printed(number)
			for range 100 {
				p.Write([]byte("a line\n"))
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
		var shown strings.Builder
		p := NewHost[int, int]("worker", "", &shown).printed(1)
		for range 50_000 {
			p.Write([]byte(piece))
		}
		p.Write([]byte("the end"))
		if text := p.end(); len(text) > 2*keepPrinted || len(text) < keepPrinted || !strings.HasSuffix(text, "the end") {
			t.Errorf("%d bytes are kept", len(text))
		}
		if cap(p.last) > 8*keepPrinted || cap(p.line) > 8*keepPrinted {
			t.Errorf("%d and %d bytes are held", cap(p.last), cap(p.line))
		}
		if n := strings.Count(shown.String(), "x"); n < 50_000*99 {
			t.Errorf("%d characters of %d were shown", n, 50_000*99)
		}
		p = &printed{}
		p.Write([]byte(piece))
		if len(p.line) > 0 {
			t.Error("lines are gathered for nobody")
		}
	}
}
