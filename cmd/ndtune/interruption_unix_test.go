//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/standin"
)

// The search that is interrupted: its 20 configurations are built and measured one by one.
var (
	interruptedSearch = []string{"tune", "add.yaml", "-p", "block_size_x=8,16,32,64,128", "-p", "per_item=1,2,4,8"}
	interruptedTotal  = 20
)

// hangsLate makes the last of its configurations hang on the stand-in, so that the search does not end before it is interrupted.
const hangsLate = standin.FaultsVariable + "=add hangs when block_size_x == 128"

// searchUntil runs a search in a folder and sends its process group a signal when it has
// printed the last of some lines. With no lines, that is as soon as it runs; with a negative
// number, never.
func searchUntil(t *testing.T, folder string, lines int, signal syscall.Signal, arguments ...string) endedProgram {
	t.Helper()
	var environment []string
	if 0 <= lines && lines < 16 {
		environment = []string{hangsLate}
	}
	s := startSearch(t, folder, environment, slices.Concat(interruptedSearch, arguments)...)
	if lines >= 0 {
		s.read(lines)
		s.signal(signal)
	}
	return s.end()
}

// results are the lines of stdout that are results, whole lines only.
func (e endedProgram) results() []string {
	var lines []string
	for line := range strings.Lines(e.out) {
		if text, whole := strings.CutSuffix(line, "\n"); whole && measuredLine.MatchString(text) {
			lines = append(lines, text)
		}
	}
	return lines
}

// fromLog is what the summary says of results from the log and of those evaluated now.
func (e endedProgram) fromLog(t *testing.T) (resumed, evaluated int) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^(\d+) configurations?: .*; (\d+) from the log, (\d+) evaluated now;`).FindStringSubmatch(e.notes)
	if found == nil {
		return 0, len(e.results())
	}
	resumed, _ = strconv.Atoi(found[2])
	evaluated, _ = strconv.Atoi(found[3])
	return resumed, evaluated
}

// keptIn reads a result file; a log that is not there, or is empty still, holds nothing.
func keptIn(t *testing.T, folder, name string) map[string]kept {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	if filepath.Ext(name) == ".jsonl" && (errors.Is(err, os.ErrNotExist) || len(content) == 0) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) == ".jsonl" {
		content = content[:bytes.LastIndexByte(content, '\n')+1] // a torn line is none
	}
	all, err := readKept(name, string(content))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// complete checks a search that ran to its end: all is in the log and in the outputs, each
// once, the best is named, and what is said of the log adds up.
func (e endedProgram) complete(t *testing.T, folder string, before int) {
	t.Helper()
	e.completeOf(t, folder, before, interruptedTotal)
}

// completeOf is complete for a search of another number of configurations.
func (e endedProgram) completeOf(t *testing.T, folder string, before, total int) {
	t.Helper()
	if e.status != 0 {
		t.Fatalf("exit status %d (%v)\n%s", e.status, e.signal, e.notes)
	}
	resumed, evaluated := e.fromLog(t)
	if resumed != before || resumed+evaluated != total {
		t.Errorf("the log held %d; the summary says %d from the log and %d evaluated, of %d", before, resumed, evaluated, total)
	}
	if n := len(e.results()); n != total {
		t.Errorf("%d results were printed, of %d", n, total)
	}
	if !strings.Contains(e.out, "\nbest performing configuration: ") {
		t.Errorf("no best configuration:\n%s", e.out)
	}
	all := keptIn(t, folder, "log.jsonl")
	if counts := countStatuses(all); counts["correct"] != total || len(all) != total {
		t.Errorf("the log holds %v: %v", counts, failuresOf(all))
	}
	for _, name := range []string{"r.json", "r.csv"} {
		if !maps.Equal(keptIn(t, folder, name), all) {
			t.Errorf("%s is not what the log holds", name)
		}
	}
}

// failuresOf are the configurations that are not correct.
func failuresOf(all map[string]kept) map[string]kept {
	failed := maps.Clone(all)
	maps.DeleteFunc(failed, func(_ string, k kept) bool { return k.status == "correct" })
	return failed
}

// printedFirst checks that nothing that an earlier run printed is lost or measured again:
// a later run shows the same lines, times included.
func printedFirst(t *testing.T, earlier, later endedProgram) {
	t.Helper()
	shown := later.results()
	for _, line := range earlier.results() {
		if !slices.Contains(shown, line) {
			t.Errorf("printed before the end, and lost: %s", line)
		}
	}
}

func outputs(folder string) []string {
	return []string{"--log", filepath.Join(folder, "log.jsonl"), "-o", "r.json", "-o", "r.csv"}
}

// TestKilled kills a search at several points, from its first moment to the final
// measurement, and lets it go on.
func TestKilled(t *testing.T) {
	needDevice(t)
	for _, lines := range []int{0, 1, 3, 14, interruptedTotal, interruptedTotal + 1} {
		t.Run(fmt.Sprintf("after %d lines", lines), func(t *testing.T) {
			t.Parallel()
			folder := specFolder(t)
			killed := searchUntil(t, folder, lines, syscall.SIGKILL, outputs(folder)...)
			if killed.signal != syscall.SIGKILL {
				t.Logf("it was faster than the signal: status %d", killed.status)
			} else if _, err := os.Stat(filepath.Join(folder, "r.json")); err == nil {
				t.Error("an output of a killed search")
			}
			before := len(keptIn(t, folder, "log.jsonl"))
			if n := len(killed.results()); before < n || n < lines-1 {
				t.Errorf("%d results were printed, and %d are in the log", n, before)
			}
			resumed := searchUntil(t, folder, -1, 0, outputs(folder)...)
			resumed.complete(t, folder, before)
			printedFirst(t, killed, resumed)
		})
	}
}

// TestKilledOnPoCL kills a search on a real driver.
func TestKilledOnPoCL(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	needDevice(t)
	folder := specFolder(t)
	search := append([]string{"tune", "add.yaml", "-p", "block_size_x=16,32", "-p", "per_item=1,2"}, outputs(folder)...)
	s := startSearch(t, folder, nil, search...)
	s.read(3)
	s.signal(syscall.SIGKILL)
	killed := s.end()
	before := len(keptIn(t, folder, "log.jsonl"))
	if before < 2 {
		t.Errorf("%d results are in the log", before)
	}
	resumed := startSearch(t, folder, nil, search...).end()
	resumed.completeOf(t, folder, before, 4)
	printedFirst(t, killed, resumed)
}

// TestKilledAgainAndAgain kills a search, and then each search that resumes it.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	needDevice(t)
	folder := specFolder(t)
	var killed []endedProgram
	for _, lines := range []int{3, 3, 7, 12, 12, 17} {
		killed = append(killed, searchUntil(t, folder, lines, syscall.SIGKILL, outputs(folder)...))
	}
	before := len(keptIn(t, folder, "log.jsonl"))
	last := searchUntil(t, folder, -1, 0, outputs(folder)...)
	last.complete(t, folder, before)
	for _, k := range killed {
		printedFirst(t, k, last)
	}
}

// TestTornLog cuts the log of a whole search in the middle of a result and of the final measurements: the next search mends it.
// Package record cuts logs at each byte.
func TestTornLog(t *testing.T) {
	t.Parallel()
	needDevice(t)
	folder := specFolder(t)
	searchUntil(t, folder, -1, 0, outputs(folder)...).complete(t, folder, 0)
	log := filepath.Join(folder, "log.jsonl")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}

	// What is complete is not touched again.
	searchUntil(t, folder, -1, 0, outputs(folder)...).complete(t, folder, interruptedTotal)
	if after, err := os.ReadFile(log); err != nil || !bytes.Equal(after, whole) {
		t.Errorf("a search that had nothing to do changed its log (%v)", err)
	}

	lines := bytes.SplitAfter(whole, []byte{'\n'}) // the header, the results, the final measurements
	for _, cut := range []struct {
		name        string
		lines, more int // whole lines that stay, and bytes of the next
	}{
		{"in a result", 6, 50},
		{"in a final measurement", 1 + interruptedTotal + 3, 30},
	} {
		t.Run(cut.name, func(t *testing.T) {
			length := cut.more
			for _, line := range lines[:cut.lines] {
				length += len(line)
			}
			if err := os.WriteFile(log, whole[:length], 0o666); err != nil {
				t.Fatal(err)
			}
			before := min(max(0, cut.lines-1), interruptedTotal)
			searchUntil(t, folder, -1, 0, outputs(folder)...).complete(t, folder, before)
			again, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, line := range lines[:cut.lines] {
				kept += len(line)
			}
			if cut.lines > 0 && !bytes.HasPrefix(again, whole[:kept]) {
				t.Error("what was whole in the log has changed")
			}
		})
	}
}

// TestInterrupted stops a search with Ctrl-C, or the signal of a batch system: all is kept,
// the best so far is named, and the search goes on from there.
func TestInterrupted(t *testing.T) {
	needDevice(t)
	for _, test := range []struct {
		signal syscall.Signal
		lines  int
	}{
		{syscall.SIGINT, 2}, {syscall.SIGINT, 9}, {syscall.SIGTERM, 5}, {syscall.SIGHUP, 5},
	} {
		t.Run(fmt.Sprintf("%v after %d lines", test.signal, test.lines), func(t *testing.T) {
			t.Parallel()
			folder := specFolder(t)
			ended := searchUntil(t, folder, test.lines, test.signal, outputs(folder)...)
			if ended.status != ui.StatusInterrupted {
				t.Fatalf("exit status %d (%v)\n%s", ended.status, ended.signal, ended.notes)
			}
			if !strings.Contains(ended.out, "\nbest performing configuration: ") || !strings.Contains(ended.out, "\nbuild options: ") {
				t.Errorf("no best so far:\n%s", ended.out)
			}
			for _, want := range []string{"Interrupted; the best so far:", "results: r.json, r.csv", "log.jsonl (the same command with --log"} {
				if !strings.Contains(ended.notes, want) {
					t.Errorf("%q is not among:\n%s", want, ended.notes)
				}
			}
			all := keptIn(t, folder, "log.jsonl")
			if n := len(ended.results()); n != len(all) || n < test.lines-1 || n == interruptedTotal {
				t.Errorf("%d results were printed, and %d are in the log", n, len(all))
			}
			for _, name := range []string{"r.json", "r.csv"} {
				if !maps.Equal(keptIn(t, folder, name), all) {
					t.Errorf("%s is not what the log holds", name)
				}
			}
			resumed := searchUntil(t, folder, -1, 0, outputs(folder)...)
			resumed.complete(t, folder, len(all))
			printedFirst(t, ended, resumed)
		})
	}
}

// TestHangups: a terminal that is closed may send more than one SIGHUP, which interrupts as one does, and none under nohup.
func TestHangups(t *testing.T) {
	needDevice(t)
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		folder := specFolder(t)
		s := startSearch(t, folder, []string{hangsLate}, slices.Concat(interruptedSearch, outputs(folder))...)
		s.read(5)
		s.signal(syscall.SIGHUP)
		s.await("interrupted; stopping")
		s.signal(syscall.SIGHUP)
		if ended := s.end(); ended.status != ui.StatusInterrupted || len(keptIn(t, folder, "r.csv")) == 0 {
			t.Errorf("exit status %d (%v)\n%s", ended.status, ended.signal, ended.notes)
		}
	})
	t.Run("under nohup", func(t *testing.T) {
		t.Parallel()
		folder := specFolder(t)
		arguments := slices.Concat(interruptedSearch, outputs(folder), []string{"--device", needDevice(t).Selector})
		s := startCommand(t, folder, nil, exec.Command("nohup", append([]string{"ndtune"}, arguments...)...))
		s.read(2)
		s.signal(syscall.SIGHUP)
		s.end().complete(t, folder, 0)
	})
}

// TestInterruptedWhileMeasuringTheBest interrupts when all results are there: whether that
// is before, within or after the final measurement, nothing is lost.
func TestInterruptedWhileMeasuringTheBest(t *testing.T) {
	t.Parallel()
	needDevice(t)
	folder := specFolder(t)
	ended := searchUntil(t, folder, interruptedTotal+1, syscall.SIGINT, outputs(folder)...)
	if ended.status != ui.StatusInterrupted && ended.status != 0 {
		t.Fatalf("exit status %d (%v)\n%s", ended.status, ended.signal, ended.notes)
	}
	if !strings.Contains(ended.out, "\nbest performing configuration: ") {
		t.Errorf("no best:\n%s", ended.out)
	}
	searchUntil(t, folder, -1, 0, outputs(folder)...).complete(t, folder, interruptedTotal)
}

// TestTwoSearchesOneLog starts a search on a log that another one writes to: it is refused,
// and the other goes on.
func TestTwoSearchesOneLog(t *testing.T) {
	t.Parallel()
	needDevice(t)
	folder := specFolder(t)
	waits := standin.FaultsVariable + "=add waits 300 when block_size_x == 128 first 1"
	first := startSearch(t, folder, []string{waits}, slices.Concat(interruptedSearch, outputs(folder))...)
	first.read(1) // «Using:», after which it holds the log
	// It stands still until it is told to go on, so that it cannot end before the second.
	first.signal(syscall.SIGSTOP)
	second := searchUntil(t, folder, -1, 0, outputs(folder)...)
	first.signal(syscall.SIGCONT)
	if second.status == 0 || second.out != "" || !strings.Contains(second.notes, "another run is writing to it") {
		t.Errorf("exit status %d\n%s%s", second.status, second.out, second.notes)
	}
	first.end().complete(t, folder, 0)
}
