package worker

import (
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// best is the best result so far, as the run tells it. It is safe for concurrent use.
type best struct {
	mutex  sync.Mutex
	result *tune.Result
}

func (b *best) set(r tune.Result) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.result = &r
}

func (b *best) get() *tune.Result {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.result
}

func (b *best) permission() *permission {
	if r := b.get(); r != nil {
		return &permission{true, r.Objective}
	}
	return &permission{}
}

// beats reports whether the best is better than a value of the objective.
func (b *best) beats(value float64, o tune.Objective) bool {
	r := b.get()
	return r != nil && o.Better(r.Objective, value)
}

// time is what a launch of the best takes.
func (b *best) time() (time.Duration, bool) {
	r := b.get()
	if r == nil {
		return 0, false
	}
	return time.Duration(r.Time() * float64(time.Millisecond)), true
}
