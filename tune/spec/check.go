package spec

import (
	"errors"
	"slices"

	"github.com/ndtune/ndtune/tune"
)

// check makes the problem of a definition and gives what is wrong with it its place in the
// file. A field whose form is wrong is not judged a second time, and nothing is where names
// that expressions need are missing.
func (d *document) check(definition tune.Definition) *tune.Problem {
	if d.failed("constants") || d.failed("parameters") || d.failedOptions() {
		return nil
	}
	problem, err := tune.NewProblem(definition)
	form := slices.Clone(d.errs)
	for _, e := range leaves(err) {
		name := ""
		var at *tune.FieldError
		if errors.As(e, &at) {
			name, e = at.Field, at.Err
		}
		known := slices.ContainsFunc(form, func(f *Error) bool {
			return within(name, f.Field) || within(f.Field, name)
		})
		if !known {
			d.failAt(name, d.locate(name), e)
		}
	}
	return problem
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
