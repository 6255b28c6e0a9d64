//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// missing starts a search for what a wisdom file does not know.
func missing(t *testing.T, folder string) *runningProgram {
	t.Helper()
	return startSearch(t, folder, nil, "wisdom", "tune", "add.wisdom", "add.yaml", "--workers", "1")
}

// searching starts a search that cannot come to its end before release: the wisdom file is held.
func searching(t *testing.T, folder string) (s *runningProgram, release func()) {
	t.Helper()
	free, err := files.Hold(t.Context(), filepath.Join(folder, "add.wisdom"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s = missing(t, folder)
	s.read(2)
	return s, func() {
		if err := free(); err != nil {
			t.Error(err)
		}
	}
}

const waiting = `^Another process tunes this on .*; waiting for its result\.$`

func searchesIn(t *testing.T, folder string) int {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(folder, "state", "ndtune", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return len(logs)
}

// TestWisdomTuneSearchesOnce: of two processes that miss the same, one searches, and the other waits and uses the
// result. A third, which is interrupted while it waits, ends and changes nothing.
func TestWisdomTuneSearchesOnce(t *testing.T) {
	folder := specFolder(t)
	first, release := searching(t, folder)
	second, third := missing(t, folder), missing(t, folder)
	second.await(waiting)
	third.await(waiting)
	third.signal(syscall.SIGINT)
	if ended := third.end(); ended.status != ui.StatusInterrupted || ended.out != "" || strings.Contains(ended.notes, "ndtune: find") {
		t.Errorf("interrupted: %+v", ended)
	}
	release()
	if ended := first.end(); ended.status != 0 || !strings.HasSuffix(ended.out, "\nwisdom: tuned now\n") {
		t.Errorf("the first: %+v", ended)
	}
	if ended := second.end(); ended.status != 0 || !strings.HasSuffix(ended.out, "\nwisdom: known for the same device and size 4096\n") {
		t.Errorf("the second: %+v", ended)
	}
	if n := searchesIn(t, folder); n != 1 {
		t.Errorf("%d searches, want 1", n)
	}
	f, err := wisdom.Read(filepath.Join(folder, "add.wisdom"))
	if err != nil || len(f.Records) != wisdom.MaxKept {
		t.Errorf("%v: %+v", err, f)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "add.wisdom.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWisdomTuneAfterAKill: a process that waits for another one searches itself if that is killed.
func TestWisdomTuneAfterAKill(t *testing.T) {
	folder := specFolder(t)
	first, release := searching(t, folder)
	second := missing(t, folder)
	second.await(waiting)
	first.signal(syscall.SIGKILL)
	if ended := first.end(); ended.signal != syscall.SIGKILL {
		t.Errorf("the first: %+v", ended)
	}
	if _, err := os.Stat(filepath.Join(folder, "add.wisdom")); err == nil {
		t.Error("the killed process has added its wisdom")
	}
	release()
	if ended := second.end(); ended.status != 0 || !strings.HasSuffix(ended.out, "\nwisdom: tuned now\n") {
		t.Errorf("the second: %+v", ended)
	}
	if n := searchesIn(t, folder); n != 2 {
		t.Errorf("%d searches, want 2", n)
	}
}
