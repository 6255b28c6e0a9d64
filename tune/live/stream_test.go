package live

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// TestStream follows a search from before it begins to its end.
func TestStream(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 50)
	r := follow(t, s, "")
	run := s.Begin("a.jsonl", made.header, 60)
	p := r.next()
	if p.From != 0 || p.Run.Kernel != made.header.Kernel || len(p.Run.Parameters) != 2 || p.Progress.Total != 60 || p.Progress.Ended != "" || r.runs[0] != 0 {
		t.Errorf("it begins with %+v", p)
	}
	for i, result := range made.results {
		run.Add(result, i < 20)
		if i%10 == 9 {
			p = r.until(i + 1)
		}
	}
	if p.From == 0 || p.Run.Parameters != nil || p.Progress.Resumed != 20 || p.Run.Summary.Best == nil {
		t.Errorf("the last part before the end is %+v", p)
	}
	run.End(made.finals(), "Finished")
	p = r.next()
	if p.From != 0 || p.Progress.Ended != "Finished" || p.Run.Summary.Best.Row != 1 || p.Run.Summary.Best.Time != 0.5 || !p.Run.Summary.Best.Final {
		t.Errorf("the end is %+v", p)
	}
	run.Add(made.results[0], false)
	run.End(nil, "again")
	go s.Close()
	r.toEnd()
	if !slices.Equal(r.runs, []int{50}) || r.ended[0] != "Finished" {
		t.Errorf("at the end %v, %v", r.runs, r.ended)
	}
}

// TestLateAndAgain opens the page late, and loses the connection.
func TestLateAndAgain(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 40)
	run := s.Begin("a.jsonl", made.header, 40)
	for _, result := range made.results[:30] {
		run.Add(result, false)
	}
	late := follow(t, s, "")
	if p := late.next(); p.From != 0 || late.runs[0] != 30 {
		t.Errorf("who comes late gets rows from %d, and then has %v", p.From, late.runs)
	}
	late.stop()
	again := follow(t, s, late.last)
	again.session, again.runs, again.ended = late.session, late.runs, late.ended
	run.Add(made.results[30], false)
	if p := again.next(); p.From != 30 || p.Run.Columns[0].Length != 1 {
		t.Errorf("who comes again gets %d rows from %d", p.Run.Columns[0].Length, p.From)
	}
	for _, last := range []string{"nonsense", "a.b.c", "OTHER.0.30", s.session + ".0.31x", s.session + ".0.32", s.session + ".0.-1", s.session + ".1.0", s.session + ".-1.0"} {
		if p := follow(t, s, last).next(); p.From != 0 || p.Run.Parameters == nil {
			t.Errorf("%q gets rows from %d", last, p.From)
		}
	}
}

// TestReasonsArriveOnce puts the reasons of all parts together.
func TestReasonsArriveOnce(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 60)
	run := s.Begin("a.jsonl", made.header, 60)
	r := follow(t, s, "")
	var reasons []string
	for i, result := range made.results {
		run.Add(result, false)
		for r.parts == 0 || r.runs[0] < i+1 {
			for _, reason := range r.next().Run.Reasons {
				reasons = append(reasons, reason.Text)
			}
		}
	}
	var want []string
	for _, result := range made.results {
		if result.Status != tune.Correct {
			want = append(want, strings.TrimSpace(result.Reason))
		}
	}
	if !slices.Equal(reasons, want) {
		t.Errorf("the reasons are %q, want %q", reasons, want)
	}
}

// TestSeveralSearches are one after the other, as in a tutorial. Who comes late gets all.
func TestSeveralSearches(t *testing.T) {
	s := mustOpen(t)
	early := follow(t, s, "")
	for i, n := range []int{10, 20, 30} {
		made := newSearch(t, n)
		run := s.Begin(fmt.Sprint(i), made.header, n)
		for _, result := range made.results {
			run.Add(result, false)
		}
		if i < 2 {
			run.End(made.finals(), "Finished")
		}
	}
	late := follow(t, s, "")
	late.until(10)
	go s.Close()
	for _, r := range []*reader{early, late} {
		r.toEnd()
		if !slices.Equal(r.runs, []int{10, 20, 30}) || !slices.Equal(r.ended, []string{"Finished", "Finished", "stopped"}) {
			t.Errorf("%v, %v", r.runs, r.ended)
		}
	}
}

// TestManyBrowsers look at once, and one too many.
func TestManyBrowsers(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 300)
	run := s.Begin("a.jsonl", made.header, 300)
	var readers []*reader
	for range maxStreams {
		r := follow(t, s, "")
		r.next()
		readers = append(readers, r)
	}
	answer, err := http.Get(s.URL() + eventsPath)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one too many: %s", answer.Status)
	}
	go func() {
		for _, result := range made.results {
			run.Add(result, false)
		}
		run.End(made.finals(), "Finished")
		s.Close()
	}()
	for i, r := range readers {
		r.toEnd()
		if !slices.Equal(r.runs, []int{300}) || r.ended[0] != "Finished" {
			t.Errorf("browser %d has %v, %v", i, r.runs, r.ended)
		}
	}
}

// openNarrow serves through buffers that hold hardly anything, and gives up a browser that takes
// nothing for some time.
func openNarrow(t *testing.T, stall time.Duration) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(l, "127.0.0.1", "ndtune test")
	if err != nil {
		t.Fatal(err)
	}
	s.throttle, s.stall = throttle{time.Millisecond, 0.5}, stall
	leave := s.http.ConnState
	s.http.ConnState = func(c net.Conn, state http.ConnState) {
		leave(c, state)
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(4 << 10)
		}
	}
	go s.serve(l)
	t.Cleanup(s.Close)
	return s
}

// lookAway connects a browser that reads nothing more once it is let in.
func lookAway(t *testing.T, s *Server) {
	t.Helper()
	c, err := net.Dial("tcp", authority(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(c, head); err != nil || string(head) != "HTTP/1.1 200" {
		t.Fatalf("%s, %v", head, err)
	}
}

// waitUntilLooking waits until so many streams are left.
func (s *Server) waitUntilLooking(n int) {
	for {
		s.mutex.Lock()
		streams, news := s.streams, s.news
		s.mutex.Unlock()
		if streams == n {
			return
		}
		<-news
	}
}

// verbose gives failures reasons that do not compress.
func verbose(made search) search {
	for i := range made.results {
		if made.results[i].Status != tune.Correct {
			b := make([]byte, 4000)
			h := uint32(i)*2654435761 + 1
			for j := range b {
				h = h*1664525 + 1013904223
				b[j] = 'a' + byte(h>>24)%26
			}
			made.results[i].Reason = string(b)
		}
	}
	return made
}

// TestWhoNeverReads is given up, and nobody has waited for it.
func TestWhoNeverReads(t *testing.T) {
	const n = 1000
	s, made := openNarrow(t, time.Second), verbose(newSearch(t, n))
	run := s.Begin("a.jsonl", made.header, n)
	for range 5 {
		lookAway(t, s)
	}
	for _, result := range made.results {
		run.Add(result, false)
	}
	s.waitUntilLooking(0)
	r := follow(t, s, "")
	r.until(n)
	run.End(made.finals(), "Finished")
	if r.next(); r.ended[0] != "Finished" {
		t.Errorf("who reads has %v, %v", r.runs, r.ended)
	}
}

// TestWhoReadsLate gets few large parts, and all that there is.
func TestWhoReadsLate(t *testing.T) {
	const n = 1000
	s, made := openNarrow(t, time.Hour), verbose(newSearch(t, n))
	run := s.Begin("a.jsonl", made.header, n)
	r := follow(t, s, "")
	r.next()
	for _, result := range made.results {
		run.Add(result, false)
	}
	r.until(n)
	if r.parts > 30 {
		t.Errorf("%d results came in %d parts", n, r.parts)
	}
	if v, err := run.view(); err != nil || len(v.parts) > maxStreams {
		t.Errorf("%v; %d parts are kept", err, len(v.parts))
	}
}

// TestTheEndDoesNotWaitForWhoDoesNotRead: Close returns, although a browser is waited for an hour.
func TestTheEndDoesNotWaitForWhoDoesNotRead(t *testing.T) {
	s, made := openNarrow(t, time.Hour), verbose(newSearch(t, 1000))
	run := s.Begin("a.jsonl", made.header, 1000)
	lookAway(t, s)
	for _, result := range made.results {
		run.Add(result, false)
	}
	s.Close()
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("the port still answers")
	}
}

// TestNothingIsMadeForNobody: without a browser, no report is made.
func TestNothingIsMadeForNobody(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 100)
	run := s.Begin("a.jsonl", made.header, 100)
	for _, result := range made.results {
		run.Add(result, false)
	}
	run.making.Lock()
	if run.latest != nil {
		t.Error("a report was made")
	}
	run.making.Unlock()
	s.Close()
	if run.latest != nil {
		t.Error("a report was made at the end")
	}
}

// TestPace: reports take their share of the time, however long one takes.
func TestPace(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, test := range []struct{ took, want time.Duration }{
		{time.Millisecond, 300 * time.Millisecond}, {10 * time.Millisecond, 490 * time.Millisecond}, {time.Second, 49 * time.Second},
	} {
		if got := defaultThrottle.next(at, test.took).Sub(at); (got - test.want).Abs() > time.Microsecond {
			t.Errorf("after %s the next comes in %s, want %s", test.took, got, test.want)
		}
	}
	s, made := mustOpen(t), newSearch(t, 100)
	s.throttle = throttle{time.Hour, 0.5}
	run := s.Begin("a.jsonl", made.header, 100)
	r := follow(t, s, "")
	r.next()
	for _, result := range made.results {
		run.Add(result, false)
	}
	run.End(nil, "Finished")
	if p := r.next(); r.parts != 2 || p.Progress.Ended != "Finished" || r.runs[0] != 100 {
		t.Errorf("an hour apart, but for the end: %d parts, %v", r.parts, r.runs)
	}
}

// TestBadResult: what cannot be reported ends a stream, and nothing else.
func TestBadResult(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 9)
	run := s.Begin("a.jsonl", made.header, 9)
	parameters, err := space.NewParameters([]space.Parameter{{Name: "z", Values: []space.Value{1}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := parameters.Configure(map[string]space.Value{"z": 1})
	if err != nil {
		t.Fatal(err)
	}
	run.Add(tune.Result{Configuration: c, Status: tune.Correct}, false)
	answer, err := http.Get(s.URL() + eventsPath)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if rest, err := io.ReadAll(answer.Body); err != nil || strings.Contains(string(rest), "event") {
		t.Errorf("%q, %v", rest, err)
	}
}
