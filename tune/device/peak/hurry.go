package peak

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// hurried measures the rates that the limits of some sizes of buffers need. Each variant moves all
// sets before the next one is built, until the time is up. The first variant is always measured,
// and on a CPU the first with non-temporal stores, which alone reach the peak beyond the caches.
// In the end the best variant of each set moves it again, until two of its rates agree.
func (s *stream) hurried(ctx context.Context, needed []int64) (*hardware.Peaks, error) {
	wanted := s.wanted(needed)
	variants, must := s.inOrder()
	rates := map[int64]point{}
	var errs []error
	for i, v := range variants {
		if i >= must && len(rates) == len(wanted) && s.meter.late() {
			s.meter.partial = fmt.Sprintf("%d of %d variants were left out", len(variants)-i, len(variants))
			break
		}
		for _, set := range wanted {
			if v.block() > set/4 || v.nontemporal && s.meter.isCPU() && len(rates) == len(wanted) && !s.isBeyond(set) {
				continue
			}
			rate, err := s.rate(ctx, v, set, s.meter.hurriedBudget())
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", v, err))
				break
			}
			if rate > rates[set].Rate {
				rates[set] = point{hardware.Bandwidth{Bytes: set, Rate: rate, Repeats: []float64{rate}}, v}
			}
			s.takeCurve(rates)
			s.pause()
		}
	}
	if len(rates) == 0 {
		return nil, noneOf(errs)
	}
	for _, set := range wanted {
		best, known := rates[set]
		if !known {
			continue
		}
		best.Repeats = s.meter.confirm(best.Rate, func() (float64, error) {
			defer s.pause()
			return s.rate(ctx, best.variant, set, s.meter.hurriedBudget())
		})
		best.Rate, _ = hardware.Confirmed(best.Repeats)
		rates[set] = best
	}
	s.takeCurve(rates)
	return s.peaks(), nil
}

// pause passes on the peaks so far. If other work uses the device meanwhile, it gets the memory of the buffers.
func (s *stream) pause() {
	if s.meter.shared {
		s.release()
	}
	s.meter.tell(s.peaks())
}

// promisingVariants is how many shapes of a kernel are measured on a GPU in a hurry: on an H200, one of them is within 0.5 % of the peak.
const promisingVariants = 3

// promising returns the variants that are measured: in a hurry, on a GPU, the first ones.
func promising[V any](m *Meter, variants []V) []V {
	if m.needs == nil || m.isCPU() {
		return variants
	}
	return variants[:min(promisingVariants, len(variants))]
}

// hurriedBudget is the budget of a set of buffers that is moved quickly.
func (m *Meter) hurriedBudget() time.Duration {
	if m.isCPU() { // other processes may use it and its caches meanwhile
		return sweepBudget
	}
	return quickBudget
}

// attempts is how often the best variant is measured to confirm its rate.
const attempts = 4

// confirm measures again until two of the rates agree, and returns all of them.
func (m *Meter) confirm(rate float64, again func() (float64, error)) []float64 {
	rates := []float64{rate}
	for range attempts {
		if _, confirmed := hardware.Confirmed(rates); confirmed || len(rates) > 1 && m.late() {
			break
		}
		if rate, err := again(); err == nil {
			rates = append(rates, rate)
		}
	}
	return rates
}

// Covered reports whether quick peaks of a device have all that some limits need, and each of the figures is confirmed
// by a repeat.
func Covered(info *cl.DeviceInfo, known *hardware.Peaks, needed problem.Needs) bool {
	if known == nil {
		return false
	}
	for _, p := range PartsFor(needed) {
		switch p.Figures[0] {
		case hardware.PeakMemoryCopy:
			if !covered(info, known.Copy, copying, needed.Sets) {
				return false
			}
		case hardware.PeakMemoryRead:
			if !covered(info, known.Read, reading, needed.Sets) {
				return false
			}
		default:
			if _, confirmed := hardware.Confirmed(known.Figures[p.Figures[0]].Repeats); !confirmed {
				return false
			}
		}
	}
	return true
}

func covered(info *cl.DeviceInfo, curve []hardware.Bandwidth, what movement, needed []int64) bool {
	s := &stream{meter: &Meter{info: info, needs: &problem.Needs{Sets: needed}}}
	s.sizes, s.beyond = s.meter.sets(what)
	for _, set := range s.wanted(needed) {
		i := slices.IndexFunc(curve, func(b hardware.Bandwidth) bool { return b.Bytes == set })
		if i < 0 {
			return false
		}
		if _, confirmed := hardware.Confirmed(curve[i].Repeats); !confirmed {
			return false
		}
	}
	return true
}

// wanted returns the sizes of sets to measure, the most important first. A problem's size is
// rounded down to a power of two, which is faster; see problem.Problem.Limit. One set stands
// for all sizes beyond the caches: the largest.
func (s *stream) wanted(needed []int64) []int64 {
	last := s.sizes[len(s.sizes)-1]
	var sets []int64
	add := func(set int64) {
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	for _, bytes := range needed {
		step := int64(1) << (bits.Len64(uint64(max(bytes, leastSet))) - 1)
		if s.isBeyond(step) || step > last {
			step = last
		}
		add(step)
	}
	add(last)
	return sets
}

func (s *stream) isBeyond(set int64) bool { return s.beyond > 0 && set >= s.beyond }

// inOrder returns the variants, the most promising first, and how many of them must be measured.
func (s *stream) inOrder() (variants []mover, must int) {
	variants, must = promising(s.meter, s.meter.movers(s.movement)), 1
	if i := slices.IndexFunc(variants, func(v mover) bool { return v.nontemporal }); i > 0 && s.meter.isCPU() {
		v := variants[i]
		return slices.Insert(slices.Delete(variants, i, i+1), 1, v), 2
	}
	return variants, must
}

// takeCurve makes the curve of the known rates.
func (s *stream) takeCurve(rates map[int64]point) {
	s.curve = s.curve[:0]
	for _, set := range s.sizes {
		if p, known := rates[set]; known {
			s.curve = append(s.curve, p)
		}
	}
}
