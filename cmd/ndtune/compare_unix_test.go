//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestInterruptedComparison interrupts while the second of two devices is tuned, and again while
// the bests run on the first: what is known then is printed, and the same command goes on.
func TestInterruptedComparison(t *testing.T) {
	d := needDevice(t)
	if d.Platform != "Portable Computing Language" {
		t.Skip("PoCL alone has as many devices as it is told")
	}
	platform, _, _ := strings.Cut(d.Selector, ":")
	folder := t.TempDir()
	if err := copySpecs(folder); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(folder, "gone")
	// compare runs the command, and interrupts it where its notes have a line like this.
	compare := func(until string, flags ...string) (out, notes string, status int) {
		t.Helper()
		c := exec.Command("ndtune", append([]string{"compare", "add.yaml", "--devices", platform + ":0," + platform + ":1", "--log", "r.jsonl"}, flags...)...)
		c.Dir, c.Env = folder, append(programEnvironment(folder), "POCL_DEVICES=basic pthread")
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var stdout, read bytes.Buffer
		c.Stdout = &stdout
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines, line := bufio.NewReader(io.TeeReader(stderr, &read)), ""
		for at := regexp.MustCompile(until); err == nil; {
			if line, err = lines.ReadString('\n'); until != "" && at.MatchString(strings.TrimSpace(line)) {
				if err := os.RemoveAll(gone); err != nil { // with what an output was to be written into
					t.Error(err)
				}
				if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
					t.Error(err)
				}
				_, err = io.Copy(io.Discard, lines)
				break
			}
		}
		if err != nil && err != io.EOF {
			t.Error(err)
		}
		err = c.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if trace := stackTrace(read.String()); trace != "" {
			t.Fatalf("it crashed: %s", trace)
		}
		return stdout.String(), read.String(), c.ProcessState.ExitCode()
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
	_, notes, status := compare(`^Tuning on .*, 2 of 2$`, "-o", "gone/out.json")
	if status != statusFailed {
		t.Errorf("an output that cannot be written: status %d", status)
	}
	check("stderr", notes, `^ndtune: write the comparison to gone/out\.json: `)

	out, notes, status := compare(`^Tuning on .*, 2 of 2$`)
	if status != statusInterrupted {
		t.Errorf("status %d", status)
	}
	check("stdout", out, `^  A  basic-.*  9 of 9  block_size_x=\d+, per_item=\d$`, `^  best of A  1\.000× +\?$`, `^no best over all: only A has a best configuration$`)
	check("stderr", notes, `^run logs: r\.basic-.* \(the same command with --log r\.jsonl goes on from there\)$`)

	out, notes, status = compare(`^Running .*, 1 of 2: `)
	if status != statusInterrupted {
		t.Errorf("status %d", status)
	}
	check("stdout", out, `^  B  pthread-.*  9 of 9  block_size_x=\d+, per_item=\d$`, `^the best over all: block_size_x=\d+`)
	check("stderr", notes, `9 from the log, 0 evaluated now`)

	out, notes, status = compare("")
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
