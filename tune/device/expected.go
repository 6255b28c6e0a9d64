package device

import (
	"errors"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
)

// maxExpected bounds how many expected outputs are kept on the device for one buffer: one for
// each number of launches of the reference, mostly.
const maxExpected = 4

// An expectedCopy is an expected output on the device. It is known by the array on the host,
// which nobody changes.
type expectedCopy struct {
	of     *array.Array
	buffer *cl.Buffer
}

// errNoRoom says that the device's memory is needed for other things.
var errNoRoom = errors.New("no room for the expected output on the device")

// expectedOnDevice is the expected output of a buffer, uploaded when it is first needed. It
// lives as long as the buffer: where that is not trusted any more, or has another size, the
// expected output has no more to say.
func (s *session) expectedOnDevice(b *buffer, expected *array.Array) (*cl.Buffer, error) {
	for _, c := range b.expected {
		if c.of == expected {
			return c.buffer, nil
		}
	}
	if len(b.expected) == maxExpected {
		b.expected[0].buffer.Release()
		b.expected = append(b.expected[:0], b.expected[1:]...)
	}
	if !s.roomFor(len(expected.Bytes)) {
		return nil, errNoRoom
	}
	on, err := s.context.NewBuffer(cl.ReadOnly, len(expected.Bytes))
	if err != nil {
		return nil, err
	}
	if err := s.queue.Write(on, 0, expected.Bytes); err != nil {
		on.Release()
		return nil, err
	}
	b.expected = append(b.expected, expectedCopy{expected, on})
	return on, nil
}

// roomFor reports whether the device can spare so many bytes. Drivers that allocate lazily
// would take them in any case, and fail when a kernel is launched: a quarter of the memory is
// left to these, to kernels' private memory, and to whoever else uses the device.
func (s *session) roomFor(bytes int) bool {
	limits, err := s.device.Info()
	if err != nil {
		return false
	}
	all := float64(bytes)
	for _, b := range s.buffers {
		all += b.held()
	}
	return limits.GlobalMemSize <= 0 || all <= 0.75*float64(limits.GlobalMemSize)
}

// releaseExpected makes room on the device. What is still needed is uploaded again.
func (s *session) releaseExpected() {
	for _, b := range s.buffers {
		b.releaseExpected()
	}
}

func (b *buffer) releaseExpected() {
	if b == nil {
		return
	}
	for _, c := range b.expected {
		c.buffer.Release()
	}
	b.expected = nil
}
