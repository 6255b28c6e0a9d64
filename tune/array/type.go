package array

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
)

// Type is the OpenCL type of an element: a scalar or a vector of 2, 3, 4, 8 or
// 16 scalars. The zero value is not a valid type.
type Type uint16 // low byte: the scalar type; high byte: the lanes of a vector, 0 for a scalar

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

// scalarTypes describes each scalar type: its names in NumPy and OpenCL C, its
// size in bytes and the kind of its Go type (none for float16, see [Half]).
var scalarTypes = [...]struct {
	name, opencl string
	size         int
	kind         reflect.Kind
}{
	Int8:    {"int8", "char", 1, reflect.Int8},
	Int16:   {"int16", "short", 2, reflect.Int16},
	Int32:   {"int32", "int", 4, reflect.Int32},
	Int64:   {"int64", "long", 8, reflect.Int64},
	Uint8:   {"uint8", "uchar", 1, reflect.Uint8},
	Uint16:  {"uint16", "ushort", 2, reflect.Uint16},
	Uint32:  {"uint32", "uint", 4, reflect.Uint32},
	Uint64:  {"uint64", "ulong", 8, reflect.Uint64},
	Float16: {"float16", "half", 2, reflect.Invalid},
	Float32: {"float32", "float", 4, reflect.Float32},
	Float64: {"float64", "double", 8, reflect.Float64},
}

var vectorLanes = []int{2, 3, 4, 8, 16}

// typeNames maps every name that [ParseType] accepts to its type. Names that
// denote both a NumPy scalar and an OpenCL vector (int8, int16, uint8, uint16,
// float16) are those of the scalar.
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
// The names int8, int16, uint8, uint16 and float16 denote NumPy's scalars. The
// OpenCL vectors with these names are written int32x8, int32x16, uint32x8,
// uint32x16 and float32x16. The error for an unknown name suggests the nearest
// known one.
func ParseType(s string) (Type, error) {
	name := strings.TrimSpace(s)
	if t, ok := typeNames[name]; ok {
		return t, nil
	}
	const examples = "types are called float32, int32, uint8, … or float, int, uchar, …, vectors float4, int32x8, …"
	return 0, fmt.Errorf("unknown type %q%s (%s)", s, nearest.Hint(name, slices.Sorted(maps.Keys(typeNames))), examples)
}

// Vector returns the type of vectors of n scalars of t's scalar type, or the
// scalar type itself if n is 1. It panics unless n is 1, 2, 3, 4, 8 or 16.
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

// Size returns the size of one element in bytes. A 3-vector has the size of a
// 4-vector.
func (t Type) Size() int { return scalarTypes[t.Scalar()].size * t.stride() }

// stride returns the number of scalars that one element occupies in memory.
func (t Type) stride() int {
	if t.Lanes() == 3 {
		return 4
	}
	return t.Lanes()
}

// String returns the name of the type in the form float32 or float32x4.
func (t Type) String() string {
	if !t.valid() {
		return "no type"
	}
	return t.named(scalarTypes[t.Scalar()].name, "x")
}

// OpenCL returns the name of the type in OpenCL C: float, float4.
func (t Type) OpenCL() string {
	if !t.valid() {
		return "no type"
	}
	return t.named(scalarTypes[t.Scalar()].opencl, "")
}

// named returns the name of a type by that of its scalar type.
func (t Type) named(scalar, separator string) string {
	if t.Lanes() == 1 {
		return scalar
	}
	return scalar + separator + strconv.Itoa(t.Lanes())
}

// MarshalText returns the name of the type; see [Type.String].
func (t Type) MarshalText() ([]byte, error) {
	if !t.valid() {
		return nil, fmt.Errorf("type %d is none of package array", uint16(t))
	}
	return []byte(t.String()), nil
}

// UnmarshalText parses a name with [ParseType].
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
