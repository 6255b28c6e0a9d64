package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"
)

// A noteWriter writes notes and messages to stderr. On a terminal that can move its cursor it keeps
// lines below everything that is printed, until they are hidden; elsewhere it has no such lines. It
// can be used by several goroutines at once. Each Write must be of whole lines.
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

// erase moves up to the first line and clears from there on. An error of the terminal does not stop
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

// A line of a display has parts of different colours.
type line []part

type part struct {
	text  string
	color color
}

// A color is one of a terminal's own, which suit its background (ECMA-48, select graphic
// rendition).
type color string

const (
	plain  color = ""
	green  color = "32"
	yellow color = "33"
)

// write writes the line, cut to a number of columns. Characters that would move the cursor are
// left out.
func (l line) write(b *strings.Builder, columns int, colored bool) {
	left := columns - 1 // for the mark of a cut
	whole := 0
	for _, p := range l {
		whole += width(p.text)
	}
	if whole <= columns {
		left = columns
	}
	for _, p := range l {
		if colored && p.color != plain {
			b.WriteString("\x1b[" + string(p.color) + "m")
		}
		for _, r := range p.text {
			if left -= runeWidth(r); left < 0 {
				break
			}
			if !unicode.IsControl(r) {
				b.WriteRune(r)
			}
		}
		if colored && p.color != plain {
			b.WriteString("\x1b[m")
		}
	}
	if whole > columns {
		b.WriteString("…")
	}
}

func width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is how many columns a character takes at most: two from the first block on that has
// wide ones (Unicode Standard Annex 11), but for the signs that displays here consist of.
func runeWidth(r rune) int {
	switch {
	case unicode.IsControl(r):
		return 0
	case r >= 0x1100 && r != '…' && r != '█' && r != '░':
		return 2
	}
	return 1
}

// A plainWriter writes texts from untrusted sources, such as records of other people. Control
// characters could change the terminal: all but tabs and line ends become U+FFFD. Each Write must
// be of whole characters.
type plainWriter struct{ to io.Writer }

func (w plainWriter) Write(text []byte) (int, error) {
	plain := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if _, err := w.to.Write(plain); err != nil {
		return 0, err
	}
	return len(text), nil
}

// maxLine is the length of a line of an error message, in characters. A name in a file can be
// longer than a screen.
const maxLine = 1000

// shortened leaves out the middle of every line that is longer than maxLine: the place of an
// error stands at the beginning, and the reason often at the end.
func shortened(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		if runes := []rune(line); len(runes) > maxLine {
			line = string(runes[:maxLine/2]) + " … " + string(runes[len(runes)-maxLine/2:])
		}
		b.WriteString(line)
	}
	return b.String()
}
