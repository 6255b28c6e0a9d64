package main

import (
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// A noteWriter is where notes and messages go: stderr. On a terminal that can move its cursor it
// keeps lines below all that is printed, until they are hidden; elsewhere there are none. It can be
// used by several goroutines at once, each Write being whole lines.
type noteWriter struct {
	to       io.Writer
	terminal *os.File // nil: it is none, or one that only prints
	color    bool

	mutex sync.Mutex
	lines []line // that stand below
	drawn int    // how many of them are on the screen
}

// newNoteWriter writes to a file. The terminal says with TERM=dumb that it only prints, and its
// user with NO_COLOR, whatever it is, to have no colours (https://no-color.org).
func newNoteWriter(f *os.File) *noteWriter {
	n := &noteWriter{to: f}
	if term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && movesCursor(f) {
		n.terminal, n.color = f, os.Getenv("NO_COLOR") == ""
	}
	return n
}

// terminalOf is the terminal that can show a display; nil where there is none.
func terminalOf(w io.Writer) *os.File {
	if n, ok := w.(*noteWriter); ok {
		return n.terminal
	}
	return nil
}

func (n *noteWriter) Write(p []byte) (written int, err error) {
	n.print(func() { written, err = plainWriter{n.to}.Write(p) })
	return written, err
}

// print prints something above the lines, here or on another writer to the same terminal.
func (n *noteWriter) print(printing func()) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.erase()
	printing()
	n.draw()
}

// show puts lines below, in the place of those that are there.
func (n *noteWriter) show(lines []line) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.erase()
	n.lines = lines
	n.draw()
}

// erase moves up to the first line and clears from there on. An error of the terminal is none of
// the search.
func (n *noteWriter) erase() {
	if n.drawn > 0 {
		_, _ = io.WriteString(n.to, strings.Repeat("\x1b[A", n.drawn)+"\r\x1b[J")
	}
	n.drawn = 0
}

func (n *noteWriter) draw() {
	if n.terminal == nil || len(n.lines) == 0 {
		return
	}
	columns, _, err := term.GetSize(int(n.terminal.Fd()))
	if err != nil || columns < 2 {
		columns = 80
	}
	var b strings.Builder
	for _, l := range n.lines {
		l.write(&b, columns-1, n.color) // a full line would wrap on some terminals
		b.WriteString("\r\n")
	}
	_, _ = io.WriteString(n.to, b.String())
	n.drawn = len(n.lines)
}
