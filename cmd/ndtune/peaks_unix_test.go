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
	"strings"
	"syscall"
	"testing"
)

const peakedSpec = `kernel: {name: move, source: "__kernel void move(__global float *out, __global const float *in) { out[get_global_id(0)] = in[get_global_id(0)]; }"}
problem_size: 4096
arguments:
  - {name: out, type: float32, size: 4096, output: true}
  - {name: in, type: float32, size: 4096, fill: random}
parameters: {block_size_x: [32, 64]}
roofline: {bytes: 8 * 4096}
`

// Ctrl-C while peaks are measured ends that; the search has its result.
func TestCtrlCDuringPeaksKeepsTheResult(t *testing.T) {
	d := needDevice(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "move.yaml"), []byte(peakedSpec), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("ndtune", "tune", "move.yaml", "--device", d.Selector, "--log", "log.jsonl", "-o", "o.csv")
	c.Dir = folder
	c.Env = append(programEnvironment(folder), "NDTUNE_NO_PEAK=")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	c.Stdout = &out
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(stderr)
	notes := ""
	for !strings.Contains(notes, "\nMeasuring what the limit needs") {
		line, err := in.ReadString('\n')
		if notes += line; err != nil {
			t.Fatalf("no peaks were measured: %v\n%s", err, notes)
		}
	}
	if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	notes += string(rest)
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("%v, want the exit status 130", err)
	}
	if !strings.Contains(out.String(), "\nbest performing configuration: block_size_x=") || !strings.Contains(notes, "Interrupted: no % of limit\n") {
		t.Errorf("printed\n%s\nand\n%s", out.String(), notes)
	}
	for name, want := range map[string]int{"o.csv": 3, "log.jsonl": 5} { // header, results; in the log two of the final measurement
		text, err := os.ReadFile(filepath.Join(folder, name))
		if n := strings.Count(string(text), "\n"); err != nil || n != want || strings.Contains(string(text), "% of limit") {
			t.Errorf("%s: %v, %d lines\n%s", name, err, n, text)
		}
	}
}
