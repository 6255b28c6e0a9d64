package array

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
)

// Type is the OpenCL type of an element: a scalar or a vector of 2, 3, 4, 8 or
// 16 of them. Types are comparable. The zero value is no type.
type Type uint16 // the scalar in the low byte, the lanes of a vector in the high byte (0: a scalar)

// The scalar types, by their NumPy names; [Type.Vector] makes vectors of them.
const (
	Int8 Type = iota + 1
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	Float32
	Float64
)

// scalarTypes says for each scalar type what it is called and how large it is.
var scalarTypes = [...]struct {
	name, opencl string
	size         int
}{
	Int8:    {"int8", "char", 1},
	Int16:   {"int16", "short", 2},
	Int32:   {"int32", "int", 4},
	Int64:   {"int64", "long", 8},
	Uint8:   {"uint8", "uchar", 1},
	Uint16:  {"uint16", "ushort", 2},
	Uint32:  {"uint32", "uint", 4},
	Uint64:  {"uint64", "ulong", 8},
	Float16: {"float16", "half", 2},
	Float32: {"float32", "float", 4},
	Float64: {"float64", "double", 8},
}

var vectorLanes = []int{2, 3, 4, 8, 16}

// typeNames maps every spelling that ParseType knows to its type. A name that
// is both a NumPy scalar and an OpenCL vector (int8, int16, uint8, uint16,
// float16) is the scalar.
var typeNames = func() map[string]Type {
	names := make(map[string]Type)
	for s := Int8; s <= Float64; s++ {
		for _, n := range vectorLanes {
			names[scalarTypes[s].opencl+strconv.Itoa(n)] = s.Vector(n)
			names[scalarTypes[s].name+"x"+strconv.Itoa(n)] = s.Vector(n)
		}
		names[scalarTypes[s].opencl] = s
	}
	for s := Int8; s <= Float64; s++ {
		names[scalarTypes[s].name] = s
	}
	return names
}()

// ParseType returns the type called s: a NumPy name (float32, uint8), the
// OpenCL C name (float, uchar), or a vector by suffix (float4, uchar16,
// float32x4).
//
// int8, int16, uint8, uint16 and float16 are the scalars that NumPy calls so;
// the OpenCL vectors of these names are written int32x8, uint32x16, float32x16.
// The error of an unknown name offers the nearest known one.
func ParseType(s string) (Type, error) {
	name := strings.TrimSpace(s)
	if t, ok := typeNames[name]; ok {
		return t, nil
	}
	const examples = "types are called float32, int32, uint8, … or float, int, uchar, …, vectors float4, int32x8, …"
	return 0, fmt.Errorf("unknown type %q%s (%s)", s, nearest.Hint(name, slices.Sorted(maps.Keys(typeNames))), examples)
}

// Vector returns the type of a vector of n scalars of t's scalar type; n = 1
// gives the scalar. It panics unless n is 1, 2, 3, 4, 8 or 16.
func (t Type) Vector(n int) Type {
	if n == 1 {
		return t.Scalar()
	}
	if !slices.Contains(vectorLanes, n) {
		panic(fmt.Sprintf("array: no vector of %d lanes", n))
	}
	return t.Scalar() | Type(n)<<8
}

// Scalar returns the type of one lane.
func (t Type) Scalar() Type { return t & 0xff }

// Lanes returns the number of components: 1 for a scalar.
func (t Type) Lanes() int { return max(1, int(t>>8)) }

// Size returns the bytes of one element in device memory. A 3-vector occupies
// as much as a 4-vector.
func (t Type) Size() int { return scalarTypes[t.Scalar()].size * t.stride() }

// stride returns the scalars that one element occupies in memory.
func (t Type) stride() int {
	if t.Lanes() == 3 {
		return 4
	}
	return t.Lanes()
}

// String returns the name that [ParseType] reads back: float32, float32x4.
func (t Type) String() string {
	if !t.valid() {
		return "no type"
	}
	if t.Lanes() == 1 {
		return scalarTypes[t].name
	}
	return scalarTypes[t.Scalar()].name + "x" + strconv.Itoa(t.Lanes())
}

// OpenCL returns the name in OpenCL C: float, float4.
func (t Type) OpenCL() string {
	if !t.valid() {
		return "no type"
	}
	if t.Lanes() == 1 {
		return scalarTypes[t].opencl
	}
	return scalarTypes[t.Scalar()].opencl + strconv.Itoa(t.Lanes())
}

// MarshalText writes the type by its name.
func (t Type) MarshalText() ([]byte, error) {
	if !t.valid() {
		return nil, fmt.Errorf("type %d is none of package array", uint16(t))
	}
	return []byte(t.String()), nil
}

// UnmarshalText reads what [ParseType] reads.
func (t *Type) UnmarshalText(text []byte) (err error) {
	*t, err = ParseType(string(text))
	return err
}

func (t Type) valid() bool {
	s := t.Scalar()
	return s >= Int8 && s <= Float64 && (t == s || slices.Contains(vectorLanes, int(t>>8)))
}

func (t Type) isFloat() bool { s := t.Scalar(); return s >= Float16 && s <= Float64 }

func (t Type) isSigned() bool { s := t.Scalar(); return s >= Int8 && s <= Int64 }
