package footprint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// readMessagePack reads a MessagePack document (https://github.com/msgpack/msgpack/blob/master/spec.md) as nil, bool, int64,
// string, []any and map[string]any. Others, and keys of maps that are no texts, are errors: AMD's metadata have none.
func readMessagePack(document []byte) (any, error) {
	r := packReader{rest: document}
	v := r.value(0)
	return v, r.err
}

// A packReader reads values until there is an error.
type packReader struct {
	rest []byte
	err  error
}

// maxDepth bounds the lists and maps inside each other.
const maxDepth = 100

var errCut = errors.New("it is cut off")

func (r *packReader) fail(err error) any {
	if r.err == nil {
		r.err, r.rest = err, nil
	}
	return nil
}

// take returns the next n bytes, nil if there are fewer.
func (r *packReader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail(errCut)
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// unsigned reads a number of 1, 2, 4 or 8 bytes.
func (r *packReader) unsigned(size int) uint64 {
	var wide [8]byte
	copy(wide[8-size:], r.take(uint64(size)))
	return binary.BigEndian.Uint64(wide[:])
}

func (r *packReader) value(depth int) any {
	first := r.take(1)
	if first == nil {
		return nil
	}
	if depth > maxDepth {
		return r.fail(errors.New("lists and maps are nested too deeply"))
	}
	switch b := first[0]; {
	case b <= 0x7f:
		return int64(b)
	case b >= 0xe0:
		return int64(int8(b))
	case b <= 0x8f:
		return r.mapping(uint64(b&0xf), depth)
	case b <= 0x9f:
		return r.list(uint64(b&0xf), depth)
	case b <= 0xbf:
		return string(r.take(uint64(b & 0x1f)))
	case b == 0xc0:
		return nil
	case b == 0xc2 || b == 0xc3:
		return b == 0xc3
	case b >= 0xcc && b <= 0xcf:
		n := r.unsigned(1 << (b - 0xcc))
		if n > math.MaxInt64 {
			return r.fail(fmt.Errorf("the number %d is too large", n))
		}
		return int64(n)
	case b >= 0xd0 && b <= 0xd3:
		size := 1 << (b - 0xd0)
		shift := 64 - 8*size
		return int64(r.unsigned(size)<<shift) >> shift
	case b >= 0xd9 && b <= 0xdb:
		return string(r.take(r.unsigned(1 << (b - 0xd9))))
	case b == 0xdc || b == 0xdd:
		return r.list(r.unsigned(2<<(b-0xdc)), depth)
	case b == 0xde || b == 0xdf:
		return r.mapping(r.unsigned(2<<(b-0xde)), depth)
	default:
		return r.fail(fmt.Errorf("the byte %#x begins no value that is read here", b))
	}
}

func (r *packReader) list(n uint64, depth int) any {
	var all []any
	for ; n > 0 && r.err == nil; n-- {
		all = append(all, r.value(depth+1))
	}
	return all
}

func (r *packReader) mapping(n uint64, depth int) any {
	all := map[string]any{}
	for ; n > 0 && r.err == nil; n-- {
		key, ok := r.value(depth + 1).(string)
		if !ok {
			return r.fail(errors.New("a key of a map is no text"))
		}
		all[key] = r.value(depth + 1)
	}
	return all
}
