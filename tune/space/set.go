package space

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
