package record

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

// TestLogsWrittenBefore reads and resumes logs of version 1, which have no checksums. Beside
// each, testdata/before has a T4 file of the same results, made by the program that wrote
// the log.
func TestLogsWrittenBefore(t *testing.T) {
	logs, _ := filepath.Glob("testdata/before/*.jsonl*")
	if len(logs) != 7 {
		t.Fatalf("%d logs, want 7", len(logs))
	}
	for _, path := range logs {
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := mustRead(t, path)
			want := mustRead(t, strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl")+".json")
			sameResults(t, got.Results, want.Results)
			want.Header.Format, want.Header.Version = FormatLog, 1
			sameHeader(t, got.Header, want.Header)
			if !strings.HasSuffix(path, ".gz") { // which cannot be resumed
				resumeUnchanged(t, path, got)
			}
		})
	}
}

// resumeUnchanged resumes a copy of a log under the header of its problem. What it held stays
// as it was, to the byte, and one more result follows.
func resumeUnchanged(t *testing.T, path string, r *Record) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(path, before, 0o666); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, path, r.Header)
	previous := slices.Clone(r.Results)
	for i := range previous {
		previous[i].AtFinal = nil // which Read derives, and a run that resumes the log computes
	}
	sameResults(t, l.Previous(), previous)
	mustAppend(t, l, tune.Result{Configuration: r.Results[0].Configuration, Status: tune.Correct, Times: []float64{1}})
	mustClose(t, l)
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if added, ok := bytes.CutPrefix(after, before); !ok || bytes.Count(added, []byte{'\n'}) != 1 {
		t.Errorf("what was there has changed, or not one line was added: %q", added)
	}
	sameResults(t, mustRead(t, path).Results, r.Results) // of two results of a configuration the first counts
}
