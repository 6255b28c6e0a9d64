package cl

import (
	"time"
	"unsafe"
)

// Profile holds the times of a command on the device's clock, in nanoseconds. The clock
// begins anywhere, so only differences mean something. They are what the driver says: some
// give zeros, or an end that is no later than the start.
type Profile struct {
	Queued uint64 // put into the queue by the host
	Submit uint64 // handed to the device
	Start  uint64
	End    uint64
}

// Duration returns End - Start, and 0 where End is before Start.
func (p Profile) Duration() time.Duration {
	if p.End < p.Start {
		return 0
	}
	return time.Duration(p.End - p.Start)
}

const profilingQueued = 0x1280 // submit, start and end follow

// Profile returns the times of the command. It must have ended, and its queue must have been
// made with Profiling; otherwise, and for user events, the error is
// ProfilingInfoNotAvailable.
func (e *Event) Profile() (Profile, error) {
	f := clGetEventProfilingInfo
	if err := e.use(f); err != nil {
		return Profile{}, err
	}
	defer e.leave()
	times := new([4]uint64)
	for i := range times {
		t := &times[i]
		if err := f.run(e.id, uintptr(profilingQueued+i), unsafe.Sizeof(*t), uintptr(unsafe.Pointer(t)), 0); err != nil {
			return Profile{}, err
		}
	}
	return Profile{Queued: times[0], Submit: times[1], Start: times[2], End: times[3]}, nil
}
