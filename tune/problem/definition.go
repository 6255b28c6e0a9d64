// Package problem describes a tuning task. A [Definition] is plain data: kernel, arguments, parameters,
// restrictions, reference. A [Problem] is its checked and compiled form. A [Variant] is the kernel of
// one configuration. A [Judgement] holds the metrics and the objective of its times.
package problem

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/space"
)

// An Expr is an expression over constants, parameters and device.*, or a plain number:
// "4096", "nx * ny", "div(n, tile)". Package tune/space documents the language.
type Expr = string

// A Definition describes a tuning task. It is plain data; [New] checks and compiles it. Empty fields
// have the defaults in their comments.
type Definition struct {
	Kernel       Kernel
	Constants    []Constant
	ProblemSize  []Expr       // one to three dimensions, in work-items before any division
	BlockSize    [3]Expr      // local size in x, y, z; default: block_size_x, _y, _z where defined, else 1; 0 in x: the driver's choice
	GridDiv      [3][]Expr    // divisors of the problem size; nil: the local size; empty, not nil: none
	GlobalOffset []Expr       // of the global ids; default: 0
	Stages       []Stage      // the launches of a pipeline; nil: one launch of Kernel.Name with all arguments
	Types        []StructType // that arguments may name
	Arguments    []Argument
	Parameters   []space.Parameter
	Restrictions []space.Restriction

	// BuildRestrictions are conditions that a built kernel must satisfy. They read registers, spill_bytes and the other
	// quantities of package footprint beside everything that restrictions read.
	BuildRestrictions []Expr

	Verify    *Verification // nil: results are unverified
	Roofline  *Roofline     // nil: the least work of a launch is not known
	Metrics   []Metric
	Objective Objective // default: time, minimised
	Measure   Measure
	Seed      uint64 // of random fills; arguments of one name get the same data for one seed

	// Baseline is the configuration that a search is compared with: that of the kernel's authors, for example.
	// Parameters with a single value may be left out. A search of the command line begins with it, and
	// the final measurement includes it. nil: there is none.
	Baseline map[string]space.Value

	// MaxEvaluations is the default limit of configurations that a search of the command line
	// evaluates, for a space that is too large to try all. 0: no limit.
	MaxEvaluations int
}

// A Stage of a pipeline is a kernel, or a list of stages, launched once or repeatedly. All kernels share the
// program, the parameters and the arguments. The time of a pipeline is the sum of the times of its launches.
type Stage struct {
	Kernel    string   // name of the function; "": Stages
	Arguments []string // names of arguments, in the order of the kernel; nil: all
	Stages    []Stage

	// The index space of the kernel. Each empty field has the value of the definition's field.
	ProblemSize  []Expr
	BlockSize    [3]Expr
	GridDiv      [3][]Expr
	GlobalOffset []Expr

	// Repeat is the number of repetitions, or a condition; the default is 1. Index is a name for the number of
	// the repetition, from 0, in the expressions of the stage and in those of scalars and local memory that it
	// uses. The two buffers of Swap change places between repetitions, and stay so.
	Repeat Expr
	Index  string
	Swap   [2]string
}

// A givenShape is the index space of a kernel in a definition. An empty field is not given.
type givenShape struct {
	ProblemSize  []Expr
	BlockSize    [3]Expr
	GridDiv      [3][]Expr
	GlobalOffset []Expr
}

func (d Definition) shape() givenShape {
	return givenShape{d.ProblemSize, d.BlockSize, d.GridDiv, d.GlobalOffset}
}

func (s Stage) shape() givenShape {
	return givenShape{s.ProblemSize, s.BlockSize, s.GridDiv, s.GlobalOffset}
}

// has reports which fields are given, by their keys.
func (s givenShape) has() map[string]bool {
	return map[string]bool{
		"problem_size": s.ProblemSize != nil, "block_size": s.BlockSize != [3]Expr{},
		"grid_div": s.GridDiv[0] != nil || s.GridDiv[1] != nil || s.GridDiv[2] != nil, "global_offset": s.GlobalOffset != nil,
	}
}

// isZero reports whether no field is given.
func (s givenShape) isZero() bool { return reflect.ValueOf(s).IsZero() }

// or returns the index space with the fields of another one where its own are not given.
func (s givenShape) or(other givenShape) givenShape {
	has := s.has()
	if !has["problem_size"] {
		s.ProblemSize = other.ProblemSize
	}
	if !has["block_size"] {
		s.BlockSize = other.BlockSize
	}
	if !has["grid_div"] {
		s.GridDiv = other.GridDiv
	}
	if !has["global_offset"] {
		s.GlobalOffset = other.GlobalOffset
	}
	return s
}

// A Kernel is the function to tune and its source: OpenCL C or a SPIR-V module. Exactly one of Source, File,
// Func and Command is set.
type Kernel struct {
	Name         string // of the function; of a pipeline, only a title
	Source       string
	File         string                                    // path of the source
	SourceName   string                                    // of the source in the messages of compilers; default: the File, or "source"
	Func         func(space.Configuration) (string, error) // makes the source of a configuration
	BuildOptions []string                                  // for the OpenCL compiler, one option each

	// Target is the target for which the driver's assembler builds the program, such as sm_90a, if it refuses the program
	// without it. The values of expressions replace {…} as in BuildOptions. "": the driver's choice. Only NVIDIA's
	// driver has targets.
	Target string

	// Command prints the source of a configuration on its standard output. It gets the configuration as
	// JSON on its standard input. In its arguments, the values of expressions replace {…} as in
	// BuildOptions. See [Problem.Generate].
	Command *Command

	// CommandDigest identifies what Command makes. [Problem.Portable] sets it, so that another process
	// need not run the command to have the digest of the problem.
	CommandDigest string

	// IncludeDirs are searched for files that the source includes with #include "…", after the folder
	// of the including file: Command.Dir for the text that Command prints, none for a Source. The files
	// replace the directives. The directives of a source that Func makes are not replaced.
	IncludeDirs []string
}

// A Constant is a #define that is the same for every configuration. In expressions, a text that is a
// number of C (4096, 0.225f, 0x10u) is that number. The value of a Host constant can be computed from the constants
// before it: a text that is neither such a number nor a word is an expression.
type Constant struct {
	Name  string
	Value space.Value
	Host  bool // known to expressions only, and no #define of the kernel
}

// An Argument is one argument of the kernel, in the kernel's order. It is a buffer unless Value,
// LocalSize, Image or Sampler is set.
type Argument struct {
	Name string
	// Type is a name for [array.ParseType] such as "float32" or "int4", "bytes", a StructType, or an expression over constants and parameters
	// with such a text, such as the name of a parameter. It is optional with Data.
	Type string

	// A buffer has Size elements, which are Data or made by Fill. Size defaults to the length of Data.
	Size   Expr
	Data   any // a Go slice of numbers, or an *array.Array
	Fill   Fill
	Output bool // compared with the reference by Verify

	// RestoreEachLaunch restores the initial content of the buffer before every launch, for kernels
	// that work in place. Otherwise it is restored before each configuration.
	RestoreEachLaunch bool

	// A scalar is a number, a bool, an expression, or a slice of them for a vector. A struct by value is a
	// map[string]any of its fields, or a text of hexadecimal digits, which are all its bytes; so are "bytes".
	Value any

	LocalSize Expr // local memory, in elements

	Image   *Image // Type and Size do not apply
	Sampler *Sampler
}

// A Fill is the initial content of a buffer: a Kind, an Expression, Fields, a copy of another argument, or
// a file. The expressions may read constants only. A Kind or an Expression fills each field of a struct.
type Fill struct {
	Kind                        array.FillKind
	Value, Low, High, Mean, Std Expr // of the Kind: see [array.Fill]

	// Expression computes each scalar from index, the index of its element, lane, its place within a vector,
	// and item, its place within the arrays of a struct. A condition is 0 or 1.
	Expression Expr

	Fields map[string]Fill // of a struct; fields without a fill are zeros

	Copy string // name of another buffer of the same type and size
	File string // path of a .npy file; a struct takes the bytes of any
}

// A Verification describes the correct output. Exactly one of Problem, Files, Expected, Reference, Check
// and Command is set.
type Verification struct {
	// Problem is another kernel whose output is right. It is run once, at Configuration. Buffers with
	// one name hold the same data, and outputs are matched by name. In Configuration, a text for a
	// parameter of numbers is an expression over the constants of both kernels and the parameters of the
	// other one.
	Problem       *Definition
	Configuration map[string]space.Value

	// Launches is the number of launches of the reference kernel, by default 1: an expression over the
	// configuration that is verified. The two buffers of Swap change places between launches.
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

	// Check judges the output buffers of a configuration. Its error is the reason why they are wrong.
	Check func(c space.Configuration, outputs map[string]*array.Array) error

	// Command judges the outputs of a configuration. Its last argument is a folder with the outputs after
	// the launch (outputs/NAME.npy), the initial content of all buffers (inputs/NAME.npy) and
	// configuration.json. The exit status 0 means that the outputs are right, 1 with a sentence on
	// standard output that they are wrong. Anything else ends the run.
	Command *Command

	// Compare says, by argument name, which outputs are reduced or sorted before they are compared. The
	// other outputs are compared element by element.
	Compare map[string]Comparison

	// An output is right if |out − ref| ≤ ATol + RTol·|ref|. Both default to 0, but if neither is set,
	// RTol is 1e-4 and ATol is 1e-6 for floats.
	ATol, RTol Expr
}

// A Command is a program with its arguments, which runs in the folder Dir.
type Command struct {
	Args    []string
	Dir     string
	Timeout time.Duration // default: [DefaultCommandTimeout]
}

// DefaultCommandTimeout is the time that a command may take.
const DefaultCommandTimeout = time.Minute

// A Comparison reduces each row of an output and of its reference, and compares the results. Except for
// [array.Multiset], the two may then have different lengths, and the reference kernel's buffer has its own
// initial content.
type Comparison struct {
	As   array.Reduction
	Rows Expr // number of rows of equal length; default: 1, the whole output
}

// A Metric is a number derived from a measurement, in the order of definition: an
// expression over constants, parameters, device.*, time, time_min, time_median (all in
// milliseconds), observed quantities such as energy, and earlier metrics whose names are identifiers.
type Metric struct {
	Name       string
	Expression Expr
}

// A FieldError is a fault of a field of a definition. Field is a path in the words of a specification
// file: «restrictions[2]», «arguments[0].size».
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// fieldErrors collects the faults of a definition.
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
