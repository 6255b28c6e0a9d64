package peak

import (
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
	all := []mover{
		{4, 4, 256, false}, {4, 1, 256, false}, {4, 8, 64, false}, {4, 2, 256, false}, {4, 8, 256, false},
		{4, 2, 1024, false}, {4, 4, 512, false}, {2, 4, 256, false}, {1, 8, 256, false}, {4, 4, 256, true},
	}
	if m.isCPU() {
		all = []mover{
			{16, 4, 64, false}, {16, 4, 64, true}, {16, 1, 256, false}, {16, 8, 16, false}, {16, 8, 256, false}, {4, 4, 256, false},
			{16, 1, 256, true},
		}
	}
	return slices.DeleteFunc(all, func(v mover) bool { return v.nontemporal && !what.copies || !m.takes(v.local) })
}

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
	most = min(most, want)
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
		c := newContest(m, s.rate)
		c.run(ctx, s.probes()...)
		if len(c.best) == 0 {
			return nil, c.none()
		}
		return s.peaks(ctx, c), nil
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

// probes returns the probes of all sets. Each variant moves all of them before the next one is built, the most promising first. On a
// CPU, only non-temporal stores reach the peak beyond the caches: the first variant with them is the second, and must be measured.
func (s *stream) probes() []probe[mover] {
	variants, cpu, each := s.meter.movers(s.movement), s.meter.isCPU(), budget
	if cpu {
		each = moveBudget
	}
	var all []probe[mover]
	for i, v := range variants {
		for _, set := range s.sizes {
			if v.block() > set/4 || v.nontemporal && cpu && !s.isBeyond(set) {
				continue
			}
			all = append(all, probe[mover]{v, set, each, i == 1 && v.nontemporal && cpu})
		}
	}
	return all
}

func (s *stream) isBeyond(set int64) bool { return s.beyond > 0 && set >= s.beyond }

// peaks returns the figures of the sets that were measured. It measures the fastest set of each figure once more.
func (s *stream) peaks(ctx context.Context, c *contest[mover]) *hardware.Peaks {
	fastest := map[string]int64{}
	for set, r := range c.best {
		name := s.cache
		if s.isBeyond(set) {
			name = s.memory
		}
		if r.rate > c.best[fastest[name]].rate {
			fastest[name] = set
		}
	}
	peaks := &hardware.Peaks{}
	for _, name := range []string{s.memory, s.cache} {
		f := hardware.Peak{Missing: c.none().Error()}
		if set, known := fastest[name]; known {
			c.confirm(ctx, set)
			best := c.best[set]
			f = hardware.Peak{Value: best.rate, Variant: fmt.Sprintf("%s, %s", bytesText(set), best.variant)}
		} else if name == s.memory && s.beyond == 0 {
			f.Missing = fmt.Sprintf("the device's memory takes no set of buffers that is clearly larger than its caches (%d MiB)",
				s.meter.Info.GlobalCacheSize>>20)
		}
		peaks.Set(name, f)
	}
	var curve []hardware.Bandwidth
	for _, set := range s.sizes {
		if best, known := c.best[set]; known {
			curve = append(curve, hardware.Bandwidth{Bytes: set, Rate: best.rate})
		}
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

// A stream moves sets of buffers of one device.
type stream struct {
	movement
	meter   *Meter
	sizes   []int64 // of the sets in bytes, powers of two in ascending order
	beyond  int64   // the first size that is beyond the caches; 0: there is none
	in, out *cl.Buffer
	filled  int // numbers of in that have their content
	content *content
}

// open makes the buffers, smaller ones if the memory does not suffice.
func (s *stream) open() (err error) {
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
	s.release()
	s.content.release()
}

// release releases the buffers.
func (s *stream) release() {
	s.in.Release()
	s.out.Release()
	s.in, s.out = nil, nil
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

// rate returns the rate of a variant on a set in GB/s.
func (s *stream) rate(ctx context.Context, v mover, set int64, budget time.Duration) (float64, error) {
	k, err := s.kernel(v)
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
	times, err := s.meter.repetitions(ctx, 1<<30/(blocks*v.local)+1, func(times int) (time.Duration, error) {
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

// kernel returns the kernel of a variant.
func (s *stream) kernel(v mover) (*cl.Kernel, error) {
	defines := []define{
		{"vector", vectorOf("uint", v.lanes)}, sumLanes(v.lanes, "uint"),
		number("items", v.items), number("block_size_x", v.local),
	}
	if v.nontemporal {
		defines = append(defines, define{"nontemporal", ""})
	}
	return s.meter.kernel("memory.cl", s.movement.kernel, defines...)
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
		return s.content.check(s.out, n, contentFactor, contentOffset)
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
