//go:build unix

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// lastLine returns the last line of a stream, which is whole.
func lastLine(t *testing.T, out string) ui.StreamEnd {
	t.Helper()
	whole, ok := strings.CutSuffix(out, "\n")
	var end ui.StreamEnd
	if err := json.Unmarshal([]byte(whole[strings.LastIndexByte(whole, '\n')+1:]), &end); err != nil || !ok {
		t.Fatalf("%v in the last line of\n%s", err, out)
	}
	return end
}

// TestInterruptedStream interrupts a search whose reader has taken some lines: the last line says so, and names the best so far.
func TestInterruptedStream(t *testing.T) {
	t.Parallel()
	folder := specFolder(t)
	arguments := slices.Concat(interruptedSearch, []string{"--json", "--log", "log.jsonl"})
	s := startSearch(t, folder, []string{hangsLate}, arguments...)
	for !strings.Contains(s.out.String(), `"status":"correct"`) {
		s.read(1)
	}
	s.signal(syscall.SIGINT)
	ended := s.end()
	end := lastLine(t, ended.out)
	if ended.status != ui.StatusInterrupted || end.Status != ui.StatusInterrupted || end.Why != "interrupted" || end.Best == nil || end.Error != "" {
		t.Errorf("status %d, last line %+v", ended.status, end)
	}
}

// TestStreamWithoutReader closes the pipe of a stream while a kernel hangs: the program ends in order, and the log is whole.
func TestStreamWithoutReader(t *testing.T) {
	t.Parallel()
	folder := specFolder(t)
	s := startSearch(t, folder, []string{hangsLate}, slices.Concat(interruptedSearch, []string{"--json", "--log", "log.jsonl"})...)
	s.read(4)
	s.close()
	if ended := s.end(); ended.signal != 0 || ended.status == 0 {
		t.Errorf("status %d, signal %v\n%s", ended.status, ended.signal, ended.notes)
	}
	kept := len(keptIn(t, folder, "log.jsonl"))
	if kept < 2 {
		t.Errorf("the log holds %d results", kept)
	}
	searchUntil(t, folder, -1, 0, outputs(folder)...).complete(t, folder, kept)
}
