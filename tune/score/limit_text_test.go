package score

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

func TestLimitText(t *testing.T) {
	for want, l := range map[string]Limit{
		"limit: 83 % of what the device's memory gives (3909 GB/s)":                  {Time: 0.83, Resource: Memory, Rate: 3909},
		"limit: 9.5 % of what the device's caches give for 2 MiB (100.0 GB/s)":       {Time: 0.095, Resource: Caches, Rate: 100, Set: 2 << 20},
		"limit: 0.00002000 % of what the device's caches give for 12 B (11533 GB/s)": {Time: 2e-7, Resource: Caches, Rate: 11533, Set: 12},
		"limit: 100 % of what the device computes in float32 (65014 GFLOP/s)":        {Time: 1, Resource: Arithmetic, Rate: 65014, Precision: hardware.PeakFloat32},
		"limit: beaten: 150.0 GFLOP/s, and the peak float32 is 100.0 GFLOP/s":        {Time: 1.5, Resource: Arithmetic, Rate: 100, Precision: hardware.PeakFloat32},
		"limit: beaten: 3018 GB/s, and the peak memory_copy is 100.0 GB/s":           {Time: 30.18, Resource: Memory, Rate: 100},
	} {
		if doubt := BeatenText(l.Peak()); IsBeaten(l.Share(1)) != (l.Time > 1.05) || !strings.Contains(doubt, "the measured peak "+l.Peak()) {
			t.Errorf("%+v: %q", l, doubt)
		}
		if got := l.Text(1); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
