package record

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/judge"
)

// limited appends results without «% of limit» to a log, and then peaks with limits, and gives
// the results as they must come back.
func limited(t *testing.T, path string, limit func(i int) float64) (Header, []tune.Result) {
	t.Helper()
	h, results := sixteen()
	h.Metrics = []string{"GB/s", "mine"}
	for i := range results {
		results[i].Metrics = []judge.MetricValue{{Name: "GB/s", Value: float64(i)}, {Name: "mine", Value: 1}}
	}
	results[3].Status, results[3].Times, results[3].Metrics = tune.Compile, nil, nil
	l := mustOpen(t, path, h)
	mustAppend(t, l, results...)
	limits := map[string]float64{}
	for i := range results {
		limits[results[i].Configuration.Key()] = limit(i)
	}
	names := []string{"GB/s", judge.MetricOfLimit, "mine"}
	of := func(r *tune.Result) float64 { return limits[r.Configuration.Key()] }
	if err := l.AppendPeaks(peaked().Peaks, names, results, of); err != nil {
		t.Fatal(err)
	}
	h.Device.Peaks, h.Metrics = peaked().Peaks, names
	if got := l.Header(); !reflect.DeepEqual(got.Device.Peaks, h.Device.Peaks) || !reflect.DeepEqual(got.Metrics, names) {
		t.Errorf("the header of the open log: %+v, %v", got.Device.Peaks, got.Metrics)
	}
	mustClose(t, l)
	for i := range results {
		results[i].AddLimit(1, of(&results[i]))
	}
	return h, results
}

// Peaks that come after the results: who reads the log finds them in the header, and «% of
// limit» in every correct result, to the last bit. A log that is resumed goes on with them.
func TestPeaksAfterTheResults(t *testing.T) {
	for name, limit := range map[string]func(int) float64{
		"one limit":    func(int) float64 { return 0.1 },
		"many limits":  func(i int) float64 { return 0.1 * float64(1+i/3) },
		"none of some": func(i int) float64 { return []float64{0.3, math.NaN()}[i%2] },
		"first none":   func(i int) float64 { return []float64{math.NaN(), 0.3}[i%2] },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.jsonl")
			h, want := limited(t, path, limit)
			if m := want[0].Metrics; len(m) != 3 || m[1].Name != judge.MetricOfLimit || want[3].Metrics != nil {
				t.Fatalf("%+v", want[:4])
			}
			r := mustRead(t, path)
			sameResults(t, r.Results, want)
			if !reflect.DeepEqual(r.Header.Device.Peaks, h.Device.Peaks) || !reflect.DeepEqual(r.Header.Metrics, h.Metrics) {
				t.Errorf("%+v, %v", r.Header.Device.Peaks, r.Header.Metrics)
			}
			if begun := Begun(path); begun == nil || !reflect.DeepEqual(begun.Device.Peaks, h.Device.Peaks) {
				t.Errorf("begun: %+v", begun)
			}
			begins := h
			begins.Device.Peaks, begins.Metrics = nil, nil
			l := mustOpen(t, path, begins)
			sameResults(t, l.Previous(), want)
			if !reflect.DeepEqual(l.Header().Device.Peaks, h.Device.Peaks) || !reflect.DeepEqual(l.Header().Metrics, h.Metrics) {
				t.Errorf("resumed: %+v, %v", l.Header().Device.Peaks, l.Header().Metrics)
			}
			var b bytes.Buffer
			if err := EncodeLog(&b, r); err != nil {
				t.Fatal(err)
			}
			sameResults(t, mustDecode(t, b.String()).Results, want)
		})
	}
}

func TestLatePeaksThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	limited(t, path, func(i int) float64 { return float64(1 + i%2) })
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"peaks":{`, `"other":{`, "no peaks"},
		{`"limit":1`, `"limit":true`, "limit: want a number"},
		{`"ms":2`, `"no":2`, "without milliseconds"},
		{`"limits":[{"configuration":{"x":16`, `"limits":[{"configuration":{"x":17`, "17"},
		{`"metric_names":[`, `"metric_names":1,"metric_names":[`, "metric_names: "},
	} {
		wrong := strings.Replace(string(text), c[0], c[1], 1)
		if wrong == string(text) {
			t.Fatalf("%s is not in the log:\n%s", c[0], text)
		}
		if _, err := Decode([]byte(wrong)); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}
