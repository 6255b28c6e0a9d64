package record

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func smallCache(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "small_cache.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func mustDecode(t testing.TB, data string) *Record {
	t.Helper()
	r, err := Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSmallCache reads the notations of many versions of Kernel Tuner.
func TestSmallCache(t *testing.T) {
	r := mustDecode(t, smallCache(t))
	h := r.Header
	if !h.Objective.Equal(score.Objective{Name: "GFLOP/s", Maximize: true}) || h.ProblemSize != nil || !h.Verified || h.Iterations != 2 {
		t.Errorf("header %+v", h)
	}
	if f := h.Parameters[1].Values[0]; f != space.Value(1.0) {
		t.Errorf("f=%v is a %T", f, f)
	}
	statuses := map[string]struct {
		status tune.Status
		reason string
	}{
		"16,1.0,a b": {tune.Correct, ""},
		"16,0.5,c":   {tune.Correct, ""},
		"32,1.0,c":   {tune.Compile, "CompilationFailedConfig"},
		"32,0.5,c":   {tune.Runtime, "the time is 1e+20, Kernel Tuner's mark of a failure"},
		"32,0.5,a b": {tune.Runtime, "no reason was recorded"},
		"16,0.5,a b": {tune.Constraints, "InvalidConfig"},
	}
	if len(r.Results) != len(statuses) {
		t.Fatalf("%d results, want %d", len(r.Results), len(statuses))
	}
	for _, got := range r.Results {
		if want := statuses[got.Configuration.Key()]; got.Status != want.status || got.Reason != want.reason {
			t.Errorf("%s: %s, %q, want %s, %q", got.Configuration, got.Status, got.Reason, want.status, want.reason)
		}
	}
	first, second := r.Results[0], r.Results[1]
	if !slices.Equal(first.Times, []float64{1.5, 2.5}) || first.Objective != 1948.5 || !first.Verified || len(first.Metrics) != 2 {
		t.Errorf("first result %+v", first)
	}
	if first.Durations.Build != 918500*time.Microsecond || first.Timestamp != time.Date(2023, 12, 22, 9, 54, 5, 502007000, time.UTC) {
		t.Errorf("first result %+v", first)
	}
	if !slices.Equal(second.Times, []float64{3.25}) || second.Verified || second.Timestamp != time.Date(2023, 12, 22, 8, 54, 6, 0, time.UTC) {
		t.Errorf("second result %+v", second)
	}
}

// TestOpenCache reads caches that Kernel Tuner has not closed, cut anywhere behind the
// beginning of the cache.
func TestOpenCache(t *testing.T) {
	whole := smallCache(t)
	want := mustDecode(t, whole).Results
	begin := strings.Index(whole, `"cache": {`) + len(`"cache": {`)
	for length := begin; length <= len(whole); length++ {
		r, err := Decode([]byte(whole[:length]))
		if err != nil {
			t.Fatalf("cut at %d: %v", length, err)
		}
		entries := strings.Count(whole[begin:length], "}")
		sameResults(t, r.Results, want[:min(entries, len(want))])
	}
	for length := range begin - len(`"cache": {`) {
		if _, err := Decode([]byte(whole[:length])); err == nil {
			t.Fatalf("cut at %d: it was taken", length)
		}
	}
}

func TestBadFiles(t *testing.T) {
	whole := smallCache(t)
	for _, test := range []struct{ name, data, says string }{
		{"empty", "", "neither a run log nor"},
		{"a text", "block_size_x,time\n16,1\n", "neither a run log nor"},
		{"a list", "[1,2]", "neither a run log nor"},
		{"another object", `{"a":1}`, "neither a run log nor"},
		{"broken JSON", `{"a":`, "neither a run log nor"},
		{"a value of no kind", strings.Replace(whole, `"x": [16, 32]`, `"x": [16, {}]`, 1), "parameter x: {} is not"},
		{"null", strings.Replace(whole, `"x": 16`, `"x": null`, 1), `cache entry "16,1.0,a b": parameter x: null is not`},
		{"a missing parameter", strings.Replace(whole, `"x": 16, `, ``, 1), `cache entry "16,1.0,a b": no value for the parameter x`},
		{"garbage in an entry", strings.Replace(whole, `"time": 2.0`, `"time": 2.0 2.0`, 1), "bytes: invalid character"},
		{"times of texts", strings.Replace(whole, `[1.5, 2.5]`, `["a"]`, 1), `cache entry "16,1.0,a b": times: want a number, not a text`},
		{"no parameters", `{"cache":{}}`, "tune_params: want an object, not nothing"},
		{"T4 of an unknown validity", `{"results":[{"configuration":{},"invalidity":"fine"}]}`, `result 1: the invalidity "fine"`},
		{"T4 without configuration", `{"results":[{"invalidity":"correct"}]}`, `result 1: configuration: want an object, not nothing`},
		{"T4 that ends early", `{"metadata":{},"results":[`, "the file ends too early"},
		{"a torn gzip", "\x1f\x8b\x08\x00", "unzip: "},
		{"a torn header", `{"format":"ndtune-run-log","ver`, "line 1: the header is torn"},
	} {
		if _, err := Decode([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s", test.name, err, test.says)
		}
	}
	path := filepath.Join(t.TempDir(), "missing.json")
	if _, err := Read(path); err == nil || !os.IsNotExist(unwrapAll(err)) || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: %v", err)
	}
}

func unwrapAll(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		err = inner.Unwrap()
	}
}

// TestCacheRoundTrip writes a cache that Kernel Tuner could go on with, and reads it back.
func TestCacheRoundTrip(t *testing.T) {
	want := readHub(t, "convolution_A100.json.gz")
	var b bytes.Buffer
	if err := EncodeCache(&b, want); err != nil {
		t.Fatal(err)
	}
	got := mustDecode(t, b.String())
	sameResults(t, got.Results, want.Results)
	sameHeader(t, got.Header, want.Header)
	if !strings.Contains(b.String(), "\n\"16,1,1,1,0,0,0,1,15,15\": {\"block_size_x\":16,") {
		t.Errorf("the file begins with %.400s", b.String())
	}
}

// TestCacheLeavesOutTheCircumstances makes sure that Kernel Tuner finds nothing in its cache
// that it would take for a metric.
func TestCacheLeavesOutTheCircumstances(t *testing.T) {
	want := mustDecode(t, smallCache(t))
	var plain, b bytes.Buffer
	if err := EncodeCache(&plain, want); err != nil {
		t.Fatal(err)
	}
	for i := range want.Results {
		want.Results[i].EarlyStopped, want.Results[i].Device = true, "1:0"
	}
	if err := EncodeCache(&b, want); err != nil {
		t.Fatal(err)
	}
	if b.String() != plain.String() {
		t.Errorf("the cache is\n%s, want\n%s", b.String(), plain.String())
	}
}

// TestT4OfOthers reads a file with a member of the same name that is not from this program, and members that nothing here knows.
func TestT4OfOthers(t *testing.T) {
	for _, member := range []string{`{"name":"A100"}`, "3", "null", `"A100"`} {
		r := mustDecode(t, `{"results":[{"configuration":{"x":1},"device":`+member+`,"ndtune":`+member+`,
			"times":{"runtimes":[2]},"invalidity":"correct","correctness":1}],"schema_version":"1.0.0"}`)
		if got := r.Results[0]; got.Device != "" || len(got.Times) != 1 {
			t.Errorf("%s: %+v", member, got)
		}
	}
}

func TestT4RoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		m := newMaker(seed)
		want := m.record(30)
		want.Header.Objective = score.Objective{Name: "GB/s", Maximize: true}
		for i := range want.Results {
			r := &want.Results[i]
			// What T4 keeps: whole milliseconds are far from the limits of a float64.
			r.Durations = tune.Durations{Build: time.Duration(m.IntN(1e12)), Measure: time.Duration(m.IntN(1e12)), Search: 1}
			if r.Reason == "" && r.Status != tune.Correct {
				r.Reason = errorName(r.Status)
			}
			if r.Status == tune.Correct {
				r.Times, r.Final = []float64{m.Float64()}, m.floats()
				r.Objective, _ = r.Metric("GB/s")
			}
		}
		var b bytes.Buffer
		if err := EncodeT4(&b, want); err != nil {
			t.Fatal(err)
		}
		got := mustDecode(t, b.String())
		sameResults(t, got.Results, want.Results)
		want.Header.Format, want.Header.Version = FormatT4, 0
		sameHeader(t, got.Header, want.Header)
	}
}

func TestT4Units(t *testing.T) {
	for unit, want := range map[string]float64{"miliseconds": 2, "milliseconds": 2, "": 2, "seconds": 2000, "microseconds": 2e-3, "ns": 2e-6} {
		r := mustDecode(t, `{"metadata":{"timeunit":"`+unit+`"},"results":[{"configuration":{"x":1},
			"times":{"runtimes":[2],"compilation_time":2},"invalidity":"correct","correctness":1}],"schema_version":"1.0.0"}`)
		if got := r.Results[0]; got.Times[0] != want || got.Durations.Build != time.Duration(want*1e6) {
			t.Errorf("%q: %v, %v", unit, got.Times, got.Durations.Build)
		}
	}
}
