package cl

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/x448/float16"
)

// LocalBytes is a kernel argument: a number of bytes of local memory, for a __local pointer.
type LocalBytes int

// Raw is a kernel argument as bytes, for structs and other types that this package does not
// have. Its length must be the size of the argument, with padding.
type Raw []byte

// SetArg sets argument i, from 0. v must be one of these:
//
//	*Buffer             a __global or __constant pointer; a nil *Buffer is a null pointer
//	*Image, *Sampler    an image, a sampler
//	LocalBytes          local memory for a __local pointer
//	int8 … uint64       char, short, int, long and their unsigned forms, by size
//	float32, float64    float, double
//	Half, Float4, …     half, and the vector types, see Float4
//	Raw                 anything else, as bytes
//
// or have a type derived from a number type. It is an error if v is a bool, int or uint: OpenCL
// has no bool arguments, and the size of int and uint depends on the machine.
func (k *Kernel) SetArg(i int, v any) error {
	f := &api.clSetKernelArg
	if err := k.use(f); err != nil {
		return err
	}
	defer k.leave()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.set(f, i, v); err != nil {
		return about(err, fmt.Sprintf("argument %d of %s", i, k.name))
	}
	return nil
}

// SetArgs sets arguments 0, 1, … to the values v. It stops at the first error.
func (k *Kernel) SetArgs(v ...any) error {
	for i, value := range v {
		if err := k.SetArg(i, value); err != nil {
			return err
		}
	}
	return nil
}

// argument is an object that was set as an argument. Neither OpenCL nor this package keeps it
// alive until the launch, but this package refuses a launch with a released object.
type argument struct {
	object *object
	kind   *kind
}

// set sets an argument; k must be in use and locked.
func (k *Kernel) set(f *function, i int, v any) error {
	if i < 0 {
		return refuse(f.name, InvalidArgIndex, "negative index")
	}
	switch v := v.(type) {
	case *Buffer:
		if v == nil {
			k.value[0] = 0
			return k.done(i, argument{}, f.run(k.id, uintptr(i), unsafe.Sizeof(uintptr(0)), uintptr(unsafe.Pointer(&k.value))))
		}
		return k.setObject(f, i, &v.object, bufferKind)
	case *Image:
		return k.setObject(f, i, v.handle(), imageKind)
	case *Sampler:
		return k.setObject(f, i, v.handle(), samplerKind)
	case LocalBytes:
		if v <= 0 {
			return refuse(f.name, InvalidArgSize, fmt.Sprintf("%d bytes of local memory", v))
		}
		return k.done(i, argument{}, f.run(k.id, uintptr(i), uintptr(v), 0))
	case Raw:
		if len(v) == 0 {
			return refuse(f.name, InvalidArgSize, "no bytes")
		}
		return k.done(i, argument{}, f.run(k.id, uintptr(i), uintptr(len(v)), uintptr(bytesOf(v))))
	}
	size := k.store(v)
	if size == 0 {
		return refuse(f.name, InvalidArgValue, whyNot(v))
	}
	return k.done(i, argument{}, f.run(k.id, uintptr(i), size, uintptr(unsafe.Pointer(&k.value))))
}

// setObject sets an argument to an OpenCL object.
func (k *Kernel) setObject(f *function, i int, o *object, kind *kind) error {
	if err := o.use(f, kind); err != nil {
		return err
	}
	defer o.leave()
	return k.done(i, argument{o, kind}, f.run(k.id, uintptr(i), unsafe.Sizeof(o.id), uintptr(o.address())))
}

// done records argument i, unless the driver refused it.
func (k *Kernel) done(i int, a argument, err error) error {
	if err != nil {
		return err
	}
	for len(k.held) <= i {
		k.held = append(k.held, argument{})
	}
	k.held[i] = a
	return nil
}

// arguments are the arguments that a launch keeps alive until it is enqueued. From then on the
// driver does.
type arguments []argument

// holdArguments counts a use of each object among the arguments. The caller must call leave on
// the result, even if there is an error.
func (k *Kernel) holdArguments(f *function) (arguments, error) {
	for i, a := range k.held {
		if a.object == nil {
			continue
		}
		if err := a.object.use(f, a.kind); err != nil {
			return k.held[:i], about(err, fmt.Sprintf("argument %d of %s", i, k.name))
		}
	}
	return k.held, nil
}

func (held arguments) leave() {
	for _, a := range held {
		if a.object != nil {
			a.object.leave()
		}
	}
}

// vectors is the path of the package of the vector types.
var vectors = reflect.TypeFor[Float4]().PkgPath()

// store writes a scalar or a vector, or a value of a type derived from a scalar, to k.value, where
// the driver reads it. It returns its size in bytes, or 0 if v has none of these types.
func (k *Kernel) store(v any) uintptr {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
	case reflect.Array:
		if r.Type().PkgPath() != vectors {
			return 0
		}
	default:
		return 0
	}
	reflect.NewAt(r.Type(), unsafe.Pointer(&k.value)).Elem().Set(r)
	return r.Type().Size()
}

// whyNot returns the reason why v cannot be an argument, and what to give instead.
func whyNot(v any) string {
	if v == nil {
		return "nil: give (*cl.Buffer)(nil) for a null pointer"
	}
	t := reflect.TypeOf(v)
	switch t.Kind() {
	case reflect.Bool:
		return "a bool: OpenCL forbids bool arguments, give an int32 of 0 or 1"
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return fmt.Sprintf("%s: its size depends on the machine, give an int32 or int64 (or unsigned) as the kernel has it", t)
	case reflect.Struct:
		return fmt.Sprintf("%s: give a struct as cl.Raw, laid out as in OpenCL C", t)
	case reflect.Slice:
		return fmt.Sprintf("%s: give a buffer that holds it, or cl.Raw for the bytes of the argument itself", t)
	case reflect.Array:
		return fmt.Sprintf("%s: give one of the vector types, such as cl.Float4, or cl.Raw", t)
	}
	return fmt.Sprintf("%s is no type of a kernel argument", t)
}

// The vector types of OpenCL C. A vector of 3 elements has the size of one of 4, in arguments and
// in buffers; its fourth element is padding. A slice of any of these types has the layout of an
// array of the OpenCL type.
type (
	Char2  [2]int8  // char2
	Char3  [4]int8  // char3
	Char4  [4]int8  // char4
	Char8  [8]int8  // char8
	Char16 [16]int8 // char16

	UChar2  [2]uint8  // uchar2
	UChar3  [4]uint8  // uchar3
	UChar4  [4]uint8  // uchar4
	UChar8  [8]uint8  // uchar8
	UChar16 [16]uint8 // uchar16

	Short2  [2]int16  // short2
	Short3  [4]int16  // short3
	Short4  [4]int16  // short4
	Short8  [8]int16  // short8
	Short16 [16]int16 // short16

	UShort2  [2]uint16  // ushort2
	UShort3  [4]uint16  // ushort3
	UShort4  [4]uint16  // ushort4
	UShort8  [8]uint16  // ushort8
	UShort16 [16]uint16 // ushort16

	Int2  [2]int32  // int2
	Int3  [4]int32  // int3
	Int4  [4]int32  // int4
	Int8  [8]int32  // int8
	Int16 [16]int32 // int16

	UInt2  [2]uint32  // uint2
	UInt3  [4]uint32  // uint3
	UInt4  [4]uint32  // uint4
	UInt8  [8]uint32  // uint8
	UInt16 [16]uint32 // uint16

	Long2  [2]int64  // long2
	Long3  [4]int64  // long3
	Long4  [4]int64  // long4
	Long8  [8]int64  // long8
	Long16 [16]int64 // long16

	ULong2  [2]uint64  // ulong2
	ULong3  [4]uint64  // ulong3
	ULong4  [4]uint64  // ulong4
	ULong8  [8]uint64  // ulong8
	ULong16 [16]uint64 // ulong16

	Half2  [2]Half  // half2
	Half3  [4]Half  // half3
	Half4  [4]Half  // half4
	Half8  [8]Half  // half8
	Half16 [16]Half // half16

	Float2  [2]float32  // float2
	Float3  [4]float32  // float3
	Float4  [4]float32  // float4
	Float8  [8]float32  // float8
	Float16 [16]float32 // float16

	Double2  [2]float64  // double2
	Double3  [4]float64  // double3
	Double4  [4]float64  // double4
	Double8  [8]float64  // double8
	Double16 [16]float64 // double16
)

// Half is a half-precision number (IEEE 754 binary16), as its bits.
type Half uint16

// NewHalf returns the half nearest to f, ties to even. Values from 65520 on become infinite.
func NewHalf(f float32) Half { return Half(float16.Fromfloat32(f)) }

// Float32 returns the number in single precision, which is exact.
func (h Half) Float32() float32 { return float16.Frombits(uint16(h)).Float32() }

// Number is the constraint for the scalar types of OpenCL C in buffers; half is Half.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Vector is the constraint for the vector types of OpenCL C.
type Vector interface {
	Char2 | Char3 | Char4 | Char8 | Char16 |
		UChar2 | UChar3 | UChar4 | UChar8 | UChar16 |
		Short2 | Short3 | Short4 | Short8 | Short16 |
		UShort2 | UShort3 | UShort4 | UShort8 | UShort16 |
		Int2 | Int3 | Int4 | Int8 | Int16 |
		UInt2 | UInt3 | UInt4 | UInt8 | UInt16 |
		Long2 | Long3 | Long4 | Long8 | Long16 |
		ULong2 | ULong3 | ULong4 | ULong8 | ULong16 |
		Half2 | Half3 | Half4 | Half8 | Half16 |
		Float2 | Float3 | Float4 | Float8 | Float16 |
		Double2 | Double3 | Double4 | Double8 | Double16
}

// Bytes returns the memory of a slice as bytes, without copying, for transfers:
//
//	err := q.Read(b, 0, cl.Bytes(floats))
func Bytes[T Number | Vector](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
