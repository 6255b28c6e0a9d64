package live

import (
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/report"
)

// A Run is a search on the page.
type Run struct {
	server *Server
	place  int // among the server's
	total  int
	began  time.Time

	// Under the server's lock:
	results []tune.Result // in the order of arrival; only ever appended to, and replaced at the end
	ended   string        // how; empty while it goes on
	over    chan struct{} // closed with it
	resumed int           // of the results, those that a log held

	making   sync.Mutex // one report at a time
	follower *report.Follower
	latest   *view
}

// Add shows a result, which may be resumed from a log. It does not wait for anybody.
func (r *Run) Add(result tune.Result, resumed bool) {
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	if r.ended != "" {
		return
	}
	r.results = append(r.results, result)
	if resumed {
		r.resumed++
	}
	r.server.changed()
}

// End says how the search ended, in words that stand behind its number of configurations, and
// with which results: those that were added, with the times of the final measurement. Without
// any, those that were added stay. Only the first end counts.
func (r *Run) End(results []tune.Result, how string) {
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	if r.ended != "" {
		return
	}
	if len(results) >= len(r.results) && results != nil {
		r.results = results
	}
	r.ended = how
	close(r.over)
	r.server.changed()
}

// A state is what there is of a run.
type state struct {
	results []tune.Result
	resumed int
	ended   string
}

func (r *Run) state() state {
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	return state{r.results[:len(r.results):len(r.results)], r.resumed, r.ended}
}
