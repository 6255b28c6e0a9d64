package simulate

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"math"
)

// seeds gives every repeat of a strategy on a recording a seed of its own. It depends on the
// strategy's name and on what was recorded, not on the order of strategies and recordings, on
// the names of files or on the number of repeats.
type seeds uint64

func newSeeds(seed uint64, strategy string, r *Recording) seeds {
	h := fnv.New64a() // whose Write never fails
	_ = binary.Write(h, binary.LittleEndian, seed)
	_, _ = io.WriteString(h, strategy)
	for _, o := range r.observations {
		_ = binary.Write(h, binary.LittleEndian, math.Float64bits(o.Objective))
	}
	return seeds(h.Sum64())
}

// repeat is the seed of a repeat: the sequence of SplitMix64 (Steele, Lea, Flood, OOPSLA
// 2014), no two of which are the same.
func (s seeds) repeat(i int) uint64 {
	z := uint64(s) + (uint64(i)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
