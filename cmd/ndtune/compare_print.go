package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/problem"
)

// A deviceProgress shows one search of a comparison on stderr: stdout is for the comparison. It shows
// single results with -v only.
type deviceProgress struct{ *printer }

func (k *comparing) newProgress(p *problem.Problem, total int) deviceProgress {
	shown := newPrinter(k.cli, p, total)
	shown.out = shown.notes
	return deviceProgress{shown}
}

func (p deviceProgress) result(r tune.Result, resumed bool) {
	each := *p.printer // which shares the counts and the display
	each.quiet = !p.verbose
	each.result(r, resumed)
}

func (p deviceProgress) end(o *tune.Outcome, evaluated int) {
	p.bar.finish()
	if p.quiet {
		return
	}
	fmt.Fprintln(p.notes, p.summary(o, evaluated))
	if o.Stop == tune.Hopeless || o.Stop == tune.Environment {
		fmt.Fprintf(p.notes, "Stopped: %s\n", o.Cause)
	}
	if o.Best == nil {
		fmt.Fprintln(p.notes, p.whyNone(o))
		return
	}
	fmt.Fprintf(p.notes, "best: %s\n", formatMeasured(o.Best.Configuration.String(), o.Best.Figures().Time, nil))
}

// A printedComparison shows a comparison: tables on stdout, notices on stderr.
type printedComparison struct {
	out, notes io.Writer
	quiet      bool
}

func (p printedComparison) print(c *compare.Comparison) {
	if !p.quiet {
		fmt.Fprintln(p.notes)
	}
	fmt.Fprintln(p.out, c.Title())
	for _, t := range c.Tables() {
		fmt.Fprintf(p.out, "\n%s\n", t.Title)
		printAligned(p.out, t)
		for _, note := range t.Notes {
			fmt.Fprintf(p.out, "  %s\n", note)
		}
	}
	if why := c.NoOverall(); why != "" {
		fmt.Fprintf(p.out, "\nno best over all: %s\n", why)
	}
	if p.quiet {
		return
	}
	for i, n := range c.Notices {
		if i == 0 {
			fmt.Fprintln(p.notes)
		}
		fmt.Fprintln(p.notes, n)
	}
}

// printAligned prints a table with columns as wide as they need to be.
func printAligned(w io.Writer, t compare.Table) {
	rows := append([][]string{t.Head}, t.Rows...)
	wide := make([]int, len(t.Head))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if t.Number[i] {
				cell = pad + cell
			} else {
				cell += pad
			}
			b.WriteString("  " + cell)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
