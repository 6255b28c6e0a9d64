package worker

import (
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/device"
)

func TestQueue(t *testing.T) {
	a, b, c, d := &task{}, &task{deaths: 1}, &task{}, &task{deaths: 1}
	q := queue{}
	if q.next(true) != nil || q.next(false) != nil {
		t.Error("an empty queue gave a task")
	}
	q.add(a)
	q.add(b)
	q.add(c)
	q.first(d)
	for i, want := range []*task{a, c, nil} {
		if got := q.next(false); got != want {
			t.Errorf("a worker that has done something, %d: %+v", i, got)
		}
	}
	for i, want := range []*task{d, b, nil} {
		if got := q.next(true); got != want {
			t.Errorf("a fresh worker, %d: %+v", i, got)
		}
	}
	if len(q) != 0 {
		t.Errorf("%d are left", len(q))
	}
}

func TestCarryObserves(t *testing.T) {
	const ms = time.Millisecond
	type pair struct{ build, load time.Duration }
	for _, c := range []struct {
		what  string
		pairs []pair
		want  bool
	}{
		{"nothing", nil, false},
		{"a cache", []pair{{500 * ms, 3 * ms}, {500 * ms, 100 * ms}, {500 * ms, 249 * ms}}, false},
		{"no cache", []pair{{500 * ms, 500 * ms}, {500 * ms, 400 * ms}, {500 * ms, 250 * ms}}, true},
		{"two are not enough", []pair{{500 * ms, 500 * ms}, {500 * ms, 500 * ms}}, false},
		{"in a row", []pair{{500 * ms, 500 * ms}, {500 * ms, 500 * ms}, {500 * ms, 30 * ms}, {500 * ms, 500 * ms}}, false},
		{"builds so fast that it does not matter", []pair{{19 * ms, 19 * ms}, {19 * ms, 19 * ms}, {19 * ms, 19 * ms}}, false},
		{"for good", []pair{{ms, 500 * ms}, {ms, 500 * ms}, {ms, 500 * ms}, {500 * ms, ms}}, true},
	} {
		var carry carry
		for _, p := range c.pairs {
			carry.observe(p.build, p.load)
		}
		if carry.binaries != c.want {
			t.Errorf("%s: %v", c.what, carry.binaries)
		}
	}
}

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
			p.measuring.add(d)
		}
		if got := p.ahead(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	p := average(0)
	p.add(time.Second)
	p.add(9 * time.Second)
	if p != average(2*time.Second) {
		t.Errorf("the mean is %s", time.Duration(p))
	}
}
