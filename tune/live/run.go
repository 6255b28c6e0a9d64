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

// A throttle limits how often reports are made of a running search: not before an interval has
// passed, and not in more than a share of the time.
type throttle struct {
	interval time.Duration
	share    float64
}

// A fiftieth of one core's time, where somebody looks, disturbs a measurement on a CPU less than the
// search itself does; where many configurations make reports slow, they become rare instead.
var defaultThrottle = throttle{300 * time.Millisecond, 0.02}

// next is when a report can be made after one that took so long and ended at a time.
func (l throttle) next(ended time.Time, took time.Duration) time.Time {
	return ended.Add(max(l.interval, time.Duration(float64(took)*(1/l.share-1))))
}

// A view is a run as it was when somebody looked.
type view struct {
	rows     int
	over     bool
	progress report.Progress
	report   *report.Report
	next     time.Time // when there can be another one, unless the run ends before

	mutex sync.Mutex
	parts map[int][]byte // for browsers, by how many rows these have
}

// view is the run as it is, or as it was a short time ago.
func (r *Run) view() (*view, error) {
	r.making.Lock()
	defer r.making.Unlock()
	s := r.state()
	now, over := time.Now(), s.ended != ""
	if v := r.latest; v != nil && v.over == over && (v.rows == len(s.results) || now.Before(v.next)) {
		return v, nil
	}
	made, err := r.follower.Report(s.results, over, now)
	if err != nil {
		return nil, err
	}
	end := time.Now()
	r.latest = &view{
		rows: len(s.results), over: over, report: made, parts: map[int][]byte{},
		next: r.server.throttle.next(end, end.Sub(now)),
		progress: report.Progress{
			Session: r.server.session, Place: r.place, Total: r.total, Resumed: s.resumed,
			Elapsed: float64(now.Sub(r.began)) / float64(time.Millisecond), Ended: s.ended,
		},
	}
	return r.latest, nil
}

// part is what a browser lacks that has the first rows.
func (v *view) part(from int) ([]byte, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if part, ok := v.parts[from]; ok {
		return part, nil
	}
	part, err := v.report.Part(from, v.progress)
	if err != nil {
		return nil, err
	}
	if len(v.parts) < maxStreams {
		v.parts[from] = part
	}
	return part, nil
}
