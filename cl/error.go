package cl

import (
	"errors"
	"strings"
)

// ErrReleased says that an object was used after its Release, or that it never was one
// (nil, or not made by this package).
var ErrReleased = errors.New("released object")

// ErrMissingFunction says that the OpenCL library or platform lacks a function, mostly
// because it is older than the function.
var ErrMissingFunction = errors.New("missing function")

// Error is the failure of one OpenCL call. errors.Is matches it with its Status and with
// everything that Err matches.
type Error struct {
	Call   string // the OpenCL function, such as clEnqueueNDRangeKernel
	Detail string // what it was about, or why this package refused; may be empty
	Status Status // what OpenCL returned, or would have
	Err    error  // the cause beyond the status: ErrReleased, ErrMissingFunction, or nil
}

// Error returns "call: detail: status".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Call)
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	b.WriteString(": ")
	b.WriteString(e.Status.String())
	return b.String()
}

// Unwrap returns the Status.
func (e *Error) Unwrap() error { return e.Status }

// Is matches the cause; the status is matched through Unwrap.
func (e *Error) Is(target error) bool { return e.Err != nil && errors.Is(e.Err, target) }

// about adds what the call was about to an error of this package.
func about(err error, detail string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	more := *e
	if more.Detail != "" {
		detail += ": " + more.Detail
	}
	more.Detail = detail
	return &more
}

// refuse is the error of an argument that would not be safe, or not make sense, to hand on.
func refuse(call string, status Status, reason string) error {
	return &Error{Call: call, Detail: reason, Status: status}
}
