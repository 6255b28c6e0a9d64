package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
)

// limited appends results without «% of limit» to a log, and then peaks with limits, and gives
// the results as they must come back.
func limited(t *testing.T, path string, limit func(i int) float64) (Header, []tune.Result) {
	t.Helper()
	h, results := sixteen()
	h.Metrics = []string{"GB/s", "mine"}
	for i := range results {
		results[i].Metrics = []score.MetricValue{{Name: "GB/s", Value: float64(i)}, {Name: "mine", Value: 1}}
	}
	results[3].Status, results[3].Times, results[3].Metrics = tune.Compile, nil, nil
	l := mustOpen(t, path, h)
	mustAppend(t, l, results...)
	limits := map[string]float64{}
	for i := range results {
		limits[results[i].Configuration.Key()] = limit(i)
	}
	names := []string{"GB/s", score.MetricOfLimit, "mine"}
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
			if m := want[0].Metrics; len(m) != 3 || m[1].Name != score.MetricOfLimit || want[3].Metrics != nil {
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
		{`"ms":2`, `"no":2`, "limits: want a number, not nothing"},
		{`"limits":[{"configuration":{"x":16`, `"limits":[{"configuration":{"x":17`, "17"},
		{`"metric_names":[`, `"metric_names":1,"metric_names":[`, "metric_names"},
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

// TestParseResults reads results with and without what a run log has, and leaves out those of other configurations.
func TestParseResults(t *testing.T) {
	_, want := sixteen()
	parameters := want[0].Configuration.Parameters()
	for i, test := range []struct{ text, found, wrong string }{
		{"", "", ""},
		{`{"configuration":{"x":16,"y":2.0},"status":"correct","times":[1.5,2],"metrics":{"GB/s":3}}`, "x=16, y=2.0 correct [1.5 2] [{GB/s 3}] ", ""},
		{"\n" + `{"kind":"result","configuration":{"y":2,"x":16},"status":"compile","reason":"no"}` + "\n", "x=16, y=2.0 compile [] [] no", ""},
		{`{"configuration":{"x":17,"y":2.0},"status":"correct","times":[1]}`, "", ""},
		{`{"configuration":{"x":16},"status":"correct","times":[1]}`, "", ""},
		{`{"configuration":{"x":16,"y":2.0,"z":1},"status":"correct","times":[1]}`, "", ""},
		{`{"status":"correct","times":[1]}`, "", "line 1: no configuration"},
		{"\n" + `{"configuration":{"x":16,"y":2.0}}`, "", "line 2: no status"},
		{`{"configuration":{"x":16,"y":2.0},"status":"odd"}`, "", `line 1: status: "odd" is none that a result can have`},
		{`{"configuration":{"x":16,"y":2.0},"status":"correct","times":"1"}`, "", "line 1: times: "},
		{`{"kind":"final","configuration":{"x":16,"y":2.0},"times":[1]}`, "", ""},
		{`{"configuration":`, "", "line 1: unexpected end"},
		{`[1]`, "", "line 1: invalid character"},
	} {
		results, err := ParseResults([]byte(test.text), parameters)
		var found []string
		for _, r := range results {
			found = append(found, fmt.Sprint(r.Configuration, " ", r.Status, " ", r.Times, " ", r.Metrics, " ", r.Reason))
		}
		if got := strings.Join(found, "; "); got != test.found || test.wrong == "" && err != nil || !strings.HasPrefix(fmt.Sprint(err), test.wrong) && test.wrong != "" {
			t.Errorf("%d: %s, %v", i, got, err)
		}
	}
	// Every line of a result comes back.
	for _, r := range want {
		r.Files = map[string]string{"c": "1/c.npy"}
		line, err := ResultLine(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseResults(line, parameters)
		if err != nil || len(back) != 1 || !reflect.DeepEqual(back[0], r) {
			t.Errorf("%s: %+v, %v", line, back, err)
		}
	}
}

// TestResultHasOneForm: what a worker and an agent say of a result are the members that a run log has of it, but for those that no record
// keeps and those that Run adds.
func TestResultHasOneForm(t *testing.T) {
	for _, r := range newMaker(1).record(300).Results {
		r.Times, r.Reason = []float64{1.5, 1e-7, 3}, strings.ToValidUTF8(r.Reason, "")
		r.Metrics, r.Objective, r.Final, r.FinalFailure, r.FinalDevice, r.FinalReadings, r.AtFinal = nil, 2.5, nil, "", "", nil, nil
		var kept, sent map[string]any
		line, err := ResultLine(r)
		if err == nil {
			err = json.Unmarshal(line, &kept)
		}
		if err != nil {
			t.Fatal(err)
		}
		delete(kept, "kind")
		delete(kept, "configuration")
		r.Timestamp = r.Timestamp.UTC()
		text, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(text, &sent)
		}
		if err != nil || !reflect.DeepEqual(kept, sent) {
			t.Fatalf("%v: the line\n%s\nand the message\n%s", err, line, text)
		}
		var back tune.Result
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		back.Configuration = r.Configuration
		sameResults(t, []tune.Result{back}, []tune.Result{r})
	}
}
