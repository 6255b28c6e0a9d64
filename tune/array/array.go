// Package array holds the data of kernel arguments on the host: it makes
// arrays (from Go slices, from fills, from .npy files), views them as Go
// slices and compares a kernel's output with a reference.
//
// An [Array] is what the device sees: little-endian bytes of OpenCL elements,
// one after the other. The host must be little-endian too, as all hosts with
// an OpenCL implementation are.
//
// The package is opinionated about what it takes. It does not guess: a value
// that a type cannot hold, a Go int (whose width depends on the host), a
// Fortran-ordered, big-endian or truncated .npy file and a slice of mixed
// values are refused with the reason. It does not convert between element
// types, it has no shapes apart from those that .npy files carry, and a NaN in
// an output never passes as right, whatever the tolerance.
//
// Functions that walk large arrays (Fill, Compare) use all cores; what they
// return does not depend on how many there are.
package array

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// An Element is a Go type that stands for one scalar in device memory.
type Element interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | Half | float32 | float64
}

// Array is a sequence of elements of one type.
//
// Invariant: len(Bytes) is a multiple of Type.Size(). Arrays made by this
// package start at an address that fits their scalars, which [Slice] needs.
type Array struct {
	Type  Type
	Bytes []byte // little-endian, as in device memory
}

// New returns an array of n elements, all zero. It panics when n is negative
// or t is not a type of this package.
func New(t Type, n int) *Array {
	if !t.valid() || n < 0 || n > math.MaxInt/t.Size() {
		panic(fmt.Sprintf("array.New(%v, %d): no such array", t, n))
	}
	return &Array{Type: t, Bytes: alignedBytes(n * t.Size())}
}

// Of returns an array with a copy of the elements of s.
func Of[T Element](s []T) *Array {
	a := New(typeOf[T](), len(s))
	copy(scalars[T](a), s)
	return a
}

// From returns an array with a copy of v, which must be a slice of a type in
// [Element] or of a type derived from one. An *Array is copied.
func From(v any) (*Array, error) {
	if a, ok := v.(*Array); ok && a != nil {
		return a.Clone(), nil
	}
	r := reflect.ValueOf(v)
	if !r.IsValid() || r.Kind() != reflect.Slice {
		return nil, fmt.Errorf("an array is made from a slice such as []float32, not from %T", v)
	}
	t, err := typeOfGo(r.Type().Elem())
	if err != nil {
		return nil, fmt.Errorf("no array from %T: %w", v, err)
	}
	a := New(t, r.Len())
	if len(a.Bytes) > 0 {
		copy(a.Bytes, unsafe.Slice((*byte)(r.UnsafePointer()), len(a.Bytes)))
	}
	return a, nil
}

// Len returns the number of elements.
func (a *Array) Len() int { return len(a.Bytes) / a.Type.Size() }

// Clone returns a copy that shares no memory with a.
func (a *Array) Clone() *Array {
	c := New(a.Type, a.Len())
	copy(c.Bytes, a.Bytes)
	return c
}

// As returns the same memory seen as elements of another type with the same
// scalar type: float32 as float32x4 and back. A 3-vector takes four scalars.
func (a *Array) As(t Type) (*Array, error) {
	switch {
	case !t.valid():
		return nil, fmt.Errorf("view a %v array: not a valid type", a.Type)
	case t.Scalar() != a.Type.Scalar():
		return nil, fmt.Errorf("view a %v array as %v: the scalar types differ", a.Type, t)
	case len(a.Bytes)%t.Size() != 0:
		return nil, fmt.Errorf("view a %v array as %v: %d bytes are no multiple of %d", a.Type, t, len(a.Bytes), t.Size())
	}
	return &Array{Type: t, Bytes: a.Bytes}, nil
}

// Slice returns the scalars of a as a Go slice that shares its memory: for
// vectors all lanes in memory order, with the unused fourth lane of 3-vectors.
// T must be the Go type of the scalar ([Half] for float16; uint16 is taken
// there too and gives the bits).
func Slice[T Element](a *Array) ([]T, error) {
	if t := typeOf[T](); t != a.Type.Scalar() && (t != Uint16 || a.Type.Scalar() != Float16) {
		return nil, fmt.Errorf("view %v array: its scalars are no %v", a.Type, reflect.TypeFor[T]())
	}
	if len(a.Bytes)%a.Type.Size() != 0 {
		return nil, fmt.Errorf("view %v array: %d bytes are no multiple of %d", a.Type, len(a.Bytes), a.Type.Size())
	}
	if len(a.Bytes) > 0 && uintptr(unsafe.Pointer(&a.Bytes[0]))%unsafe.Alignof(*new(T)) != 0 {
		return nil, fmt.Errorf("view %v array: its memory is not aligned; Clone it first", a.Type)
	}
	return scalars[T](a), nil
}

// Float returns scalar i as a float64, where i counts the scalars in memory:
// lane l of element e of a float32x4 array is scalar 4e+l (also of a 3-vector,
// which occupies four). 64-bit integers beyond 2⁵³ are rounded. It panics when
// i is out of range.
func (a *Array) Float(i int) float64 {
	s := a.Type.Scalar()
	return s.decode(getBits(a.Bytes[i*s.Size():], s.Size()))
}

// scalars is Slice for an array that is known to fit.
func scalars[T Element](a *Array) []T {
	if len(a.Bytes) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&a.Bytes[0])), len(a.Bytes)/int(unsafe.Sizeof(*new(T))))
}

// aligned returns a, or a copy of it when its memory does not fit its scalars.
func (a *Array) aligned() *Array {
	if len(a.Bytes) > 0 && uintptr(unsafe.Pointer(&a.Bytes[0]))%uintptr(a.Type.Scalar().Size()) != 0 {
		return a.Clone()
	}
	return a
}

// check returns an error when the invariant of the type does not hold.
func (a *Array) check() error {
	if a == nil {
		return errors.New("no array (nil)")
	}
	if !a.Type.valid() {
		return errors.New("array without a type")
	}
	if len(a.Bytes)%a.Type.Size() != 0 {
		return fmt.Errorf("%v array of %d bytes: no multiple of %d", a.Type, len(a.Bytes), a.Type.Size())
	}
	return nil
}

// alignedBytes allocates n zero bytes at an address that is a multiple of 8.
func alignedBytes(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	words := make([]uint64, n/8+min(n%8, 1))
	return slices.Clip(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[:n])
}

func typeOf[T Element]() Type {
	t, err := typeOfGo(reflect.TypeFor[T]())
	if err != nil {
		panic(err) // Element and typeOfGo disagree
	}
	return t
}

func typeOfGo(g reflect.Type) (Type, error) {
	if g == reflect.TypeFor[Half]() {
		return Float16, nil
	}
	switch g.Kind() {
	case reflect.Int8:
		return Int8, nil
	case reflect.Int16:
		return Int16, nil
	case reflect.Int32:
		return Int32, nil
	case reflect.Int64:
		return Int64, nil
	case reflect.Uint8:
		return Uint8, nil
	case reflect.Uint16:
		return Uint16, nil
	case reflect.Uint32:
		return Uint32, nil
	case reflect.Uint64:
		return Uint64, nil
	case reflect.Float32:
		return Float32, nil
	case reflect.Float64:
		return Float64, nil
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return 0, fmt.Errorf("the width of %v depends on the host; use one with a width, such as int32", g)
	}
	return 0, fmt.Errorf("%v is no element type; use int8 … int64, uint8 … uint64, float32, float64 or array.Half", g)
}
