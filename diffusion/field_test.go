package diffusion

import (
	"math"
	"slices"
	"testing"
)

func TestNewFieldHasTenHotPoints(t *testing.T) {
	for seed := range uint64(20) {
		f := NewField(300, 200, seed)
		hot := 0
		for i, v := range f.Values {
			switch v {
			case hotspot:
				hot++
			case background:
			default:
				t.Fatalf("seed %d: cell %d is %v", seed, i, v)
			}
		}
		if hot < 8 || hot > hotspots { // two pairs of ten that coincide would be a wonder
			t.Errorf("seed %d: %d hot points", seed, hot)
		}
	}
}

// TestNewFieldIsTheSameForever holds the points of a seed: pictures and figures refer to them.
func TestNewFieldIsTheSameForever(t *testing.T) {
	f := NewField(100, 40, 1)
	var hot []int
	for i, v := range f.Values {
		if v == hotspot {
			hot = append(hot, i)
		}
	}
	if want := []int{71, 249, 359, 530, 584, 696, 988, 1979, 2270, 2381}; !slices.Equal(hot, want) {
		t.Errorf("hot cells %v, want %v", hot, want)
	}
	if g := NewField(100, 40, 2); slices.Equal(f.Values, g.Values) {
		t.Error("two seeds give one field")
	}
}

// TestNewFieldReachesEveryCell: points are drawn over the whole field, edges included, also
// where it is not square.
func TestNewFieldReachesEveryCell(t *testing.T) {
	reached := make([]bool, 7*3)
	for seed := range uint64(100) {
		for i, v := range NewField(7, 3, seed).Values {
			reached[i] = reached[i] || v == hotspot
		}
	}
	if i := slices.Index(reached, false); i >= 0 {
		t.Errorf("cell %d is never hot", i)
	}
}

func TestNewFieldRefusesNoCells(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a field without cells was made")
		}
	}()
	NewField(0, 5, 1)
}

func TestSumIsCompensated(t *testing.T) {
	f := &Field{NX: 4, NY: 1, Values: []float32{1, 0x1p60, 1, -0x1p60}}
	if got := f.Sum(); got != 2 {
		t.Errorf("sum %v, want 2", got)
	}
}

func TestMaxDifference(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	field := func(v ...float32) *Field { return &Field{NX: len(v), NY: 1, Values: v} }
	for _, c := range []struct {
		a, b *Field
		want float64
	}{
		{field(1, 2, 3), field(1, 2, 3), 0},
		{field(1, 2, 3), field(1, 2.5, 2), 1},
		{field(1, nan), field(1, 2), math.Inf(1)},
		{field(1, nan), field(1, nan), math.Inf(1)},
		{field(inf, 1), field(inf, 2), 1},
		{field(inf, 1), field(-inf, 1), math.Inf(1)},
		{field(1, 2), field(1), math.Inf(1)},
	} {
		if got := c.a.MaxDifference(c.b); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a.Values, c.b.Values, got, c.want)
		}
	}
}

func TestEdgeFluxCountsEveryPairOnce(t *testing.T) {
	f := &Field{NX: 4, NY: 3, Values: []float32{
		9, 2, 3, 9, // corners have no inner neighbour
		4, 1, 1, 5,
		9, 6, 7, 9,
	}}
	want := float64((2 - 1) + (3 - 1) + (6 - 1) + (7 - 1) + (4 - 1) + (5 - 1))
	if got := f.edgeFlux(); got != want {
		t.Errorf("flux %v, want %v", got, want)
	}
	for _, size := range [][2]int{{1, 1}, {2, 9}, {9, 2}, {1, 9}} {
		if got := randomField(size[0], size[1], 0, 1, 1).edgeFlux(); got != 0 {
			t.Errorf("%v: flux %v without inner cells", size, got)
		}
	}
}

// span returns the lowest and the highest temperature. If there is a NaN, both are NaN.
func (f *Field) span() (low, high float64) {
	least, most := f.Values[0], f.Values[0]
	for _, v := range f.Values {
		least, most = min(least, v), max(most, v)
	}
	return float64(least), float64(most)
}

// edgeFlux returns the sum of u_edge − u_inner over all pairs of an edge cell and an inner cell beside it:
// the heat that flows in through the fixed edges per unit of time. A step of length dt changes
// [Field.Sum] by dt times the flux.
func (f *Field) edgeFlux() float64 {
	if f.InnerCells() == 0 {
		return 0
	}
	var sum, lost float64
	pair := func(edge, inner int) {
		sum, lost = addCompensated(sum, lost, float64(f.Values[edge])-float64(f.Values[inner]))
	}
	last := len(f.Values) - f.NX // the first cell of the last row
	for x := 1; x < f.NX-1; x++ {
		pair(x, x+f.NX)
		pair(last+x, last+x-f.NX)
	}
	for row := f.NX; row < last; row += f.NX {
		pair(row, row+1)
		pair(row+f.NX-1, row+f.NX-2)
	}
	return sum + lost
}
