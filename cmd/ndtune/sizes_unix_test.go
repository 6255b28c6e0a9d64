//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/record"
)

// TestSizesInterrupted stops a search of three sizes in the middle of the second one. The same command goes
// on there: nothing is measured twice, and all sizes have the whole space at the end.
func TestSizesInterrupted(t *testing.T) {
	folder := specFolder(t)
	command := []string{"tune", "add.yaml", "--set", "n=1024,2048,4096", "--log", "sizes.jsonl", "--workers", "1", "-v"}
	hangs := standin.FaultsVariable + "=add hangs when n == 2048 && block_size_x == 16" // five of n=1024 come first, the best is 32
	s := startSearch(t, folder, []string{hangs}, command...)
	s.await(`^It begins with 5 best configurations of n=1024\.\n(.*\n)*block_size_x=\d+, per_item=\d, time=`)
	s.signal(syscall.SIGINT)
	stopped := s.end()
	if stopped.status != ui.StatusInterrupted || strings.Contains(stopped.notes, ", n=4096 (") {
		t.Fatalf("%+v", stopped)
	}
	read := func(name string) *record.Record {
		r, err := record.Read(filepath.Join(folder, name))
		if err != nil {
			t.Fatalf("%v\n%s", err, stopped.notes)
		}
		return r
	}
	logs := []string{"sizes.n-1024.jsonl", "sizes.n-2048.jsonl", "sizes.n-4096.jsonl"}
	before := []*record.Record{read(logs[0]), read(logs[1]), {}}
	if len(before[0].Results) != 9 || len(before[1].Results) == 0 || len(before[1].Results) == 9 {
		t.Fatalf("the logs hold %d and %d results, want the second search in part:\n%s", len(before[0].Results), len(before[1].Results), stopped.notes)
	}
	ended := startSearch(t, folder, nil, command...).end()
	if ended.status != 0 || !strings.Contains(ended.notes, "9 from the log, 0 evaluated now") {
		t.Fatalf("%+v", ended)
	}
	for i, log := range logs {
		r := read(log)
		if len(r.Results) != 9 {
			t.Errorf("%s has %d results", log, len(r.Results))
		}
		for j, old := range before[i].Results {
			if now := r.Results[j]; !old.Timestamp.Equal(now.Timestamp) || old.Configuration.Key() != now.Configuration.Key() {
				t.Errorf("%s: result %d was measured again", log, j)
			}
		}
		read(strings.Replace(log, ".jsonl", ".compared.jsonl", 1))
	}
}
