package diffusion

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// How a thread waits before it sleeps: so often it looks for the others, and after so many
// looks it lets other goroutines run. Rows are shared evenly, so that the others are mostly
// close behind, and waking a thread costs more than some tens of microseconds of looking.
const (
	looks      = 1 << 14
	looksARest = 1 << 8
)

// A barrier holds threads until all have come, once before each round.
type barrier struct {
	threads int64
	more    func(round int) bool

	arrived atomic.Int64 // threads that wait
	opened  atomic.Int64 // how often the barrier opened
	closed  atomic.Bool  // there are no more rounds

	mu   sync.Mutex // held while opened changes, for those that sleep
	wake sync.Cond
}

// newBarrier makes a barrier for a number of threads. Before each round, counted from 0, one
// of them asks more, and all of them get its answer.
func newBarrier(threads int, more func(round int) bool) *barrier {
	b := &barrier{threads: int64(threads), more: more}
	b.wake.L = &b.mu
	return b
}

// pass waits for all threads and reports whether there is another round. After false, no
// thread may call it again.
func (b *barrier) pass() bool {
	before := b.opened.Load()
	if b.arrived.Add(1) == b.threads {
		b.open()
	} else {
		b.await(before)
	}
	return !b.closed.Load()
}

// await returns when the barrier has opened once more than before.
func (b *barrier) await(before int64) {
	for look := range looks {
		if b.opened.Load() != before {
			return
		}
		if look%looksARest == looksARest-1 {
			runtime.Gosched()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.opened.Load() == before {
		b.wake.Wait()
	}
}

// open lets all threads go on. The others wait, so that nothing changes under it.
func (b *barrier) open() {
	if !b.more(int(b.opened.Load())) {
		b.closed.Store(true)
	}
	b.arrived.Store(0)
	b.mu.Lock()
	b.opened.Add(1)
	b.mu.Unlock()
	b.wake.Broadcast()
}

// rounds is the number of rounds that there were, once all threads have passed the last time.
func (b *barrier) rounds() int { return int(b.opened.Load()) - 1 }
