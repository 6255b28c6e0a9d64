package problem

import (
	"errors"
	"fmt"
)

// A FieldError says which field of a definition is wrong. Field is a path in the words of
// a specification file: «restrictions[2]», «arguments[0].size».
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// fieldErrors gathers everything that is wrong with a definition.
type fieldErrors struct{ errs []error }

func (f *fieldErrors) add(field string, err error) {
	if err != nil {
		f.errs = append(f.errs, &FieldError{field, err})
	}
}

func (f *fieldErrors) addf(field, format string, args ...any) {
	f.add(field, fmt.Errorf(format, args...))
}

func (f *fieldErrors) err() error { return errors.Join(f.errs...) }
