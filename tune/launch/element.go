package launch

import "github.com/ndtune/ndtune/tune/array"

// An Element is the type of the elements of an argument.
type Element struct {
	Type   array.Type    // array.Uint8 for a struct
	Struct *array.Struct // nil: the elements are of Type
}

// Size returns the size in bytes.
func (e Element) Size() int {
	if e.Struct != nil {
		return e.Struct.Size
	}
	return e.Type.Size()
}

// String returns the name of the type.
func (e Element) String() string {
	if e.Struct != nil {
		return "struct " + e.Struct.Name
	}
	return e.Type.String()
}

// Equal reports whether two types are the same. The names of structs do not matter.
func (e Element) Equal(o Element) bool { return e.Type == o.Type && e.Struct.Equal(o.Struct) }

// SameScalars reports whether arrays of both types have the same scalars one after the other, as float4 and float. A 3-vector has
// gaps between them.
func (e Element) SameScalars(o Element) bool {
	return e.Struct == nil && o.Struct == nil && e.Type.Scalar() == o.Type.Scalar() && e.Type.Lanes() != 3 && o.Type.Lanes() != 3
}

// Array returns an array of n elements, all bytes of which are zero.
func (e Element) Array(n int) *array.Array {
	if e.Struct != nil {
		return array.NewStructs(e.Struct, n)
	}
	return array.New(e.Type, n)
}

// View returns the memory of an array as elements of the type. A struct takes any bytes.
func (e Element) View(a *array.Array) (*array.Array, error) {
	if e.Struct != nil {
		return a.AsStructs(e.Struct)
	}
	return a.As(e.Type)
}

// Take returns data as elements of the type, converted where that is possible and wanted.
func (e Element) Take(data *array.Array, converted bool) (*array.Array, error) {
	if converted && e.Struct == nil && data.Struct == nil {
		return data.Convert(e.Type)
	}
	return e.View(data)
}
