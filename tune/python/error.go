package python

import (
	"fmt"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// An Error says what is wrong with an expression, and where in it.
type Error struct {
	Source  string
	Column  int // from 1, in characters
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("in %q, column %d: %s", excerpt.Around(e.Source, e.Column), e.Column, e.Message)
}

// failure carries an error out of the recursion of a parser or a translation.
// It never leaves the package: see catch.
type failure struct {
	column  int // 0: the whole expression
	message string
	cause   error // of a function of package expression; else nil
}

// failf ends what is being done with an error at a column.
func failf(column int, format string, args ...any) {
	panic(failure{column, fmt.Sprintf(format, args...), nil})
}

// catch turns a failure into the error of a source. It is deferred.
func catch(source string, err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = &Error{source, max(1, f.column), f.message}
	default:
		panic(f)
	}
}
