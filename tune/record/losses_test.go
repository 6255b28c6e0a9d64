package record

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// through writes a record in formats, one after the other, and reads it back each time.
func through(t *testing.T, r *Record, formats ...string) *Record {
	t.Helper()
	for _, format := range formats {
		e, err := encodingNamed(format)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := e.encode(&b, r); err != nil {
			t.Fatal(err)
		}
		r = mustDecode(t, b.String())
	}
	return r
}

// TestThereAndBack converts recorded spaces and finds them as they were: the whole record in
// the formats that hold it, the results in the others.
func TestThereAndBack(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs side by side")
	}
	for _, test := range []struct {
		file    string
		formats []string
		results bool // the header does not survive
	}{
		{"convolution_A100.json.gz", []string{"log", "t4", "cache"}, false},
		{"convolution_A100.json.gz", []string{"csv", "log"}, true},
		{"convolution_A100_T4.json.gz", []string{"t4", "log"}, false},
		{"convolution_A100_T4.json.gz", []string{"cache", "csv"}, true}, // neither knows another timer or tool
		{"small_cache.json", []string{"t4", "log", "t4"}, false},
	} {
		want := mustRead(t, filepath.Join("testdata", test.file))
		got := through(t, want, test.formats...)
		if len(got.Results) != len(want.Results) {
			t.Fatalf("%s: %d results, want %d", test.file, len(got.Results), len(want.Results))
		}
		for i := range want.Results {
			if diff := difference(got.Results[i], want.Results[i]); diff != "" {
				t.Fatalf("%s through %s: result %d: %s", test.file, test.formats, i, diff)
			}
		}
		got.Header.Format, got.Header.Version = want.Header.Format, 0
		if !test.results {
			sameHeader(t, got.Header, want.Header)
		}
	}
}

func TestLosses(t *testing.T) {
	small := mustDecode(t, smallCache(t))
	h, results := sixteen()
	h.Digest, h.Kernel, h.Iterations, h.Strategy, h.Seed = "sha256:1", "add", 7, "random_sample", 3
	h.Device = hardware.Device{Name: "GPU", Vendor: "V", Timer: hardware.TimerHost}
	h.Objective, h.Started = problem.Objective{Name: "time"}, time.Time{}
	run := &Record{h, slices.Clone(results[:4])}
	for i := range run.Results {
		r := &run.Results[i]
		r.Status, r.Reason, r.Times, r.Objective, r.Timestamp = tune.Correct, "", []float64{2, 4}, 3, time.Time{}
	}
	run.Results[0].Final = []float64{2, 3, 4}
	run.Results[0].AtFinal = &problem.Judgement{Objective: 3, Metrics: []problem.MetricValue{{Name: "GB/s", Value: 7}}}
	run.Results[0].FinalDevice, run.Results[0].Cards = "m/0:0", []tune.CardTimes{{Device: "m/0:0", Times: []float64{1, 2}}, {Device: "n/0:0"}}
	run.Results[1].Device, run.Results[2].EarlyStopped = "1:0", true
	run.Results[3] = tune.Result{Configuration: results[3].Configuration, Status: tune.Timeout, Reason: "it took 10 s"}
	for _, test := range []struct {
		name   string
		record *Record
		format string
		want   []string
	}{
		{"small", small, "log", nil},
		{"small", small, "t4", nil},
		{"small", small, "cache", []string{"reasons (2 results)"}},
		{"small", small, "csv", []string{"the device's name", "the kernel's name", "the program that wrote it"}},
		{"run", run, "log", nil},
		{"run", run, "t4", nil},
		{"run", run, "cache", []string{"the problem's digest", "what else is known of the device", "the strategy", "the seed", "statuses (1 result)", "reasons (1 result)", "marks of being measured once (1 result)", "which device measured (1 result)", "launches of the final measurement (1 result)", "metrics and objective of the final measurement (1 result)"}},
		{"run", run, "csv", []string{"the problem's digest", "the device's name", "which device made the final measurement (1 result)", "times on several cards (1 result)"}},
		{"nothing", &Record{Header: h}, "csv", []string{"the device's name"}},
	} {
		got, err := Losses(test.record, test.format)
		if err != nil {
			t.Errorf("%s as %s: %v", test.name, test.format, err)
			continue
		}
		for _, loss := range test.want {
			if !slices.Contains(got, loss) {
				t.Errorf("%s as %s: it does not say %q: %q", test.name, test.format, loss, got)
			}
		}
		if test.want == nil && got != nil {
			t.Errorf("%s as %s: %q, want nothing", test.name, test.format, got)
		}
	}
	if _, err := Losses(small, "t5"); err == nil || !strings.Contains(err.Error(), `did you mean "t4"?`) {
		t.Error(err)
	}
}
