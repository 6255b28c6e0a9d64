package export

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/record"
)

// GiveSize gives a record the size of its problem; no expressions leave it as it is.
func GiveSize(r *record.Record, expressions []definition.Expr) error {
	if expressions == nil {
		return nil
	}
	size, err := problemSize(expressions, r.Header.Constants)
	switch own := r.Header.ProblemSize; {
	case err != nil:
		return err
	case len(own) > 0 && !slices.Equal(own, size):
		return fmt.Errorf("the record's size is %s, not %s", figure.Sizes(own), figure.Sizes(size))
	}
	r.Header.ProblemSize = size
	return nil
}

// SplitSize splits a text at the commas that are not within parentheses.
func SplitSize(text string) (all []definition.Expr) {
	start, depth := 0, 0
	for i, c := range text + "," {
		switch {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' && depth <= 0 && text != "":
			all = append(all, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return all
}

// problemSize returns the value of a problem size that is given for a record with some constants.
func problemSize(given []definition.Expr, constants []definition.Constant) (size []int, err error) {
	all, scope, err := compileSize(given, constants)
	for _, e := range all {
		n, failed := e.Int(scope)
		size, err = append(size, n), errors.Join(err, failed)
	}
	return size, err
}
