package device

import (
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
)

// unknownCaches is the assumed size of the caches of a GPU whose peaks are unknown, in bytes. GPUs report small
// caches: NVIDIA's driver counts the first level only, AMD's leaves out the last one, which has 256 MiB on some devices.
const unknownCaches = 256 << 20

// cachesOf returns the size of the caches of a device in bytes: as its peaks show it, or as it reports.
func cachesOf(d hardware.Device, reported int64) int64 {
	found := d.Peaks.CacheSize()
	if found == 0 && (d.Type != "cpu" || reported == 0) {
		found = unknownCaches
	}
	return max(found, reported)
}

// An evictor overwrites the caches of a device: it reads and writes twice their size.
type evictor struct {
	buffer *cl.Buffer
	launch Launch
}

// evictSource adds 1 to each number of a buffer. It reads, because stores alone may bypass the caches.
const evictSource = `
__kernel void ndtune_evict(__global uint4 *numbers) {
    size_t i = get_global_id(0);
    numbers[i] = numbers[i] + 1u;
}
`

const (
	evictLocal = 64              // work-items of a work-group
	evictGroup = evictLocal * 16 // bytes that it overwrites
)

// newEvictor makes an evictor for caches of some bytes, and launches it once: some drivers compile only then.
func (l *Launcher) newEvictor(caches int64) (*evictor, error) {
	bytes := 2 * caches
	if most := l.Info.MaxAllocSize; most > 0 {
		bytes = min(bytes, most)
	}
	if bytes < caches {
		return nil, fmt.Errorf("the caches have %d MiB, and a buffer has at most %d MiB", caches>>20, bytes>>20)
	}
	groups := int(bytes / evictGroup)
	kernel, err := l.Kernel(evictSource, "", "ndtune_evict")
	e := &evictor{launch: Launch{kernel, Line(groups, evictLocal)}}
	if err == nil {
		e.buffer, err = l.Context.NewBuffer(cl.ReadWrite, groups*evictGroup)
	}
	if err == nil {
		err = kernel.SetArgs(e.buffer)
	}
	if err == nil {
		_, err = l.Times([]Launch{e.launch}, 1)
	}
	if err != nil {
		e.release()
		return nil, fmt.Errorf("overwrite %d MiB: %w", groups*evictGroup>>20, err)
	}
	return e, nil
}

// release releases the evictor. It does nothing on nil.
func (e *evictor) release() {
	if e != nil {
		e.buffer.Release()
	}
}

// openEvictor makes the evictor of a session whose timed launches begin with cold caches.
func (s *session) openEvictor() (err error) {
	if s.caches == 0 || s.evictor != nil {
		return nil
	}
	if s.evictor, err = s.newEvictor(s.caches); err != nil {
		return fmt.Errorf("measure.cache: cold: %w", err)
	}
	return nil
}

// evict enqueues the overwriting of the caches, if timed launches begin with cold ones.
func (s *session) evict() error {
	if s.evictor == nil {
		return nil
	}
	event, err := s.Enqueue(s.evictor.launch)
	if err != nil {
		return fail(tune.Runtime, "overwrite the caches: %v", err)
	}
	event.Release()
	return nil
}
