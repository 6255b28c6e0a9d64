package report

import (
	"errors"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

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
// final times. Whole says that there will be no more.
func (f *Follower) Report(results []tune.Result, whole bool, created time.Time) (*Report, error) {
	if len(results) < f.of {
		return nil, errors.New("report: a run that goes on has lost results")
	}
	run, err := newRun(Source{f.name, &record.Record{Header: f.header, Results: results}})
	if err != nil {
		return nil, err
	}
	if f.importance == nil || float64(len(results)) >= importanceGrowth*float64(f.of) || (whole && len(results) > f.of) {
		f.importance, f.of = importanceOf(run), len(results)
	}
	run.Importance = f.importance
	return &Report{Tool: f.tool, Created: created.UTC().Truncate(time.Second), Runs: []*Run{run}}, nil
}
