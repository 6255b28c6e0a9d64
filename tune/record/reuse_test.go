package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// spaceOf is the header of a search with these values of x and y. Its digest names the space.
func spaceOf(name string, x, y []space.Value) Header {
	h, _ := sixteen()
	h.Digest, h.MeasurementDigest = name+", a digest", "measurement"
	h.Parameters = []space.Parameter{{Name: "x", Values: x}, {Name: "y", Values: y}}
	return h
}

func all(tune.Result) bool { return true }

func mustReuse(t testing.TB, path string, h Header, has func(tune.Result) bool) *Log {
	t.Helper()
	l, err := OpenReusing(path, h, has)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func heldAndKnown(l *Log) [2]int { return [2]int{l.Reuse().Held, l.Reuse().Known} }

// configurationsOf lists configurations without the names of their parameters.
func configurationsOf(results []tune.Result) string {
	var keys []string
	for _, r := range results {
		x, _ := r.Configuration.Get("x")
		y, _ := r.Configuration.Get("y")
		keys = append(keys, space.FormatValue(x)+","+space.FormatValue(y))
	}
	return strings.Join(keys, " ")
}

// TestReuse goes on with one log in a sequence of search spaces: fewer values, other values and a restriction,
// and all values again. A result is known in each space that has it, with all that is known of it.
func TestReuse(t *testing.T) {
	_, results := sixteen()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	wide := spaceOf("wide", []space.Value{16, 32, 64, 128}, []space.Value{1.0, 2.0, 0.5, 4})
	l := mustReuse(t, path, wide, all)
	mustAppend(t, l, results[:8]...) // x=16 and x=32
	for _, i := range []int{0, 5} {
		results[i].Final, results[i].FinalDevice = []float64{3, 2}, "0:0"
		results[i].AtFinal = &score.Judgement{Objective: 2.5}
		if err := l.AppendFinal(results[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Withdraw(results[7]); err != nil {
		t.Fatal(err)
	}
	if heldAndKnown(l) != [2]int{} {
		t.Errorf("a new log reuses %+v", l.Reuse())
	}
	mustClose(t, l)
	before, _ := os.ReadFile(path)

	// y comes first, 4 is another value as 4.0, 2.0 is missing, and a restriction excludes 16,0.5.
	narrow := spaceOf("narrow", []space.Value{16, 32}, []space.Value{1.0, 0.5, 4.0})
	slices.Reverse(narrow.Parameters)
	l = mustReuse(t, path, narrow, func(r tune.Result) bool {
		return r.Configuration.Int("x") != 16 || r.Configuration.Float("y") != 0.5
	})
	if got := configurationsOf(l.Previous()); got != "16,1.0 32,1.0 32,0.5" || heldAndKnown(l) != [2]int{7, 3} || l.Header().Digest != narrow.Digest {
		t.Fatalf("%s, %+v of %s", got, l.Reuse(), l.Header().Digest)
	}
	added := results[0]
	added.Configuration, _ = l.layout.parameters.Configure(map[string]space.Value{"x": 16, "y": 4.0})
	added.Final, added.FinalDevice, added.AtFinal = nil, "", nil
	mustAppend(t, l, added)
	mustClose(t, l)
	after, _ := os.ReadFile(path)
	older, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "x.wide, a .jsonl"))
	if !bytes.Equal(older, before) || bytes.Count(after, []byte(FormatLog)) != 1 {
		t.Error("the log of the older space was changed, or the new one has two headers")
	}
	read := mustRead(t, path)
	if got := configurationsOf(read.Results); got != "16,1.0 32,1.0 32,0.5 16,4.0" {
		t.Fatalf("the record has %s", got)
	}
	want := []tune.Result{results[0], results[4], results[6], added}
	for i := range want {
		want[i].Configuration = read.Results[i].Configuration // the order of the parameters is another one
	}
	sameResults(t, read.Results, want)
	if read.Header.Digest != narrow.Digest || read.Header.Reused != 3 {
		t.Errorf("the header is of %s, and %d results are reused", read.Header.Digest, read.Header.Reused)
	}
	if l = mustReuse(t, path, narrow, all); len(l.Previous()) != 4 || heldAndKnown(l) != [2]int{} {
		t.Errorf("%d results are resumed, and %+v reused", len(l.Previous()), l.Reuse())
	}
	if err := l.Withdraw(results[6]); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)

	l = mustReuse(t, path, wide, all)
	if got := configurationsOf(l.Previous()); got != "16,1.0 32,1.0 16,2.0 16,0.5 16,4 32,2.0" || heldAndKnown(l) != [2]int{7, 6} {
		t.Errorf("of all values again, %s and %+v are known", got, l.Reuse())
	}
	mustClose(t, l)
	sameResults(t, mustRead(t, path).Results, []tune.Result{results[0], results[4], results[1], results[2], results[3], results[5]})
}

// TestReuseRefused opens a log for results that mean something else than those in it.
func TestReuseRefused(t *testing.T) {
	_, results := sixteen()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	l := mustReuse(t, path, spaceOf("wide", []space.Value{16, 32}, []space.Value{1.0, 2.0, 0.5, 4}), all)
	mustAppend(t, l, results[:4]...)
	mustClose(t, l)
	for want, change := range map[string]func(*Header){
		"(digest narrow, a digest); the source, the data or the verification differ": func(h *Header) { h.MeasurementDigest = "another" },
		"the parameters there: x, y, here: x":                                        func(h *Header) { h.MeasurementDigest, h.Parameters = "another", h.Parameters[:1] },
		"the parameters there: x=16,32 y=1.0,2.0,0.5,4, here: x=16 y=1.0":            func(h *Header) { h.MeasurementDigest = "" },
		`"NVIDIA H200", and this run is on "AMD W7800"`:                              func(h *Header) { h.Device.Name = "AMD W7800" },
		"this run takes 3 (--iterations)":                                            func(h *Header) { h.Iterations = 3 },
	} {
		h := spaceOf("narrow", []space.Value{16}, []space.Value{1.0})
		change(&h)
		before := snapshot(t, path)
		if l, err := OpenReusing(path, h, all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q: %v, %v", want, err, l)
		}
		if after := snapshot(t, path); after != before {
			t.Errorf("%s: the file was changed", want)
		}
	}
	if _, err := Open(path, spaceOf("narrow", []space.Value{16}, []space.Value{1.0})); err == nil || !strings.Contains(err.Error(), "another search space: x has 2 values, not 1") {
		t.Errorf("a run that reuses nothing: %v", err)
	}
}

// TestReuseFails leaves a log as it is where the older one cannot be kept, and goes on where it has vanished.
func TestReuseFails(t *testing.T) {
	_, results := sixteen()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	wide, narrow := spaceOf("wide", []space.Value{16, 32}, []space.Value{1.0, 2.0, 0.5, 4}), spaceOf("narrow", []space.Value{16}, []space.Value{1.0})
	l := mustReuse(t, path, wide, all)
	mustAppend(t, l, results[:4]...)
	mustClose(t, l)
	before := snapshot(t, path)
	beside := filepath.Join(filepath.Dir(path), "x.wide, a .jsonl")
	if err := os.Mkdir(beside, 0o777); err != nil {
		t.Fatal(err)
	}
	if l, err := OpenReusing(path, narrow, all); err == nil || !strings.Contains(err.Error(), "keep the log of the older space: it is a folder") {
		t.Errorf("%v, %v", l, err)
	}
	if after := snapshot(t, path); after != before {
		t.Error("the log was changed")
	}
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	l = mustReuse(t, path, narrow, all)
	if _, err := Open(path, narrow); err == nil || !strings.Contains(err.Error(), "another run is writing to it") {
		t.Errorf("the new log is not locked: %v", err)
	}
	mustClose(t, l)
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	if l = mustReuse(t, path, wide, all); configurationsOf(l.Previous()) != "16,1.0" || heldAndKnown(l) != [2]int{1, 1} {
		t.Errorf("%s, %+v", configurationsOf(l.Previous()), l.Reuse())
	}
}

// TestSeveralHeaders cuts a log with three headers, as older programs wrote them, in many places: each time, the log is of one of the
// three spaces, with all copies of results that its header promises, and it goes on. A damaged copy has its number in the file.
func TestSeveralHeaders(t *testing.T) {
	data, err := os.ReadFile("testdata/museum/three_headers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	spaces := map[string]int{}
	for end := bytes.IndexByte(data, '\n') + 1; end <= len(data); end++ {
		if end%101 > 0 && !bytes.Contains(data[end-1:min(end+2, len(data))], []byte("\n")) {
			continue // all ends of lines, and some places within
		}
		path := mustWrite(t, data[:end])
		r := mustRead(t, path)
		if len(r.Results) < r.Header.Reused {
			t.Fatalf("cut after %d bytes, %d results of %d copies", end, len(r.Results), r.Header.Reused)
		}
		spaces[r.Header.Digest]++
		l := mustOpen(t, path, r.Header)
		if n := len(r.Results); n > 0 {
			if err := l.Withdraw(r.Results[n-1]); err != nil {
				t.Fatal(err)
			}
			mustClose(t, l)
			sameResults(t, mustRead(t, path).Results, r.Results[:n-1])
		}
	}
	if len(spaces) != 3 {
		t.Errorf("the spaces are %v", spaces)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	last := len(lines) - 2 // before what follows the last line
	lines[last] = bytes.Replace(lines[last], []byte("correct"), []byte("corrupt"), 1)
	path := mustWrite(t, bytes.Join(lines, nil))
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d is damaged", last+1)) {
		t.Errorf("the damaged log: %v", err)
	}
}

// TestPeaksAfterReuse appends peaks to a log that has reused results: these get their limits too.
func TestPeaksAfterReuse(t *testing.T) {
	_, results := sixteen()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	l := mustReuse(t, path, spaceOf("wide", []space.Value{16, 32}, []space.Value{1.0, 2.0, 0.5, 4}), all)
	mustAppend(t, l, results[:2]...)
	mustClose(t, l)
	l = mustReuse(t, path, spaceOf("narrow", []space.Value{16}, []space.Value{1.0}), all)
	peaks := &hardware.Peaks{Method: 1}
	if err := l.AppendPeaks(peaks, []string{"% of limit"}, l.Previous(), func(*tune.Result) float64 { return 0.05 }); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	r := mustRead(t, path)
	if len(r.Results) != 1 || len(r.Results[0].Metrics) != 1 || r.Header.Device.Peaks == nil {
		t.Errorf("%d results, the metrics %v, the peaks %v", len(r.Results), r.Results[0].Metrics, r.Header.Device.Peaks)
	}
	if begun := Begun(path); begun == nil || begun.Device.Peaks == nil {
		t.Errorf("the log has begun with %+v", begun)
	}
}
