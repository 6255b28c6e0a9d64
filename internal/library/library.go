// Package library opens shared libraries at run time and calls their functions, without cgo.
package library

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// A Library is an open shared library. It stays open until the process ends.
type Library struct {
	Path string // or the name by which the system's linker found it

	// StatusText is the name of the library's function that returns the text of a status; "": there is none.
	StatusText string

	handle uintptr
}

// Open opens a library: a path, or a name that the system's linker finds.
func Open(path string) (*Library, error) {
	handle, err := open(path)
	if err != nil {
		return nil, err
	}
	return &Library{Path: path, handle: handle}, nil
}

// Find returns the address of a function, or 0 if the library lacks it.
func (l *Library) Find(function string) uintptr { return lookup(l.handle, function) }

// Bind sets a variable of a function type, to which to points, to a function of the library.
func (l *Library) Bind(to any, function string) error {
	address := l.Find(function)
	if address == 0 {
		return l.missing(function)
	}
	purego.RegisterFunc(to, address)
	return nil
}

func (l *Library) missing(function string) error {
	return fmt.Errorf("%s has no function %s", l.Path, function)
}

// Call calls a function of the library. Its arguments are integers and pointers, and it returns a
// status, of which 0 is success. The error is a [StatusError], unless the library lacks the function.
//
// The directive makes the compiler allocate the variables that arguments point to on the heap, where they do not move, and keep
// them alive until the call returns. It applies to pointers that are converted in the argument list itself:
// l.Call(name, uintptr(unsafe.Pointer(p))).
//
//go:uintptrescapes
func (l *Library) Call(function string, arguments ...uintptr) error {
	address := l.Find(function)
	if address == 0 {
		return l.missing(function)
	}
	result, _, _ := purego.SyscallN(address, arguments...)
	return l.Check(function, int32(result))
}

// Check returns the error of a status that a function returned, or nil.
func (l *Library) Check(function string, status int32) error {
	if status == 0 {
		return nil
	}
	e := &StatusError{Function: function, Path: l.Path, Status: status}
	var text func(status int32) string
	if l.StatusText != "" && l.Bind(&text, l.StatusText) == nil {
		e.Text = text(status)
	}
	return e
}

// A StatusError says that a function of a library failed.
type StatusError struct {
	Function, Path string
	Status         int32
	Text           string // of the status, by the library; may be empty
}

func (e *StatusError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s of %s: status %d", e.Function, e.Path, e.Status)
	}
	return fmt.Sprintf("%s of %s: %s (%d)", e.Function, e.Path, e.Text, e.Status)
}

// CString returns a text as C has it.
func CString(text string) *byte { return &append([]byte(text), 0)[0] }
