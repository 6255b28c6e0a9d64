package peak

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
)

const (
	leastSet  = 256 << 10
	beyondSet = 256 << 20 // beyond the caches, unless the device reports larger ones
	largest   = 2 << 30   // of one buffer
	slowRate  = 0.2       // GB/s; a device that moves the least set more slowly is a simulator
)

// sets returns the sizes of the sets in bytes, powers of two in ascending order, and the first size
// that is beyond the caches, or 0 if there is none.
func (m *Meter) sets(what movement) (sizes []int64, beyond int64) {
	buffer := int64(largest)
	if limit := m.Info.MaxAllocSize; limit > 0 {
		buffer = min(buffer, limit)
	}
	most := buffer
	if what.copies {
		most = 2 * buffer
	}
	if all := m.Info.GlobalMemSize; all > 0 {
		most = min(most, all/2)
	}
	want := int64(beyondSet)
	for want < 8*m.Info.GlobalCacheSize {
		want *= 2
	}
	if m.isCPU() || m.needs != nil {
		most = min(most, want)
	} else { // some GPUs are a little faster with larger sets
		most = min(most, max(want, m.Info.GlobalMemSize/16))
	}
	sizes = []int64{leastSet}
	for set := int64(2 * leastSet); set <= most; set *= 2 {
		sizes = append(sizes, set)
	}
	switch last := sizes[len(sizes)-1]; {
	case last >= want:
		beyond = want
	case last >= 2*m.Info.GlobalCacheSize:
		beyond = last
	}
	return sizes, beyond
}

// moving returns the measurement of a movement.
func moving(what movement) func(context.Context, *Meter) (*hardware.Peaks, error) {
	return func(ctx context.Context, m *Meter) (*hardware.Peaks, error) {
		s := &stream{meter: m, movement: what}
		s.sizes, s.beyond = m.sets(what)
		if err := s.open(); err != nil {
			return nil, err
		}
		defer s.close()
		if err := s.fastEnough(ctx); err != nil {
			return nil, err
		}
		sets := s.sizes
		if m.needs != nil {
			sets = s.wanted(m.needs.Sets)
		}
		c := newContest(m, s.rate)
		c.tell = func() {
			if m.shared { // other work gets the memory of the buffers meanwhile
				s.release()
			}
			m.tell(s.peaks(c))
		}
		c.run(ctx, s.probes(sets)...)
		if len(c.best) == 0 {
			return nil, c.none()
		}
		for _, set := range sets {
			c.confirm(ctx, set)
		}
		peaks := s.peaks(c)
		for _, name := range []string{s.memory, s.cache} {
			if _, known := peaks.Figures[name]; !known && m.needs == nil {
				peaks.Miss(name, c.none().Error())
			}
		}
		return peaks, nil
	}
}

// fastEnough returns an error for a device that would take minutes.
func (s *stream) fastEnough(ctx context.Context) error {
	all := s.meter.movers(s.movement)
	if len(all) == 0 {
		return errNoVariant
	}
	least := s.sizes[0]
	rate, err := s.rate(ctx, all[0], least, 0)
	if err == nil && rate < slowRate {
		return fmt.Errorf("the device is too slow for it: it moves %d KiB at %.2g GB/s", least>>10, rate)
	}
	return nil
}

// probes returns the probes of some sets. Each variant moves all of them before the next one is built, the most promising first. On a
// CPU, only non-temporal stores reach the peak beyond the caches: the first variant with them is the second, and must be measured.
func (s *stream) probes(sets []int64) []probe[mover] {
	variants, cpu := promising(s.meter, s.meter.movers(s.movement)), s.meter.isCPU()
	if i := slices.IndexFunc(variants, func(v mover) bool { return v.nontemporal }); i > 0 && cpu {
		v := variants[i]
		variants = slices.Insert(slices.Delete(variants, i, i+1), 1, v)
	}
	var all []probe[mover]
	for i, v := range variants {
		for _, set := range sets {
			if v.block() > set/4 || v.nontemporal && cpu && !s.isBeyond(set) {
				continue
			}
			all = append(all, probe[mover]{v, set, s.meter.moveBudget(), i == 1 && v.nontemporal && cpu})
		}
	}
	return all
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

// wanted returns the sizes of sets to measure, the most important first. A problem's size is
// rounded down to a power of two, which is faster; see problem.Problem.Limit. One set stands
// for all sizes beyond the caches: the largest.
func (s *stream) wanted(sizes []int64) []int64 {
	last := s.sizes[len(s.sizes)-1]
	var sets []int64
	add := func(set int64) {
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	for _, bytes := range sizes {
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

// peaks returns the figures of the sets that were measured.
func (s *stream) peaks(c *contest[mover]) *hardware.Peaks {
	peaks := &hardware.Peaks{Figures: map[string]hardware.Peak{}}
	var curve []hardware.Bandwidth
	for _, set := range s.sizes {
		best, known := c.best[set]
		if !known {
			continue
		}
		curve = append(curve, hardware.Bandwidth{Bytes: set, Rate: best.rate, Repeats: best.repeats})
		name := s.cache
		if s.isBeyond(set) {
			name = s.memory
		}
		if best.rate > peaks.Value(name) {
			known := figure(name, best.rate, fmt.Sprintf("%s, %s", bytesText(set), best.variant))
			known.Repeats = best.repeats
			peaks.Figures[name] = known
		}
	}
	if s.beyond == 0 { // otherwise it is only not measured yet
		caches := s.meter.Info.GlobalCacheSize >> 20
		peaks.Miss(s.memory, fmt.Sprintf("the device's memory takes no set of buffers that is clearly larger than its caches (%d MiB)", caches))
	}
	if s.copies {
		peaks.Copy = curve
	} else {
		peaks.Read = curve
	}
	return peaks
}

func bytesText(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// Covered reports whether quick peaks of a device have all that some limits need, and each of the figures is confirmed
// by a repeat.
func Covered(info *cl.DeviceInfo, known *hardware.Peaks, needs judge.Needs) bool {
	if known == nil {
		return false
	}
	m := &Meter{Launcher: &device.Launcher{Info: info}, needs: &needs}
	var repeats [][]float64 // of all figures that are needed
	for _, p := range PartsFor(needs) {
		switch p.Figures[0] {
		case hardware.PeakMemoryCopy:
			repeats = append(repeats, m.repeatsOf(known.Copy, copying)...)
		case hardware.PeakMemoryRead:
			repeats = append(repeats, m.repeatsOf(known.Read, reading)...)
		default:
			repeats = append(repeats, known.Figures[p.Figures[0]].Repeats)
		}
	}
	return !slices.ContainsFunc(repeats, func(values []float64) bool {
		_, confirmed := hardware.Confirmed(values)
		return !confirmed
	})
}

// repeatsOf returns the repeats of each set that is needed of a curve; nil for a set that it lacks.
func (m *Meter) repeatsOf(curve []hardware.Bandwidth, what movement) [][]float64 {
	s := &stream{meter: m}
	s.sizes, s.beyond = m.sets(what)
	var all [][]float64
	for _, set := range s.wanted(m.needs.Sets) {
		var repeats []float64
		if i := slices.IndexFunc(curve, func(b hardware.Bandwidth) bool { return b.Bytes == set }); i >= 0 {
			repeats = curve[i].Repeats
		}
		all = append(all, repeats)
	}
	return all
}
