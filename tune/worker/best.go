package worker

import (
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// best is the best result so far, as the run tells it. It is safe for concurrent use.
type best struct {
	mutex     sync.Mutex
	known     bool
	objective float64
	took      time.Duration
}

func (b *best) set(r tune.Result) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.known, b.objective = true, r.Objective
	b.took = time.Duration(r.Time() * float64(time.Millisecond))
}

func (b *best) permission() *permission {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return &permission{b.known, b.objective}
}

// beats reports whether the best is better than a value of the objective.
func (b *best) beats(value float64, o tune.Objective) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if o.Maximize {
		return value < b.objective
	}
	return value > b.objective
}

// time is what a launch of the best takes.
func (b *best) time() (time.Duration, bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.took, b.known
}
