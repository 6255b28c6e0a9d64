package cl

// The vector types of OpenCL C. A vector of 3 takes the room of 4, in arguments and in
// buffers alike, so that its fourth element is padding; a slice of any of these types has
// the layout of an array of the OpenCL type.
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

// store writes a scalar or vector where the driver can read it and returns its size, or 0
// when v is of no such type.
func (k *Kernel) store(v any) uintptr {
	switch v := v.(type) {
	case int8:
		return put(k, v)
	case uint8:
		return put(k, v)
	case int16:
		return put(k, v)
	case uint16:
		return put(k, v)
	case int32:
		return put(k, v)
	case uint32:
		return put(k, v)
	case int64:
		return put(k, v)
	case uint64:
		return put(k, v)
	case float32:
		return put(k, v)
	case float64:
		return put(k, v)
	case Half:
		return put(k, v)
	case Char2:
		return put(k, v)
	case Char3:
		return put(k, v)
	case Char4:
		return put(k, v)
	case Char8:
		return put(k, v)
	case Char16:
		return put(k, v)
	case UChar2:
		return put(k, v)
	case UChar3:
		return put(k, v)
	case UChar4:
		return put(k, v)
	case UChar8:
		return put(k, v)
	case UChar16:
		return put(k, v)
	case Short2:
		return put(k, v)
	case Short3:
		return put(k, v)
	case Short4:
		return put(k, v)
	case Short8:
		return put(k, v)
	case Short16:
		return put(k, v)
	case UShort2:
		return put(k, v)
	case UShort3:
		return put(k, v)
	case UShort4:
		return put(k, v)
	case UShort8:
		return put(k, v)
	case UShort16:
		return put(k, v)
	case Int2:
		return put(k, v)
	case Int3:
		return put(k, v)
	case Int4:
		return put(k, v)
	case Int8:
		return put(k, v)
	case Int16:
		return put(k, v)
	case UInt2:
		return put(k, v)
	case UInt3:
		return put(k, v)
	case UInt4:
		return put(k, v)
	case UInt8:
		return put(k, v)
	case UInt16:
		return put(k, v)
	case Long2:
		return put(k, v)
	case Long3:
		return put(k, v)
	case Long4:
		return put(k, v)
	case Long8:
		return put(k, v)
	case Long16:
		return put(k, v)
	case ULong2:
		return put(k, v)
	case ULong3:
		return put(k, v)
	case ULong4:
		return put(k, v)
	case ULong8:
		return put(k, v)
	case ULong16:
		return put(k, v)
	case Half2:
		return put(k, v)
	case Half3:
		return put(k, v)
	case Half4:
		return put(k, v)
	case Half8:
		return put(k, v)
	case Half16:
		return put(k, v)
	case Float2:
		return put(k, v)
	case Float3:
		return put(k, v)
	case Float4:
		return put(k, v)
	case Float8:
		return put(k, v)
	case Float16:
		return put(k, v)
	case Double2:
		return put(k, v)
	case Double3:
		return put(k, v)
	case Double4:
		return put(k, v)
	case Double8:
		return put(k, v)
	case Double16:
		return put(k, v)
	}
	return k.storeDerived(v)
}
