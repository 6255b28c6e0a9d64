package worker

import (
	"time"

	"github.com/ndtune/ndtune/tune/device"
)

// Spent says where the time of workers went, summed over them.
type Spent struct {
	Starting  time.Duration // from the start of a process until it is ready
	Building  time.Duration // compiling, with the first launch of a configuration
	Verifying time.Duration // making the reference and comparing with it
	Measuring time.Duration // timed launches
	Waiting   time.Duration // for the device, while another worker was timing
	Idle      time.Duration // with nothing to do
}

// Total is the sum.
func (s Spent) Total() time.Duration {
	return s.Starting + s.Building + s.Verifying + s.Measuring + s.Waiting + s.Idle
}

func (s *Spent) add(o Spent) {
	s.Starting += o.Starting
	s.Building += o.Building
	s.Verifying += o.Verifying
	s.Measuring += o.Measuring
	s.Waiting += o.Waiting
	s.Idle += o.Idle
}

// book adds the time since the last change to what the member was at.
func (m *member) book(now time.Time) {
	d := now.Sub(m.since)
	m.since = now
	switch {
	case m.frozen || m.state == asking:
		m.spent.Waiting += d
	case m.state == starting:
		m.spent.Starting += d
	case m.state == timing:
		m.spent.Measuring += d
	case m.state == idle || m.state == departing:
		m.spent.Idle += d
	case m.state == needing || m.stage == device.StageReference || m.stage == device.StageVerify:
		m.spent.Verifying += d
	default:
		m.spent.Building += d
	}
}
