package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// LivePage is the page that shows runs as they go on, and its Content-Security-Policy. It asks
// for a stream of server-sent events at the path events, relative to its own, and for nothing
// else. Each event «part» is what [Report.Part] makes; the event «end» says that no more come.
func LivePage(tool, title, events string, created time.Time) (page []byte, policy string, err error) {
	data, err := json.Marshal(struct {
		*Report
		Live string `json:"live"`
	}{&Report{Tool: tool, Created: created.UTC().Truncate(time.Second), Runs: []*Run{}}, events})
	if err != nil {
		return nil, "", fmt.Errorf("write the page as JSON: %w", err)
	}
	policy = pagePolicy() + "; connect-src 'self'"
	var b bytes.Buffer
	err = writePage(&b, policy, title, string(data), "")
	return b.Bytes(), policy, err
}

// A Progress says how far a run is that goes on.
type Progress struct {
	// Session tells the runs of one process from those of another: a page that was connected to
	// another one begins anew.
	Session string  `json:"session"`
	Place   int     `json:"place"`   // of the run among those of the session
	Total   int     `json:"total"`   // configurations that it will have evaluated at most
	Resumed int     `json:"resumed"` // of the results, those that a log held
	Elapsed float64 `json:"elapsed"` // milliseconds since it began, without an earlier session
	Ended   string  `json:"ended"`   // how it ended; empty while it goes on
}

// Part is what a page lacks that has the first rows of the one run of this report, from an
// earlier part: one line of JSON. Of 0 rows it is all of the run. The other rows must be as
// they were.
func (r *Report) Part(from int, p Progress) ([]byte, error) {
	run := *r.Runs[0]
	var columns []Column
	known := uint32(0) // of the reasons: they stand in the order in which rows refer to them
	for i := range run.Columns {
		c := &run.Columns[i]
		if c.Name == columnRank && from > 0 {
			continue // new rows may have moved the ones that the page has
		}
		if c.Name == columnReason && from > 0 {
			known = slices.Max(run.index(columnReason)[:from])
		}
		columns = append(columns, c.since(from))
	}
	run.Columns = columns
	place(columns, 0)
	if from > 0 {
		run.Parameters = nil
		run.Reasons = run.Reasons[known:]
	}
	blob, err := pack(run.Columns)
	if err != nil {
		return nil, err
	}
	part, err := json.Marshal(struct {
		Progress Progress `json:"progress"`
		From     int      `json:"from"`
		Run      *Run     `json:"run"`
		Columns  string   `json:"columns"`
	}{p, from, &run, blob})
	if err != nil {
		return nil, fmt.Errorf("write a part of the report as JSON: %w", err)
	}
	return part, nil
}
