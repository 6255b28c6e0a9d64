//go:build unix

package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSimulateEndsOnInterrupt begins a simulation of hours and interrupts it.
func TestSimulateEndsOnInterrupt(t *testing.T) {
	cache := filepath.Join("..", "..", "tune", "record", "testdata", "small_cache.json")
	c := exec.Command("ndtune", "simulate", cache, "--strategy", "random_sample", "--repeats", "1000000000")
	c.Env = programEnvironment(t.TempDir())
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill() }()
	time.Sleep(time.Second)
	began := time.Now()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != statusInterrupted {
		t.Errorf("%v, want exit status %d: %s", err, statusInterrupted, stderr.String())
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it ended %s after the interrupt", took)
	}
	if stdout.Len() > 0 {
		t.Errorf("it printed %s", stdout.String())
	}
}
