package diffusion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	background = 1.0    // degrees, of the sheet
	hotspot    = 1000.0 // degrees, of the hot points
	hotspots   = 10
)

// A Field is the temperature of a sheet in degrees: Values holds NY rows of NX cells,
// row-major, so that cell (x, y) is Values[y*NX+x].
type Field struct {
	NX, NY int
	Values []float32
}

// NewField returns the sheet of the tutorial, with one degree everywhere, but 1000 degrees at ten points.
// The points are random, uniformly over all cells with the edges, and may coincide. They depend only
// on the sizes and the seed. NewField panics if a size is below 1.
func NewField(nx, ny int, seed uint64) *Field {
	if nx < 1 || ny < 1 {
		panic(fmt.Sprintf("diffusion: a field of %d × %d cells", nx, ny))
	}
	f := &Field{NX: nx, NY: ny, Values: make([]float32, nx*ny)}
	for i := range f.Values {
		f.Values[i] = background
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for range hotspots {
		x, y := r.Uint64N(uint64(nx)), r.Uint64N(uint64(ny))
		f.Values[int(y)*nx+int(x)] = hotspot
	}
	return f
}

// Clone returns a copy that shares no memory with f.
func (f *Field) Clone() *Field {
	return &Field{NX: f.NX, NY: f.NY, Values: slices.Clone(f.Values)}
}

// InnerCells returns the number of cells that a step updates, all but the edges.
func (f *Field) InnerCells() int { return max(f.NX-2, 0) * max(f.NY-2, 0) }

// Sum returns the sum of all temperatures, the heat in the sheet. Its error is about that of one
// rounding: additions are compensated (A. Neumaier, ZAMM 54 (1974), 39–51).
func (f *Field) Sum() float64 {
	var sum, lost float64
	for _, v := range f.Values {
		sum, lost = addCompensated(sum, lost, float64(v))
	}
	return sum + lost
}

// addCompensated adds v to sum, and the rounding error of that addition to lost.
func addCompensated(sum, lost, v float64) (float64, float64) {
	t := sum + v
	if math.Abs(sum) >= math.Abs(v) {
		lost += (sum - t) + v
	} else {
		lost += (v - t) + sum
	}
	return t, lost
}

// MaxDifference returns the largest difference of corresponding cells, in degrees. It is +Inf if one of
// them is NaN, or if the fields differ in size.
func (f *Field) MaxDifference(other *Field) float64 {
	if f.NX != other.NX || f.NY != other.NY || len(f.Values) != len(other.Values) {
		return math.Inf(1)
	}
	largest := 0.0
	for i, v := range f.Values {
		d := math.Abs(float64(v) - float64(other.Values[i]))
		if math.IsNaN(d) {
			if v == other.Values[i] { // the same infinity
				continue
			}
			return math.Inf(1)
		}
		largest = max(largest, d)
	}
	return largest
}

// check returns an error if the number of values does not fit the sizes.
func (f *Field) check() error {
	if f.NX < 1 || f.NY < 1 || len(f.Values) != f.NX*f.NY {
		return fmt.Errorf("a field of %d × %d cells with %d values", f.NX, f.NY, len(f.Values))
	}
	return nil
}
