package spec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
)

// An Error is an error of a specification with its position.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 if the error has no position in the file
	Field        string // a path such as restrictions[1]; may be empty
	Err          error
}

// Error has the form of compilers' errors, such as
// diffuse.yaml:12:5: restrictions[1]: the text of the error.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if e.Line > 0 && e.Column > 0 {
		text += fmt.Sprintf(":%d", e.Column)
	}
	text += ": "
	if e.Field != "" {
		text += e.Field + ": "
	}
	return text + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errors are all errors of a specification, ordered by file, the specification first, and line.
type Errors []*Error

// maxShown is the number of errors that a message lists.
const maxShown = 10

// Error lists the first ten, one on each line, and the number of the others. One line has all values of a file that are still to be decided.
func (e Errors) Error() string {
	var open, others Errors
	for _, err := range e {
		if errors.Is(err, errUndecided) && (len(open) == 0 || err.File == open[0].File) {
			open = append(open, err)
		} else {
			others = append(others, err)
		}
	}
	var lines []string
	if len(open) > 1 {
		places := each.Of(open, func(err *Error) string { return fmt.Sprintf("%s (line %d)", err.Field, err.Line) })
		lines, e = []string{fmt.Sprintf("%s: %v: %s", open[0].File, errUndecided, strings.Join(places, ", "))}, others
	}
	lines = append(lines, each.Of(e[:min(len(e), maxShown)], (*Error).Error)...)
	if more := len(e) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns every error, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	return each.Of(e, func(err *Error) error { return err })
}

// sortErrors sorts the errors of a file by position. Errors without one come last.
func sortErrors(errs Errors) {
	slices.SortStableFunc(errs, func(a, b *Error) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// check makes the problem of a definition, and adds its errors with their positions in the file.
// It leaves out errors that may follow from errors of form, and checks nothing if names that
// expressions need are missing.
func (d *document) check(given definition.Definition) *problem.Problem {
	if d.failed("constants") || d.failed("parameters") || d.failedOptions() {
		return nil
	}
	problem, err := problem.New(given)
	var errs []*Error // apart, since doubtful looks at the errors of form alone
	for _, e := range leaves(err) {
		name, e := fieldOf(e)
		if _, ok := d.option(name); ok || !d.doubtful(name) {
			errs = append(errs, d.placed(name, e))
		}
	}
	d.errs = append(d.errs, errs...)
	return problem
}

// placed gives an error of a field of the definition its position. The error is about the option that gives the field its value, or else about
// the field in the file.
func (d *document) placed(name string, err error) *Error {
	if option, ok := d.option(name); ok {
		return d.errorAt(option, position{}, err)
	}
	return d.errorAt(name, d.locate(name), err)
}

// fieldOf returns the field that an error of a problem is about, and the error without it.
func fieldOf(err error) (string, error) {
	if at, is := errors.AsType[*definition.FieldError](err); is {
		return at.Field, at.Err
	}
	return "", err
}

// doubtful reports whether an error of a field may follow from an error of form: one in the field,
// in a field that holds it or, if the field is missing, beside it.
func (d *document) doubtful(name string) bool {
	if _, present := d.at[name]; !present && outer(name) != "" && d.failed(outer(name)) {
		return true
	}
	for field := name; field != ""; field = outer(field) {
		if d.faulty[field] {
			return true
		}
	}
	return d.faulty[""] || d.failed(name)
}

// option returns the option that gives a field its value.
func (d *document) option(field string) (string, bool) {
	for ; field != ""; field = outer(field) {
		if option, ok := d.options[field]; ok {
			return option, true
		}
	}
	return "", false
}

// failedOptions reports whether an option is wrong.
func (d *document) failedOptions() bool {
	return slices.ContainsFunc(d.errs, func(e *Error) bool { return e.Line == 0 })
}

// leaves returns the errors that were joined.
func leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}
