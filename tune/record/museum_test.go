package record_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

const museum = "testdata/museum"

// TestMuseum reads files of each kind that programs of November 2026 wrote, and holds what they say to testdata/museum.txt: users have such
// files. A file in testdata/museum is never changed. To add one, put it there as a program wrote it, without paths of the machine, and
// run the test with -update: no line of the other files may change then.
func TestMuseum(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(museum, "*.*"))
	if err != nil || len(paths) < 30 {
		t.Fatal(paths, err)
	}
	var all strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&all, "%s: ", filepath.Base(path))
		switch {
		case strings.HasSuffix(path, ".csv"): // which nothing reads
			all.WriteString("a table\n")
		case strings.HasSuffix(path, ".wisdom"):
			describeWisdom(t, &all, path)
		case filepath.Base(path) == "stream.jsonl":
			describeStream(t, &all, path)
		default:
			describeRecord(t, &all, path)
		}
	}
	golden.File(t, "testdata/museum.txt", all.String())
}

func describeRecord(t *testing.T, w *strings.Builder, path string) {
	r, skipped, err := record.ReadSkipping(path)
	if err != nil {
		t.Error(err)
		return
	}
	h := &r.Header
	fmt.Fprintf(w, "%s of %s, digest %.8s, by %s, on %q, objective %v, %d launches, metrics %q", h.Format, h.Kernel, h.Digest, h.Strategy, h.Device.Name,
		h.Objective, h.Iterations, r.MetricNames())
	if len(h.Baseline) > 0 {
		fmt.Fprintf(w, ", baseline %v", h.Baseline)
	}
	if h.Device.Peaks != nil {
		fmt.Fprintf(w, ", copy %.4g GB/s", h.Device.Peaks.Value(hardware.PeakMemoryCopy))
	}
	ranking := tune.Rank(h.Objective, r.Results)
	fmt.Fprintf(w, ", %d of %d ranked, %d finalists\n", len(ranking.Indices), len(r.Results), ranking.Finalists)
	if len(ranking.Indices) > 0 {
		fmt.Fprintf(w, "  best: %s\n", r.Results[ranking.Indices[0]].Configuration)
	}
	for i := range r.Results {
		describeResult(w, &r.Results[i])
	}
	for _, s := range skipped {
		fmt.Fprintf(w, "  damaged: %s\n", s)
	}
}

func describeResult(w *strings.Builder, r *tune.Result) {
	fmt.Fprintf(w, "  %s: %s %g, times %s, metrics %s", r.Configuration, r.Status, r.Objective, digits(r.Times), values(r.Metrics))
	if r.AtFinal != nil {
		fmt.Fprintf(w, "; at the end %g, times %s, metrics %s", r.AtFinal.Objective, digits(r.Final), values(r.AtFinal.Metrics))
	}
	for _, note := range []struct {
		says bool
		text string
	}{
		{r.Reason != "", fmt.Sprintf("%.60q", r.Reason)}, {r.Verified, "verified"}, {r.Compared > 0, fmt.Sprintf("compared %d", r.Compared)},
		{r.EarlyStopped, "measured once"}, {r.Device != "", "on " + r.Device}, {r.FinalDevice != "", "at the end on " + r.FinalDevice},
		{len(r.Launches()) > 0, strings.Join(r.Launches(), ", ")}, {len(r.Readings) > 0, fmt.Sprintf("readings %+v", r.Readings)},
		{r.Durations.Build > 0, fmt.Sprintf("built in %d ns", r.Durations.Build)}, {!r.Timestamp.IsZero(), r.Timestamp.UTC().Format("15:04:05.000000000")},
	} {
		if note.says {
			fmt.Fprintf(w, "; %s", note.text)
		}
	}
	w.WriteString("\n")
}

// digits are the number of times, their median and their sum.
func digits(times []float64) string {
	sum := 0.0
	for _, t := range times {
		sum += t
	}
	return fmt.Sprintf("%d/%g/%g", len(times), score.StatsOf(times).Median, sum)
}

func values(metrics []score.MetricValue) string {
	var texts []string
	for _, m := range metrics {
		texts = append(texts, fmt.Sprintf("%s=%g", m.Name, m.Value))
	}
	return strings.Join(texts, " ")
}

func describeWisdom(t *testing.T, w *strings.Builder, path string) {
	f, err := wisdom.Read(path)
	if err != nil {
		t.Error(err)
		return
	}
	fmt.Fprintf(w, "wisdom of %s, parameters %v, objective %v, %d records, %d skipped lines\n", f.Key, f.Parameters, f.Objective, len(f.Records), len(f.Skipped))
	for i := range f.Records {
		r := &f.Records[i]
		fmt.Fprintf(w, "  %s, %v, %v: %v, %g ms, objective %g, verified %v, source %.8s, %s\n", r.Device.Name, r.ProblemSize, r.Constants, r.Configuration,
			r.Time, r.Objective, r.Verified, r.SourceDigest, r.Date)
	}
	var again bytes.Buffer
	if err := f.Encode(&again); err != nil {
		t.Error(err)
	}
	if old, _ := os.ReadFile(path); !bytes.Equal(old, again.Bytes()) {
		t.Errorf("%s is written in another way", path)
	}
}

// describeStream reads what tune --json prints of results, which a program can give to the next search.
func describeStream(t *testing.T, w *strings.Builder, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parameters, err := space.NewParameters([]space.Parameter{
		{Name: "block_size_x", Values: []space.Value{16, 32, 64}}, {Name: "per_item", Values: []space.Value{1, 2, 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	results, err := record.ParseResults(text, parameters)
	if err != nil {
		t.Error(err)
	}
	fmt.Fprintf(w, "%d results\n", len(results))
	for i := range results {
		describeResult(w, &results[i])
	}
}

// TestMuseumLogsGoOn resumes each run log of the museum, with its own header: no result is lost, and it can be appended to.
func TestMuseumLogsGoOn(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(museum, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if filepath.Base(path) == "stream.jsonl" {
			continue
		}
		old, err := record.Read(path)
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(log, text, 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := record.Open(log, old.Header)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var has, had strings.Builder
		for i := range old.Results {
			describeResult(&had, &old.Results[i])
			describeResult(&has, &l.Previous()[i])
		}
		if has.String() != had.String() || len(l.Previous()) != len(old.Results) {
			t.Errorf("%s goes on with other results", path)
		}
		last := old.Results[len(old.Results)-1]
		if err := l.Withdraw(last); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if err := l.Append(last); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		again, err := record.Read(log)
		if err != nil || len(again.Results) != len(old.Results) {
			t.Errorf("%s, appended to: %v", path, err)
		}
	}
}

// TestMuseumIsWrittenAgain writes the records of run logs in the other formats: they give what the program wrote in November 2026.
func TestMuseumIsWrittenAgain(t *testing.T) {
	for of, files := range map[string][]string{
		"plain.jsonl": {"plain.json t4", "plain.csv csv", "cache.json cache"}, "types.jsonl": {"types.json t4", "types.csv csv", "types_cache.json cache"},
		"front.jsonl": {"front.json t4"}, "pipeline.jsonl": {"pipeline.json t4"}, "observed.jsonl": {"observed.json t4"},
	} {
		r, err := record.Read(filepath.Join(museum, of))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, format, _ := strings.Cut(file, " ")
			path := filepath.Join(t.TempDir(), name)
			if err := record.WriteAs(path, r, format); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(path)
			want, err := os.ReadFile(filepath.Join(museum, name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s of %s is written in another way (%v)", name, of, err)
			}
		}
	}
}

// TestMuseumPeaks finds the peaks that an older program kept in the user's state folder.
func TestMuseumPeaks(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("LocalAppData", state)
	if err := os.CopyFS(filepath.Join(state, "ndtune", "peaks"), os.DirFS(filepath.Join(museum, "peaks"))); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(filepath.Join(museum, "peaks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := record.KnownPeaks(r.Header.Device, 3); err != nil || !reflect.DeepEqual(got, r.Header.Device.Peaks) {
		t.Errorf("%v, %v, not %v", got, err, r.Header.Device.Peaks)
	}
}
