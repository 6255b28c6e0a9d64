package hardware

import (
	"reflect"
	"testing"
)

// Figures that could not be measured are not lacking: measuring them again would not help.
func TestLacking(t *testing.T) {
	var p *Peaks
	wanted := []string{PeakFloat32, PeakFloat64, PeakMemoryCopy}
	if got := p.Lacking(wanted); !reflect.DeepEqual(got, wanted) {
		t.Errorf("of nothing: %v", got)
	}
	p = &Peaks{Copy: []Bandwidth{{1, 5}}, Partial: "a"}
	p.Add(&Peaks{Figures: map[string]Peak{PeakFloat32: {Value: 100, Unit: "GFLOP/s"}}, Timer: TimerHost, Partial: "b"})
	p.Set(PeakFloat64, Peak{Missing: "it rains"})
	if got := p.Lacking(wanted); !reflect.DeepEqual(got, []string{PeakMemoryCopy}) {
		t.Errorf("%v", got)
	}
	if len(p.Copy) != 1 || p.Timer != TimerHost || p.Partial != "a; b" {
		t.Errorf("%+v", p)
	}
	if got := p.Lacking(nil); got != nil {
		t.Errorf("of none: %v", got)
	}
}
