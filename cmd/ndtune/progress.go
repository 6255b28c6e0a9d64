package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ndtune/ndtune/tune"
)

// A progress is a bar on a terminal with the rate, the time left and the best so far; off
// a terminal it is nothing.
type progress struct {
	bar       *progressbar.ProgressBar
	objective tune.Objective
	best      *tune.Result
}

func newProgress(w io.Writer, total int, objective tune.Objective, quiet bool) *progress {
	p := &progress{objective: objective}
	if !quiet {
		p.bar = newBar(w, total, "configurations")
	}
	return p
}

// newBar is a bar that counts up to a total; nil where w is no terminal.
func newBar(w io.Writer, total int, what string) *progressbar.ProgressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(what),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(20),
	)
}

// start draws the empty bar, below what was printed before.
func (p *progress) start() {
	if p.bar != nil {
		_ = p.bar.RenderBlank() // an error of the terminal is none of the search
	}
}

// add writes the line of a result, if it has one, above the bar, and counts the result.
func (p *progress) add(r tune.Result, w io.Writer, line string) {
	if p.bar != nil && line != "" {
		_ = p.bar.Clear()
	}
	if line != "" {
		fmt.Fprintln(w, line)
	}
	if p.bar == nil {
		return
	}
	if r.Status == tune.Correct && (p.best == nil || (r.Objective < p.best.Objective) != p.objective.Maximize) {
		p.best = &r
		p.bar.Describe("best " + formatTime(r.Time()))
	}
	_ = p.bar.Add(1)
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}
