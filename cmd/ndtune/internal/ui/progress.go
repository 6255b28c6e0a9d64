package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
)

// A Progress is the display below the output of a long task: how much of it is done, and for a search the
// best configuration so far and the number of failures. It is shown on terminals only.
type Progress struct {
	notes *NoteWriter // nil: nothing is shown
	Total int
	noun  string // for one of the things that are counted

	Objective score.Objective
	Limit     time.Duration // of the search; 0: none

	mutex         sync.Mutex
	began, shown  time.Time
	label         string // the current part of the task; "": none
	Done, Resumed int    // things done, and how many of them come from a log
	failed        map[tune.Status]int
	best          *tune.Result
}

// NewProgress returns the display of a task that begins now.
func NewProgress(w io.Writer, total int, noun string, quiet bool) *Progress {
	p := &Progress{Total: total, noun: noun, began: time.Now(), failed: map[tune.Status]int{}}
	if notes, ok := w.(*NoteWriter); ok && notes.terminal != nil && !quiet {
		p.notes = notes
	}
	return p
}

// Start shows the display of a search that begins now.
func (p *Progress) Start() {
	p.began = time.Now()
	p.show()
}

// often is the shortest time between two changes of a display, so that the terminal does not slow the
// task down.
const often = 100 * time.Millisecond

// Count adds n to the things done. Several goroutines may call it at once.
func (p *Progress) Count(n int) {
	if p.notes == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.Done += n
	if p.Done == p.Total || time.Since(p.shown) >= often {
		p.show()
	}
}

// Describe names the current part of the task.
func (p *Progress) Describe(label string) {
	p.label = label
	p.show()
}

// Add counts a result, and writes its line, if it has one, above the display.
func (p *Progress) Add(r tune.Result, w io.Writer, text string) {
	if text != "" {
		p.print(w, text)
	}
	if p.notes == nil {
		return
	}
	if r.Status != tune.Correct {
		p.failed[r.Status]++
	}
	if tune.Improves(p.Objective, &r, p.best) {
		p.best = &r
	}
	p.Count(1)
}

func (p *Progress) print(w io.Writer, text string) {
	if p.notes == nil || w == io.Writer(p.notes) {
		fmt.Fprintln(w, text)
		return
	}
	p.notes.print(func() { fmt.Fprintln(w, text) })
}

func (p *Progress) show() {
	if p.notes != nil {
		p.shown = time.Now()
		p.notes.show(p.lines(p.shown.Sub(p.began)))
	}
}

// Finish removes the display.
func (p *Progress) Finish() {
	if p.notes != nil {
		p.notes.show(nil)
	}
}

// lines returns the display after some time.
func (p *Progress) lines(elapsed time.Duration) []line {
	lines := []line{{{p.course(elapsed), plain}}}
	if p.label != "" {
		lines = append(lines, line{{p.label, plain}})
	}
	if b := p.best; b != nil {
		value := FormatTime(b.Time())
		if !strings.HasPrefix(p.Objective.Name, "time") {
			value += ", " + p.Objective.Name + "=" + figure.Number(b.Objective)
		}
		lines = append(lines, line{{"best " + value, green}, {"  " + b.Configuration.String(), plain}})
	}
	if failed := StatusTexts(p.failed); len(failed) > 0 {
		lines = append(lines, line{{strings.Join(failed, ", "), yellow}})
	}
	return lines
}

// course says how much is done, how fast, and how long the rest will take at that rate.
func (p *Progress) course(elapsed time.Duration) string {
	const bar = 20
	share := float64(p.Done) / float64(max(1, p.Total))
	full := min(bar, int(share*bar))
	text := fmt.Sprintf("%3.0f%% %s%s  %d of %s", 100*share, strings.Repeat("█", full), strings.Repeat("░", bar-full),
		p.Done, figure.Count(p.Total, p.noun))
	evaluated := p.Done - p.Resumed
	if evaluated == 0 || elapsed <= 0 {
		return text
	}
	each := float64(elapsed) / float64(evaluated)
	switch rate := float64(time.Second) / each; {
	case rate >= 99.5:
		text += fmt.Sprintf(", %.0f a second", rate)
	case rate >= 0.95:
		text += fmt.Sprintf(", %.2g a second", rate)
	default:
		text += fmt.Sprintf(", %.2g a minute", 60*rate)
	}
	left := time.Duration(each * float64(max(0, p.Total-p.Done)))
	if p.Limit > 0 {
		left = min(left, max(0, p.Limit-elapsed))
	}
	return text + ", " + left.Round(time.Second).String() + " left"
}
