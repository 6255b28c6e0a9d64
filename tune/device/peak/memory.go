package peak

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A movement is a way to move a set of buffers.
type movement struct {
	kernel        string
	copies        bool // one half of the set to the other; otherwise all of it is read
	memory, cache string
}

var (
	copying = movement{kernel: "peak_copy", copies: true, memory: hardware.PeakMemoryCopy, cache: hardware.PeakCacheCopy}
	reading = movement{kernel: "peak_read", memory: hardware.PeakMemoryRead, cache: hardware.PeakCacheRead}
)

// A mover is a variant of the kernels of kernels/peak/memory.cl.
type mover struct {
	lanes, items, local int
	nontemporal         bool
}

func (v mover) String() string {
	text := fmt.Sprintf("%s, %d an item, %d work-items", vectorOf("uint", v.lanes), v.items, v.local)
	if v.nontemporal {
		text += ", non-temporal stores"
	}
	return text
}

// block returns the number of bytes of a buffer that a work-group moves.
func (v mover) block() int64 { return int64(4 * v.lanes * v.items * v.local) }

// movers returns the variants that the device can run, the most promising first.
func (m *Meter) movers(what movement) []mover {
	all := []mover{{4, 4, 256, false}, {4, 1, 256, false}, {4, 8, 64, false}, {4, 2, 256, false}, {4, 8, 256, false}, {4, 2, 1024, false}, {4, 4, 512, false}, {2, 4, 256, false}, {1, 8, 256, false}, {4, 4, 256, true}}
	if m.isCPU() {
		all = []mover{{16, 4, 64, false}, {16, 1, 256, false}, {16, 8, 16, false}, {16, 8, 256, false}, {4, 4, 256, false}, {16, 4, 64, true}, {16, 1, 256, true}}
	}
	return slices.DeleteFunc(all, func(v mover) bool { return v.nontemporal && !what.copies || !m.takes(v.local) })
}

const (
	leastSet  = 256 << 10
	screenSet = 8 << 20   // fits the caches of most devices
	beyondSet = 256 << 20 // beyond the caches, unless the device reports larger ones
	largest   = 2 << 30   // of one buffer
	slowRate  = 0.2       // GB/s; a device that moves the least set more slowly is a simulator
)

// sets returns the sizes of the sets in bytes, powers of two in ascending order, and the first size
// that is beyond the caches, or 0 if there is none.
func (m *Meter) sets(what movement) (sizes []int64, beyond int64) {
	buffer := int64(largest)
	if limit := m.info.MaxAllocSize; limit > 0 {
		buffer = min(buffer, limit)
	}
	most := buffer
	if what.copies {
		most = 2 * buffer
	}
	if all := m.info.GlobalMemSize; all > 0 {
		most = min(most, all/2)
	}
	want := int64(beyondSet)
	for want < 8*m.info.GlobalCacheSize {
		want *= 2
	}
	if m.isCPU() || m.needs != nil {
		most = min(most, want)
	} else { // some GPUs are a little faster with larger sets
		most = min(most, max(want, m.info.GlobalMemSize/16))
	}
	sizes = []int64{leastSet}
	for set := int64(2 * leastSet); set <= most; set *= 2 {
		sizes = append(sizes, set)
	}
	switch last := sizes[len(sizes)-1]; {
	case last >= want:
		beyond = want
	case last >= 2*m.info.GlobalCacheSize:
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
		if m.needs != nil {
			return s.hurried(ctx, m.needs.Sets)
		}
		if err := s.screen(ctx); err != nil {
			return nil, err
		}
		if err := s.sweep(ctx); err != nil {
			return nil, err
		}
		return s.peaks(), nil
	}
}

// A stream measures a movement.
type stream struct {
	movement
	meter   *Meter
	sizes   []int64
	beyond  int64
	in, out *cl.Buffer
	filled  int // numbers of in that have their content
	content *content
	kernels map[mover]*cl.Kernel

	small, large []mover // the best variants in the caches and beyond, best first
	curve        []point
}

// A point is the rate of the best variant for a set.
type point struct {
	hardware.Bandwidth
	variant mover
}

// open makes the buffers, smaller ones if the memory does not suffice.
func (s *stream) open() (err error) {
	s.kernels = map[mover]*cl.Kernel{}
	if s.content, err = s.meter.openContent(); err != nil {
		return err
	}
	for {
		if err = s.allocate(); err == nil {
			return nil
		}
		if len(s.sizes) == 1 {
			s.content.release()
			return err
		}
		s.sizes = s.sizes[:len(s.sizes)-1] // others may use the memory
		if s.beyond > s.sizes[len(s.sizes)-1] {
			s.beyond = 0
		}
	}
}

// room returns the size of the second buffer, for the copy or for a sum of each work-item.
func (s *stream) room(in int64) int64 {
	if s.copies {
		return in
	}
	return in / 4 // every variant adds at least four numbers
}

func (s *stream) close() {
	for _, k := range s.kernels {
		k.Release()
	}
	s.release()
	s.content.release()
}

// release releases the buffers. The next rate makes them again.
func (s *stream) release() {
	s.in.Release()
	s.out.Release()
	s.in, s.out, s.filled = nil, nil, 0
}

// allocate makes the buffers for the largest set.
func (s *stream) allocate() (err error) {
	in := s.sizes[len(s.sizes)-1]
	if s.copies {
		in /= 2
	}
	if s.in, err = s.meter.Context.NewBuffer(cl.ReadWrite, int(in)); err == nil {
		s.out, err = s.meter.Context.NewBuffer(cl.ReadWrite, int(s.room(in)))
	}
	if err != nil {
		s.release()
	}
	return err
}

// fastEnough returns an error for a device that would take minutes.
func (s *stream) fastEnough(ctx context.Context) error {
	all := s.meter.movers(s.movement)
	if len(all) == 0 {
		return noneOf(nil)
	}
	least := s.sizes[0]
	rate, err := s.rate(ctx, all[0], least, 0)
	if err == nil && rate < slowRate {
		return fmt.Errorf("the device is too slow for it: it moves %d KiB at %.2g GB/s", least>>10, rate)
	}
	return nil
}

// screen finds the best variants in the caches and beyond.
func (s *stream) screen(ctx context.Context) error {
	all := s.meter.movers(s.movement)
	var errs []error
	rated := func(set int64) (best []mover, err error) {
		rates := map[mover]float64{}
		for _, v := range all {
			if v.block() > set/4 {
				continue
			}
			if len(best) > 0 && s.meter.late() {
				s.meter.partial = "some variants were left out"
				break
			}
			rate, err := s.rate(ctx, v, set, sweepBudget)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", v, err))
				continue
			}
			rates[v] = rate
			best = append(best, v)
		}
		if len(best) == 0 {
			return nil, noneOf(errs)
		}
		slices.SortStableFunc(best, func(a, b mover) int { return cmp.Compare(rates[b], rates[a]) })
		return best[:min(2, len(best))], nil
	}
	var err error
	if s.small, err = rated(min(screenSet, s.sizes[len(s.sizes)-1])); err != nil {
		return err
	}
	s.large = s.small
	if s.beyond > 0 {
		s.large, err = rated(s.beyond)
	}
	return err
}

// sweep measures all sizes with the best variants.
func (s *stream) sweep(ctx context.Context) error {
	for i, set := range s.sizes {
		if s.meter.late() && i > 0 && i < len(s.sizes)-1 {
			s.meter.partial = "some variants and sizes were left out"
			continue
		}
		variants := []mover{s.small[0], s.large[0]}
		time := sweepBudget
		switch {
		case s.beyond > 0 && set >= s.beyond:
			variants, time = s.large, finalBudget
		case set <= 4*screenSet:
			variants = s.small
		}
		best := point{}
		var failed error
		for _, v := range slices.Compact(variants) {
			rate, err := s.rate(ctx, v, set, time)
			if err != nil {
				failed = err
			} else if rate > best.Rate {
				best = point{hardware.Bandwidth{Bytes: set, Rate: rate}, v}
			}
		}
		if best.Rate == 0 {
			return fmt.Errorf("%d KiB: %w", set>>10, failed)
		}
		s.curve = append(s.curve, best)
		s.meter.tell(s.peaks())
	}
	return nil
}

// peaks returns the figures of the curve.
func (s *stream) peaks() *hardware.Peaks {
	peaks := &hardware.Peaks{Figures: map[string]hardware.Peak{}}
	var memory, cache point
	var all []hardware.Bandwidth
	for _, p := range s.curve {
		best := &cache
		if s.beyond > 0 && p.Bytes >= s.beyond {
			best = &memory
		}
		if p.Rate > best.Rate {
			*best = p
		}
		all = append(all, p.Bandwidth)
	}
	for _, f := range []struct {
		name string
		point
	}{{s.memory, memory}, {s.cache, cache}} {
		switch {
		case f.Rate > 0:
			known := figure(f.name, f.Rate, fmt.Sprintf("%s, %s", bytesText(f.Bytes), f.variant))
			known.Repeats = f.Repeats
			peaks.Figures[f.name] = known
		case f.name == s.memory && s.beyond == 0: // the others are not measured yet
			peaks.Miss(f.name, fmt.Sprintf("the device's memory takes no set of buffers that is clearly larger than its caches (%d MiB)", s.meter.info.GlobalCacheSize>>20))
		}
	}
	if s.copies {
		peaks.Copy = all
	} else {
		peaks.Read = all
	}
	return peaks
}

func bytesText(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// rate returns the rate of a variant on a set in GB/s.
func (s *stream) rate(ctx context.Context, v mover, set int64, budget time.Duration) (float64, error) {
	k, err := s.kernel(v)
	if err == nil && s.in == nil {
		err = s.allocate()
	}
	if err != nil {
		return 0, err
	}
	in := set
	if s.copies {
		in /= 2
	}
	blocks := int(in / v.block())
	if err := s.fill(int(in / 4)); err != nil {
		return 0, err
	}
	if err := s.check(k, v, blocks); err != nil {
		return 0, err
	}
	times, err := s.meter.enough(ctx, 1<<30/(blocks*v.local)+1, func(times int) (time.Duration, error) {
		return s.meter.once(k, device.Line(blocks*times, v.local))
	})
	if err != nil {
		return 0, err
	}
	t, err := s.meter.fastest(ctx, k, device.Line(blocks*times, v.local), budget)
	if err != nil {
		return 0, err
	}
	return float64(set) * float64(times) / float64(t.Nanoseconds()), nil
}

// kernel returns the kernel of a variant, which is built once.
func (s *stream) kernel(v mover) (*cl.Kernel, error) {
	if k := s.kernels[v]; k != nil {
		return k, nil
	}
	defines := []define{
		{"vector", vectorOf("uint", v.lanes)}, sumLanes(v.lanes, "uint"),
		number("items", v.items), number("block_size_x", v.local),
	}
	if v.nontemporal {
		defines = append(defines, define{"nontemporal", ""})
	}
	k, err := s.meter.build("memory.cl", s.movement.kernel, defines...)
	if err == nil {
		s.kernels[v] = k
	}
	return k, err
}

// fill sets the first n numbers of the first buffer.
func (s *stream) fill(n int) error {
	if n <= s.filled {
		return nil
	}
	s.filled = n
	return s.content.fill(s.in, n, contentFactor, contentOffset)
}

// chance is the only sum that a work-item of a timed read writes. The comparison with it keeps
// compilers from removing the reads.
const chance = 0x5eed5eed

// check moves the set once and checks the result. It leaves the arguments set for timed launches.
func (s *stream) check(k *cl.Kernel, v mover, blocks int) error {
	n, items := blocks*int(v.block()/4), blocks*v.local
	written := items
	if s.copies {
		written = n
	}
	if err := s.content.fill(s.out, written, 0, 0); err != nil {
		return err
	}
	if err := s.setArgs(k, blocks, 1); err != nil {
		return err
	}
	if _, err := s.meter.once(k, device.Line(blocks, v.local)); err != nil {
		return err
	}
	if s.copies {
		right, err := s.content.right(s.out, n)
		if err == nil && int(right) != n {
			err = fmt.Errorf("the result is wrong: of %d numbers %d were copied", n, right)
		}
		return err
	}
	found, err := s.content.total(s.out, items)
	if want := contentTotal(n); err == nil && found != want {
		err = fmt.Errorf("the result is wrong: the numbers add up to %d, not %d", found, want)
	}
	if err != nil {
		return err
	}
	return s.setArgs(k, blocks, 0)
}

// setArgs sets the arguments of a kernel. A reading kernel writes its sums if keep is not 0.
func (s *stream) setArgs(k *cl.Kernel, blocks int, keep uint32) error {
	if s.copies {
		return k.SetArgs(s.out, s.in, uint32(blocks))
	}
	return k.SetArgs(s.out, s.in, uint32(blocks), keep, uint32(chance))
}
