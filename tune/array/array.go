// Package array holds the data of kernel arguments on the host: it makes
// arrays (from Go slices, from fills, from .npy files), views them as Go
// slices and compares a kernel's output with a reference.
//
// Its types: [Array] has the data, [Type] and [Struct] say what an element is, [Fill] is a rule for content.
//
// An [Array] is what the device sees: little-endian bytes of OpenCL elements,
// one after the other. The host must be little-endian too, as all hosts with
// an OpenCL implementation are.
//
// The package does not guess. It refuses, with the reason, a value that a type
// cannot hold, a Go int (whose width depends on the host), a slice of mixed
// values, and a .npy file that is truncated, big-endian or in Fortran order. It
// does not convert between element types, and only .npy files have shapes. A
// NaN in an output is always wrong, whatever the tolerance.
//
// [Fill.Make] and [Compare] use all cores. Their results do not depend on the
// number of cores.
package array

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// An Element is a Go type that stands for one scalar in device memory.
type Element interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | Half | float32 | float64
}

// Array is a sequence of elements of one type, or of structs.
//
// Invariant: len(Bytes) is a multiple of Type.Size(), or of Struct.Size. Arrays made by
// this package start at an address that fits their scalars, which [Slice] needs.
type Array struct {
	Type   Type
	Bytes  []byte  // little-endian, as in device memory
	Struct *Struct // of the elements, whose bytes are of type Uint8; nil: Type is the type of the elements
	Digest string  // of Bytes, which then never change; "": unknown
	File   string  // that Bytes are mapped from, see files.Map, and then never change; "": they are not
}

// New returns an array of n elements, all zero. It panics if n is negative or t
// is not a valid type.
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

// From returns an array with a copy of v, which must be an *Array or a slice
// whose elements have a type of [Element] or one derived from it. It is an error
// if an *Array, which may come from another program, breaks its invariant.
func From(v any) (*Array, error) {
	if a, ok := v.(*Array); ok && a != nil {
		if err := a.invariant(); err != nil {
			return nil, err
		}
		if a.Digest != "" || a.File != "" {
			return a, nil
		}
		return a.Clone(), nil
	}
	r := reflect.ValueOf(v)
	if !r.IsValid() || r.Kind() != reflect.Slice {
		return nil, fmt.Errorf("an array is made from a slice such as []float32, not from %T", v)
	}
	t, err := TypeOf(r.Type().Elem())
	if err != nil {
		return nil, fmt.Errorf("no array from %T: %w", v, err)
	}
	a := New(t, r.Len())
	if len(a.Bytes) > 0 {
		copy(a.Bytes, unsafe.Slice((*byte)(r.UnsafePointer()), len(a.Bytes)))
	}
	return a, nil
}

// invariant returns an error if the invariant of [Array] does not hold.
func (a *Array) invariant() error {
	if !a.Type.valid() {
		return errors.New("array without a type")
	}
	if len(a.Bytes)%a.Type.Size() != 0 {
		return fmt.Errorf("%v array of %d bytes: no multiple of %d", a.Type, len(a.Bytes), a.Type.Size())
	}
	if a.Struct == nil {
		return nil
	}
	if err := a.Struct.check(); err != nil {
		return err
	}
	if a.Type != Uint8 || len(a.Bytes)%a.Struct.Size != 0 {
		n := len(a.Bytes) / a.Type.Size()
		return fmt.Errorf("%d elements of %v are no array of the struct %s of %d B", n, a.Type, a.Struct.Name, a.Struct.Size)
	}
	return nil
}

// Len returns the number of elements.
func (a *Array) Len() int {
	if a.Struct != nil {
		return len(a.Bytes) / a.Struct.Size
	}
	return len(a.Bytes) / a.Type.Size()
}

// Clone returns a copy that shares no memory with a.
func (a *Array) Clone() *Array {
	c := &Array{Type: a.Type, Bytes: alignedBytes(len(a.Bytes)), Struct: a.Struct}
	copy(c.Bytes, a.Bytes)
	return c
}

// As returns the same memory seen as elements of another type with the same
// scalar type: float32 as float32x4 and back. A 3-vector takes four scalars. It
// is an error if the scalar types differ or the bytes are no whole number of
// elements.
func (a *Array) As(t Type) (*Array, error) {
	switch {
	case !t.valid():
		return nil, fmt.Errorf("view a %v array: not a valid type", a.Type)
	case t.Scalar() != a.Type.Scalar():
		return nil, fmt.Errorf("view a %v array as %v: the scalar types differ", a.Type, t)
	case len(a.Bytes)%t.Size() != 0:
		return nil, fmt.Errorf("view a %v array as %v: %d bytes are no multiple of %d", a.Type, t, len(a.Bytes), t.Size())
	}
	return &Array{Type: t, Bytes: a.Bytes, Digest: a.Digest, File: a.File}, nil
}

// Slice returns the scalars of a as a Go slice that shares its memory: for
// vectors all lanes in memory order, including the unused fourth lane of
// 3-vectors. T must be the Go type of the scalar; for float16 it is [Half], or
// uint16 for the bits.
func Slice[T Element](a *Array) ([]T, error) {
	if t := typeOf[T](); t != a.Type.Scalar() && (t != Uint16 || a.Type.Scalar() != Float16) {
		return nil, fmt.Errorf("view %v array: its scalars are not of type %v", a.Type, reflect.TypeFor[T]())
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
// lane l of element e of a float32x4 or float32x3 array is scalar 4e+l. 64-bit
// integers beyond 2⁵³ are rounded. It panics if i is out of range.
func (a *Array) Float(i int) float64 { return a.Type.Scalar().decode(a.bits(i)) }

// bits returns the bits of scalar i.
func (a *Array) bits(i int) uint64 {
	var word [8]byte
	copy(word[:], a.scalar(i))
	return binary.LittleEndian.Uint64(word[:])
}

// setBits sets scalar i to the low bits of a word.
func (a *Array) setBits(i int, bits uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], bits)
	copy(a.scalar(i), word[:])
}

// scalar returns the bytes of scalar i.
func (a *Array) scalar(i int) []byte {
	size := a.Type.Scalar().Size()
	return a.Bytes[i*size:][:size]
}

// scalars is [Slice] without its checks.
func scalars[T Element](a *Array) []T {
	if len(a.Bytes) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&a.Bytes[0])), len(a.Bytes)/int(unsafe.Sizeof(*new(T))))
}

// aligned returns a, or a copy if the memory of a is not aligned for its scalars.
func (a *Array) aligned() *Array {
	if len(a.Bytes) > 0 && uintptr(unsafe.Pointer(&a.Bytes[0]))%uintptr(a.Type.Scalar().Size()) != 0 {
		return a.Clone()
	}
	return a
}

// check returns an error if the invariant of [Array] does not hold, or the array has no single type.
func (a *Array) check() error {
	if a == nil {
		return errors.New("no array (nil)")
	}
	if err := a.invariant(); err != nil {
		return err
	}
	if a.Struct != nil {
		return fmt.Errorf("an array of structs (%s) has no single type; take its members one by one", a.Struct.Name)
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
	t, err := TypeOf(reflect.TypeFor[T]())
	if err != nil {
		panic(err) // Element and TypeOf disagree
	}
	return t
}

// TypeOf returns the scalar type that a Go type stands for: one of [Element] or a type derived from it.
func TypeOf(g reflect.Type) (Type, error) {
	if g == reflect.TypeFor[Half]() {
		return Float16, nil
	}
	for t := Int8; t <= Float64; t++ {
		if scalarTypes[t].kind == g.Kind() {
			return t, nil
		}
	}
	switch g.Kind() {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return 0, fmt.Errorf("the width of %v depends on the host; use one with a width, such as int32", g)
	}
	return 0, fmt.Errorf("%v is no element type; use int8 … int64, uint8 … uint64, float32, float64 or array.Half", g)
}

// chunkScalars is the number of scalars in a chunk, the unit of parallel work.
// Each chunk of a fill has its own random sequence, so the data depend on it.
const chunkScalars = 1 << 16

// forChunks splits [0, n) into chunks and calls do for each, on all cores and in
// no particular order. It returns when all calls have returned.
func forChunks(n int, do func(chunk, from, to int)) {
	chunks := (n + chunkScalars - 1) / chunkScalars
	var next atomic.Int64
	work := func() {
		for {
			c := int(next.Add(1)) - 1
			if c >= chunks {
				return
			}
			do(c, c*chunkScalars, min((c+1)*chunkScalars, n))
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), chunks) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
}
