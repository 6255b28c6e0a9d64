package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
)

// A progress is what a terminal shows below the results of a search: how far it is, the best so
// far with its configuration, and what failed. Off a terminal it is nothing.
type progress struct {
	notes     *noteWriter // nil: nothing is shown
	total     int
	objective problem.Objective
	limit     time.Duration // of the search; 0: none
	began     time.Time

	done, resumed int // results, and those of them that a log held
	counts        map[tune.Status]int
	best          *tune.Result
	shown         time.Time
}

func newProgress(w io.Writer, total int, objective problem.Objective, quiet bool) *progress {
	p := &progress{total: total, objective: objective, began: time.Now(), counts: map[tune.Status]int{}}
	if terminalOf(w) != nil && !quiet {
		p.notes = w.(*noteWriter)
	}
	return p
}

// newBar is a bar that counts up to a total, for what has nothing else to show; nil where w is no
// terminal.
func newBar(w io.Writer, total int, what string) *progressbar.ProgressBar {
	f := terminalOf(w)
	if f == nil {
		return nil
	}
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(what),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(20),
	)
}

// start draws the display of a search that begins now, below what was printed before.
func (p *progress) start() {
	p.began = time.Now()
	p.show()
}

// often is how often a display changes by itself, so that its terminal costs the search nothing.
const often = 100 * time.Millisecond

// add counts a result, and writes its line, if it has one, above the display.
func (p *progress) add(r tune.Result, w io.Writer, text string) {
	if p.notes == nil {
		if text != "" {
			fmt.Fprintln(w, text)
		}
		return
	}
	p.done++
	p.counts[r.Status]++
	if tune.Improves(p.objective, &r, p.best) {
		p.best = &r
	}
	switch {
	case text != "" && w == io.Writer(p.notes):
		fmt.Fprintln(w, text)
	case text != "":
		p.notes.print(func() { fmt.Fprintln(w, text) })
	}
	if p.done == p.total || time.Since(p.shown) >= often {
		p.show()
	}
}

func (p *progress) show() {
	if p.notes != nil {
		p.shown = time.Now()
		p.notes.show(p.lines(p.shown.Sub(p.began)))
	}
}

func (p *progress) finish() {
	if p.notes != nil {
		p.notes.show(nil)
	}
}

// lines are the display after some time.
func (p *progress) lines(elapsed time.Duration) []line {
	lines := []line{{{p.course(elapsed), plain}}}
	if b := p.best; b != nil {
		value := formatTime(b.Time())
		if !strings.HasPrefix(p.objective.Name, "time") {
			value += ", " + p.objective.Name + "=" + formatNumber(b.Objective)
		}
		lines = append(lines, line{{"best " + value, green}, {"  " + b.Configuration.String(), plain}})
	}
	var failed []string
	for _, s := range tune.Statuses() {
		if n := p.counts[s]; n > 0 && s != tune.Correct {
			failed = append(failed, fmt.Sprintf("%d %s", n, s.Text()))
		}
	}
	if len(failed) > 0 {
		lines = append(lines, line{{strings.Join(failed, ", "), yellow}})
	}
	return lines
}

// course is how far the search is, how fast it goes and how long it will take, judged by what
// was evaluated until now.
func (p *progress) course(elapsed time.Duration) string {
	const bar = 20
	share := float64(p.done) / float64(max(1, p.total))
	full := min(bar, int(share*bar))
	text := fmt.Sprintf("%3.0f%% %s%s  %d of %s", 100*share, strings.Repeat("█", full), strings.Repeat("░", bar-full), p.done, countNoun(p.total, "configuration"))
	evaluated := p.done - p.resumed
	if evaluated == 0 || elapsed <= 0 {
		return text
	}
	each := elapsed / time.Duration(evaluated)
	if rate := float64(time.Second) / float64(each); rate >= 0.95 {
		text += fmt.Sprintf(", %.2g a second", rate)
	} else {
		text += fmt.Sprintf(", %.2g a minute", 60*rate)
	}
	left := each * time.Duration(max(0, p.total-p.done))
	if p.limit > 0 {
		left = min(left, max(0, p.limit-elapsed))
	}
	return text + ", " + left.Round(time.Second).String() + " left"
}
