package record

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

// sampleLog is a log with results and final measurements.
func sampleLog(t testing.TB) (Header, []byte) {
	t.Helper()
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	mustAppend(t, l, results[:3]...)
	for i := range 2 {
		results[i].Final, results[i].AtFinal = []float64{float64(i), 0.5}, &tune.Judgement{Objective: float64(i)}
		if err := l.AppendFinal(results[i]); err != nil {
			t.Fatal(err)
		}
	}
	failed := results[5]
	failed.Status, failed.Times, failed.Reason = tune.Compile, nil, "no\xff\nway"
	mustAppend(t, l, failed)
	mustClose(t, l)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return h, data
}

// checkTorn reopens what is left of a log and appends to it: exactly the whole lines stay.
func checkTorn(t *testing.T, h Header, whole []byte, length int) {
	t.Helper()
	torn := whole[:length]
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(path, torn, 0o644); err != nil {
		t.Fatal(err)
	}
	kept := torn[:bytes.LastIndexByte(torn, '\n')+1]
	l := mustOpen(t, path, h)
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) > 0 && !bytes.Equal(after, kept) {
		t.Fatalf("cut at %d: kept %q, want %q", length, after, kept)
	}
	var want []tune.Result
	if len(kept) > 0 {
		r, err := Decode(torn) // a reader leaves out the torn line as well
		if err != nil {
			t.Fatalf("cut at %d: %v", length, err)
		}
		want = r.Results
	}
	sameResults(t, l.Previous(), want)

	_, results := sixteen()
	mustAppend(t, l, results[15])
	mustClose(t, l)
	sameResults(t, mustRead(t, path).Results, append(want, results[15]))
}

func TestEveryTruncation(t *testing.T) {
	h, whole := sampleLog(t)
	for length := range len(whole) + 1 {
		checkTorn(t, h, whole, length)
	}
}

func FuzzOpenTorn(f *testing.F) {
	for _, n := range []int{0, 1, 20, 200, 1 << 20} {
		f.Add(uint64(1), n)
	}
	f.Fuzz(func(t *testing.T, seed uint64, length int) {
		m := newMaker(seed)
		var b bytes.Buffer
		r := m.record(12)
		h, results := sixteen()
		r.Header.Parameters, r.Results = h.Parameters, results[:m.IntN(14)]
		for i := range r.Results {
			c := r.Results[i].Configuration
			r.Results[i] = m.result(c)
		}
		if err := EncodeLog(&b, r); err != nil {
			t.Fatal(err)
		}
		checkTorn(t, r.Header, b.Bytes(), max(0, min(length, b.Len())))
	})
}
