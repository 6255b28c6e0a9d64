package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/scaffold"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// A ProgramError says that the program of the user failed, which has been reported. Its status is that of the command.
type ProgramError struct {
	Program, Cause string
	Status         int
}

func (e *ProgramError) Error() string { return fmt.Sprintf("%s ended %s", e.Program, e.Cause) }

func (e *ProgramError) Unwrap() error { return ErrReported }

// The exit statuses beside 0. Each has one meaning in all commands.
const (
	statusIncorrect   = 1 // the command came to its end: no configuration is correct, or the kernel has faults
	StatusUsage       = 2 // the command line or an input is wrong
	StatusStuck       = 3 // the command could not go on
	StatusInterrupted = 130
)

// ErrReported ends a command that could not go on and has reported why. A command that a signal stopped ends
// with context.Canceled.
var ErrReported = errors.New("failed")

// ErrIncorrect ends a command that has reported that no configuration is correct, or faults of the kernel.
var ErrIncorrect = fmt.Errorf("not correct: %w", ErrReported)

// A usageError says that the command line is wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// Usage makes an error one of the command line.
func Usage(err error) error { return &usageError{err} }

// Wrong returns a usageError.
func Wrong(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// has reports whether an error is, or wraps, one of a type.
func has[T error](err error) bool {
	_, is := errors.AsType[T](err)
	return is
}

// IsUsage reports whether an error says that the command line is wrong.
func IsUsage(err error) bool { return has[*usageError](err) || has[*session.OptionError](err) }

// IsSpaceError reports whether the restrictions of a specification leave no configuration or
// cannot be computed.
func IsSpaceError(err error) bool {
	return has[*space.EmptyError](err) || has[*space.RestrictionError](err)
}

// IsCancelled reports whether all parts of an error say that the context was cancelled.
func IsCancelled(err error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(part error) bool { return !IsCancelled(part) })
	case interface{ Unwrap() error }:
		return IsCancelled(e.Unwrap())
	}
	return err == context.Canceled
}

// ExitStatus returns the exit status of the process for an error of a command. Interrupted says that a signal has stopped the command:
// without one, a cancelled context is a failure like any other.
func ExitStatus(err error, interrupted bool) int {
	switch {
	case err == nil:
		return 0
	case interrupted && IsCancelled(err):
		return StatusInterrupted
	case IsUsage(err), IsSpaceError(err), has[spec.Errors](err), has[*spec.Error](err), has[*device.SelectionError](err), has[*definition.FieldError](err),
		has[*scaffold.SourceError](err), has[*session.SettingsError](err), has[*observe.WindowError](err):
		return StatusUsage
	case errors.Is(err, ErrIncorrect):
		return statusIncorrect
	case has[*ProgramError](err):
		program, _ := errors.AsType[*ProgramError](err)
		return program.Status
	}
	return StatusStuck
}

// Joined joins the errors of several parts of a command. An interruption, and an error that was
// reported already, count only if nothing else failed.
func Joined(errs []error) error {
	var failed, interrupted, reported, incorrect error
	for _, err := range errs {
		switch {
		case IsCancelled(err):
			interrupted = err
		case errors.Is(err, ErrIncorrect):
			incorrect = err
		case errors.Is(err, ErrReported):
			reported = err
		default:
			failed = errors.Join(failed, err)
		}
	}
	return cmp.Or(failed, interrupted, reported, incorrect)
}
