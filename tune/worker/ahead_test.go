package worker

import (
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/device"
)

func TestAhead(t *testing.T) {
	for _, c := range []struct {
		builders, devices int
		measuring         []time.Duration
		want              int
	}{
		{4, 1, nil, 16},
		{4, 1, []time.Duration{100 * time.Millisecond}, 10},
		{4, 2, []time.Duration{100 * time.Millisecond}, 20},
		{4, 1, []time.Duration{10 * time.Second}, 2},
		{4, 1, []time.Duration{0}, 32},
		{4, 1, []time.Duration{time.Millisecond}, 32},
		{0, 1, []time.Duration{time.Millisecond}, 2},
	} {
		p := &Pool{most: c.builders, devices: make([]device.Listed, c.devices)}
		for _, d := range c.measuring {
			p.pace.add(d)
		}
		if got := p.ahead(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	p := pace{}
	p.add(time.Second)
	p.add(9 * time.Second)
	if p.mean != 2*time.Second {
		t.Errorf("the mean is %s", p.mean)
	}
}
