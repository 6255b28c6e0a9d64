//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(script string) Command {
	return Command{Args: []string{"sh", "-c", script}, Timeout: time.Hour, Output: 10}
}

func TestCommandsAnswerByTheirStatusAndOutput(t *testing.T) {
	folder := t.TempDir()
	for script, want := range map[string]Ended{
		"printf $NDTUNE_TEST_GIVEN":    {Stdout: "given"},
		"cat; exit 3":                  {Status: 3, Stdout: "input", How: "with exit status 3"},
		"echo why >&2; exit 1":         {Status: 1, Stderr: "why\n", How: "with exit status 1; it printed last: why"},
		"printf 12345678901":           {Stdout: "1234567890", More: true},
		"printf '\\377'":               {Stdout: "\xff"},
		"printf '\\377' >&2":           {Stderr: "\uFFFD"},
		"test \"$(pwd)\" = " + folder:  {},
		"yes | head -c 1000000":        {Stdout: "y\ny\ny\ny\ny\n", More: true},
		"yes | head -c 1000000 >&2":    {Stderr: strings.Repeat("y\n", maxErrors/2)},
		"sleep 1000 >&- 2>&- <&- & :;": {},
	} {
		c := shell(script)
		c.Dir, c.Input, c.Env = folder, []byte("input"), []string{"NDTUNE_TEST_GIVEN=given"}
		if got, err := c.Run(t.Context()); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", script, got, err, want)
		}
	}
}

func TestCommandsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		command Command
		want    string
	}{
		"missing": {Command{Args: []string{"./no/such"}, Timeout: time.Hour}, "run ./no/such: fork/exec ./no/such: no such file or directory"},
		"killed":  {shell("kill -9 $$"), "signal: killed"},
		"late":    {Command{Args: []string{"sleep", "1000"}, Timeout: time.Millisecond}, "run sleep 1000: it took longer than 1ms"},
	} {
		if _, err := c.command.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestACommandIsKilledWithAllThatItStarted cancels a command whose own child waits too, and ends only when
// that child has ended: it holds a pipe open.
func TestACommandIsKilledWithAllThatItStarted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := shell("(echo here; exec sleep 1000) >" + pipe + " & wait").Run(ctx)
		done <- err
	}()
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begin := make([]byte, 5)
	if _, err := f.Read(begin); err != nil || string(begin) != "here\n" {
		t.Fatalf("%q %v", begin, err)
	}
	cancel()
	if n, err := f.Read(begin); n != 0 { // returns when nobody holds the other end any more
		t.Errorf("%q %v", begin[:n], err)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
