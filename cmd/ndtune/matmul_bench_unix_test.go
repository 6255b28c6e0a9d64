//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBenchInterrupted sends a signal, as a terminal does, to all processes of a comparison that
// would take minutes, when the sweep begins. It ends with status 130; what was measured is
// printed and written, and where nothing was, nothing is.
func TestBenchInterrupted(t *testing.T) {
	d := needDevice(t)
	folder := t.TempDir()
	tuned := filepath.Join(folder, "naive.jsonl")
	command := func(arguments ...string) *exec.Cmd {
		c := exec.Command("ndtune", append(append([]string{"matmul"}, arguments...), "--kernel", "naive", "--device", d.Selector)...)
		c.Dir, c.Env = folder, append(programEnvironment(folder), mark+folder)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return c
	}
	if out, err := command("tune", "--size", "16", "--max-evals", "1", "--log", tuned).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	c := command("bench", "--tuned", tuned, "--sizes", "16,4096", "--cpu-limit", "1h", "--time-limit", "1h", "-o", "x.csv")
	var out bytes.Buffer
	c.Stdout = &out
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	sent := false
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		notes.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "cuBLAS") && !sent { // the last of those that are opened
			sent = true
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	_ = c.Wait() // its status is looked at below
	if status := c.ProcessState.ExitCode(); status != statusInterrupted || stackTrace(notes.String()) != "" {
		t.Errorf("status %d\n%s%s", status, out.String(), notes.String())
	}
	written, err := os.ReadFile(filepath.Join(folder, "x.csv"))
	printed := strings.Contains(out.String(), "\nmultiplication alone\n")
	if printed != (err == nil) || printed != strings.Contains(notes.String(), "results: x.csv") {
		t.Errorf("printed: %v; written: %v\n%s%s", printed, err, out.String(), notes.String())
	}
	if printed && !bytes.Contains(written, []byte(",interrupted\n")) {
		t.Errorf("nothing was interrupted:\n%s", written)
	}
	if left := endProcessesOf(folder); len(left) > 0 {
		t.Errorf("processes are left: %s", strings.Join(left, "; "))
	}
}
