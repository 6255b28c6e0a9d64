package peak

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ndtune/ndtune/tune/hardware"
)

// hurried measures the rates that the limits of some sizes of buffers need. Each variant moves all
// sets before the next one is built, until the time is up. The first variant is always measured,
// and on a CPU the first with non-temporal stores, which alone reach the peak beyond the caches.
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
			rate, err := s.rate(ctx, v, set, sweepBudget)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", v, err))
				break
			}
			if rate > rates[set].Rate {
				rates[set] = point{hardware.Bandwidth{Bytes: set, Rate: rate}, v}
			}
			s.takeCurve(rates)
			s.meter.tell(s.peaks())
		}
	}
	if len(rates) == 0 {
		return nil, noneOf(errs)
	}
	return s.peaks(), nil
}

// wanted returns the sizes of sets to measure, the most important first. A problem's size is
// rounded down to a power of two, which is faster; see problem.Problem.Limit. The largest set stands
// for all sizes beyond the caches.
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
	variants, must = s.meter.movers(s.movement), 1
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
