package report

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// TestClockJumps: the times of a run whose clock was set while it ran are wrong, but they are times.
func TestClockJumps(t *testing.T) {
	const tenYears = 10 * 365 * 24 * time.Hour
	for _, jump := range []time.Duration{time.Hour, -time.Hour, tenYears, -tenYears} {
		clock := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
		began := clock
		results := make([]tune.Result, 10)
		for i := range results {
			clock = clock.Add(time.Second)
			if i == 5 {
				clock = clock.Add(jump)
			}
			results[i].Timestamp, results[i].Durations.Measure = clock, 500*time.Millisecond
		}
		ends := endsOf(results, began)
		if len(ends) != len(results) || slices.ContainsFunc(ends, func(ms float64) bool { return ms < 0 || math.IsNaN(ms) || math.IsInf(ms, 0) }) {
			t.Errorf("a jump by %v: %v", jump, ends)
		}
		begin, known := beginOf(results, began)
		wall, busy := busyTime(results, begin)
		if !known || busy != 5000 || wall < busy {
			t.Errorf("a jump by %v: busy for %v ms of %v ms", jump, busy, wall)
		}
	}
}
