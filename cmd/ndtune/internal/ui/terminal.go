package ui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// NewOutput returns the output of the program to a file.
func NewOutput(f *os.File) *Output {
	return &Output{To: plainWriter{f}, Terminal: term.IsTerminal(int(f.Fd()))}
}

// An Output receives the results. It keeps the first error, such as a full disk, so that callers
// that print need not check each write.
type Output struct {
	To       io.Writer
	Terminal bool
	Err      error
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.To.Write(p)
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return n, err
}

// A NoteWriter writes notes and messages to stderr. On a terminal that can move its cursor, it can show
// a display below all printed lines. Several goroutines may use it at once. Each Write must consist of
// whole lines.
type NoteWriter struct {
	*notesScreen
	label string // of all that it writes and shows, for one of several tasks at the same time; "": none
	lines []line // of its display
}

// A notesScreen is the end of a terminal, with the displays of all its writers.
type notesScreen struct {
	to       io.Writer
	terminal *os.File // nil: not a terminal, or one that cannot move its cursor
	color    bool

	mutex sync.Mutex
	shown []*NoteWriter // that have a display, in the order of their appearance
	drawn int           // number of lines on the screen
}

// NewNoteWriter returns a noteWriter for a file. TERM=dumb is the sign of a terminal that cannot move its
// cursor. Any value of NO_COLOR turns colours off (https://no-color.org).
func NewNoteWriter(f *os.File) *NoteWriter {
	n := &NoteWriter{notesScreen: &notesScreen{to: f}}
	if term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && movesCursor(f) {
		n.terminal, n.color = f, os.Getenv("NO_COLOR") == ""
	}
	return n
}

// Labelled returns a writer to the same file, whose lines and display have a label.
func (n *NoteWriter) Labelled(label string) *NoteWriter {
	return &NoteWriter{notesScreen: n.notesScreen, label: label}
}

func (n *NoteWriter) Write(p []byte) (int, error) {
	text := p
	if n.label != "" {
		text = nil
		for line := range bytes.Lines(p) {
			text = append(append(text, n.label+": "...), line...)
		}
	}
	var err error
	n.print(func() { _, err = plainWriter{n.to}.Write(text) })
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// print calls a function that prints above the displays, here or on another writer to the same terminal.
func (s *notesScreen) print(printing func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.erase()
	printing()
	s.draw()
}

// show replaces the lines of the display.
func (n *NoteWriter) show(lines []line) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.erase()
	switch i := slices.Index(n.shown, n); {
	case len(lines) > 0 && i < 0:
		n.shown = append(n.shown, n)
	case len(lines) == 0 && i >= 0:
		n.shown = slices.Delete(n.shown, i, i+1)
	}
	n.lines = lines
	n.draw()
}

// erase clears the displays. An error of the terminal does not stop the search.
func (s *notesScreen) erase() {
	if s.drawn > 0 {
		_, _ = io.WriteString(s.to, strings.Repeat("\x1b[A", s.drawn)+"\r\x1b[J")
	}
	s.drawn = 0
}

// draw draws as many lines of the displays as the terminal has rows above its last one.
func (s *notesScreen) draw() {
	if s.terminal == nil || len(s.shown) == 0 {
		return
	}
	columns, rows, err := term.GetSize(int(s.terminal.Fd()))
	if err != nil || columns < 2 || rows < 2 {
		columns, rows = 80, 24
	}
	var lines []line
	for _, n := range s.shown {
		if n.label != "" {
			lines = append(lines, line{{n.label, plain}})
		}
		for _, l := range n.lines {
			if n.label != "" {
				l = append(line{{"  ", plain}}, l...)
			}
			lines = append(lines, l)
		}
	}
	lines = lines[:min(len(lines), rows-1)]
	var b strings.Builder
	for _, l := range lines {
		l.write(&b, columns-1, s.color) // a full line would wrap on some terminals
		b.WriteString("\r\n")
	}
	_, _ = io.WriteString(s.to, b.String())
	s.drawn = len(lines)
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
			if runeWidth(r) > 0 {
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
	case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
		return 0
	case r >= 0x1100 && r != '…' && r != '█' && r != '░':
		return 2
	}
	return 1
}

// A plainWriter writes texts from untrusted sources, such as records of other people. It replaces control
// characters other than tabs and line ends by U+FFFD, because they could control the terminal, and those that change the direction of writing by
// escapes. Each Write must consist of whole characters.
type plainWriter struct{ to io.Writer }

func (w plainWriter) Write(text []byte) (int, error) {
	plain := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if _, err := io.WriteString(w.to, excerpt.Visible(string(plain))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// maxLine is the largest length of a line of an error message, in characters: a name in a file can be
// longer than a screen.
const maxLine = 1000

// MaxLines is the largest number of lines of an error message: a compiler can print hundreds.
const MaxLines = 40

// Shortened removes the middle of every line that is longer than maxLine, and of a message of more than maxLines. The place of an error
// is at the beginning of its message, and the reason often at the end.
func Shortened(message string) string {
	if lines := strings.Split(message, "\n"); len(lines) > MaxLines {
		left := fmt.Sprintf("[… %d lines left out …]", len(lines)-MaxLines)
		message = strings.Join(slices.Concat(lines[:MaxLines*3/4], []string{left}, lines[len(lines)-MaxLines/4:]), "\n")
	}
	var b strings.Builder
	for line := range strings.Lines(message) {
		if runes := []rune(line); len(runes) > maxLine {
			line = string(runes[:maxLine/2]) + " … " + string(runes[len(runes)-maxLine/2:])
		}
		b.WriteString(line)
	}
	return b.String()
}
