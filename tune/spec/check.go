package spec

import (
	"errors"
	"slices"

	"github.com/ndtune/ndtune/tune/problem"
)

// check makes the problem of a definition and gives what is wrong with it its place in the
// file. A field whose form is wrong is not judged a second time, and nothing is where names
// that expressions need are missing.
func (d *document) check(definition problem.Definition) *problem.Problem {
	if d.failed("constants") || d.failed("parameters") || d.failedOptions() {
		return nil
	}
	problem, err := problem.New(definition)
	var errs []*Error // judged by the errors of form alone
	for _, e := range leaves(err) {
		name, e := fieldOf(e)
		if _, ok := d.option(name); ok || !d.doubtful(name) {
			errs = append(errs, d.placed(name, e))
		}
	}
	d.errs = append(d.errs, errs...)
	return problem
}

// A placer gives what is wrong with a field of the definition its place: the option that
// gives the field its value, or the field in the file.
type placer func(field string, err error) *Error

// placed is a placer.
func (d *document) placed(name string, err error) *Error {
	if option, ok := d.option(name); ok {
		return d.errorAt(option, position{}, err)
	}
	return d.errorAt(name, d.locate(name), err)
}

// fieldOf is the field that an error of a problem is about, and what is wrong with it.
func fieldOf(err error) (string, error) {
	var at *problem.FieldError
	if errors.As(err, &at) {
		return at.Field, at.Err
	}
	return "", err
}

// doubtful reports whether what is wrong with a field may follow from an error of form: one
// in the field, in what holds it, or, where the field is missing, beside it.
func (d *document) doubtful(name string) bool {
	if _, present := d.at[name]; !present && outer(name) != "" && d.within[outer(name)] {
		return true
	}
	for field := name; field != ""; field = outer(field) {
		if d.meant[field] || d.wrong[field] {
			return true
		}
	}
	return d.wrong[""] || d.within[name]
}

// option is the option that gives a field its value.
func (d *document) option(field string) (string, bool) {
	for ; field != ""; field = outer(field) {
		if option, ok := d.given[field]; ok {
			return option, true
		}
	}
	return "", false
}

func (d *document) failedOptions() bool {
	return slices.ContainsFunc(d.errs, func(e *Error) bool { return e.Line == 0 })
}

// leaves are the errors that were joined.
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
