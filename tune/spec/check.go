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
		switch option, ok := d.option(name); {
		case ok:
			d.failAt(option, position{}, e)
		case !d.doubtful(name, form):
			d.failAt(name, d.locate(name), e)
		}
	}
	return problem
}

// doubtful reports whether what is wrong with a field may follow from an error of form: one
// in the field, in what holds it, or, where the field is missing, beside it.
func (d *document) doubtful(name string, form Errors) bool {
	_, present := d.at[name]
	for field := name; field != ""; field = outer(field) {
		if d.meant[field] {
			return true
		}
	}
	return slices.ContainsFunc(form, func(f *Error) bool {
		return within(name, f.Field) || within(f.Field, name) ||
			!present && outer(name) != "" && within(f.Field, outer(name))
	})
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
