//go:build unix

package main

import (
	"errors"
	"os"
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
	if printed := interrupted(t, "simulate", cache, "--strategy", "random_sample", "--repeats", "1000000000"); printed != "" {
		t.Errorf("it printed %s", printed)
	}
}

// TestListingEndsOnInterrupt lists more configurations than anyone waits for.
func TestListingEndsOnInterrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vast.json")
	list := `"Type": "int", "Values": "list(range(60000))"}`
	text := `{"ConfigurationSpace": {"TuningParameters": [{"Name": "a", ` + list + `, {"Name": "b", ` + list + `, {"Name": "c", ` + list + `]}}`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if printed := interrupted(t, "space", path, "--limit", "-1"); !strings.HasPrefix(printed, "configurations: 216000000000000 of ") {
		t.Errorf("it printed %.200s", printed)
	}
}

// interrupted starts a command that runs for hours, interrupts it, and returns what it has
// printed once it has ended.
func interrupted(t *testing.T, arguments ...string) string {
	t.Helper()
	c := exec.Command("ndtune", arguments...)
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
	return stdout.String()
}
