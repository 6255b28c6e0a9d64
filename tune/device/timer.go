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

// probeTimer finds out whether the driver's profiling timestamps can be used, and settles
// the timer of the session: zero or reversed timestamps, a kernel that took longer than the
// host saw it take, or less than any device needs for it, are reason to use the host's clock
// throughout.
func (s *session) probeTimer() (string, error) {
	program, err := s.context.NewProgram(timerProbe)
	if err != nil {
		return "", err
	}
	defer program.Release()
	if err := program.Build("", s.device); err != nil {
		return "", err
	}
	kernel, err := program.NewKernel("ndtune_timer_probe")
	if err != nil {
		return "", err
	}
	defer kernel.Release()
	out, err := s.context.NewBufferFrom(cl.ReadWrite, make([]byte, 4))
	if err != nil {
		return "", err
	}
	defer out.Release()
	if err := kernel.SetArgs(out, uint32(probeSteps)); err != nil {
		return "", err
	}
	s.timer = tune.TimerEvent
	for range probeLaunches {
		usable, err := s.probeOnce(kernel)
		if err != nil {
			return "", err
		}
		if !usable {
			s.timer = tune.TimerHost
		}
	}
	return s.timer, nil
}

func (s *session) probeOnce(kernel *cl.Kernel) (usable bool, err error) {
	if err := s.queue.Finish(); err != nil {
		return false, err
	}
	began := time.Now()
	event, err := s.queue.EnqueueKernel(kernel, nil, []int{1}, []int{1})
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
