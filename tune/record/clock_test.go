package record

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// TestClockJumps writes logs with a clock that jumps between results, and goes on with them at another time: no result is lost, repeated or
// moved, in any format, and the log begins when it began.
func TestClockJumps(t *testing.T) {
	const hour, tenYears = time.Hour, 10 * 365 * 24 * time.Hour
	for name, jumps := range map[string][]time.Duration{
		"an hour ahead": {hour}, "an hour back": {-hour}, "ten years ahead": {tenYears}, "ten years back": {-tenYears},
		"there and back": {hour, -hour, tenYears, -tenYears, -tenYears, tenYears},
	} {
		t.Run(name, func(t *testing.T) {
			h, results := sixteen()
			began := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
			h.Started = began
			clock := began
			for i := range results {
				clock = clock.Add(time.Second)
				if i%2 == 1 {
					clock = clock.Add(jumps[i/2%len(jumps)])
				}
				results[i].Timestamp, results[i].Durations.Measure = clock, time.Millisecond
			}
			path := filepath.Join(t.TempDir(), "run.jsonl")
			l := mustOpen(t, path, h)
			mustAppend(t, l, results[:9]...)
			mustClose(t, l)
			h.Started = clock // of the run that goes on
			l = mustOpen(t, path, h)
			sameResults(t, l.Previous(), results[:9])
			mustAppend(t, l, results[9:]...)
			mustClose(t, l)
			r := mustRead(t, path)
			sameResults(t, r.Results, results)
			if !r.Header.Started.Equal(began) {
				t.Errorf("it began at %v, not %v", r.Header.Started, began)
			}
			if begun := Begun(path); begun == nil || !begun.Started.Equal(began) {
				t.Errorf("begun: %+v", begun)
			}
			for _, e := range encodings {
				if e.name == "csv" {
					continue // nothing reads it back
				}
				var b bytes.Buffer
				if err := e.encode(&b, r); err != nil {
					t.Fatal(err)
				}
				again, err := Decode(b.Bytes())
				if err != nil {
					t.Fatalf("%s: %v", e.name, err)
				}
				if !slices.EqualFunc(again.Results, results, func(a, b tune.Result) bool {
					return a.Configuration.Key() == b.Configuration.Key() && a.Timestamp.Equal(b.Timestamp) && slices.Equal(a.Times, b.Times)
				}) {
					t.Errorf("%s: other results", e.name)
				}
			}
		})
	}
}
