package cl

import (
	"unsafe"

	"github.com/x448/float16"
)

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
