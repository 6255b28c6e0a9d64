package device

import (
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// timerProbe does work that takes some microseconds at least on any device.
const timerProbe = `
__kernel void ndtune_timer_probe(__global uint *out, uint n) {
    uint x = out[0];
    for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
    out[0] = x;
}
`

const (
	probeLaunches = 3
	probeSteps    = 20000 // each waits for the one before
	probeLeast    = time.Microsecond
)

// probeTimer settles the timer of the session.
func (s *session) probeTimer() (timer string, err error) {
	s.timer, err = FindTimer(s.queue)
	return s.timer, err
}

// FindTimer finds out whether the driver's profiling timestamps can be used on a queue that was
// made with profiling: zero or reversed timestamps, a kernel that took longer than the host saw
// it take, or less than any device needs for it, are reason to use the host's clock throughout.
// So is a driver that refused the profiling.
func FindTimer(q *cl.Queue) (string, error) {
	if !q.Profiling() {
		return tune.TimerHost, nil
	}
	program, err := q.Context().NewProgram(timerProbe)
	if err != nil {
		return "", err
	}
	defer program.Release()
	if err := program.Build("", q.Device()); err != nil {
		return "", err
	}
	kernel, err := program.NewKernel("ndtune_timer_probe")
	if err != nil {
		return "", err
	}
	defer kernel.Release()
	out, err := q.Context().NewBufferFrom(cl.ReadWrite, make([]byte, 4))
	if err != nil {
		return "", err
	}
	defer out.Release()
	if err := kernel.SetArgs(out, uint32(probeSteps)); err != nil {
		return "", err
	}
	timer := tune.TimerEvent
	for range probeLaunches {
		usable, err := probeOnce(q, kernel)
		if err != nil {
			return "", err
		}
		if !usable {
			timer = tune.TimerHost
		}
	}
	return timer, nil
}

func probeOnce(q *cl.Queue, kernel *cl.Kernel) (usable bool, err error) {
	if err := q.Finish(); err != nil {
		return false, err
	}
	began := time.Now()
	event, err := q.EnqueueKernel(kernel, nil, []int{1}, []int{1})
	if err != nil {
		return false, err
	}
	defer event.Release()
	if err := event.Wait(); err != nil {
		return false, err
	}
	seen := time.Since(began)
	p, err := event.Profile()
	if err != nil {
		return false, nil // the driver has no timestamps to give
	}
	took := time.Duration(p.End - p.Start)
	return p.Start > 0 && p.End > p.Start && took >= probeLeast && took <= seen+seen/2+time.Millisecond, nil
}
