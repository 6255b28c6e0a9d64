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
	place  int // among the runs of the server
	most   int // configurations in the space
	began  time.Time

	// Under the server's lock:
	results []tune.Result // in the order of arrival; appended to, and replaced only at the end
	ended   string        // how the search ended; empty while it runs
	over    chan struct{} // closed when ended is set
	resumed int           // number of the results that come from a log
	total   int           // number of results that are expected

	making   sync.Mutex // one report at a time
	follower *report.Follower
	latest   *view
}

// Add shows a result, which may be resumed from a log. It does not wait for browsers.
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
	if result.Refused { // it does not count in the budget
		r.total = min(r.total+1, max(r.total, r.most))
	}
	r.server.changed()
}

// End ends the run. The text how follows the number of configurations on the page. The results are those
// that were added, with the times of the final measurement; if there are none, those that were added
// stay. Only the first call has an effect.
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

// A state is a consistent copy of the data of a run.
type state struct {
	results []tune.Result
	resumed int
	total   int
	ended   string
}

func (r *Run) state() state {
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	return state{r.results[:len(r.results):len(r.results)], r.resumed, r.total, r.ended}
}

// A throttle limits the reports of a running search: an interval must pass between two of them, and
// making them takes at most a share of the time.
type throttle struct {
	interval time.Duration
	share    float64
}

// One fiftieth of the time of a core disturbs measurements on a CPU less than the search itself does. If
// many configurations make reports slow, they become rare.
var defaultThrottle = throttle{300 * time.Millisecond, 0.02}

// next returns the earliest time for a report after one that took some time and ended at another.
func (l throttle) next(ended time.Time, took time.Duration) time.Time {
	return ended.Add(max(l.interval, time.Duration(float64(took)*(1/l.share-1))))
}

// A view is a report of a run, with its progress at that time.
type view struct {
	rows     int
	over     bool
	progress report.Progress
	report   *report.Report
	next     time.Time // the earliest time of another one, unless the run ends before

	mutex sync.Mutex
	parts map[int][]byte // for browsers, by the number of rows that they have
}

// view returns a view of the run, which may be a short time old.
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
			Session: r.server.session, Place: r.place, Total: s.total, Resumed: s.resumed,
			Elapsed: float64(now.Sub(r.began)) / float64(time.Millisecond), Ended: s.ended,
		},
	}
	return r.latest, nil
}

// part returns the rest for a browser that has the first rows.
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
