package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune"
)

// A Failure is a cause for which configurations failed, by [tune.CauseOf].
type Failure struct {
	Status string `json:"status"`
	Text   string `json:"text"` // the line that says most, of the first of them
	Count  int    `json:"count"`
	First  int    `json:"first"` // row
}

// A Reason is the text of a failure, and the Failure that it belongs to.
type Reason struct {
	Text    string `json:"text"`
	Line    string `json:"line"` // of the text: [tune.Headline]
	Failure int    `json:"failure"`
}

// Build logs can be long, and every configuration can have another one. Of a reason this many
// bytes are kept, and of all together; beyond these only the line that says most.
const (
	maxReason  = 4 << 10
	maxReasons = 2 << 20
)

// failuresOf groups the failures of a run, and adds the column of their reasons.
func failuresOf(run *Run) ([]Failure, []Reason) {
	failures, reasons := []Failure{}, []Reason{}
	groups, known := map[string]int{}, map[string]uint32{}
	column := make([]uint32, len(run.results))
	room := maxReasons
	for i := range run.results {
		r := &run.results[i]
		if r.Status == tune.Correct {
			continue
		}
		line := tune.Headline(r.Status, r.Reason)
		key := tune.CauseOf(r.Status, r.Reason)
		group, ok := groups[key]
		if !ok {
			group = len(failures)
			groups[key] = group
			failures = append(failures, Failure{Status: string(r.Status), Text: line, First: i})
		}
		failures[group].Count++
		full := string(r.Status) + "\n" + r.Reason
		at, ok := known[full]
		if !ok {
			text := excerpt.Beginning(strings.TrimSpace(strings.ToValidUTF8(r.Reason, "\uFFFD")), maxReason)
			if room -= len(text); room < 0 {
				text = line
			}
			reasons = append(reasons, Reason{text, line, group})
			at = uint32(len(reasons))
			known[full] = at
		}
		column[i] = at
	}
	run.addIndices(columnReason, column)
	sorted := slices.Clone(failures) // the most frequent first
	slices.SortStableFunc(sorted, func(a, b Failure) int { return cmp.Compare(b.Count, a.Count) })
	place := map[int]int{} // by the first row
	for i := range sorted {
		place[sorted[i].First] = i
	}
	for i := range reasons {
		reasons[i].Failure = place[failures[reasons[i].Failure].First]
	}
	return sorted, reasons
}
