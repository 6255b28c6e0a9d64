package wisdom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
)

const header = `{"version":"1.0","objective":"time","tunable_parameters":["x","y"],"key":"k"}` + "\n"

func mustDecode(t testing.TB, text string) *File {
	t.Helper()
	f, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func encoded(t testing.TB, f *File) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRoundTrip(t *testing.T) {
	minimised := mustLog(t, run(t, []int{4096, 1024}, 3, 0.1, 2), Source{})
	r := run(t, []int{64}, 3, 0.1, 2)
	r.Header.Objective = score.Objective{Name: "GB/s", Maximize: true}
	maximised := mustLog(t, r, Source{})
	if order(maximised) != "[1 3 2]" {
		t.Errorf("the configurations x=%s", order(maximised))
	}
	for name, f := range map[string]*File{"time": minimised, "GB/s": maximised} {
		path := filepath.Join(t.TempDir(), "new", "k.wisdom")
		written, err := Add(t.Context(), path, f)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []*File{written, back} {
			if got.Key != f.Key || !got.Objective.Equal(f.Objective) || !reflect.DeepEqual(got.Parameters, f.Parameters) || !reflect.DeepEqual(got.Records, f.Records) {
				t.Errorf("%s: %+v, want %+v", name, got, f)
			}
		}
		before, _ := os.ReadFile(path)
		if _, err := Add(t.Context(), path, f); err != nil {
			t.Error(err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: added twice, the file is\n%s, not\n%s", name, after, before)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("%s: the folder has %v", name, entries)
		}
	}
}

// TestLayout holds the file to the layout that kernel_launcher reads.
func TestLayout(t *testing.T) {
	want := `{"version":"1.0","objective":"time","tunable_parameters":["x","f","s","b"],"key":"k"}
{"config":[1,1.0,"a\"<b",true],"problem_size":[64],"environment":{"date":"2026-01-02T03:04:05Z","device_name":"NVIDIA H200",` +
		`"vendor":"NVIDIA Corporation","device_type":"gpu","platform":"NVIDIA CUDA","driver_version":"570.1","architecture":"sm_90",` +
		`"uuid":"9d2c","pci":"0000:00:06.0"},"time":0.5,"verified":true,"source_digest":"d1"}
`
	if got := encoded(t, mustLog(t, run(t, []int{64}, 0.5), Source{})); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// kernelLauncher is a file as kernel_launcher and Kernel Tuner write it.
const kernelLauncher = `{"version": "1.0", "objective": "time", "tunable_parameters": ["x", "y"], "key": "k"}
# a comment
// another

{"config": [32, 4], "problem_size": [4096, 4096], "time": 0.5, "environment": {"date": "2023-05-06T07:08:09.123456", "device_name": "NVIDIA A100", "compute_capability": 80, "git": "ab"}}
`

func TestForeignFile(t *testing.T) {
	f := mustDecode(t, kernelLauncher)
	if len(f.Records) != 1 || len(f.Skipped) != 0 {
		t.Fatalf("%+v", f)
	}
	r := f.Records[0]
	if f.Text(&r) != "x=32, y=4" || r.Time != 0.5 || r.Objective != 0.5 || r.Device.Name != "NVIDIA A100" || r.Device.Architecture != "sm_80" ||
		r.Device.Vendor != "" || r.Verified || r.SourceDigest != "" || !r.Date.Equal(time.Date(2023, 5, 6, 7, 8, 9, 123456000, time.UTC)) {
		t.Errorf("%+v", r)
	}
	if again := encoded(t, f); again != kernelLauncher {
		t.Errorf("written again, it is\n%s", again)
	}
}

func TestNewerMinorVersion(t *testing.T) {
	text := strings.Replace(kernelLauncher, `"1.0"`, `"1.7", "later": [1]`, 1)
	text = strings.Replace(text, `"time": 0.5`, `"time": 0.5, "later": {}`, 1)
	f := mustDecode(t, text)
	if len(f.Records) != 1 || encoded(t, f) != text {
		t.Errorf("%+v\n%s", f, encoded(t, f))
	}
}

func TestWrongHeaders(t *testing.T) {
	for text, says := range map[string]string{
		"":    "line 1: the header is missing",
		"\n":  "line 1: the header is missing",
		"{\n": "line 1: it is not the header of a wisdom file: unexpected end",
		"[1]": "line 1: it is not the header",
		`{"format":"ndtune-run-log","version":2}`: "line 1: it is not the header of a wisdom file",
		`{"config":[1]}`:                                       "it needs version, tunable_parameters and key",
		strings.Replace(header, "1.0", "2.0", 1):               "a wisdom file of version 2.0, and this program knows 1.0",
		strings.Replace(header, "1.0", "0.9", 1):               "a wisdom file of version 0.9, and this program knows 1.0",
		strings.Replace(header, "1.0", "10.0", 1):              "a wisdom file of version 10.0",
		strings.Replace(header, `"time"`, `"GFLOP/s"`, 1):      `the objective is "GFLOP/s", not "time"`,
		strings.Replace(header, `"y"`, `"x"`, 1):               "a parameter is named twice: x, x",
		strings.Replace(header, `"k"}`, `"k","ndtune":{}}`, 1): "want minimize or maximize",
		strings.Replace(header, `["x","y"]`, `{"x":[1,2]}`, 1): "line 1: it is not the header of a wisdom file",
		strings.Replace(header, `"key":"k"`, `"name":"k"`, 1):  "it needs version, tunable_parameters and key",
		"# a comment\n" + header:                               "line 1: it is not the header of a wisdom file",
	} {
		if f, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v, want %q", text, f, err, says)
		}
	}
}

func TestDamagedLinesAreSkipped(t *testing.T) {
	whole := `{"config":[32,4],"problem_size":[64],"environment":{"device_name":"D"},"time":0.5}`
	for damaged, says := range map[string]string{
		whole[:40]:                               "unexpected end of JSON input",
		"garbage":                                "invalid character",
		"42":                                     "cannot unmarshal number",
		`{}`:                                     "config has 0 values, and there are 2 parameters",
		strings.Replace(whole, ",4]", "]", 1):    "config has 1 values",
		strings.Replace(whole, "32", "null", 1):  "is not a number, a bool or a text",
		strings.Replace(whole, "32", "[32]", 1):  "is not a number, a bool or a text",
		strings.Replace(whole, "32", "1e999", 1): "value out of range",
		strings.Replace(whole, "[64]", "[]", 1):  "not one to three positive numbers",
		strings.Replace(whole, "[64]", "[64,0]", 1):             "not one to three positive numbers",
		strings.Replace(whole, "[64]", "[1,1,1,1]", 1):          "not one to three positive numbers",
		strings.Replace(whole, "[64]", "[64.5]", 1):             "cannot unmarshal number 64.5",
		strings.Replace(whole, "[64]", "64", 1):                 "cannot unmarshal number",
		strings.Replace(whole, "0.5", "0", 1):                   "must be positive",
		strings.Replace(whole, "0.5", "-1", 1):                  "must be positive",
		strings.Replace(whole, "0.5", `"0.5"`, 1):               "cannot unmarshal string",
		strings.Replace(whole, "time", "tim", 1):                "must be positive",
		strings.Replace(whole, `"D"`, `" "`, 1):                 "device_name is missing",
		whole + whole:                                           "after top-level value",
		strings.Replace(whole, "0.5}", `0.5,"objective":0}`, 1): "must be positive",
	} {
		text := header + whole + "\n" + damaged + "\n"
		f := mustDecode(t, text)
		if len(f.Records) != 1 || len(f.Skipped) != 1 || f.Skipped[0].Number != 3 || !strings.Contains(f.Skipped[0].Reason, says) {
			t.Errorf("%s: %d records, skipped %v, want %q", damaged, len(f.Records), f.Skipped, says)
		}
		if err := f.Merge(mustDecode(t, header+strings.Replace(whole, "32", "64", 1))); err != nil {
			t.Error(err)
		}
		if got := encoded(t, f); !strings.HasPrefix(got, text) || len(f.Records) != 2 {
			t.Errorf("%s: after a merge, the file is\n%s", damaged, got)
		}
	}
	// An objective of its own has no default.
	own := strings.Replace(header, `"k"}`, `"k","ndtune":{"objective":"GB/s","direction":"maximize"}}`, 1)
	if f := mustDecode(t, own+whole); len(f.Skipped) != 1 || f.Skipped[0].String() != "line 2: objective, the value of GB/s, is missing" {
		t.Errorf("%+v", f)
	}
}

func TestMergeRefuses(t *testing.T) {
	for text, says := range map[string]string{
		strings.Replace(header, `"k"`, `"other"`, 1):                                                    `the key is "k", not "other"`,
		strings.Replace(header, `"y"`, `"z"`, 1):                                                        "the parameters are x, y, not x, z",
		strings.Replace(header, `["x","y"]`, `["x"]`, 1):                                                "the parameters are x, y, not x",
		strings.Replace(header, `"k"}`, `"k","ndtune":{"objective":"GB/s","direction":"maximize"}}`, 1): "the objective is to minimize time, not to maximize GB/s",
	} {
		path := filepath.Join(t.TempDir(), "k.wisdom")
		if err := os.WriteFile(path, []byte(header), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Add(t.Context(), path, mustDecode(t, text))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want %q", err, says)
		}
		if after, _ := os.ReadFile(path); string(after) != header {
			t.Errorf("the file became %s", after)
		}
	}
	if _, err := Add(t.Context(), t.TempDir(), mustDecode(t, header)); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

func TestMerge(t *testing.T) {
	at := func(day int, change func(*record.Record), times ...float64) *File {
		r := run(t, []int{64}, times...)
		r.Header.Started = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		if change != nil {
			change(r)
		}
		return mustLog(t, r, Source{})
	}
	f := at(2, nil, 5, 4, 3, 2, 1)
	for _, step := range []struct {
		name string
		more *File
		want string
	}{
		{"a newer time takes the place of an older one", at(3, nil, 6), "[5 4 3 2 1]"},
		{"an older time does not", at(1, nil, 0.5), "[5 4 3 2 1]"},
		{"a sixth that is better takes the place of the worst", at(4, nil, 0, 0, 0, 0, 0, 1.5), "[5 4 3 2 6]"},
		{"a sixth that is worse has none", at(4, nil, 0, 0, 0, 0, 0, 0, 9), "[5 4 3 2 6]"},
		{"another driver has places of its own", at(4, func(r *record.Record) { r.Header.Device.Driver = "580" }, 8), "[5 4 3 2 6 1]"},
		{"another source too", at(4, func(r *record.Record) { r.Header.KernelDigest = "d2" }, 9), "[5 4 3 2 6 1 1]"},
		{"another size too", at(4, func(r *record.Record) { r.Header.ProblemSize = []int{64, 2} }, 9), "[5 4 3 2 6 1 1 1]"},
		{"the same size in other words does not", at(4, func(r *record.Record) { r.Header.ProblemSize = []int{64, 1} }, 9), "[5 4 3 2 6 1 1 1]"},
	} {
		if err := f.Merge(step.more); err != nil {
			t.Fatal(err)
		}
		if got := order(f); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
	// The order of the parameters is that of the file.
	swapped := mustDecode(t, strings.Replace(header, `"x","y"`, `"y","x"`, 1)+`{"config":[4,32],"problem_size":[64],"environment":{"device_name":"D"},"time":0.5}`)
	g := mustDecode(t, header)
	if err := g.Merge(swapped); err != nil || !strings.Contains(encoded(t, g), `"config":[32,4]`) {
		t.Errorf("%v\n%s", err, encoded(t, g))
	}
}

// TestMergeAfterClockJumps: a record of a clock that was far ahead does not keep its place for years; one of a clock that was behind is taken
// where the place is free.
func TestMergeAfterClockJumps(t *testing.T) {
	right := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	now = func() time.Time { return right }
	t.Cleanup(func() { now = time.Now })
	at := func(jump time.Duration, times ...float64) *File {
		r := run(t, []int{64}, times...)
		r.Header.Started = right.Add(jump)
		return mustLog(t, r, Source{})
	}
	const tenYears = 10 * 365 * 24 * time.Hour
	for jump, want := range map[time.Duration]float64{
		0: 6, -time.Hour: 6, -tenYears: 6, tenYears: 6,
		time.Hour: 5, // as another machine's clock may be
	} {
		f := at(jump, 5)
		if err := f.Merge(at(0, 6)); err != nil {
			t.Fatal(err)
		}
		if len(f.Records) != 1 || f.Records[0].Time != want {
			t.Errorf("a record of %v, and one of now: %+v, want %v ms", jump, f.Records, want)
		}
	}
	// The clock jumps back while a search runs: what it found last is what stays.
	f := at(0, 5)
	now = func() time.Time { return right.Add(-tenYears) }
	if err := f.Merge(at(-tenYears, 6)); err != nil || len(f.Records) != 1 || f.Records[0].Time != 6 {
		t.Errorf("after a jump back: %+v, %v", f.Records, err)
	}
}

// TestAddInSeveralProcesses starts processes that add to one file at once. Nothing is lost.
func TestAddInSeveralProcesses(t *testing.T) {
	const processes, each = 4, 8
	if path := os.Getenv("WISDOM_PATH"); path != "" {
		n, err := strconv.Atoi(os.Getenv("WISDOM_PROCESS"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range each {
			if _, err := Add(t.Context(), path, mustLog(t, run(t, []int{n + 1, i + 1}, 1), Source{})); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	path := filepath.Join(t.TempDir(), "k.wisdom")
	ended := make(chan error, processes)
	for n := range processes {
		c := exec.Command(os.Args[0], "-test.run=^TestAddInSeveralProcesses$")
		c.Env = append(os.Environ(), "WISDOM_PATH="+path, fmt.Sprintf("WISDOM_PROCESS=%d", n))
		go func() {
			out, err := c.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w\n%s", err, out)
			}
			ended <- err
		}()
	}
	for range processes {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]bool{}
	for _, r := range f.Records {
		sizes[fmt.Sprint(r.ProblemSize)] = true
	}
	if len(f.Records) != processes*each || len(sizes) != processes*each || len(f.Skipped) != 0 {
		t.Errorf("%d records of %d sizes, %v skipped", len(f.Records), len(sizes), f.Skipped)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}

func TestAddWaitsNoLongerThanItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wisdom")
	release, err := files.Hold(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Add(ended, path, mustDecode(t, header)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if _, err := Add(ended, path, mustDecode(t, header)); err != nil {
		t.Errorf("nobody else holds it: %v", err)
	}
}
