package record

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func mustOpen(t testing.TB, path string, h Header) *Log {
	t.Helper()
	l, err := Open(path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustAppend(t testing.TB, l *Log, results ...tune.Result) {
	t.Helper()
	for _, r := range results {
		if err := l.Append(r); err != nil {
			t.Fatal(err)
		}
	}
}

func mustRead(t testing.TB, path string) *Record {
	t.Helper()
	r, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sameResults(t testing.TB, got, want []tune.Result) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i := range want {
		if diff := difference(got[i], want[i]); diff != "" {
			t.Fatalf("result %d, %s: %s", i, want[i].Configuration, diff)
		}
	}
}

// sixteen is a small header, and its configurations with results.
func sixteen() (Header, []tune.Result) {
	h := Header{
		Medians: true, Digest: "sha256:0123456789abcdef", Kernel: "k", Source: "k.yaml",
		Device: hardware.Device{Name: "NVIDIA H200", Vendor: "NVIDIA", Driver: "1", Timer: hardware.TimerEvent},
		Parameters: []space.Parameter{
			{Name: "x", Values: []space.Value{16, 32, 64, 128}},
			{Name: "y", Values: []space.Value{1.0, 2.0, 0.5, 4}},
		},
	}
	l, _ := newLayout(h.Parameters)
	var results []tune.Result
	for i := range 16 {
		results = append(results, tune.Result{
			Configuration: l.configuration(indices{uint16(i / 4), uint16(i % 4)}),
			Status:        tune.Correct, Times: []float64{float64(i) + 0.1, 1.0 / 3},
		})
	}
	return h, results
}

// TestCircumstancesInALog reads and writes how results were measured; members that are zero are left out.
func TestCircumstancesInALog(t *testing.T) {
	h, results := sixteen()
	first, _, err := h.line()
	if err != nil {
		t.Fatal(err)
	}
	plain := checked(`{"kind":"result","configuration":{"x":16,"y":1.0},"status":"correct","times":[0.1,0.3333333333333333]}`)
	full := checked(`{"kind":"result","configuration":{"x":16,"y":2.0},"status":"correct","times":[1.1,0.3333333333333333],"verified":true,"early_stopped":true,"device":"1:0"}`)
	text := string(first) + plain + full
	want := results[:2]
	want[1].Verified, want[1].EarlyStopped, want[1].Device = true, true, "1:0"
	r := mustDecode(t, text)
	sameResults(t, r.Results, want)
	var b bytes.Buffer
	if err := EncodeLog(&b, r); err != nil {
		t.Fatal(err)
	}
	if b.String() != text {
		t.Errorf("the log is\n%s, want\n%s", b.String(), text)
	}
}

func TestLogRoundTrip(t *testing.T) {
	for seed := range uint64(200) {
		m := newMaker(seed)
		want := m.record(m.IntN(40))
		path := filepath.Join(t.TempDir(), "deep", "er", "run.jsonl")
		cut := m.IntN(len(want.Results) + 1)

		l := mustOpen(t, path, want.Header)
		mustAppend(t, l, want.Results[:cut]...)
		mustClose(t, l)
		l = mustOpen(t, path, want.Header)
		sameResults(t, l.Previous(), want.Results[:cut])
		if len(l.Previous()) != cut || l.Path() != path {
			t.Fatalf("resumed %d of %s, want %d", len(l.Previous()), l.Path(), cut)
		}
		mustAppend(t, l, want.Results[cut:]...)
		for i := range want.Results {
			if want.Results[i].Status == tune.Correct && m.IntN(2) == 0 {
				want.Results[i].Final, want.Results[i].AtFinal = m.final()
				want.Results[i].FinalDevice = []string{"", "m/0:0"}[m.IntN(2)]
				if m.IntN(2) == 0 {
					want.Results[i].FinalReadings = []hardware.Reading{{Quantity: hardware.Energy, Value: m.Float64(), Uncertainty: m.Float64()}}
				}
				if err := l.AppendFinal(want.Results[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := mustRead(t, path) // while it is open
		sameResults(t, got.Results, want.Results)
		for i := range want.Results {
			if !sameReadings(&got.Results[i], &want.Results[i]) {
				t.Errorf("result %d has the readings %+v and %+v, want %+v and %+v", i, got.Results[i].Readings, got.Results[i].FinalReadings, want.Results[i].Readings, want.Results[i].FinalReadings)
			}
		}
		want.Header.Started = l.Header().Started // of now, where it was zero
		sameHeader(t, got.Header, want.Header)
		mustClose(t, l)
	}
}

func sameHeader(t *testing.T, got, want Header) {
	t.Helper()
	if !got.Started.Equal(want.Started) {
		t.Fatalf("started %v, want %v", got.Started, want.Started)
	}
	got.Started = want.Started
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("header\n%+v, want\n%+v", got, want)
	}
}

func TestEncodedLogRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		m := newMaker(seed)
		want := m.record(30)
		for i := range want.Results {
			if m.IntN(3) == 0 {
				want.Results[i].Final, want.Results[i].AtFinal = m.final()
				want.Results[i].FinalDevice = "m/0:0"
			}
		}
		var b bytes.Buffer
		if err := EncodeLog(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		sameResults(t, got.Results, want.Results)
	}
}

func TestLogKeepsTypes(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	mustAppend(t, mustOpen(t, path, h), results...)
	for _, r := range mustRead(t, path).Results {
		y, _ := r.Configuration.Get("y")
		if _, isInt := y.(int); isInt != (y == 4) {
			t.Errorf("y=%v is a %T", y, y)
		}
	}
}

// TestFinalsOfAnUnfinishedSearch: a search that went on after its final measurement, and was interrupted, may have found a better result
// since.
func TestFinalsOfAnUnfinishedSearch(t *testing.T) {
	h, results := sixteen()
	for objective, stay := range map[float64]bool{1.2: true, 0.9: false} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		l := mustOpen(t, path, h)
		for i, ms := range []float64{1.5, 1, objective} {
			r := results[i]
			r.Times, r.Objective = []float64{ms}, ms
			mustAppend(t, l, r)
			if r.Final, r.AtFinal = r.Times, (&score.Judgement{Objective: ms}); i == 1 {
				if err := l.AppendFinal(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		mustClose(t, l)
		read := mustRead(t, path).Results
		if k := tune.Rank(h.Objective, read); k.Finalists > 0 != stay || (k.Indices[0] == 1) != stay {
			t.Errorf("a later result of %g: %+v", objective, k)
		}
	}
}

func TestFinalsOfTheLastSessionCount(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	final := func(l *Log, i int, time float64) {
		r := results[i]
		r.Final = []float64{time}
		if err := l.AppendFinal(r); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[int]float64) {
		t.Helper()
		for i, r := range mustRead(t, path).Results {
			if time, ok := want[i]; ok != (len(r.Final) == 1) || ok && r.Final[0] != time {
				t.Errorf("final times of %d are %v, want %v", i, r.Final, time)
			}
		}
	}
	l := mustOpen(t, path, h)
	mustAppend(t, l, results[:4]...)
	final(l, 0, 1)
	final(l, 1, 2)
	final(l, 1, 3)
	check(map[int]float64{0: 1, 1: 3})
	mustClose(t, l)

	l = mustOpen(t, path, h)
	mustAppend(t, l, results[4])
	check(map[int]float64{0: 1, 1: 3}) // nothing newer yet
	final(l, 4, 5)
	check(map[int]float64{4: 5})
	mustClose(t, l)

	l = mustOpen(t, path, h)
	mustClose(t, l)
	l = mustOpen(t, path, h)
	final(l, 2, 6)
	check(map[int]float64{2: 6})

	r := results[9]
	r.Final = []float64{1}
	if err := l.AppendFinal(r); err == nil {
		t.Error("a final measurement without a result was taken")
	}
	check(map[int]float64{2: 6})
}

// TestLinesOfCardsAreIgnored: programs compared the cards that shared a search, and kept their times in lines of their own, or
// in those of results.
func TestLinesOfCardsAreIgnored(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	mustAppend(t, l, results[:2]...)
	mustClose(t, l)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(text))
	const cards = `,"cards":[{"device":"0:0","times":[1.5,1.4]},{"device":"1:0"}]}`
	withCards := func(line []byte) []byte {
		return endLine(append(slices.Clone(line[:bytes.Index(line, []byte(checksumMember))]), cards...))
	}
	own := slices.Clone(lines[1][:bytes.IndexByte(lines[1], '}')+1]) // to the end of the configuration
	own = bytes.Replace(own, []byte(`"result"`), []byte(`"cards"`), 1)
	lines[2] = withCards(lines[2])
	lines = append(lines, endLine(append(own, cards...)))
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	sameResults(t, mustRead(t, path).Results, results[:2])
	sameResults(t, mustOpen(t, path, h).Previous(), results[:2])
}

func TestFirstResultCounts(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	again := results[0]
	again.Times = []float64{99}
	mustAppend(t, l, results[0], results[1], again)
	mustClose(t, l)
	sameResults(t, mustRead(t, path).Results, results[:2])
	sameResults(t, mustOpen(t, path, h).Previous(), results[:2])
}

// TestAWithdrawnResultCountsNoMore: its configuration has none, or the next one.
func TestAWithdrawnResultCountsNoMore(t *testing.T) {
	h, results := sixteen()
	failed := results[1]
	failed.Status, failed.Reason, failed.Times = tune.Runtime, "no space left on device", nil
	path := filepath.Join(t.TempDir(), "run.jsonl")
	withdraw := func(l *Log, r tune.Result) {
		t.Helper()
		if err := l.Withdraw(r); err != nil {
			t.Fatal(err)
		}
	}
	l := mustOpen(t, path, h)
	mustAppend(t, l, results[0], failed, results[2])
	withdraw(l, failed)
	sameResults(t, mustRead(t, path).Results, []tune.Result{results[0], results[2]})
	if err := l.Withdraw(failed); err == nil || !strings.Contains(err.Error(), "no result to take back") {
		t.Errorf("withdrawn twice: %v", err)
	}
	mustClose(t, l)

	l = mustOpen(t, path, h)
	sameResults(t, l.Previous(), []tune.Result{results[0], results[2]})
	mustAppend(t, l, results[1], results[3])
	final := results[1]
	final.Final = []float64{1}
	if err := l.AppendFinal(final); err != nil {
		t.Error(err)
	}
	mustClose(t, l)
	sameResults(t, mustRead(t, path).Results, []tune.Result{results[0], results[2], final, results[3]})
}

func TestSecondWriterIsRefused(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	mustAppend(t, l, results[0])
	_, err := Open(path, h)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "another run is writing") {
		t.Errorf("a second writer: %v", err)
	}
	mustAppend(t, l, results[1]) // the first is not disturbed
	mustClose(t, l)
	l = mustOpen(t, path, h)
	sameResults(t, l.Previous(), results[:2])
	mustClose(t, l)
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("litter: %q", left)
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	var wait sync.WaitGroup
	for _, r := range results {
		wait.Go(func() {
			if err := l.Append(r); err != nil {
				t.Error(err)
			}
			r.Final = []float64{1}
			if err := l.AppendFinal(r); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got := mustRead(t, path).Results
	slices.SortFunc(got, func(a, b tune.Result) int { return cmp.Compare(a.Times[0], b.Times[0]) })
	for i := range results {
		results[i].Final = []float64{1}
	}
	sameResults(t, got, results)
}

func TestAppendRefuses(t *testing.T) {
	h, results := sixteen()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	other, _ := newLayout([]space.Parameter{{Name: "x", Values: []space.Value{16}}, {Name: "z", Values: []space.Value{1}}})
	few, _ := newLayout([]space.Parameter{{Name: "x", Values: []space.Value{16}}})
	off, _ := newLayout([]space.Parameter{{Name: "x", Values: []space.Value{17}}, {Name: "y", Values: []space.Value{1.0}}})
	for name, r := range map[string]tune.Result{
		"other parameters": {Configuration: other.configuration(indices{0, 0}), Status: tune.Correct},
		"few parameters":   {Configuration: few.configuration(indices{0}), Status: tune.Correct},
		"another value":    {Configuration: off.configuration(indices{0, 0}), Status: tune.Correct},
		"no status":        {Configuration: results[0].Configuration},
		"no configuration": {Status: tune.Correct},
	} {
		if err := l.Append(r); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mustAppend(t, l, results[3])
	sameResults(t, mustRead(t, path).Results, results[3:4])
	mustClose(t, l)
	if err := l.Append(results[4]); err == nil {
		t.Error("a closed log took a result")
	}
}

func TestDriverTexts(t *testing.T) {
	h, results := sixteen()
	h.Device.Name, h.Device.Vendor = "Intel\xae Arc\x00", "\xff<&>"
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l := mustOpen(t, path, h)
	mustAppend(t, l, results...)
	mustClose(t, l)
	sameResults(t, mustOpen(t, path, h).Previous(), results)
}

// TestLogOfOtherTools resumes a log that an editor or jq has written anew. Where that changes
// more than white space, each line needs a new checksum.
func TestLogOfOtherTools(t *testing.T) {
	h, results := sixteen()
	var b bytes.Buffer
	if err := EncodeLog(&b, &Record{h, results}); err != nil {
		t.Fatal(err)
	}
	sealed := func(text string) string {
		var all strings.Builder
		for line := range strings.Lines(text) {
			all.WriteString(checked(line))
		}
		return all.String()
	}
	for name, text := range map[string]string{
		"Windows lines":   strings.ReplaceAll(b.String(), "\n", "\r\n"),
		"spaces":          strings.ReplaceAll(b.String(), `":`, `" : `),
		"empty lines":     strings.ReplaceAll(b.String(), "\n", "\n\n"),
		"floats as ints":  sealed(strings.NewReplacer(".0,", ",", ".0]", "]", ".0}", "}").Replace(b.String())),
		"unknown members": sealed(strings.ReplaceAll(b.String(), `{"kind"`, `{"new":[{"a":1}],"kind"`)),
	} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameResults(t, l.Previous(), results)
		mustClose(t, l)
	}
}
