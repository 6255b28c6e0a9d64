package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Error is one thing that is wrong with a specification, and where.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 where the error has no place in the file
	Field        string // a path such as «restrictions[1]»; may be empty
	Err          error
}

// Error is the form of compilers: «diffuse.yaml:12:5: restrictions[1]: what is wrong».
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Errors are all errors of a specification: by file, that of the specification first, and
// by line.
type Errors []*Error

// maxShown is how many errors a message lists.
const maxShown = 10

// Error lists the first ten, one a line, and says how many more there are.
func (e Errors) Error() string {
	var lines []string
	for i, err := range e {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(e)-maxShown))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives every error to errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// sortErrors orders the errors of a file by their place. Errors without one come last.
func sortErrors(errs Errors) {
	slices.SortStableFunc(errs, func(a, b *Error) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
