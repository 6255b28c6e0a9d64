package cl

import "unsafe"

// Number is the types of the scalars of OpenCL C that buffers may hold; half is Half.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Vector is the vector types of OpenCL C.
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

// Bytes returns the memory of a slice as bytes, for transfers: it is a view, not a copy.
//
//	err := q.Read(b, 0, cl.Bytes(floats))
func Bytes[T Number | Vector](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
