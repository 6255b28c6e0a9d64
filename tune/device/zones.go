package device

import (
	"bytes"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// Zones lie before and behind the content of a buffer. No kernel may touch them: writes a little out of bounds are common, since grids
// often reach beyond the problem.
type zones struct {
	before, behind int    // bytes, multiples of GuardUnit
	pattern        []byte // what they are filled with, as long as the longer one
}

// GuardUnit is the unit of the size of zones. It is a multiple of the alignment that any device wants of a part of a buffer.
const GuardUnit = 1 << 12

// guardBehind is the zone of buffers that are timed. No kernel is likely to write its pattern.
var guardBehind = zones{0, GuardUnit, bytes.Repeat([]byte{0xA5, 0x5A, 0xC3}, GuardUnit/3+1)[:GuardUnit]}

// fit returns zones for a content of some bytes in a buffer of a size at most; 0: any size. They are smaller if need be, or empty.
func (z zones) fit(content int, most int64) zones {
	for most > 0 && z.before+z.behind > 0 && int64(z.before+content+z.behind) > most {
		z.before, z.behind = z.before/2/GuardUnit*GuardUnit, z.behind/2/GuardUnit*GuardUnit
	}
	return z
}

// allocate makes a buffer with its zones.
func (b *buffer) allocate(context *cl.Context, flags cl.MemFlags) (err error) {
	if b.whole, err = context.NewBuffer(flags, b.size()); err != nil {
		return err
	}
	b.working = b.whole
	if b.before > 0 {
		b.working, err = b.whole.Sub(flags, b.before, b.bytes)
	}
	return err
}

// size returns the bytes of the content and its zones.
func (b *buffer) size() int { return b.before + b.bytes + b.behind }

// A Stray is what a launch wrote into the zone before or behind a buffer.
type Stray struct {
	Argument int
	Index    int // of the first element that has changed, which is negative before the buffer
	Bytes    int // that have changed
}

// strays returns what was written into the zones of all buffers.
func (s *session) strays() (all []Stray, err error) {
	for i, b := range s.buffers {
		if b == nil {
			continue
		}
		size := s.infos[i].Element.Size()
		first, count, err := b.changed(s.Queue, 0, b.before)
		if err != nil {
			return nil, fail(tune.Runtime, "read what lies before buffer %s: %v", s.infos[i].Name, err)
		}
		if count > 0 {
			all = append(all, Stray{i, -((b.before - first + size - 1) / size), count})
		}
		first, count, err = b.changed(s.Queue, b.before+b.bytes, b.behind)
		if err != nil {
			return nil, fail(tune.Runtime, "read what lies behind buffer %s: %v", s.infos[i].Name, err)
		}
		if count > 0 {
			all = append(all, Stray{i, b.elements + first/size, count})
		}
	}
	return all, nil
}

// changed returns how many bytes of a zone have changed, and the first of them.
func (b *buffer) changed(q *cl.Queue, offset, size int) (first, count int, err error) {
	if size == 0 {
		return 0, 0, nil
	}
	found := make([]byte, size)
	if err := q.Read(b.whole, offset, found); err != nil {
		return 0, 0, err
	}
	if bytes.Equal(found, b.pattern[:size]) {
		return 0, 0, nil
	}
	for i := size - 1; i >= 0; i-- {
		if found[i] != b.pattern[i] {
			first = i
			count++
		}
	}
	return first, count, nil
}

// checkGuards finds writes behind the end of a buffer.
func (s *session) checkGuards() error {
	strays, err := s.strays()
	if err != nil || len(strays) == 0 {
		return err
	}
	stray := strays[0]
	return fail(tune.Correctness, "something wrote out of bounds, the kernel or, if not all work-items reach a barrier, the driver: "+
		"behind the %d elements of %s, from element %d on, %d bytes have changed",
		s.buffers[stray.Argument].elements, s.infos[stray.Argument].Name, stray.Index, stray.Bytes)
}
