// Package report shows records to people: one HTML page that needs nothing else, a small fragment for
// other pages, and tables in Markdown and as text.
//
// [New] makes a [Report] of records. The page and the tables show only what the Report
// contains. A Report contains only what follows from the records: the documentation of a derived
// figure says how it is derived, and a figure that cannot be derived is left out. Doubts about a
// run (no verification, the host's clock, a best that could be noise) are among its notices.
//
// The page consists of the files of asset/page, put together without a build step, and Apache
// ECharts, of asset/echarts. Names and reasons come from specifications, drivers and compilers, so
// the page treats them as data: they are in a block of JSON that browsers parse neither as HTML nor
// as script, and they reach the page as text only. The Content-Security-Policy of the page allows
// only its own scripts, and no requests.
//
// # Reasons
//
// A report is data first: records become a model, and the page, the pictures and the tables show only that model. Decisions (the best,
// doubts, importance) are made in Go and tested there; the page computes only the reader's selections. The page holds 200,000
// configurations in 17 MB, as gzipped binary columns beside JSON.
//
// Names and reasons are data from outside: they are in a block that browsers parse neither as HTML nor as script, and the page shows
// them as text only. The Content-Security-Policy has hashes of the page's own scripts.
//
// Importance is ε², of each parameter and of pairs: it needs no model. Configurations and pairs are bounded, and so is its time.
package report

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
)

// A Source is a record and the name to show it under, a file's for example.
type Source struct {
	Name   string
	Record *record.Record
}

// A Report is what the page and the tables show of one or several records. Its
// JSON form, with the columns of the runs beside it, is all that the page knows.
type Report struct {
	Tool    string    `json:"tool"`    // the program that made it, with its version
	Created time.Time `json:"created"` // UTC
	Runs    []*Run    `json:"runs"`    // in the order of the sources

	// Comparison is that of the runs; nil where they are not known to be of one problem on
	// several devices. NoComparison says why such runs cannot be compared.
	Comparison   *Comparison `json:"comparison,omitempty"`
	NoComparison string      `json:"noComparison,omitempty"`
}

// New makes a report of records, and compares those of one problem on several devices. Tool is the program that asks, and created the time to note.
// A record without a result is an error that names it.
func New(sources []Source, tool string, created time.Time) (*Report, error) {
	if len(sources) == 0 {
		return nil, errors.New("there is no record to report")
	}
	r := &Report{Tool: tool, Created: created.UTC().Truncate(time.Second)}
	for _, s := range sources {
		if len(s.Record.Results) == 0 {
			return nil, fmt.Errorf("report %s: there is no result in it", s.Name)
		}
		if err := checkTimes(s.Record.Results); err != nil {
			return nil, fmt.Errorf("report %s: %w", s.Name, err)
		}
		run, err := newRun(s)
		if err != nil {
			return nil, fmt.Errorf("report %s: %w", s.Name, err)
		}
		run.Importance = importanceOf(run)
		r.Runs = append(r.Runs, run)
	}
	var err error
	if r.Comparison, err = comparisonOf(sources, tool); err != nil {
		r.NoComparison = err.Error()
	}
	return r, nil
}

// checkTimes refuses times of which the mean or the deviation is beyond a float64: a damaged
// record can hold some.
func checkTimes(results []tune.Result) error {
	for i := range results {
		r := &results[i]
		for _, s := range []score.Stats{r.Stats(), score.StatsOf(r.Final)} {
			if r.Status == tune.Correct && (math.IsInf(s.Mean, 0) || math.IsInf(s.StandardDeviation, 0)) {
				return fmt.Errorf("the times of %s are too large to be computed with; remove this result", r.Configuration)
			}
		}
	}
	return nil
}

// A Comparison is what the page shows of several devices: the figures as they are, and the
// tables as texts, which are those of the terminal.
type Comparison struct {
	*compare.Comparison
	Title      string         `json:"title"`
	Tables     []figure.Table `json:"tables"`
	Candidates string         `json:"candidates"` // of the best over all
	NoOverall  string         `json:"no_overall"` // why there is no best over all
}

// Compare is a comparison for the page.
func Compare(c *compare.Comparison) *Comparison {
	return &Comparison{Comparison: c, Title: c.Title(), Tables: c.Tables(), Candidates: c.Candidates(), NoOverall: c.NoOverall()}
}

// comparisonOf compares records of one problem on several devices or at several sizes. Of others it is nil, and so it
// is where a record does not name its device: two tables may well be of the same one.
func comparisonOf(sources []Source, tool string) (*Comparison, error) {
	var compared []compare.Source
	several := false
	for _, s := range sources {
		first, h := sources[0].Record.Header, s.Record.Header
		several = several || h.Size != first.Size || !hardware.SameDevice(first.Device, h.Device)
		if strings.TrimSpace(s.Record.Header.Device.Name) == "" {
			return nil, nil
		}
		compared = append(compared, compare.Source{Name: s.Name, Record: s.Record})
	}
	if !several {
		return nil, nil
	}
	c, err := compare.New(compared, compare.Options{Tool: tool})
	switch {
	case errors.Is(err, compare.ErrDifferentProblems):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return Compare(c), nil
}

// A Follower reports one run again and again while its results arrive. What it found to matter
// is kept until there are so many more configurations that it may have changed: that takes
// longer than all else.
type Follower struct {
	name       string
	header     record.Header
	tool       string
	importance *Importance
	of         int // results that importance is of
}

// Follow makes a Follower of a run by its header. Name and tool are those of [New].
func Follow(name string, h record.Header, tool string) *Follower {
	return &Follower{name: name, header: h, tool: tool}
}

// importanceGrowth is how much a run grows before what matters is found out anew.
const importanceGrowth = 1.25

// Report is the report of the results so far, which may be none. They must begin with those of
// the last call; at the end of a run, where the best were measured again, they may have other
// final times. Ended says that there will be no more.
func (f *Follower) Report(results []tune.Result, ended bool, created time.Time) (*Report, error) {
	if len(results) < f.of {
		return nil, errors.New("report: a run that goes on has lost results")
	}
	run, err := newRun(Source{f.name, &record.Record{Header: f.header, Results: results}})
	if err != nil {
		return nil, err
	}
	if f.importance == nil || float64(len(results)) >= importanceGrowth*float64(f.of) || (ended && len(results) > f.of) {
		f.importance, f.of = importanceOf(run), len(results)
	}
	run.Importance = f.importance
	return &Report{Tool: f.tool, Created: created.UTC().Truncate(time.Second), Runs: []*Run{run}}, nil
}

// CheckPath says whether [Report.WriteFiles] knows the extension of path, so that a bad one is
// found before anything is read.
func CheckPath(path string) error {
	if !IsPage(path) && extension(path) != ".md" {
		return fmt.Errorf("%s: the extension says no form of a report; known are .html (a page) and .md (a table)", path)
	}
	return nil
}

// IsPage reports whether path is that of a page.
func IsPage(path string) bool {
	return slices.Contains([]string{".html", ".htm"}, extension(path))
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// WriteFiles writes the report to each path in the form that its extension stands for. All files are
// made beside their places and renamed when all are complete: after an error in making them, all is as
// it was. With embedded, a page is a fragment: see [Report.WriteFragment].
func (r *Report) WriteFiles(paths []string, embedded bool) error {
	failed := func(path string, err error) error { return fmt.Errorf("write the report to %s: %w", path, err) }
	var made []*files.Replacement
	for _, path := range paths {
		replacement, err := files.Create(path)
		if err != nil {
			return failed(path, err)
		}
		defer replacement.Discard()
		write := r.WriteMarkdown
		switch {
		case IsPage(path) && embedded:
			write = r.WriteFragment
		case IsPage(path):
			write = r.WriteHTML
		}
		if err := write(replacement); err != nil {
			return failed(path, err)
		}
		made = append(made, replacement)
	}
	for i, replacement := range made {
		if err := replacement.Commit(); err != nil {
			return failed(paths[i], err)
		}
	}
	return nil
}
