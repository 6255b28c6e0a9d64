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
)

// TestSimulateEndsOnInterrupt begins a simulation of hours and interrupts it. That two records
// are the same is said when it begins.
func TestSimulateEndsOnInterrupt(t *testing.T) {
	cache := filepath.Join("..", "..", "tune", "record", "testdata", "small_cache.json")
	twin := filepath.Join(t.TempDir(), "twin.json")
	if record, err := os.ReadFile(cache); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(twin, record, 0o666); err != nil {
		t.Fatal(err)
	}
	if printed := interrupted(t, "simulate", cache, twin, "--strategy", "random_sample", "--repeats", "1000000000"); printed != "" {
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

// interrupted starts a command that runs for hours, interrupts it when it has written anything,
// and returns its stdout when it has ended.
func interrupted(t *testing.T, arguments ...string) string {
	t.Helper()
	c := exec.Command("ndtune", arguments...)
	c.Env = programEnvironment(t.TempDir())
	begun := make(chan bool, 1)
	stdout, stderr := noticed{begun: begun}, noticed{begun: begun}
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill() }()
	<-begun
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != statusInterrupted {
		t.Errorf("%v, want exit status %d: %s", err, statusInterrupted, stderr.String())
	}
	return stdout.String()
}

// A noticed keeps what is written to it and tells that there is something.
type noticed struct {
	strings.Builder
	begun chan<- bool
}

func (n *noticed) Write(b []byte) (int, error) {
	select {
	case n.begun <- true:
	default:
	}
	return n.Builder.Write(b)
}
