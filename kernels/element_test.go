package kernels_test

import (
	"math"

	"github.com/ndtune/ndtune/tune/array"
)

// float64Unit is what a double of 1 is off by at most through rounding.
const float64Unit = 1.0 / (1 << 53)

// An elementType is how the numbers of a matrix stand in memory.
type elementType struct {
	bytes int
	unit  float64 // what a number of 1 is off by at most through rounding
	sum   float64 // the same of what is summed with
	least float64 // what is lost below the smallest numbers
	bits  func(v float64) uint64
	value func(bits uint64) float64
}

// elements are the types by the constant element of a spec; without one it is float.
var elements = map[string]elementType{
	"":      floatElement,
	"float": floatElement,
	"half": {2, 1.0 / (1 << 11), 1.0 / (1 << 24), 1.0 / (1 << 25),
		func(v float64) uint64 { return uint64(array.HalfOf(v)) },
		func(bits uint64) float64 { return array.Half(bits).Float() }},
	"double": {8, float64Unit, float64Unit, 0, math.Float64bits, math.Float64frombits},
}

var floatElement = elementType{4, 1.0 / (1 << 24), 1.0 / (1 << 24), 1e-15,
	func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) },
	func(bits uint64) float64 { return float64(math.Float32frombits(uint32(bits))) }}

// round is the number that an element holds in the place of v.
func (e elementType) round(v float64) float64 { return e.value(e.bits(v)) }

// words is how many words of 32 bits n elements occupy.
func (e elementType) words(n int) int { return (n*e.bytes + 3) / 4 }

// encode writes numbers into words of 32 bits, which a rig carries as floats.
func (e elementType) encode(words []float32, numbers []float64) {
	for i, v := range numbers {
		bits := e.bits(v)
		switch at := i * e.bytes / 4; e.bytes {
		case 2:
			shift := 16 * (i % 2)
			old := math.Float32bits(words[at]) &^ (0xffff << shift)
			words[at] = math.Float32frombits(old | uint32(bits)<<shift)
		case 4:
			words[at] = math.Float32frombits(uint32(bits))
		case 8:
			words[at], words[at+1] = math.Float32frombits(uint32(bits)), math.Float32frombits(uint32(bits>>32))
		}
	}
}

// decode reads n numbers from words.
func (e elementType) decode(words []float32, n int) []float64 {
	numbers := make([]float64, n)
	for i := range numbers {
		at := i * e.bytes / 4
		bits := uint64(math.Float32bits(words[at]))
		switch e.bytes {
		case 2:
			bits = bits >> (16 * (i % 2)) & 0xffff
		case 8:
			bits |= uint64(math.Float32bits(words[at+1])) << 32
		}
		numbers[i] = e.value(bits)
	}
	return numbers
}
