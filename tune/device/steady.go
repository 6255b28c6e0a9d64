package device

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// A watch notices that the device was slower or faster than usual while a configuration was measured, so that the measurement can be
// repeated. It compares signs of the device's speed with their levels in the measurements before.
type watch struct {
	signs  []*sign                   // the first one shows when the device is warm
	slowed func() []string           // the reasons for which the device has slowed itself down
	usual  []string                  // those among them that belong to the steady state
	load   func(time.Duration) error // keeps the device busy; nil: it cannot
	now    func() time.Time
	pause  func(time.Duration)

	sharing int           // watches that share the device
	begun   time.Time     // the first measurement
	spent   time.Duration // for repetitions
	stayed  int           // successive measurements that stayed disturbed
	later   []reading     // of these
}

// A sign is a figure that shows how slow a device is. Where the figure is twice as large, the device takes twice as long.
type sign struct {
	cause  string       // of a disturbance, for messages
	least  float64      // share of the level below which a difference is none
	shared bool         // other programs change it, so that the warm-up does not show its scatter
	begin  func() error // before the launches; nil: nothing to do
	end    func() (float64, error)
	steady []float64 // the last figures of the steady state
}

// A reading is what a watch has read of one measurement.
type reading struct {
	figures []float64 // by sign; NaN: unknown
	slowed  []string
}

// A disturbance is the difference of a measurement from the steady state. A device that was faster for a while is a disturbance,
// too: what was measured then would seem better than all else.
type disturbance struct {
	share float64 // by which the device was slower, as far as signs show it; negative: faster
	why   string  // "": it was steady
}

const (
	steadyMemory = 32 // figures that make a level
	steadyLeast  = 5  // without which there is no level

	// A figure is disturbed if it differs from the median of the level by more than scatters standard deviations, and by more than
	// the least share of its sign. See docs/observers.md for the measurements behind both.
	scatters     = 4
	leastOfClock = 0.02
	leastOfCPU   = 0.1

	// stayedMost is the number of successive measurements that may stay disturbed. After these, their state is the steady one.
	stayedMost = 4

	// Repetitions, with the waits before them, may take a share of the time since the first measurement, and some time more: as
	// much as those of stayedMost measurements. The watches that share a device share this time, since only one of them measures.
	spentShare = 4
	spentMore  = 6 * time.Second

	loadTime  = 10 * time.Millisecond // long enough for the scheduler of a CPU to share it with others
	restTime  = 20 * time.Millisecond
	warmSpan  = 2 * time.Millisecond
	warmMost  = 2 * time.Second
	warmSpans = 6
	warmDrift = 0.005
)

// recoveries are the longest times to wait for the device before each repetition.
var recoveries = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second}

// begin prepares all signs for the launches that follow. A sign that fails is not used any more.
func (w *watch) begin() {
	w.signs = slices.DeleteFunc(w.signs, func(s *sign) bool { return s.begin != nil && s.begin() != nil })
}

// end reads all signs.
func (w *watch) end() (r reading) {
	w.signs = slices.DeleteFunc(w.signs, func(s *sign) bool {
		f, err := s.end()
		if err == nil {
			r.figures = append(r.figures, f)
		}
		return err != nil
	})
	if w.slowed != nil {
		r.slowed = w.slowed()
	}
	return r
}

// judge compares a reading with the steady state.
func (w *watch) judge(r reading) (d disturbance) {
	var why []string
	for i, s := range w.signs {
		share, disturbed := s.compare(r.figures[i])
		if disturbed {
			why = append(why, s.cause)
		}
		if math.Abs(share) > math.Abs(d.share) {
			d.share = share
		}
	}
	for _, reason := range r.slowed {
		if !slices.Contains(w.usual, reason) {
			why = append(why, reason)
		}
	}
	d.why = strings.Join(why, ", ")
	return d
}

// compare returns the share by which a figure is beyond its level, and whether that is a disturbance.
func (s *sign) compare(f float64) (share float64, disturbed bool) {
	if len(s.steady) < steadyLeast || math.IsNaN(f) {
		return 0, false
	}
	median := problem.StatsOf(s.steady).Median
	return f/median - 1, max(f/median, median/f)-1 > max(s.least, scatters*deviation(s.steady, median)/median)
}

// deviation estimates a standard deviation by the median of the distances from the median, which outliers do not change.
func deviation(values []float64, median float64) float64 {
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - median)
	}
	return 1.4826 * problem.StatsOf(distances).Median
}

// accept takes a reading for one of the steady state.
func (w *watch) accept(r reading) {
	for i, s := range w.signs {
		if f := r.figures[i]; !math.IsNaN(f) {
			s.steady = append(s.steady, f)
			s.steady = s.steady[max(0, len(s.steady)-steadyMemory):]
		}
	}
	w.stayed, w.later = 0, nil
}

// stay notes that a measurement stayed disturbed through some readings. It reports whether their state is the steady one from
// now on, because so many measurements have stayed disturbed.
func (w *watch) stay(readings []reading) bool {
	w.stayed++
	w.later = append(w.later, readings...)
	if w.stayed < stayedMost {
		return false
	}
	later := w.later
	for _, s := range w.signs {
		s.steady = nil
	}
	for _, r := range later {
		if len(r.figures) == len(w.signs) { // else a sign has failed since
			w.accept(r)
		}
		for _, reason := range r.slowed {
			if !slices.Contains(w.usual, reason) {
				w.usual = append(w.usual, reason)
			}
		}
	}
	w.stayed, w.later = 0, nil
	return true
}

// warmUp keeps the device busy until its speed no longer drifts, as its first sign shows it: as far as the scatter of this sign
// lets anybody know. Busy is called before each span of launches.
func (w *watch) warmUp(ctx context.Context, busy func()) error {
	if w.load == nil || len(w.signs) == 0 {
		return nil
	}
	var all []reading
	for began := w.now(); w.now().Sub(began) < warmMost; {
		if err := ctx.Err(); err != nil {
			return err
		}
		busy()
		w.begin()
		if err := w.load(warmSpan); err != nil {
			w.load = nil
			return nil
		}
		if all = append(all, w.end()); len(w.signs) == 0 {
			return nil
		}
		all = slices.DeleteFunc(all, func(r reading) bool { return len(r.figures) != len(w.signs) })
		if all = all[max(0, len(all)-warmSpans):]; len(all) == warmSpans && settled(all) {
			break
		}
	}
	if w.signs[0].shared {
		return nil
	}
	for _, r := range all {
		// The others depend on the launches, and those of a search are longer.
		w.signs[0].steady = append(w.signs[0].steady, r.figures[0])
	}
	return nil
}

// settled reports whether the second half of some readings differs from the first one by no more than the scatter.
func settled(all []reading) bool {
	var figures []float64
	for _, r := range all {
		figures = append(figures, r.figures[0])
	}
	half := len(figures) / 2
	first, second := problem.StatsOf(figures[:half]).Median, problem.StatsOf(figures[half:]).Median
	return math.Abs(second-first) <= max(warmDrift*first, deviation(figures, problem.StatsOf(figures).Median))
}

// recover waits until the device is steady under load, for a time at most.
func (w *watch) recover(ctx context.Context, most time.Duration, busy func()) error {
	for began := w.now(); w.now().Sub(began) < most; {
		if err := ctx.Err(); err != nil {
			return err
		}
		busy()
		w.pause(restTime)
		if w.load == nil {
			continue
		}
		w.begin()
		if err := w.load(loadTime); err != nil {
			w.load = nil
			continue
		}
		if w.judge(w.end()).why == "" {
			return nil
		}
	}
	return nil
}

// steadily measures, and repeats the measurement as long as the device was disturbed, a few times at most. It returns the
// measurement with the least disturbance. If it was repeated, readings say how often, why, and by how much the device was slower
// or faster in the measurement that counts. Busy is called before each wait.
func steadily[T any](ctx context.Context, w *watch, busy func(), measure func() (T, error)) (best T, readings []hardware.Reading, err error) {
	var all []reading
	var least disturbance
	var first string
	var since time.Time // the end of the first measurement
	if w.begun.IsZero() {
		w.begun = w.now()
	}
	for n := 0; ; n++ {
		w.begin()
		measured, err := measure()
		if err != nil {
			return measured, nil, err
		}
		r := w.end()
		d := w.judge(r)
		all = append(all, r)
		if n == 0 {
			first, since = d.why, w.now()
		}
		if n == 0 || d.why == "" || math.Abs(d.share) < math.Abs(least.share) {
			best, least = measured, d
		}
		if spent := w.spent + w.now().Sub(since); d.why == "" || n == len(recoveries) || spent > w.allowance() {
			w.spent = spent
			if d.why == "" {
				w.accept(r)
				return best, steadiness(n, first, least, false), nil
			}
			return best, steadiness(n, first, least, w.stay(all)), nil
		}
		if err := w.recover(ctx, recoveries[n], busy); err != nil {
			return best, nil, err
		}
	}
}

// allowance returns how much time repetitions may have taken until now.
func (w *watch) allowance() time.Duration {
	return (w.now().Sub(w.begun)/spentShare + spentMore) / time.Duration(max(1, w.sharing))
}

// steadiness returns the readings of a measurement that was repeated n times, nil if it was steady at once.
func steadiness(n int, first string, d disturbance, settled bool) []hardware.Reading {
	if first == "" {
		return nil
	}
	left := hardware.Reading{Quantity: hardware.Disturbance, Value: d.share}
	if left.Note = d.why; settled {
		left.Note += "; this is the steady state from now on"
	}
	return []hardware.Reading{{Quantity: hardware.Repeats, Value: float64(n), Note: first}, left}
}
