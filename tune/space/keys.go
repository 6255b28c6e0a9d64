package space

import "slices"

// keys numbers the distinct keys of a fixed number of words in the order in which they are
// added: a hash table with open addressing.
type keys struct {
	words  int
	all    []uint64 // by number
	length int
	table  []uint32 // hash table: a number + 1, or 0
}

func newKeys(words int) *keys { return &keys{words: words, table: make([]uint32, 64)} }

// of is the key of a number.
func (k *keys) of(n int) []uint64 { return k.all[n*k.words : (n+1)*k.words] }

// add is the number of a key, and whether it is new.
func (k *keys) add(key []uint64) (number uint32, added bool) {
	if 2*k.length >= len(k.table) {
		k.grow()
	}
	mask := uint32(len(k.table) - 1)
	for at := hash(key) & mask; ; at = (at + 1) & mask {
		n := k.table[at]
		if n == 0 {
			k.table[at] = uint32(k.length + 1)
			k.all = append(k.all, key...)
			k.length++
			return uint32(k.length - 1), true
		}
		if slices.Equal(k.of(int(n-1)), key) {
			return n - 1, false
		}
	}
}

func (k *keys) grow() {
	k.table = make([]uint32, 2*len(k.table))
	mask := uint32(len(k.table) - 1)
	for n := range k.length {
		at := hash(k.of(n)) & mask
		for k.table[at] != 0 {
			at = (at + 1) & mask
		}
		k.table[at] = uint32(n + 1)
	}
}

// hash mixes the words (multiplication and shifts, as in splitmix64: Steele et al., OOPSLA
// 2014).
func hash(key []uint64) uint32 {
	h := uint64(len(key))
	for _, w := range key {
		h ^= w
		h *= 0xBF58476D1CE4E5B9
		h ^= h >> 29
	}
	h *= 0x94D049BB133111EB
	return uint32(h >> 32)
}

// A set is some of the numbers from 0 up to a limit, a bit each.
type set []uint64

func newSet(limit int) set { return make(set, (limit+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// fill makes it all numbers below a limit.
func (s set) fill(limit int) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	if r := limit % 64; r != 0 {
		s[len(s)-1] = 1<<r - 1
	}
}
