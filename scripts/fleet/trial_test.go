//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCounts: the proof sees what it looks for.
func TestCounts(t *testing.T) {
	tr := &trial{log: filepath.Join(t.TempDir(), "log.jsonl")}
	if n, _, _ := tr.results(); n != -1 {
		t.Errorf("%d results in no log", n)
	}
	log := `{"format":"ndtune-run-log"}
{"kind":"result","configuration":{"a":1},"status":"correct"}
{"kind":"result","configuration":{"a":2},"status":"runtime"}
{"kind":"result","configuration":{"a":1},"status":"correct"}
{"kind":"final","configuration":{"a":1}}
{"kind":"result","configuration":{"a":3},"sta`
	if err := os.WriteFile(tr.log, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, different, failed := tr.results(); n != 3 || different != 2 || failed != 1 {
		t.Errorf("%d results of %d configurations, %d failed; want 3 of 2, 1 failed", n, different, failed)
	}
}
