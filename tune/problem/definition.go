package problem

import (
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/tune/task"
)

// fieldErrors collects the faults of a definition.
type fieldErrors struct{ errs []error }

func (f *fieldErrors) add(field string, err error) {
	if err != nil {
		f.errs = append(f.errs, &task.FieldError{Field: field, Err: err})
	}
}

func (f *fieldErrors) addf(field, format string, args ...any) {
	f.add(field, fmt.Errorf(format, args...))
}

func (f *fieldErrors) err() error { return errors.Join(f.errs...) }
