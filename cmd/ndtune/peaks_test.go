package main

import (
	"errors"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/session"
)

func TestLimitText(t *testing.T) {
	for want, l := range map[string]judge.Limit{
		"limit: 83 % of what the device's memory gives (3909 GB/s)":                  {Time: 0.83, Resource: judge.Memory, Rate: 3909},
		"limit: 9.5 % of what the device's caches give for 2 MiB (100.0 GB/s)":       {Time: 0.095, Resource: judge.Caches, Rate: 100, Set: 2 << 20},
		"limit: 0.00002000 % of what the device's caches give for 12 B (11533 GB/s)": {Time: 2e-7, Resource: judge.Caches, Rate: 11533, Set: 12},
		"limit: 100 % of what the device computes in float32 (65014 GFLOP/s)":        {Time: 1, Resource: judge.Arithmetic, Rate: 65014, Precision: hardware.PeakFloat32},
	} {
		if got := limitText(l, 1); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestNoLimitText(t *testing.T) {
	why := errors.New("no such thing")
	for _, c := range []struct {
		known   *hardware.Peaks
		resumed bool
		want    string
	}{
		{nil, false, "No % of limit: no such thing (ndtune devices --peak measures them)"},
		{nil, true, "No % of limit: no such thing (the run log was begun without them)"},
		{&hardware.Peaks{}, false, "No % of limit: no such thing"},
		{&hardware.Peaks{}, true, "No % of limit: no such thing"},
	} {
		if got := session.NoLimit(why, c.known, c.resumed); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
