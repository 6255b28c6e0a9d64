package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

const hubConfigurations = 4362

func readHub(t testing.TB, name string) *Record {
	t.Helper()
	r, err := Read(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != hubConfigurations {
		t.Fatalf("%s: %d results, want %d", name, len(r.Results), hubConfigurations)
	}
	return r
}

// A hubFile is a T4 file as its readers see it.
type hubFile map[string]any

func parseHub(t *testing.T, data []byte) hubFile {
	t.Helper()
	data, err := unzip(data)
	if err != nil {
		t.Fatal(err)
	}
	var f hubFile
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestT4LikeTheHub reads the cache file, writes it as T4, and compares that with the T4
// file of the hub, made from the same cache by Kernel Tuner's authors. Intended
// differences, each checked for being no more than that:
//
//   - metadata has «ndtune», the header;
//   - times has «benchmark», as Kernel Tuner itself writes it (the hub's files leave it out);
//   - durations are kept in whole nanoseconds, so they differ by at most half of one;
//   - the measured time is computed from the runtimes, in another order than NumPy's, so it
//     may differ in the last bits;
//   - measurements has the metrics after the time (the hub's file has lost GFLOP/s).
func TestT4LikeTheHub(t *testing.T) {
	cache := readHub(t, "convolution_A100.json.gz")
	var b bytes.Buffer
	if err := EncodeT4(&b, cache); err != nil {
		t.Fatal(err)
	}
	got := parseHub(t, b.Bytes())
	twin, err := os.ReadFile(filepath.Join("testdata", "convolution_A100_T4.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	want := parseHub(t, twin)

	sameKeys(t, "file", got, want)
	if got["schema_version"] != want["schema_version"] {
		t.Errorf("schema_version %v, want %v", got["schema_version"], want["schema_version"])
	}
	sameKeys(t, "metadata", got["metadata"], want["metadata"], "ndtune")
	if g, w := member(got["metadata"], "timeunit"), member(want["metadata"], "timeunit"); g != w {
		t.Errorf("timeunit %v, want %v", g, w)
	}
	gotResults, wantResults := got["results"].([]any), want["results"].([]any)
	if len(gotResults) != len(wantResults) {
		t.Fatalf("%d results, want %d", len(gotResults), len(wantResults))
	}
	for i := range wantResults {
		sameHubResult(t, fmt.Sprintf("result %d", i), gotResults[i], wantResults[i], cache.Results[i])
		if t.Failed() {
			t.FailNow() // one is enough to read
		}
	}
}

func member(object any, name string) any { return object.(map[string]any)[name] }

func sameKeys(t *testing.T, what string, got, want any, more ...string) {
	t.Helper()
	keys := func(object any) []string {
		if f, ok := object.(hubFile); ok {
			object = map[string]any(f)
		}
		var keys []string
		for key := range object.(map[string]any) {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		return keys
	}
	wanted := append(keys(want), more...)
	slices.Sort(wanted)
	if g := keys(got); !slices.Equal(g, wanted) {
		t.Errorf("%s: keys %q, want %q", what, g, wanted)
	}
}

func sameHubResult(t *testing.T, what string, got, want any, r tune.Result) {
	t.Helper()
	sameKeys(t, what, got, want, "ndtune")
	for _, name := range []string{"timestamp", "configuration", "invalidity", "correctness", "objectives"} {
		if g, w := fmt.Sprint(member(got, name)), fmt.Sprint(member(want, name)); g != w {
			t.Errorf("%s: %s %s, want %s", what, name, g, w)
		}
	}
	gotTimes, wantTimes := member(got, "times"), member(want, "times")
	var more []string
	if r.Durations.Measure != 0 {
		more = append(more, "benchmark")
	}
	sameKeys(t, what+": times", gotTimes, wantTimes, more...)
	for _, name := range []string{"compilation", "framework", "search_algorithm", "validation"} {
		const halfNanosecond = 0.5e-6 * (1 + 1e-6)
		g, w := member(gotTimes, name).(float64), member(wantTimes, name).(float64)
		if math.Abs(g-w) > halfNanosecond {
			t.Errorf("%s: %s %v ms, want %v ms", what, name, g, w)
		}
	}
	if g, w := fmt.Sprint(member(gotTimes, "runtimes")), fmt.Sprint(member(wantTimes, "runtimes")); g != w {
		t.Errorf("%s: runtimes %s, want %s", what, g, w)
	}
	sameHubMeasurements(t, what, member(got, "measurements").([]any), member(want, "measurements").([]any), r)
}

func sameHubMeasurements(t *testing.T, what string, got, want []any, r tune.Result) {
	t.Helper()
	if len(got) != len(want)+len(r.Metrics) {
		t.Errorf("%s: %d measurements, want %d and %d metrics", what, len(got), len(want), len(r.Metrics))
		return
	}
	for i, w := range want {
		g := got[i]
		sameKeys(t, what+": measurement", g, w)
		if member(g, "name") != member(w, "name") || member(g, "unit") != member(w, "unit") {
			t.Errorf("%s: measurement %v, want %v", what, g, w)
		}
		x, isNumber := member(w, "value").(float64)
		y, _ := member(g, "value").(float64)
		if isNumber && member(w, "name") == "time" {
			x = r.Time() // the median: Kernel Tuner has the mean there
		}
		if isNumber && math.Abs(x-y) > 1e-14*x || !isNumber && member(g, "value") != member(w, "value") {
			t.Errorf("%s: value %v, want %v", what, member(g, "value"), member(w, "value"))
		}
	}
	for i, m := range r.Metrics {
		g := got[len(want)+i]
		if member(g, "name") != m.Name || member(g, "value") != m.Value {
			t.Errorf("%s: measurement %v, want %v", what, g, m)
		}
	}
}

// TestHubTwins reads the two files and finds one record, but for what T4 does not say.
func TestHubTwins(t *testing.T) {
	cache, t4 := readHub(t, "convolution_A100.json.gz"), readHub(t, "convolution_A100_T4.json.gz")
	if err := sameParameters(t4.Header.Parameters, cache.Header.Parameters); err != nil {
		t.Error(err)
	}
	for i, want := range cache.Results {
		got := t4.Results[i]
		want.Metrics, want.Durations.Measure = nil, 0
		if diff := difference(got, want); diff != "" {
			t.Fatalf("result %d: %s", i, diff)
		}
	}
}

func TestHubHeader(t *testing.T) {
	h := readHub(t, "convolution_A100.json.gz").Header
	if h.Kernel != "convolution_kernel" || h.Device.Name != "NVIDIA A100-PCIE-40GB" || h.Iterations != 32 {
		t.Errorf("kernel %q, device %q, %d iterations", h.Kernel, h.Device.Name, h.Iterations)
	}
	if !slices.Equal(h.ProblemSize, []int{4096, 4096}) || !slices.Equal(h.Metrics, []string{"GFLOP/s"}) || h.Objective.Name != "time" {
		t.Errorf("problem size %v, metrics %q, objective %v", h.ProblemSize, h.Metrics, h.Objective)
	}
	counts := map[tune.Status]int{}
	for _, r := range readHub(t, "convolution_A100.json.gz").Results {
		counts[r.Status]++
	}
	if counts[tune.Correct] != 4201 || counts[tune.Runtime] != 155 || counts[tune.Compile] != 6 {
		t.Errorf("statuses %v", counts)
	}
}
