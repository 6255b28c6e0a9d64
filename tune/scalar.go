package tune

import (
	"reflect"

	"github.com/ndtune/ndtune/tune/array"
)

// plainTypes are Go's own types of what a scalar can be, by kind.
var plainTypes = func() map[reflect.Kind]reflect.Type {
	types := map[reflect.Kind]reflect.Type{}
	for _, v := range []any{
		int(0), int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0),
		uintptr(0), float32(0), float64(0), false, "",
	} {
		types[reflect.TypeOf(v).Kind()] = reflect.TypeOf(v)
	}
	return types
}()

// plainScalar is a scalar of types that every process knows: numbers, bools and texts of a
// type that a program defined are of Go's own types, lanes are a []any.
func plainScalar(v any) any {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
		return plainLane(v)
	}
	lanes := make([]any, r.Len())
	for i := range lanes {
		lanes[i] = plainLane(r.Index(i).Interface())
	}
	return lanes
}

func plainLane(v any) any {
	if _, ok := v.(array.Half); ok {
		return v // not the number that its bits are
	}
	r := reflect.ValueOf(v)
	if t, ok := plainTypes[r.Kind()]; ok {
		return r.Convert(t).Interface()
	}
	return v
}
