//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/standin"
)

// TestInterruptedComparison interrupts while the second of two devices is tuned, and again while
// the bests run on the first: what is known then is printed, and the same command goes on.
func TestInterruptedComparison(t *testing.T) {
	devices := standIns(t, "standin-cpu", "standin-gpu")
	folder := specFolder(t)
	gone := filepath.Join(folder, "gone")
	// compare runs the command. If a launch of it never ends, it is interrupted when its notes have a line like this.
	compare := func(until, endless string, flags ...string) (out, notes string, status int) {
		t.Helper()
		s := startProgram(t, folder, []string{devices, standin.FaultsVariable + "=" + endless},
			append([]string{"compare", "add.yaml", "--devices", "0:0,1:0", "--log", "r.jsonl"}, flags...)...)
		if until != "" {
			s.await(until)
			if err := os.RemoveAll(gone); err != nil { // the folder of an output
				t.Error(err)
			}
			s.signal(syscall.SIGINT)
		}
		ended := s.end()
		return ended.out, ended.notes, ended.status
	}
	check := func(what, text string, patterns ...string) {
		t.Helper()
		for _, p := range patterns {
			if !regexp.MustCompile("(?m)" + p).MatchString(text) {
				t.Errorf("no %q in %s:\n%s", p, what, text)
			}
		}
	}
	// An interrupted comparison that cannot write its output says so, and has failed.
	if err := os.Mkdir(gone, 0o777); err != nil {
		t.Fatal(err)
	}
	_, notes, status := compare(`^Tuning on .*, 2 of 2$`, "add hangs when device == 1 && block_size_x == 16", "-o", "gone/out.json")
	if status != ui.StatusStuck {
		t.Errorf("an output that cannot be written: status %d", status)
	}
	check("stderr", notes, `^ndtune: write the comparison to gone/out\.json: `)

	out, notes, status := compare(`^Tuning on .*, 2 of 2$`, "add hangs when device == 1 && block_size_x == 16")
	if status != ui.StatusInterrupted {
		t.Errorf("status %d", status)
	}
	check("stdout", out, `^  A  Stand-in CPU .*  9 of 9  block_size_x=\d+, per_item=\d$`, `^  best of A  1\.000× +\?$`, `^no best over all: only A has a best configuration$`)
	check("stderr", notes, `^run logs: r\.stand-in-cpu\.jsonl \(the same command with --log r\.jsonl continues the run\)$`)

	out, notes, status = compare(`^Running .*, 1 of 2: `, "add hangs when device == 0 && block_size_x == 32")
	if status != ui.StatusInterrupted {
		t.Errorf("status %d", status)
	}
	check("stdout", out, `^  B  Stand-in GPU .*  9 of 9  block_size_x=\d+, per_item=\d$`, `^the best over all: block_size_x=\d+`)
	check("stderr", notes, `9 from the log, 0 evaluated now`)

	out, notes, status = compare("", "")
	if status != 0 {
		t.Errorf("status %d", status)
	}
	check("stdout", out, `^the best over all: block_size_x=\d+`, `chosen of 9 configurations`)
	if strings.Contains(out, "~") || strings.Contains(out, "?") {
		t.Errorf("not all was measured in turn:\n%s", out)
	}
	if n := strings.Count(notes, "9 from the log, 0 evaluated now"); n != 2 {
		t.Errorf("%d devices were not tuned again:\n%s", n, notes)
	}
}
