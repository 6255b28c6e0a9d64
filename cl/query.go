package cl

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// query returns the bytes of one piece of information, given by its number.
type query func(param uint32) ([]byte, error)

// queryOf returns the query for an object, or for an object with a device or the index of an argument, through a function of the form
// (of…, param, size, value, size_ret). It asks for the size of an answer first, and then for the answer.
func queryOf(f *function, of ...uintptr) query {
	return func(param uint32) ([]byte, error) {
		var size uintptr
		if err := f.runWith(of, uintptr(param), 0, 0, uintptr(unsafe.Pointer(&size))); err != nil || size == 0 {
			return nil, err
		}
		data := make([]byte, size)
		err := f.runWith(of, uintptr(param), size, uintptr(unsafe.Pointer(&data[0])), 0)
		return data, err
	}
}

// read sets the fields of a struct whose tags, such as `cl:"0x102B"`, hold the number of a query. A field
// keeps its value if its query fails, so that the others are still answered; it is an error only for a tag
// such as `cl:"0x102B,required"`.
func (q query) read(info any) error {
	v := reflect.ValueOf(info).Elem()
	for i := range v.NumField() {
		tag, required := strings.CutSuffix(v.Type().Field(i).Tag.Get("cl"), ",required")
		param, err := strconv.ParseUint(tag, 0, 32)
		if err != nil {
			continue // no tag
		}
		data, err := q(uint32(param))
		switch {
		case err != nil && required:
			return err
		case err != nil:
			continue
		}
		switch field := v.Field(i).Addr().Interface().(type) {
		case *string:
			*field = trimText(data)
		case *bool:
			*field = decode(data) != 0
		case *[]string:
			*field = strings.Fields(trimText(data))
		case *[]int:
			*field = words(data)
		case *[3]int:
			copy(field[:], words(data))
		case *[16]byte:
			if len(data) == len(field) {
				copy(field[:], data)
			}
		default: // an integer type
			if n := decode(data); v.Field(i).CanInt() {
				v.Field(i).SetInt(int64(n))
			} else {
				v.Field(i).SetUint(n)
			}
		}
	}
	return nil
}

// uint returns 0 if the query fails.
func (q query) uint(param uint32) uint64 {
	data, _ := q(param)
	return decode(data)
}

// decode returns an unsigned number of 1, 2, 4 or 8 bytes, or 0 for data of another length.
func decode(data []byte) uint64 {
	switch len(data) {
	case 1:
		return uint64(data[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(data))
	case 4:
		return uint64(binary.NativeEndian.Uint32(data))
	case 8:
		return binary.NativeEndian.Uint64(data)
	}
	return 0
}

// words returns an array of size_t.
func words(data []byte) (list []int) {
	const width = int(unsafe.Sizeof(uintptr(0)))
	for ; len(data) >= width; data = data[width:] {
		list = append(list, int(decode(data[:width])))
	}
	return list
}

// trimText returns the text up to the terminator, without the surrounding space that some drivers
// leave around names.
func trimText(data []byte) string {
	if end := bytes.IndexByte(data, 0); end >= 0 {
		data = data[:end]
	}
	return strings.TrimSpace(string(data))
}

// terminated returns the text with a terminating zero.
func terminated(text string) []byte { return append([]byte(text), 0) }
