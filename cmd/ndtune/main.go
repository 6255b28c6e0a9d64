// Command ndtune tunes OpenCL kernels: it builds the variants of a kernel that its tunable
// parameters span, checks their output, times them on an OpenCL device and says which is
// fastest.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune/check"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

// version is set when the program is built (see the Makefile).
var version string

func main() {
	worker.Main()
	check.Main()
	matmul.Main()
	os.Exit(run())
}

// run runs the program and returns its exit status.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), process.EndSignals()...)
	defer stop()
	// The first signal ends the run in order; the second one ends the process at once.
	notes := newNoteWriter(os.Stderr)
	said := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(said)
		signal.Ignore(syscall.SIGHUP) // a terminal that is closed may send more than one
		stop()
		fmt.Fprintln(notes, "\nndtune: interrupted; stopping (once more: at once)")
	})
	defer func() { // before stop, which would be taken for a signal
		if !forget() {
			<-said
		}
	}()

	out := &output{to: plainWriter{os.Stdout}, terminal: term.IsTerminal(int(os.Stdout.Fd()))}
	return execute(ctx, os.Args, os.Stdin, out, notes, nil)
}

// execute runs a command line and returns the exit status. Shared has the workers of all commands of this process; nil: this is
// the only one.
func execute(ctx context.Context, args []string, in io.Reader, out *output, notes io.Writer, shared *worker.Reserve) int {
	app := newApp()
	app.Reader, app.Writer, app.ErrWriter, app.Metadata = in, out, notes, map[string]any{sharedKey: shared}
	err := app.RunContext(ctx, flagsFirst(app, args))
	if err == nil && out.err != nil {
		err = fmt.Errorf("print the results: %w", out.err)
	}
	status := exitStatus(err, ctx.Err() != nil)
	stream := streamOf(app)
	if stream == nil && shared != nil {
		stream = newStream(out)
	}
	switch unreported := err != nil && !errors.Is(err, errReported) && status != statusInterrupted; {
	case unreported && stream != nil:
		stream.end.Error = err.Error()
	case unreported:
		fmt.Fprintln(app.ErrWriter, "ndtune: "+shortened(err.Error()))
	}
	if stream != nil {
		stream.end.Status = status
		stream.tell(stream.end)
	}
	return status
}

// await returns what a computation returns, or the error of ctx as soon as that is done: the computation is left alone then, so it must
// change nothing.
func await[T any](ctx context.Context, compute func() (T, error)) (made T, err error) {
	answer := make(chan func() (T, error), 1)
	go func() {
		made, err := compute()
		answer <- func() (T, error) { return made, err }
	}()
	select {
	case <-ctx.Done():
	case computed := <-answer:
		if ctx.Err() == nil {
			return computed()
		}
	}
	return made, ctx.Err()
}

// readRecord reads a record, until it is interrupted.
func readRecord(ctx context.Context, path string) (*record.Record, error) {
	return await(ctx, func() (*record.Record, error) { return record.Read(path) })
}

// The exit statuses beside 0. Each has one meaning in all commands.
const (
	statusIncorrect   = 1 // the command came to its end: no configuration is correct, or the kernel has faults
	statusUsage       = 2 // the command line or an input is wrong
	statusStuck       = 3 // the command could not go on
	statusInterrupted = 130
)

// errReported ends a command that could not go on and has reported why. A command that a signal stopped ends
// with context.Canceled.
var errReported = errors.New("failed")

// errIncorrect ends a command that has reported that no configuration is correct, or faults of the kernel.
var errIncorrect = fmt.Errorf("not correct: %w", errReported)

// A usageError says that the command line is wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// wrong returns a usageError.
func wrong(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// isUsage reports whether an error says that the command line is wrong.
func isUsage(err error) bool {
	var usage *usageError
	var option *session.OptionError
	return errors.As(err, &usage) || errors.As(err, &option)
}

// isSpaceError reports whether the restrictions of a specification leave no configuration or
// cannot be computed.
func isSpaceError(err error) bool {
	var empty *space.EmptyError
	var restriction *space.RestrictionError
	return errors.As(err, &empty) || errors.As(err, &restriction)
}

// isCancelled reports whether all parts of an error say that the context was cancelled.
func isCancelled(err error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(part error) bool { return !isCancelled(part) })
	case interface{ Unwrap() error }:
		return isCancelled(e.Unwrap())
	}
	return err == context.Canceled
}

// exitStatus returns the exit status of the process for an error of a command. Interrupted says that a signal has stopped the command:
// without one, a cancelled context is a failure like any other.
func exitStatus(err error, interrupted bool) int {
	var specification spec.Errors
	var place *spec.Error
	var selection *device.SelectionError
	var field *definition.FieldError
	var settings *session.SettingsError
	var window *observe.WindowError
	var program *programError
	switch {
	case err == nil:
		return 0
	case interrupted && isCancelled(err):
		return statusInterrupted
	case isUsage(err), isSpaceError(err), errors.As(err, &specification), errors.As(err, &place),
		errors.As(err, &selection), errors.As(err, &field), errors.As(err, &settings), errors.As(err, &window):
		return statusUsage
	case errors.Is(err, errIncorrect):
		return statusIncorrect
	case errors.As(err, &program):
		return program.status
	}
	return statusStuck
}

// An output receives the results. It keeps the first error, such as a full disk, so that callers
// that print need not check each write.
type output struct {
	to       io.Writer
	terminal bool
	err      error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}
