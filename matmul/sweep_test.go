package matmul

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A fakeHost is a clock that stands still but for what is measured on it.
type fakeHost struct {
	now time.Time
	log []string // «name N» of each measurement
}

// participant takes so many nanoseconds for an operation, and a second beside for each
// measurement.
func (f *fakeHost) participant(name string, nanoseconds float64) Participant {
	return Participant{Name: name, Multiplications: 4, Measure: func(ctx context.Context, s Shape) (Measurement, error) {
		f.log = append(f.log, fmt.Sprint(name, " ", s))
		ms := nanoseconds * s.Operations() / 1e6
		f.now = f.now.Add(time.Second + time.Duration(4*ms*float64(time.Millisecond)))
		return Measurement{Shape: s, Alone: []float64{ms}}, nil
	}}
}

func (f *fakeHost) sweep(limit time.Duration, sizes []int, all ...Participant) Sweep {
	return Sweep{Sizes: squares(sizes), Participants: all, TimeLimit: limit, Clock: func() time.Time { return f.now }}
}

func doubling(from, to int) []int {
	var sizes []int
	for n := from; n <= to; n *= 2 {
		sizes = append(sizes, n)
	}
	return sizes
}

// squares returns the shapes of square matrices.
func squares(sizes []int) []Shape {
	var shapes []Shape
	for _, n := range sizes {
		shapes = append(shapes, Square(n))
	}
	return shapes
}

// measuredSizes are those at which an entrant was measured.
func measuredSizes(cells []Cell, name string) []int {
	var sizes []int
	for _, c := range cells {
		if c.Entrant == name && c.Measurement != nil {
			sizes = append(sizes, c.Shape.N)
		}
	}
	return sizes
}

func TestSweepMeasuresAll(t *testing.T) {
	f := &fakeHost{}
	sizes := doubling(32, 512)
	s := f.sweep(time.Hour, sizes, f.participant("slow", 1), f.participant("fast", 0.01))
	var told []string
	s.OnStart = func(entrant string, s Shape) { told = append(told, fmt.Sprint("start ", entrant, " ", s)) }
	s.OnCell = func(c Cell) { told = append(told, fmt.Sprint("end ", c.Entrant, " ", c.Shape)) }
	cells := s.Run(t.Context())
	for i, n := range sizes { // in the order of the participants
		if a, b := cells[2*i], cells[2*i+1]; a.Entrant != "slow" || b.Entrant != "fast" || a.Shape.N != n || b.Shape.N != n || a.Measurement == nil || b.Measurement == nil {
			t.Errorf("N = %d: %+v, %+v", n, a, b)
		}
	}
	if len(told) != 4*len(sizes) || told[0] != "start slow 32" || told[1] != "end slow 32" {
		t.Errorf("%q", told)
	}
	// Of the first size nothing is known; then the fastest comes first.
	if want := []string{"slow 32", "fast 32", "fast 64", "slow 64"}; !slices.Equal(f.log[:4], want) {
		t.Errorf("%q", f.log)
	}
}

// TestSweepEndsInTime: whatever the limit, no measurement begins that would take more than is
// left, the small sizes are measured by all, and what is left out says why.
func TestSweepEndsInTime(t *testing.T) {
	for _, limit := range []time.Duration{30 * time.Second, 100 * time.Second, 10 * time.Minute} {
		f := &fakeHost{}
		cells := f.sweep(limit, doubling(32, 8192), f.participant("slow", 2), f.participant("middle", 0.1), f.participant("fast", 0.001)).Run(t.Context())
		if took := f.now.Sub(time.Time{}); took > limit {
			t.Errorf("limit %s: it took %s", limit, took)
		}
		var last int
		for _, name := range []string{"slow", "middle", "fast"} {
			sizes := measuredSizes(cells, name)
			if len(sizes) == 0 || sizes[len(sizes)-1] < last {
				t.Errorf("limit %s: %s was measured at %v", limit, name, sizes)
				continue
			}
			last = sizes[len(sizes)-1]
			for _, c := range cells {
				if c.Entrant == name && (c.Measurement == nil) != (c.Shape.N > last) || (c.Measurement == nil) != (c.Why != "") {
					t.Errorf("limit %s: %+v", limit, c)
				}
			}
		}
		if limit == 100*time.Second {
			if !slices.ContainsFunc(cells, func(c Cell) bool { return strings.Contains(c.Why, "that are left") }) {
				t.Error("nothing was left out for time")
			}
		}
	}
}

// TestSweepWithoutTime has none left from the beginning.
func TestSweepWithoutTime(t *testing.T) {
	for _, limit := range []time.Duration{0, -time.Minute} {
		f := &fakeHost{}
		cells := f.sweep(limit, []int{32, 64}, f.participant("one", 1)).Run(t.Context())
		if len(f.log) != 0 || len(cells) != 2 || cells[0].Why != "the time is up" || cells[1].Why != "the time is up" {
			t.Errorf("%s: %v, %+v", limit, f.log, cells)
		}
	}
}

// TestSweepLongest: the loop stops at the size whose next would take too long, though there is
// time; and does not begin with one that would.
func TestSweepLongest(t *testing.T) {
	f := &fakeHost{}
	loop := f.participant("loop", 1) // 2 s at 1000
	loop.Longest = 5 * time.Second
	cells := f.sweep(time.Hour, []int{500, 1000, 2000, 4000}, loop).Run(t.Context())
	if got := measuredSizes(cells, "loop"); !slices.Equal(got, []int{500, 1000}) {
		t.Errorf("measured at %v", got)
	}
	if want := "one multiplication at N = 2000 would take about 16s, longer than 5s"; cells[2].Why != want || cells[3].Why != want {
		t.Errorf("%q, %q", cells[2].Why, cells[3].Why)
	}

	f.log = nil
	cells = f.sweep(time.Hour, []int{4000}, loop).Run(t.Context())
	if !slices.Equal(f.log, []string{"loop 256"}) || cells[0].Measurement != nil || !strings.Contains(cells[0].Why, "longer than 5s") {
		t.Errorf("%q, %+v", f.log, cells)
	}
}

// TestSweepGoesOn: an error is of one measurement, an answer that does not come of one
// participant.
func TestSweepGoesOn(t *testing.T) {
	f := &fakeHost{}
	failing, hanging := f.participant("failing", 1), f.participant("hanging", 1)
	inner := failing.Measure
	failing.Measure = func(ctx context.Context, s Shape) (Measurement, error) {
		if s.N == 64 {
			return Measurement{}, errors.New("out of memory")
		}
		return inner(ctx, s)
	}
	hanging.Measure = func(ctx context.Context, s Shape) (Measurement, error) {
		return Measurement{}, fmt.Errorf("ask: %w", context.DeadlineExceeded)
	}
	cells := f.sweep(time.Hour, []int{32, 64, 128}, failing, hanging).Run(t.Context())
	if got := measuredSizes(cells, "failing"); !slices.Equal(got, []int{32, 128}) {
		t.Errorf("measured at %v", got)
	}
	if cells[2].Why != "out of memory" || cells[1].Why != "no result at N = 32 after 1m0s" || cells[5].Why != cells[1].Why {
		t.Errorf("%+v", cells)
	}
}

// TestSweepIsInterrupted in the middle: what was measured stands, and no more is.
func TestSweepIsInterrupted(t *testing.T) {
	f := &fakeHost{}
	ctx, cancel := context.WithCancel(t.Context())
	s := f.sweep(time.Hour, []int{32, 64, 128}, f.participant("a", 1), f.participant("b", 1))
	s.OnCell = func(c Cell) {
		if c.Entrant == "a" && c.Shape.N == 64 {
			cancel()
		}
	}
	cells := s.Run(ctx)
	if got := measuredSizes(cells, "a"); !slices.Equal(got, []int{32, 64}) {
		t.Errorf("a was measured at %v", got)
	}
	if got := measuredSizes(cells, "b"); !slices.Equal(got, []int{32}) {
		t.Errorf("b was measured at %v", got)
	}
	if len(cells) != 6 || cells[3].Why != "interrupted" || cells[5].Why != "interrupted" {
		t.Errorf("%+v", cells)
	}
}

func TestRepeat(t *testing.T) {
	for _, test := range []struct {
		each        float64 // milliseconds
		least       int
		want, atAll int // times that are given, and runs
	}{
		{0.1, 7, 200, 208},   // the most
		{1, 7, 105, 113},     // 100 ms in all
		{1, 150, 160, 181},   // the least, though 100 ms are over
		{0.1, 500, 500, 701}, // more than usual are wanted
		{18, 7, 7, 9},        // the least
		{19, 2, 6, 8},        // 100 ms
		{300, 7, 7, 7},       // too long to do for nothing
		{700, 7, 3, 3},       // 2 s in all
		{5000, 7, 1, 1},      // any number
		{0, 7, mostRuns, -1}, // by a clock that stands still
	} {
		runs := 0
		times, err := repeat(test.least, func(n int) ([]float64, error) {
			if float64(n)*test.each > batchTime && n > 1 {
				t.Errorf("%+v: %d at once", test, n)
			}
			runs += n
			return slices.Repeat([]float64{test.each}, n), nil
		})
		if err != nil || len(times) != test.want || (test.atAll >= 0 && runs != test.atAll) {
			t.Errorf("%+v: %d times of %d runs, %v", test, len(times), runs, err)
		}
	}
	broken := errors.New("broken")
	calls := 0
	if _, err := repeat(3, func(n int) ([]float64, error) {
		if calls++; calls == 3 {
			return nil, broken
		}
		return make([]float64, n), nil
	}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
