package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// A Command is a program of the user's that runs to its end.
type Command struct {
	Args    []string // the program first
	Path    string   // of the program; "": it is found by its name
	Dir     string   // working folder; "": that of this process
	Env     []string // variables, NAME=VALUE, beside those of this process
	Input   []byte   // its standard input
	Timeout time.Duration
	Output  int // most bytes of standard output that are kept
}

// An Ended command has its exit status, the bytes at the beginning of its standard output, and the end of its
// standard error as UTF-8. More says that standard output was longer. If the status is not 0, How completes a sentence such as
// «it ended …», as [End.Explain] does.
type Ended struct {
	Status         int
	Stdout, Stderr string
	More           bool
	How            string
}

// inChild is set in a child of a [Host]: its process group is killed with it, and frozen with it.
var inChild atomic.Bool

// maxErrors is how many bytes of a command's standard error are kept.
const maxErrors = 2000

// Run runs the command. When its time is over or the context ends, it is killed. The processes that it has
// started are killed when it ends or, in a child of a [Host], when the child ends. Time in which the child
// is frozen does not count.
//
// It is an error if the command cannot be started, which is a [StartError], takes too long, which is
// [ErrLate], or is ended by a signal.
func (c Command) Run(ctx context.Context) (Ended, error) {
	fail := func(format string, args ...any) (Ended, error) {
		return Ended{}, fmt.Errorf("run %s: %w", strings.Join(c.Args, " "), fmt.Errorf(format, args...))
	}
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	command := exec.CommandContext(limited, c.Args[0], c.Args[1:]...)
	stdout, stderr := &head{most: c.Output}, &printed{}
	command.Dir, command.Stdin, command.Stdout, command.Stderr = c.Dir, bytes.NewReader(c.Input), stdout, stderr
	command.WaitDelay = holdTime
	if c.Path != "" {
		command.Path, command.Err = c.Path, nil
	}
	if len(c.Env) > 0 {
		command.Env = append(os.Environ(), c.Env...)
	}
	command.Cancel = func() error { killProgram(command); return nil }
	if err := startProgram(command); err != nil {
		return fail("%w", &StartError{err})
	}
	go limit(limited, c.Timeout, stop)
	err := command.Wait()
	killProgram(command)
	switch cause := context.Cause(limited); {
	case ctx.Err() != nil:
		return Ended{}, ctx.Err()
	case cause != nil:
		return fail("%w %s", ErrLate, c.Timeout)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay) && command.ProcessState.ExitCode() < 0:
		return fail("%w", err)
	}
	errorText := stderr.end()
	ended := Ended{
		Status: command.ProcessState.ExitCode(), Stdout: string(stdout.text), More: stdout.more,
		Stderr: strings.ToValidUTF8(errorText[max(0, len(errorText)-maxErrors):], "\uFFFD"),
	}
	if ended.Status != 0 {
		ended.How = (&End{State: command.ProcessState, Printed: errorText}).Explain("")
	}
	return ended, nil
}

// startProgram starts a program, which [killProgram] ends.
func startProgram(c *exec.Cmd) error {
	if !inChild.Load() {
		isolate(c)
	}
	return startKept(c)
}

// killProgram kills a program and the processes that it has started. In a child of a [Host], these are killed when
// the child ends. The program may have ended: as long as any of the others runs, no process gets the number of their group.
func killProgram(c *exec.Cmd) {
	if inChild.Load() {
		_ = c.Process.Kill()
	} else {
		killGroup(c)
	}
}

// ErrLate is the error of a command that did not end within its time.
var ErrLate = errors.New("it took longer than")

// A StartError says why a command could not be started.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// limit stops a context after some time. A ticker leaves out the ticks for which nobody was ready: while
// this process is frozen, no time passes.
func limit(ctx context.Context, after time.Duration, stop context.CancelCauseFunc) {
	const step = 100 * time.Millisecond
	ticker := time.NewTicker(min(step, after))
	defer ticker.Stop()
	for passed := time.Duration(0); passed < after; passed += step {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
	stop(ErrLate)
}

// head keeps the beginning of what is written.
type head struct {
	most int
	text []byte
	more bool
}

func (h *head) Write(b []byte) (int, error) {
	n := min(len(b), h.most-len(h.text))
	h.text, h.more = append(h.text, b[:n]...), h.more || n < len(b)
	return len(b), nil
}
