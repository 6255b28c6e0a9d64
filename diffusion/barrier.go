package diffusion

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spins is how often a thread looks for the others before it sleeps. Rows are shared evenly,
// so that the others are mostly close behind, and waking costs more than a short wait.
const spins = 64

// A barrier holds threads until all have come, once before each round.
type barrier struct {
	threads int
	more    func(round int) bool

	mu      sync.Mutex
	wake    sync.Cond
	waiting int

	opened atomic.Int64 // how often the barrier opened
	closed atomic.Bool  // there are no more rounds
}

// newBarrier makes a barrier for a number of threads. Before each round, counted from 0, one
// of them asks more, and all of them get its answer.
func newBarrier(threads int, more func(round int) bool) *barrier {
	b := &barrier{threads: threads, more: more}
	b.wake.L = &b.mu
	return b
}

// pass waits for all threads and reports whether there is another round. After false, no
// thread may call it again.
func (b *barrier) pass() bool {
	b.mu.Lock()
	before := b.opened.Load()
	b.waiting++
	if b.waiting == b.threads {
		b.open()
		b.mu.Unlock()
		return !b.closed.Load()
	}
	b.mu.Unlock()
	for range spins {
		if b.opened.Load() != before {
			return !b.closed.Load()
		}
		runtime.Gosched()
	}
	b.mu.Lock()
	for b.opened.Load() == before {
		b.wake.Wait()
	}
	b.mu.Unlock()
	return !b.closed.Load()
}

// open lets all threads go on. The lock is held.
func (b *barrier) open() {
	b.waiting = 0
	if !b.more(int(b.opened.Load())) {
		b.closed.Store(true)
	}
	b.opened.Add(1)
	b.wake.Broadcast()
}

// rounds is the number of rounds that there were, once all threads have passed the last time.
func (b *barrier) rounds() int { return int(b.opened.Load()) - 1 }
