package hardware

import (
	"reflect"
	"testing"
)

func TestConfirmed(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		want      float64
		confirmed bool
	}{
		{nil, 0, false},
		{[]float64{100}, 100, false},
		{[]float64{100, 96}, 100, true},
		{[]float64{100, 94}, 100, false},
		{[]float64{150, 98, 100}, 100, true},    // a single one that is too high
		{[]float64{60, 61, 100, 97}, 100, true}, // two that were disturbed alike
		{[]float64{60, 61, 100}, 61, true},
	} {
		if got, confirmed := Confirmed(c.values); got != c.want || confirmed != c.confirmed {
			t.Errorf("%v: %v, %v; want %v, %v", c.values, got, confirmed, c.want, c.confirmed)
		}
	}
}

// A disturbed measurement heals with later ones, and what they lack stays.
func TestMergeQuick(t *testing.T) {
	quick := func(value float64, points ...Bandwidth) *Peaks {
		return &Peaks{Quick: true, Figures: map[string]Peak{PeakFloat32: {Value: value, Unit: "GFLOP/s", Repeats: []float64{value, value}}}, Copy: points}
	}
	point := func(bytes int64, rate float64) Bandwidth { return Bandwidth{bytes, rate, []float64{rate, rate}} }
	early, late := quick(60, point(1, 5), point(2, 7)), quick(100, point(2, 9), point(4, 3))
	early.Figures[PeakFloat64] = Peak{Unit: "GFLOP/s", Missing: "it rains"}
	got := early.MergeQuick(late)
	want := quick(100, point(1, 5), Bandwidth{2, 9, []float64{7, 7, 9, 9}}, point(4, 3))
	want.Figures[PeakFloat32] = Peak{Value: 100, Unit: "GFLOP/s", Repeats: []float64{60, 60, 100, 100}}
	want.Figures[PeakFloat64] = early.Figures[PeakFloat64]
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var none *Peaks
	if none.MergeQuick(late) != late || early.MergeQuick(nil) != early {
		t.Error("peaks that there are not change others")
	}
	for range 9 {
		got = got.MergeQuick(late)
	}
	if n := len(got.Figures[PeakFloat32].Repeats); n != mostRepeats {
		t.Errorf("%d repeats are kept, want %d", n, mostRepeats)
	}
}
