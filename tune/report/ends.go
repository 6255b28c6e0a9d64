package report

import (
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
