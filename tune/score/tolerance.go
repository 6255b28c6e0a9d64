package score

import (
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/tune/array"
)

// A Tolerance bounds the difference of an output from its reference: |out − ref| ≤ Absolute +
// Relative·|ref|. Default means that the problem has none.
type Tolerance struct {
	Absolute, Relative float64
	Default            bool
}

// Of returns the tolerance for outputs of a type. The defaults apply to floats only.
func (t Tolerance) Of(typ array.Type) (absolute, relative float64) {
	switch typ.Scalar() {
	case array.Float16, array.Float32, array.Float64:
		if t.Default {
			return defaultATol, defaultRTol
		}
	}
	return t.Absolute, t.Relative
}

// Compare returns the reason why an output is not close to its reference, or nil. The members of structs
// are compared one by one, each with the tolerance of its type.
func (t Tolerance) Compare(name string, out, ref *array.Array) error {
	if out.Struct == nil {
		return t.compare(name, out, ref)
	}
	if !out.Struct.Equal(ref.Struct) || out.Len() != ref.Len() {
		return fmt.Errorf("%s: the output is %d × %v, the reference is another array", name, out.Len(), out.Struct)
	}
	for _, m := range out.Struct.Members {
		if err := t.compare(name+"."+m.Path, out.Member(m), ref.Member(m)); err != nil {
			return err
		}
	}
	return nil
}

func (t Tolerance) compare(name string, out, ref *array.Array) error {
	absolute, relative := t.Of(out.Type)
	mismatch, err := array.Compare(out, ref, absolute, relative)
	if err == nil && mismatch != nil {
		err = errors.New(mismatch.String())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Tolerances of outputs of floats if the definition gives none.
const (
	defaultRTol = 1e-4
	defaultATol = 1e-6
)

// NaNs says where an expected output is NaN, which no output equals; "" if it is nowhere.
func NaNs(name string, expected *array.Array) string {
	if expected.Struct != nil {
		for _, m := range expected.Struct.Members {
			if text := NaNs(name+"."+m.Path, expected.Member(m)); text != "" {
				return text
			}
		}
		return ""
	}
	m, err := array.Compare(expected, expected, 0, 0)
	if err != nil || m == nil {
		return ""
	}
	return fmt.Sprintf("the reference of %s is NaN, which no output equals: %d of %d numbers, the first at %s",
		name, m.Count, m.Total, m.Place())
}
