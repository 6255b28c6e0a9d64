package live

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/browser"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func TestMain(m *testing.M) { browser.Main(m) }

// A search is made up: a space of x and y, and what becomes of its configurations.
type search struct {
	header  record.Header
	results []tune.Result
}

// newSearch has n results: every seventh does not compile, and the best is not among the first.
func newSearch(t testing.TB, n int) search {
	t.Helper()
	list := []space.Parameter{{Name: "x"}, {Name: "y", Values: []space.Value{1, 2, 4}}}
	for i := range (n + 2) / 3 {
		list[0].Values = append(list[0].Values, i)
	}
	parameters, err := space.NewParameters(list)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), parameters, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	made := search{header: record.Header{
		Format: record.FormatLog, Kernel: "k <b>", Device: hardware.Device{Name: "Testing", Timer: hardware.TimerEvent},
		Parameters: list, Objective: score.Objective{Name: "time"}, Verified: true, Started: began,
	}}
	for i := range n {
		r := tune.Result{Configuration: s.At(i), Timestamp: began.Add(time.Duration(i+1) * time.Millisecond), Durations: tune.Durations{Build: time.Millisecond}}
		if i%7 == 2 {
			r.Status, r.Reason = tune.Compile, fmt.Sprintf("line %d: error: %s", i, strings.Repeat("no ", i%3))
		} else {
			ms := 1 + float64((i*7919)%n)/float64(n)
			r.Status, r.Verified, r.Times, r.Objective = tune.Correct, true, []float64{ms, ms}, ms
		}
		made.results = append(made.results, r)
	}
	return made
}

// finals are the results with final times of two of them, of which the second is the best.
func (s search) finals() []tune.Result {
	all := append([]tune.Result{}, s.results...)
	for i, ms := range []float64{0.75, 0.5} {
		all[i].Final, all[i].AtFinal = []float64{ms, ms, ms}, &score.Judgement{Objective: ms}
	}
	return all
}

// mustOpen serves on a free port of this machine, with a throttle for tests, until the test ends.
func mustOpen(t testing.TB) *Server {
	t.Helper()
	s, err := Open("127.0.0.1:0", "ndtune test")
	if err != nil {
		t.Fatal(err)
	}
	s.throttle = throttle{time.Millisecond, 0.5}
	t.Cleanup(s.Close)
	return s
}

// A reader reads a stream as a page does.
type reader struct {
	t     testing.TB
	lines *bufio.Reader
	last  string // identity of the last event
	stop  context.CancelFunc

	session string
	runs    []int // rows, by run
	ended   []string
	parts   int
}

func follow(t testing.TB, s *Server, last string) *reader {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+eventsPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Fatalf("the stream: %s, %s", answer.Status, answer.Header.Get("Content-Type"))
	}
	return &reader{t: t, lines: bufio.NewReader(answer.Body), stop: stop}
}

// A partRead is what a part says.
type partRead struct {
	Progress report.Progress
	From     int
	Run      struct {
		Kernel     string
		Parameters []report.Parameter
		Reasons    []report.Reason
		Columns    []report.Column
		Summary    report.Summary
	}
}

// next reads an event: a part, or nil at the end.
func (r *reader) next() *partRead {
	r.t.Helper()
	event := map[string]string{}
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the stream breaks off: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" && event["event"] != "" {
			break
		}
		if field, value, ok := strings.Cut(line, ": "); ok && field != "" {
			event[field] = value
		}
	}
	if event["event"] == "end" {
		return nil
	}
	r.last = event["id"]
	p := &partRead{}
	if err := json.Unmarshal([]byte(event["data"]), p); err != nil {
		r.t.Fatal(err)
	}
	r.take(p)
	return p
}

// take counts as the page does.
func (r *reader) take(p *partRead) {
	r.t.Helper()
	r.parts++
	if r.session != p.Progress.Session {
		r.session, r.runs, r.ended = p.Progress.Session, nil, nil
	}
	at := p.Progress.Place
	if at == len(r.runs) {
		r.runs, r.ended = append(r.runs, 0), append(r.ended, "")
	}
	if at >= len(r.runs) || p.From != 0 && p.From != r.runs[at] {
		r.t.Fatalf("rows from %d of search %d, where %v are known", p.From, at, r.runs)
	}
	for _, c := range p.Run.Columns {
		if c.Length != p.Run.Columns[0].Length {
			r.t.Fatalf("columns of %d and %d rows", c.Length, p.Run.Columns[0].Length)
		}
	}
	r.runs[at], r.ended[at] = p.From+p.Run.Columns[0].Length, p.Progress.Ended
	if p.Run.Summary.Evaluations != r.runs[at] {
		r.t.Fatalf("a summary of %d where %d are known", p.Run.Summary.Evaluations, r.runs[at])
	}
}

// until reads until so many rows of the last search are known.
func (r *reader) until(rows int) *partRead {
	r.t.Helper()
	for {
		if p := r.next(); p == nil || r.runs[len(r.runs)-1] >= rows {
			return p
		}
	}
}

// toEnd reads to the end of all.
func (r *reader) toEnd() {
	r.t.Helper()
	for r.next() != nil {
	}
}

// authority is the host and the port of a server.
func authority(t testing.TB, s *Server) string {
	t.Helper()
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
