package ui

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin/screen"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// someResults are of a parameter with a value of its own for each: correct in so many
// milliseconds, or, below zero, failed.
func someResults(t *testing.T, times ...float64) []tune.Result {
	t.Helper()
	p := space.Parameter{Name: "block_size_x"}
	for i := range times {
		p.Values = append(p.Values, i)
	}
	parameters, err := space.NewParameters([]space.Parameter{p})
	if err != nil {
		t.Fatal(err)
	}
	var results []tune.Result
	for i, ms := range times {
		c, err := parameters.Configure(map[string]space.Value{"block_size_x": i})
		if err != nil {
			t.Fatal(err)
		}
		r := tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{ms}, Objective: ms}
		switch {
		case ms == -1:
			r = tune.Result{Configuration: c, Status: tune.Constraints, Reason: "too much"}
		case ms < 0:
			r = tune.Result{Configuration: c, Status: tune.Compile, Reason: "syntax"}
		}
		results = append(results, r)
	}
	return results
}

// TestDisplay looks at a terminal during a search and after it.
func TestDisplay(t *testing.T) {
	results := someResults(t, 3, -1, 2, -2, -1, 4)
	for _, test := range []struct {
		name        string
		environment map[string]string
		size        screen.Size
		display     []string
		color       bool
	}{
		{"colours", nil, screen.Size{Rows: 24, Columns: 120}, []string{
			" 60% ████████████░░░░░░░░  6 of 10 configurations, 1.5 a second, 3s left",
			"best 2.000ms  block_size_x=2",
			"2 beyond the device's limits, 1 did not compile",
		}, true},
		{"no colours", map[string]string{"NO_COLOR": "1"}, screen.Size{Rows: 24, Columns: 120}, []string{
			" 60% ████████████░░░░░░░░  6 of 10 configurations, 1.5 a second, 3s left",
			"best 2.000ms  block_size_x=2",
			"2 beyond the device's limits, 1 did not compile",
		}, false},
		{"NO_COLOR without a value says nothing", map[string]string{"NO_COLOR": ""}, screen.Size{Rows: 24, Columns: 30}, []string{
			" 60% ████████████░░░░░░░░  6…",
			"best 2.000ms  block_size_x=2",
			"2 beyond the device's limits…",
		}, true},
		{"only prints", map[string]string{"TERM": "dumb"}, screen.Size{Rows: 24, Columns: 120}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TERM", "xterm")
			t.Setenv("NO_COLOR", "")
			for name, value := range test.environment {
				t.Setenv(name, value)
			}
			for _, ended := range []bool{false, true} {
				terminal := screen.Open(t, test.size)
				notes := NewNoteWriter(terminal.Slave)
				p := NewProgress(notes, 10, "configuration", false)
				p.Objective = score.Objective{Name: "time"}
				fmt.Fprintln(notes, "kernel k")
				p.Start()
				p.Resumed = 3
				for i := range results {
					text := ""
					if i == 0 || i == 3 {
						text = fmt.Sprint("result ", i)
					}
					p.Add(results[i], terminal.Slave, text)
				}
				fmt.Fprintln(notes, "a note\nof two lines")
				if p.notes != nil {
					p.notes.show(p.lines(2 * time.Second)) // as it is then
				}
				want := append([]string{"kernel k", "result 0", "result 3", "a note", "of two lines"}, test.display...)
				if ended {
					p.Finish()
					want = want[:5]
				}
				printed := terminal.HangUp()
				if got := screen.Shown(t, test.size, printed); !slices.Equal(got, append(want, "")) {
					t.Errorf("ended %v: the screen shows\n%s\nnot\n%s", ended, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if colored := regexp.MustCompile(`\x1b\[\d*m`).MatchString(printed); colored != test.color {
					t.Errorf("colours %v, want %v: %q", colored, test.color, printed)
				}
				if test.display == nil && strings.Contains(printed, "\x1b") {
					t.Errorf("there are escape sequences: %q", printed)
				}
			}
		})
	}
}

// newNotes returns a writer that is no terminal.
func newNotes() *NoteWriter { return &NoteWriter{notesScreen: &notesScreen{to: io.Discard}} }

// TestDisplaysOfSearches: searches at the same time have a display each, and their lines have their labels. What a
// small screen has no room for is cut.
func TestDisplaysOfSearches(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for rows, want := range map[int][]string{
		24: {"a note", "A: Using: A", "B: one", "B: two", "A", "    0% ░░░░░░░░░░░░░░░░░░░░  0 of 10 configurations", "B", "   50% ██████████░░░░░░░░░░  1 of 2 configurations, 1 a second, 1s left", "  best 5.000ms  block_size_x=0", ""},
		5:  {"a note", "A: Using: A", "B: one", "B: two", "A", "    0% ░░░░░░░░░░░░░░░░░░░░  0 of 10 configurations", "B", "   50% ██████████░░░░░░░░░░  1 of 2 configurations, 1 a second, 1s left", ""},
	} {
		terminal := screen.Open(t, screen.Size{Rows: rows, Columns: 120})
		notes := NewNoteWriter(terminal.Slave)
		var all []*Progress
		for i, label := range []string{"A", "B", "C"} {
			p := NewProgress(notes.Labelled(label), []int{10, 2, 3}[i], "configuration", false)
			p.Objective = score.Objective{Name: "time"}
			p.Start()
			all = append(all, p)
		}
		fmt.Fprintln(notes, "a note")
		fmt.Fprintln(all[0].notes, "Using: A")
		fmt.Fprintln(all[1].notes, "one\ntwo")
		all[1].Add(someResults(t, 5)[0], all[1].notes, "")
		all[1].notes.show(all[1].lines(time.Second)) // as it is then
		all[2].Finish()
		if got := screen.Shown(t, terminal.Size, terminal.HangUp()); !slices.Equal(got, want) {
			t.Errorf("%d rows: the screen shows\n%s\nnot\n%s", rows, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestDisplayOfWhat shows other objectives, limits and paces.
func TestDisplayOfWhat(t *testing.T) {
	results := someResults(t, 3, 5)
	p := &Progress{Total: 100, noun: "configuration", Objective: score.Objective{Name: "GB/s", Maximize: true}, Limit: time.Minute, notes: newNotes(), failed: map[tune.Status]int{}}
	for _, r := range results {
		p.Add(r, io.Discard, "")
	}
	text := func(elapsed time.Duration) (all []string) {
		for _, l := range p.lines(elapsed) {
			var b strings.Builder
			l.write(&b, 200, false)
			all = append(all, b.String())
		}
		return all
	}
	want := []string{"  2% ░░░░░░░░░░░░░░░░░░░░  2 of 100 configurations, 4 a minute, 30s left", "best 5.000ms, GB/s=5.000  block_size_x=1"}
	if got := text(30 * time.Second); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p.Limit = 0
	if got := text(30 * time.Second); !strings.HasSuffix(got[0], ", 24m30s left") {
		t.Error(got[0])
	}
	p.Resumed = 2
	if got := text(30 * time.Second); !strings.HasSuffix(got[0], " 2 of 100 configurations") {
		t.Error("nothing was evaluated, but:", got[0])
	}
}

// TestDisplayOfAFastTask counts what has no results.
func TestDisplayOfAFastTask(t *testing.T) {
	p := &Progress{Total: 100_000, noun: "search", notes: newNotes()}
	p.Count(50_000)
	p.Describe("part 1")
	var b strings.Builder
	for _, l := range p.lines(time.Second) {
		l.write(&b, 200, false)
		b.WriteString("\n")
	}
	if want := " 50% ██████████░░░░░░░░░░  50000 of 100000 searches, 50000 a second, 1s left\npart 1\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestDisplayOfEqualOnes: the first of them is the best, as in the search.
func TestDisplayOfEqualOnes(t *testing.T) {
	for _, maximize := range []bool{false, true} {
		p := &Progress{Total: 9, Objective: score.Objective{Name: "time", Maximize: maximize}, notes: newNotes(), failed: map[tune.Status]int{}}
		for _, r := range someResults(t, 3, 3, 3) {
			p.Add(r, io.Discard, "")
		}
		if got := p.best.Configuration.Int("block_size_x"); got != 0 {
			t.Errorf("maximize %v: the best of equal ones is number %d", maximize, got)
		}
	}
}

// TestLineIsCut has characters that are wide, and some that would move the cursor.
func TestLineIsCut(t *testing.T) {
	for text, want := range map[string]string{
		"12345": "12345", "123456": "1234…", "值值": "值值", "值值1": "值值1", "值值值": "值值…", "1值值2": "1值…", "\x1b[A\r\n1": "[A1", "": "",
	} {
		var b strings.Builder
		runes := []rune(text)
		half := len(runes) / 2
		line{{string(runes[:half]), green}, {string(runes[half:]), plain}}.write(&b, 5, false)
		if b.String() != want {
			t.Errorf("%q: %q, want %q", text, b.String(), want)
		}
	}
}
