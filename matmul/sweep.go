package matmul

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Participant is an entrant in a sweep.
type Participant struct {
	Name      string
	Precision Precision

	// Longest is the longest time of one multiplication; 0: the time limit of the sweep. Sizes at
	// which it would take longer are left out.
	Longest time.Duration

	// Multiplications is the least number of multiplications of a measurement, however slow: to
	// check the result, alone and with transfers, and to choose the configuration of a kernel.
	Multiplications int

	// Measure measures at a size.
	Measure func(ctx context.Context, s Shape) (Measurement, error)
}

// A Cell is one entrant at one size.
type Cell struct {
	Entrant     string
	Precision   Precision
	Shape       Shape
	Measurement *Measurement // may be nil
	Why         string       // the reason if there is no measurement
}

// A Sweep measures all participants at all sizes, from small to large, and at each size the fastest
// first, so that the time limit leaves out the slowest at the largest sizes.
//
// A measurement is left out if it would probably take more than half of the remaining time, and is
// stopped if it takes far longer than expected. The participant is then not measured at larger
// sizes.
type Sweep struct {
	Sizes        []Shape // ascending by their operations
	Participants []Participant
	TimeLimit    time.Duration // from the call of Run

	// Clock is the host's clock; nil: time.Now.
	Clock func() time.Time

	// OnStart is called before each measurement, and OnCell after it. Both may be nil.
	OnStart func(entrant string, s Shape)
	OnCell  func(Cell)
}

// A racer is a participant with its latest measurement.
type racer struct {
	*Participant
	last  *Measurement  // at the largest size so far; nil: none
	spent time.Duration // on that measurement, with everything around it
	out   string        // why it is not measured any more
}

// Run returns a cell for every participant at every size, size by size and in the order of the
// participants. If ctx ends, the cells without a measurement say so.
func (s Sweep) Run(ctx context.Context) []Cell {
	if s.Clock == nil {
		s.Clock = time.Now
	}
	end := s.Clock().Add(s.TimeLimit)
	racers := make([]*racer, len(s.Participants))
	for i := range racers {
		racers[i] = &racer{Participant: &s.Participants[i]}
	}
	var cells []Cell
	for _, shape := range s.Sizes {
		row := make([]Cell, len(racers))
		for _, i := range order(racers) {
			row[i] = s.cell(ctx, racers[i], shape, end)
			if s.OnCell != nil {
				s.OnCell(row[i])
			}
		}
		cells = append(cells, row...)
	}
	return cells
}

// order returns the indices of the racers, the fastest first by their last measurements. Racers
// without a measurement come before all others.
func order(racers []*racer) []int {
	rate := func(r *racer) float64 {
		if r.last == nil {
			return math.Inf(1)
		}
		return r.last.Shape.Rate(r.last.WithTransfers())
	}
	indices := make([]int, len(racers))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(rate(racers[b]), rate(racers[a])) })
	return indices
}

// The time that a measurement may take beyond the expected time: drivers start up, build and load for
// seconds.
const (
	slack      = time.Minute
	slackRatio = 4
)

// pilotSize is a size that is measured, but not reported, if the first size is much larger: it gives
// the expected time of the first size.
var pilotSize = Square(256)

func (s Sweep) cell(ctx context.Context, r *racer, shape Shape, end time.Time) Cell {
	c := Cell{Entrant: r.Name, Precision: r.Precision, Shape: shape}
	if r.last == nil && r.out == "" && shape.Operations() > 8*pilotSize.Operations() {
		s.measure(ctx, r, pilotSize, end)
	}
	c.Measurement, c.Why = s.measure(ctx, r, shape, end)
	return c
}

// measure returns a measurement, or the reason why there is none.
func (s Sweep) measure(ctx context.Context, r *racer, shape Shape, end time.Time) (*Measurement, string) {
	if ctx.Err() != nil {
		return nil, "interrupted"
	}
	left := end.Sub(s.Clock())
	once, all := r.expect(shape)
	switch {
	case r.out != "":
		return nil, r.out
	case left <= 0:
		r.out = "the time is up"
		return nil, r.out
	case r.Longest > 0 && once > r.Longest:
		r.out = fmt.Sprintf("one multiplication at %s would take about %s, longer than %s", Sizes(shape), rough(once), r.Longest)
		return nil, r.out
	case all > left/2:
		r.out = fmt.Sprintf("measuring at %s would take about %s of the %s that are left", Sizes(shape), rough(all), rough(left))
		return nil, r.out
	}
	if s.OnStart != nil {
		s.OnStart(r.Name, shape)
	}
	allowed := min(left, slack+slackRatio*all)
	limited, cancel := context.WithTimeout(ctx, allowed)
	defer cancel()
	began := s.Clock()
	m, err := r.Measure(limited, shape)
	switch {
	case ctx.Err() != nil:
		return nil, "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		r.out = fmt.Sprintf("no result at %s after %s", Sizes(shape), rough(allowed))
		return nil, r.out
	case err != nil:
		return nil, err.Error()
	}
	r.last, r.spent = &m, s.Clock().Sub(began)
	return &m, ""
}

// expect returns the expected times of one multiplication at a size and of the whole measurement, for
// the same rate, and twice the time of everything else, which grows more slowly. Both are 0 without
// an earlier measurement.
func (r *racer) expect(s Shape) (once, all time.Duration) {
	if r.last == nil {
		return 0, 0
	}
	growth := s.Operations() / r.last.Shape.Operations()
	once = time.Duration(growth * r.last.WithTransfers() * float64(time.Millisecond))
	return once, time.Duration(r.Multiplications)*once + 2*r.spent
}

// rough rounds a duration to about two significant figures.
func rough(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}
