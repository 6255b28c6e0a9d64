package cl

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unsafe"
)

// query returns the bytes of one piece of information, given by its number.
type query func(param uint32) ([]byte, error)

// queryOf returns the query for an object through a function of the form
// (id, param, size, value, size_ret).
func queryOf(f *function, id uintptr) query {
	return sized(func(param, size uintptr, value *byte, needed *uintptr) error {
		return f.run(id, param, size, uintptr(unsafe.Pointer(value)), uintptr(unsafe.Pointer(needed)))
	})
}

// queryOfPair returns the query for an object and a second value (a device, or the index of an
// argument) through a function of the form (id, second, param, size, value, size_ret).
func queryOfPair(f *function, id, second uintptr) query {
	return sized(func(param, size uintptr, value *byte, needed *uintptr) error {
		return f.run(id, second, param, size, uintptr(unsafe.Pointer(value)), uintptr(unsafe.Pointer(needed)))
	})
}

// sized returns a query that asks for the size of an answer first, and then for the answer.
func sized(ask func(param, size uintptr, value *byte, needed *uintptr) error) query {
	return func(param uint32) ([]byte, error) {
		var size uintptr
		if err := ask(uintptr(param), 0, nil, &size); err != nil || size == 0 {
			return nil, err
		}
		data := make([]byte, size)
		err := ask(uintptr(param), size, &data[0], nil)
		return data, err
	}
}

// The methods below return zero or nil if a query fails, so that one failing query does not hide
// the answers to the others.

func (q query) text(param uint32) string {
	data, err := q(param)
	if err != nil {
		return ""
	}
	return trimText(data)
}

// list returns words that are separated by a separator, without empty ones.
func (q query) list(param uint32, separator string) []string {
	var words []string
	for word := range strings.SplitSeq(q.text(param), separator) {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func (q query) uint(param uint32) uint64 {
	n, _ := q.known(param)
	return n
}

// known returns an unsigned number of any width, or false if the query fails.
func (q query) known(param uint32) (uint64, bool) {
	data, err := q(param)
	if err != nil {
		return 0, false
	}
	switch len(data) {
	case 1, 2, 4, 8:
		return decode(data), true
	}
	return 0, false
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

// words returns an array of size_t or of handles.
func words(data []byte) []uintptr {
	const width = int(unsafe.Sizeof(uintptr(0)))
	list := make([]uintptr, 0, len(data)/width)
	for ; len(data) >= width; data = data[width:] {
		list = append(list, uintptr(decode(data[:width])))
	}
	return list
}

func (q query) int(param uint32) int     { return int(q.uint(param)) }
func (q query) int64(param uint32) int64 { return int64(q.uint(param)) }
func (q query) bool(param uint32) bool   { return q.uint(param) != 0 }

// ints returns an array of size_t.
func (q query) ints(param uint32) []int {
	data, err := q(param)
	if err != nil {
		return nil
	}
	var list []int
	for _, word := range words(data) {
		list = append(list, int(word))
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
