package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// endsOf says when each result was complete, in milliseconds since the beginning of the run,
// or nil where the record does not say: by their timestamps, else, where these are missing, by
// adding up how long each evaluation took.
func endsOf(results []tune.Result, started time.Time) []float64 {
	ends := make([]float64, len(results))
	if begin, ok := beginOf(results, started); ok {
		for i := range results {
			ends[i] = milliseconds(results[i].Timestamp.Sub(begin))
		}
		return ends
	}
	sum := 0.0
	for i := range results {
		sum += milliseconds(results[i].Durations.Total())
		ends[i] = sum
	}
	if sum == 0 {
		return nil
	}
	return ends
}

// beginOf is when a run began: as its header says, else when the first evaluation did. It is
// not known where a result has no timestamp.
func beginOf(results []tune.Result, started time.Time) (time.Time, bool) {
	first := time.Time{}
	for i := range results {
		r := &results[i]
		if r.Timestamp.IsZero() {
			return first, false
		}
		if begin := r.Timestamp.Add(-r.Durations.Total()); first.IsZero() || begin.Before(first) {
			first = begin
		}
	}
	if !started.IsZero() && started.Before(first) {
		return started, true
	}
	return first, !first.IsZero()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Spent says where the time of a run went. All in milliseconds. Builds of several processes
// add up to more than the clock shows.
type Spent struct {
	Build     float64 `json:"build"`
	Verify    float64 `json:"verify"`
	Measure   float64 `json:"measure"`
	Framework float64 `json:"framework"`
	Search    float64 `json:"search"`
	// Wall is from the beginning of the run to its last result, and Idle what of it no
	// configuration was being evaluated in: null where the record has no timestamps. The idle
	// time of a run that was interrupted holds the time until it was resumed.
	Wall *float64 `json:"wall"`
	Idle *float64 `json:"idle"`
}

// spentOf is nil where the record holds no durations.
func spentOf(run *Run) *Spent {
	var sum tune.Durations
	for i := range run.results {
		d := run.results[i].Durations
		sum.Build += d.Build
		sum.Verify += d.Verify
		sum.Measure += d.Measure
		sum.Framework += d.Framework
		sum.Search += d.Search
	}
	if sum.Total() <= 0 {
		return nil
	}
	s := &Spent{
		Build: milliseconds(sum.Build), Verify: milliseconds(sum.Verify), Measure: milliseconds(sum.Measure),
		Framework: milliseconds(sum.Framework), Search: milliseconds(sum.Search),
	}
	begin, known := beginOf(run.results, run.began)
	if !known {
		return s
	}
	wall, busy := busyTime(run.results, begin)
	idle := math.Max(0, wall-busy)
	s.Wall, s.Idle = &wall, &idle
	return s
}

// busyTime is how long a run took from its beginning, and how long of it at least one
// configuration was being evaluated: the union of their intervals.
func busyTime(results []tune.Result, begin time.Time) (wall, busy float64) {
	type interval struct{ from, to time.Time }
	intervals := make([]interval, len(results))
	for i := range results {
		r := &results[i]
		intervals[i] = interval{r.Timestamp.Add(-r.Durations.Total()), r.Timestamp}
	}
	slices.SortFunc(intervals, func(a, b interval) int {
		return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to))
	})
	reached := begin
	for _, i := range intervals {
		from := i.from
		if from.Before(reached) {
			from = reached
		}
		if i.to.After(from) {
			busy += milliseconds(i.to.Sub(from))
			reached = i.to
		}
	}
	return milliseconds(reached.Sub(begin)), busy
}
