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

// A noteWriter writes notes and messages to stderr. On a terminal that can move its cursor, it can show
// a display below all printed lines. Several goroutines may use it at once. Each Write must consist of
// whole lines.
type noteWriter struct {
	to       io.Writer
	terminal *os.File // nil: not a terminal, or one that cannot move its cursor
	color    bool

	mutex sync.Mutex
	lines []line // of the display
	drawn int    // number of lines on the screen
}

// newNoteWriter returns a noteWriter for a file. TERM=dumb is the sign of a terminal that cannot move its
// cursor. Any value of NO_COLOR turns colours off (https://no-color.org).
func newNoteWriter(f *os.File) *noteWriter {
	n := &noteWriter{to: f}
	if term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && movesCursor(f) {
		n.terminal, n.color = f, os.Getenv("NO_COLOR") == ""
	}
	return n
}

func (n *noteWriter) Write(p []byte) (written int, err error) {
	n.print(func() { written, err = plainWriter{n.to}.Write(p) })
	return written, err
}

// print calls a function that prints above the display, here or on another writer to the same terminal.
func (n *noteWriter) print(printing func()) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.erase()
	printing()
	n.draw()
}

// show replaces the lines of the display.
func (n *noteWriter) show(lines []line) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.erase()
	n.lines = lines
	n.draw()
}

// erase clears the display. An error of the terminal does not stop the search.
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

// A line of a display consists of parts of different colours.
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

// write writes the line, cut to a number of columns, without characters that would move the cursor.
func (l line) write(b *strings.Builder, columns int, colored bool) {
	left, whole := columns, 0
	for _, p := range l {
		for _, r := range p.text {
			whole += runeWidth(r)
		}
	}
	if whole > columns {
		left-- // for the mark of a cut
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

// runeWidth returns the largest number of columns that a character may take: two from the first block
// with wide characters on (Unicode Standard Annex 11), except for the signs of the displays here.
func runeWidth(r rune) int {
	switch {
	case unicode.IsControl(r):
		return 0
	case r >= 0x1100 && r != '…' && r != '█' && r != '░':
		return 2
	}
	return 1
}

// A plainWriter writes texts from untrusted sources, such as records of other people. It replaces control
// characters other than tabs and line ends by U+FFFD, because they could control the terminal. Each
// Write must consist of whole characters.
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

// maxLine is the largest length of a line of an error message, in characters: a name in a file can be
// longer than a screen.
const maxLine = 1000

// shortened removes the middle of every line that is longer than maxLine. The place of an error is at
// the beginning of its message, and the reason often at the end.
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
