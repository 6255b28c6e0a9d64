package definition

import (
	"iter"
	"reflect"

	"github.com/ndtune/ndtune/internal/each"
)

// A Stage of a pipeline is a kernel, or a list of stages, launched once or repeatedly. All kernels share the
// program, the parameters and the arguments. The time of a pipeline is the sum of the times of its launches.
type Stage struct {
	Kernel    string   // name of the function; "": Stages
	Arguments []string // names of arguments, in the order of the kernel; nil: all
	Stages    []Stage

	Shape // each empty field has the value of the definition's field

	// Repeat is the number of repetitions, or a condition; the default is 1. Index is a name for the number of
	// the repetition, from 0, in the expressions of the stage and in those of scalars and local memory that it
	// uses. The two buffers of Swap change places between repetitions, and stay so.
	Repeat Expr
	Index  string
	Swap   [2]string
}

// A Shape is the index space of a kernel in a definition. An empty field is not given.
type Shape struct {
	ProblemSize  []Expr
	BlockSize    [3]Expr
	GridDiv      [3][]Expr
	GlobalOffset []Expr
}

// Has reports which fields are given, by their keys.
func (s Shape) Has() map[string]bool {
	return map[string]bool{
		"problem_size": s.ProblemSize != nil, "block_size": s.BlockSize != [3]Expr{},
		"grid_div": s.GridDiv[0] != nil || s.GridDiv[1] != nil || s.GridDiv[2] != nil, "global_offset": s.GlobalOffset != nil,
	}
}

// IsZero reports whether no field is given.
func (s Shape) IsZero() bool { return reflect.ValueOf(s).IsZero() }

// Or returns the index space with the fields of another one where its own are not given.
func (s Shape) Or(other Shape) Shape {
	own, others := reflect.ValueOf(&s).Elem(), reflect.ValueOf(other)
	for i := range own.NumField() {
		if own.Field(i).IsZero() {
			own.Field(i).Set(others.Field(i))
		}
	}
	return s
}

func (d Definition) Shape() Shape {
	return Shape{d.ProblemSize, d.BlockSize, d.GridDiv, d.GlobalOffset}
}

// Every yields stages and those within them, in the order of the definition.
func Every(list []Stage) iter.Seq[Stage] {
	return func(yield func(Stage) bool) {
		for _, s := range list {
			if !yield(s) {
				return
			}
			for inner := range Every(s.Stages) {
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// namesIn returns the names that stages have by a field, each once.
func namesIn(list []Stage, field func(Stage) string) (names []string) {
	for s := range Every(list) {
		if name := field(s); name != "" {
			names = each.AppendNew(names, name)
		}
	}
	return names
}

func IndexNames(list []Stage) []string { return namesIn(list, func(s Stage) string { return s.Index }) }

func KernelNames(list []Stage) []string {
	return namesIn(list, func(s Stage) string { return s.Kernel })
}

var Dimensions = [3]string{"x", "y", "z"}
