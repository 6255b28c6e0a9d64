package main

import (
	"context"
	"errors"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/spec"
)

// The exit statuses beside 0.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130
)

var (
	// errInterrupted ends a command that a signal stopped after all was kept.
	errInterrupted = errors.New("interrupted")
	// errReported ends a command that has already said what failed.
	errReported = errors.New("failed")
)

// A usageError says that the command line is wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// exitStatus is what the process ends with for an error of a command.
func exitStatus(err error) int {
	var usage *usageError
	var specification spec.Errors
	var place *spec.Error
	var selection *device.SelectionError
	var field *tune.FieldError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return statusInterrupted
	case errors.As(err, &usage), errors.As(err, &specification), errors.As(err, &place),
		errors.As(err, &selection), errors.As(err, &field), isSpaceError(err):
		return statusUsage
	}
	return statusFailed
}
