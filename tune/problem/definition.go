// Package problem describes a tuning task. A [Definition] is plain data: kernel, arguments, parameters,
// restrictions, reference. A [Problem] is its checked and compiled form. A [Variant] is the kernel of
// one configuration. A [Judgement] is the value of its times.
package problem

import (
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/space"
)

// An Expr is an expression over constants, parameters and device.*, or a plain number:
// "4096", "nx * ny", "div(n, tile)". Package tune/space documents the language.
type Expr = string

// A Definition says what is tuned and how. It is plain data; [New] checks and
// compiles it. Fields left empty have the defaults that their comments give.
type Definition struct {
	Kernel       Kernel
	Constants    []Constant
	ProblemSize  []Expr    // one to three dimensions, in work-items before any division
	BlockSize    [3]Expr   // local size in x, y, z; default: block_size_x, _y, _z where defined, else 1
	GridDiv      [3][]Expr // divisors of the problem size; nil: the local size; empty, not nil: none
	Arguments    []Argument
	Parameters   []space.Parameter
	Restrictions []space.Restriction
	Verify       *Verification // nil: results are unverified
	Roofline     *Roofline     // nil: nobody says what a launch must do
	Metrics      []Metric
	Objective    Objective // default: time, minimised
	Seed         uint64    // of random fills; arguments of one name get the same data for one seed

	// MaxEvaluations is how many configurations a search of the command line evaluates where
	// nothing else bounds it, for a space that is too large to try all; 0: all.
	MaxEvaluations int
}

// A Kernel is the function to tune and where its source comes from: exactly one of Source,
// File and Func is set.
type Kernel struct {
	Name         string
	Source       string
	File         string                                    // path of the source
	Func         func(space.Configuration) (string, error) // makes the source of a configuration
	BuildOptions []string                                  // for the OpenCL compiler, one option each

	// IncludeDirs are searched for files that the source includes with #include "…", after
	// the folder of the including file (a Source that is text has none, and one that a
	// function makes is not searched). What is found is put in place of the directive.
	IncludeDirs []string
}

// A Constant is a #define that is the same for every configuration. A text that is a C
// number (4096, 0.225f, 0x10u) is that number in expressions.
type Constant struct {
	Name  string
	Value space.Value
}

// An Argument is one argument of the kernel, in the kernel's order: a buffer unless Value
// or LocalSize is set.
type Argument struct {
	Name string
	Type string // as array.ParseType reads it, e.g. "float32", "int4", or a constant that is such a text; may be left out with Data

	// A buffer: Size elements, filled with Data or by Fill. With Data, Size defaults to its
	// length.
	Size   Expr
	Data   any // a Go slice of numbers, or an *array.Array
	Fill   Fill
	Output bool // compared with the reference by Verify

	// RestoreEachLaunch gives the buffer its initial content before every launch, for
	// kernels that work in place. Without it that happens before each configuration.
	RestoreEachLaunch bool

	Value     any  // a scalar: a number, a bool, an expression, or a slice of them for a vector
	LocalSize Expr // local memory, in elements
}

// A Fill says what a buffer holds at first: one of array's fills, a copy of another
// argument, or the content of a .npy file.
type Fill struct {
	array.Fill
	Copy string // name of another buffer of the same type and size
	File string // path of a .npy file
}

// A Verification says what a correct output is. Exactly one of Problem, Files, Expected,
// Reference and Check is set.
type Verification struct {
	// Problem is another kernel whose output is right, run once at Configuration. Buffers
	// of the same name hold the same data. Its output buffers are matched by name.
	Problem       *Definition
	Configuration map[string]space.Value

	// Launches, an expression over the configuration that is verified (default 1), is how
	// often the reference kernel is launched, the two buffers of Swap changing places after
	// each launch but the last.
	Launches Expr
	Swap     [2]string

	// Files are .npy files with the right content of outputs, by argument name.
	Files map[string]string

	// Expected is the right content of outputs, each a Go slice or an *array.Array, by
	// argument name.
	Expected map[string]any

	// Reference computes the right content of outputs from the initial content of all
	// buffers, both by argument name.
	Reference func(buffers map[string]*array.Array) (map[string]*array.Array, error)

	// Check judges the output buffers of a configuration; an error is the reason why they
	// are wrong.
	Check func(c space.Configuration, outputs map[string]*array.Array) error

	// An output is right where |out − ref| ≤ ATol + RTol·|ref|. Both default to 0 for
	// integers; for floats RTol defaults to 1e-4 and ATol to 1e-6 where neither is set.
	ATol, RTol Expr
}

// A Metric is a number derived from a measurement, in the order of definition: an
// expression over constants, parameters, device.*, time, time_min, time_median (all in
// milliseconds), and earlier metrics whose names are identifiers.
type Metric struct {
	Name       string
	Expression Expr
}

// An Objective is what the search improves: time, time_min, time_median or the name of a
// metric, one of the roofline's included.
type Objective struct {
	Name     string
	Maximize bool
}
