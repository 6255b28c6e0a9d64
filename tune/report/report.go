package report

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

// A Source is a record and the name to show it under, a file's for example.
type Source struct {
	Name   string
	Record *record.Record
}

// A Report is what the page, the plots and the tables show of one or several records. Its
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
		for _, s := range []tune.Stats{r.Stats(), tune.StatsOf(r.Final)} {
			if r.Status == tune.Correct && (math.IsInf(s.Mean, 0) || math.IsInf(s.StandardDeviation, 0)) {
				return fmt.Errorf("the times of %s are too large to be computed with; remove this result", r.Configuration)
			}
		}
	}
	return nil
}
