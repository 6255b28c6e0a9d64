package launch

import (
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/task"
)

// An Argument is a compiled [task.Argument].
type Argument struct {
	task.Argument
	Kind     task.ArgumentKind
	Element  Element
	Varies   bool                     // its size depends on the configuration or the device
	Content  *array.Array             // given content of a buffer
	Fills    []Fill                   // of the content that is made: of each member of a struct, else one
	Elements *expression.Expression   // elements of a buffer or of local memory; nil: the length of data
	Pixels   []*expression.Expression // of an image, by dimension
	Scalars  []Scalar                 // the value of a scalar, or of each member of a struct
	Raw      []byte                   // the value byte by byte; nil: scalars
	Buffer   int                      // of an alias: the place of its buffer among the arguments
}

// Filled reports whether a buffer has another initial content than zeros.
func (a *Argument) Filled() bool {
	return a.Content != nil || !a.Fill.IsZero() && a.Fill.Kind != array.Zeros
}

// PixelsIn returns the size of an image in each dimension.
func (a *Argument) PixelsIn(env map[string]any) ([]int, error) {
	var sizes []int
	for _, e := range a.Pixels {
		n, err := Positive("size", e, env)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// ScalarBytes returns the bytes of the scalar or the struct that the kernel gets.
func (a *Argument) ScalarBytes(environment map[string]any) ([]byte, error) {
	if a.Raw != nil {
		return a.Raw, nil
	}
	all := make([]byte, a.Element.Size())
	for _, s := range a.Scalars {
		b, err := s.Bytes(environment)
		if err != nil {
			if s.At.Path != "" {
				err = fmt.Errorf("%s: %w", s.At.Path, err)
			}
			return nil, err
		}
		copy(all[s.At.Offset:], b)
	}
	return all, nil
}

// Values returns the expressions of a scalar, and of the size of local memory or a buffer.
func (a *Argument) Values() []*expression.Expression {
	all := []*expression.Expression{a.Elements}
	for _, s := range a.Scalars {
		all = append(all, s.Lanes...)
	}
	return slices.DeleteFunc(all, func(e *expression.Expression) bool { return e == nil })
}

// Expressions returns all expressions of an argument.
func (a *Argument) Expressions() []*expression.Expression { return append(a.Values(), a.Pixels...) }

// ElementsIn returns the number of elements of a buffer or an image.
func (a *Argument) ElementsIn(env map[string]any) (int, error) {
	if a.Kind == task.ImageArgument {
		pixels, err := a.PixelsIn(env)
		n := 1
		for _, size := range pixels {
			if n, err = Multiply(n, size); err != nil {
				break
			}
		}
		return n, err
	}
	if a.Elements == nil {
		return a.Content.Len(), nil
	}
	return Positive("size", a.Elements, env)
}

// A Scalar is a value that the kernel gets: an argument, or a member of a struct that is one.
type Scalar struct {
	At    array.Member
	Value any                      // a plain value or a list of lanes
	Lanes []*expression.Expression // of a value with expressions, else nil
}

// Bytes returns the bytes of the value.
func (s *Scalar) Bytes(environment map[string]any) ([]byte, error) {
	if s.Lanes == nil {
		return array.ScalarBytes(s.At.Type, s.Value)
	}
	lanes := make([]any, len(s.Lanes))
	for i, e := range s.Lanes {
		v, err := e.Eval(environment)
		if err != nil {
			return nil, err
		}
		lanes[i] = v
	}
	if _, vector := s.Value.([]any); !vector {
		return array.ScalarBytes(s.At.Type, lanes[0])
	}
	return array.ScalarBytes(s.At.Type, lanes)
}

// A Fill is a compiled [task.Fill] of the scalars and vectors of one type.
type Fill struct {
	array.Fill
	Rule   *expression.Expression // nil: Fill makes the data
	Source task.Expr              // of the rule
	Item   int                    // the place of the member within the arrays of its struct
}

// An Element is the type of the elements of an argument.
type Element struct {
	Type   array.Type    // array.Uint8 for a struct
	Struct *array.Struct // nil: the elements are of Type
}

// Size returns the size in bytes.
func (e Element) Size() int {
	if e.Struct != nil {
		return e.Struct.Size
	}
	return e.Type.Size()
}

// String returns the name of the type.
func (e Element) String() string {
	if e.Struct != nil {
		return "struct " + e.Struct.Name
	}
	return e.Type.String()
}

// Equal reports whether two types are the same. The names of structs do not matter.
func (e Element) Equal(o Element) bool { return e.Type == o.Type && e.Struct.Equal(o.Struct) }

// SameScalars reports whether arrays of both types have the same scalars one after the other, as float4 and float. A 3-vector has
// gaps between them.
func (e Element) SameScalars(o Element) bool {
	return e.Struct == nil && o.Struct == nil && e.Type.Scalar() == o.Type.Scalar() && e.Type.Lanes() != 3 && o.Type.Lanes() != 3
}

// Array returns an array of n elements, all bytes of which are zero.
func (e Element) Array(n int) *array.Array {
	if e.Struct != nil {
		return array.NewStructs(e.Struct, n)
	}
	return array.New(e.Type, n)
}

// View returns the memory of an array as elements of the type. A struct takes any bytes.
func (e Element) View(a *array.Array) (*array.Array, error) {
	if e.Struct != nil {
		return a.AsStructs(e.Struct)
	}
	return a.As(e.Type)
}
