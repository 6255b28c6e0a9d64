package live

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A position tells which part of the searches a browser has. It is the identity of an event, so that a
// browser that lost its connection continues where it was.
type position struct {
	run  int
	rows int // -1: the browser does not even know that the run has begun
	over bool

	fleet int // the number of the last table of ShowFleet that it has; not part of the identity
}

var nowhere = position{rows: -1}

// identity returns the position as text, for one session.
func (p position) identity(session string) string {
	return fmt.Sprintf("%s.%d.%d", session, p.run, p.rows)
}

// positionOf returns the position of an identity. It is nowhere for a text of another session and for an
// invalid one. It is never over: the end is sent again.
func positionOf(text, session string, runs []*Run) position {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != session {
		return nowhere
	}
	run, err := strconv.Atoi(parts[1])
	if err != nil || run < 0 || run >= len(runs) {
		return nowhere
	}
	rows, err := strconv.Atoi(parts[2])
	if err != nil || rows < 0 || rows > len(runs[run].state().results) {
		return nowhere
	}
	return position{run: run, rows: rows}
}

// events serves one stream: the parts, and the end.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if err := s.enter(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	if r.Method == http.MethodHead {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := &stream{http.NewResponseController(w), w, s.stall}
	s.mutex.Lock()
	runs := s.runs
	s.mutex.Unlock()
	at := positionOf(r.Header.Get("Last-Event-ID"), s.session, runs)
	if out.write([]byte("retry: 2000\n\n")) != nil { // ms; and so the browser knows that it is connected
		return
	}
	for {
		event, next, err := s.next(r.Context(), at)
		if err != nil || out.write(event) != nil {
			return // the browser has gone, or cannot be shown anything
		}
		if next == ended {
			return
		}
		at = next
	}
}

// ended is the position after all searches.
var ended = position{run: -1}

// next waits for news for a browser and returns them as an event, with the position after it.
func (s *Server) next(ctx context.Context, at position) (event []byte, next position, err error) {
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	for {
		s.mutex.Lock()
		news, closing, run := s.news, s.closing, (*Run)(nil)
		if at.run < len(s.runs) {
			run = s.runs[at.run]
		}
		more := at.run+1 < len(s.runs)
		table, shown := s.fleet, s.shown
		s.mutex.Unlock()
		if shown > at.fleet {
			at.fleet = shown
			return table, at, nil
		}

		var pause <-chan time.Time
		if run != nil && !at.over {
			v, err := run.view()
			if err != nil {
				return nil, at, err
			}
			if v.over || v.rows > at.rows {
				return v.event(at)
			}
			if len(run.state().results) > at.rows {
				pause, news = time.After(time.Until(v.next)), run.over
			}
		}
		switch {
		case at.over && more:
			at = position{run: at.run + 1, rows: -1, fleet: at.fleet}
			continue
		case closing && (run == nil || at.over):
			return []byte("event: end\ndata: {}\n\n"), ended, nil
		}
		select {
		case <-news:
		case <-pause:
		case <-beat.C:
			return []byte(": nothing new\n\n"), at, nil
		case <-ctx.Done():
			return nil, at, ctx.Err()
		}
	}
}

// event returns the view as an event for a browser at a position. At the end the event has all rows,
// because the final measurement changes rows that the browser has.
func (v *view) event(at position) (event []byte, next position, err error) {
	from := max(0, at.rows)
	if v.over {
		from = 0
	}
	part, err := v.part(from)
	if err != nil {
		return nil, at, err
	}
	next = position{run: at.run, rows: v.rows, over: v.over, fleet: at.fleet}
	return fmt.Appendf(nil, "id: %s\nevent: part\ndata: %s\n\n", next.identity(v.progress.Session), part), next, nil
}

// A stream is the connection to a browser.
type stream struct {
	control *http.ResponseController
	to      http.ResponseWriter
	stall   time.Duration
}

// write sends an event. The time limit applies to each piece, so that long events may take longer.
func (s *stream) write(event []byte) error {
	const piece = 64 << 10
	for len(event) > 0 {
		n := min(piece, len(event))
		if err := s.control.SetWriteDeadline(time.Now().Add(s.stall)); err != nil {
			return err
		}
		if _, err := s.to.Write(event[:n]); err != nil {
			return err
		}
		if err := s.control.Flush(); err != nil {
			return err
		}
		event = event[n:]
	}
	return nil
}
