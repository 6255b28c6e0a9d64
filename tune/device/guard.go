package device

import (
	"bytes"

	"github.com/ndtune/ndtune/tune"
)

// guardBytes lie behind every buffer, so that a kernel which writes a little too far is
// found out. A grid that reaches beyond the problem makes that the most common slip.
const guardBytes = 4096

// guardPattern is what the guard holds: no value that a kernel is likely to write.
var guardPattern = bytes.Repeat([]byte{0xA5, 0x5A, 0xC3}, guardBytes/3+1)[:guardBytes]

// guardFor is the guard of a buffer of a size: none where the device takes no larger one.
func (s *session) guardFor(size int) []byte {
	if limits, err := s.device.Info(); err != nil || (limits.MaxAllocSize > 0 && int64(size)+guardBytes > limits.MaxAllocSize) {
		return nil
	}
	return guardPattern
}

// checkGuards finds writes behind the end of a buffer.
func (s *session) checkGuards() error {
	found := make([]byte, guardBytes)
	for i, b := range s.buffers {
		if b == nil || len(b.guard) == 0 {
			continue
		}
		if err := s.queue.Read(b.working, b.bytes, found); err != nil {
			return fail(tune.Runtime, "read what lies behind buffer %s: %v", s.infos[i].Name, err)
		}
		if bytes.Equal(found, b.guard) {
			continue
		}
		first, count := -1, 0
		for j := range found {
			if found[j] != b.guard[j] {
				if count++; first < 0 {
					first = j
				}
			}
		}
		size := s.infos[i].Type.Size()
		return fail(tune.Correctness, "the kernel writes out of bounds: behind the %d elements of %s, from element %d on, %d bytes have changed",
			b.elements, s.infos[i].Name, b.elements+first/size, count)
	}
	return nil
}
