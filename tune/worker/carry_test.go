package worker

import (
	"testing"
	"time"
)

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
