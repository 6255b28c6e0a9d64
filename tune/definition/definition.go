// Package definition describes what is tuned, as plain data: a [Definition] has the kernel, each [Argument], the parameters with their
// restrictions, the [Verification] of the output, and what is measured. It checks and compiles nothing: package problem does.
package definition

import (
	"cmp"
	"time"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// An Expr is an expression over constants, parameters and device.*, or a plain number:
// "4096", "nx * ny", "div(n, tile)". Package tune/space documents the language.
type Expr = string

// A Definition describes a tuning task. It is plain data; problem.New checks and compiles it. Empty fields
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
	Objective score.Objective // default: time, minimised
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

// A Kernel is the function to tune and its source: OpenCL C, a SPIR-V module or CUDA C. Exactly one of Source, File,
// Func and Command is set.
type Kernel struct {
	// Name is that of the function; of a pipeline, only a title. In CUDA C it may be an instance of a template, such as
	// add<float, {block_size_x}>: the values of expressions replace {…} as in BuildOptions.
	Name string

	// Language is that of the source. "": [source.LanguageOf] finds it, and what Func or Command makes is OpenCL C.
	Language source.Language

	CUDA *KernelText // the same kernel in CUDA C, where Source or File is in OpenCL C; nil: there is none

	Source       string
	File         string                                    // path of the source
	SourceName   string                                    // of the source in the messages of compilers; default: the File, or "source"
	Func         func(space.Configuration) (string, error) // makes the source of a configuration
	BuildOptions []string                                  // for the compiler, one option each

	// Target is the target for which the driver's assembler builds the program, such as sm_90a, if it refuses the program
	// without it; of CUDA C, the architecture. The values of expressions replace {…} as in BuildOptions. "": the driver's choice. Only
	// NVIDIA's driver has targets.
	Target string

	// Command answers each configuration, a line of JSON, with its source, another one. See problem.Problem.Generate.
	Command *Command

	// CommandDigest identifies what Command makes. problem.Problem.Portable sets it, so that another process
	// need not run the command to have the digest of the problem.
	CommandDigest string

	// IncludeDirs are searched for files that the source includes with #include "…", after the folder
	// of the including file: Command.Dir for the text that Command makes, none for a Source. The files
	// replace the directives. The directives of a source that Func makes are not replaced.
	IncludeDirs []string
}

// A KernelText is a source with its name: see the fields of [Kernel]. One of Source and File is set.
type KernelText struct{ Source, File, SourceName string }

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

	// Command judges the outputs of configurations. Each question is a line of JSON with the configuration and the paths of
	// .npy files: the outputs after the launch, and the initial content of all buffers. It answers {"correct": true}, or
	// {"correct": false, "reason": "…"}. Anything else ends the run. With NoInputs, questions have no initial content.
	Command  *Command
	NoInputs bool

	// Compare says, by argument name, which outputs are reduced or sorted before they are compared. The
	// other outputs are compared element by element.
	Compare map[string]Comparison

	// An output is right if |out − ref| ≤ ATol + RTol·|ref|. Both default to 0, but if neither is set,
	// RTol is 1e-4 and ATol is 1e-6 for floats.
	ATol, RTol Expr
}

// A Command is a program with its arguments, which runs in the folder Dir and answers lines of JSON.
type Command struct {
	Args    []string
	Dir     string
	Timeout time.Duration // for an answer; default: [DefaultCommandTimeout]
}

// WithTimeout returns the command with its time limit; nil for nil.
func (c *Command) WithTimeout() *Command {
	if c == nil {
		return nil
	}
	limited := *c
	limited.Timeout = cmp.Or(limited.Timeout, DefaultCommandTimeout)
	return &limited
}

// DefaultCommandTimeout is the time that an answer of a command may take.
const DefaultCommandTimeout = time.Minute

// A Comparison reduces each row of an output and of its reference, and compares the results. Except for
// [array.Multiset], the two may then have different lengths, and the reference kernel's buffer has its own
// initial content.
type Comparison struct {
	As   array.Reduction
	Rows Expr // number of rows of equal length; default: 1, the whole output
}

// A Metric is a number derived from a measurement, in the order of definition: an
// expression over constants, parameters, device.*, time, time_min, time_median, time_mean (all in
// milliseconds), observed quantities such as energy, and earlier metrics whose names are identifiers.
type Metric struct {
	Name       string
	Expression Expr
}

// A Roofline is the least work of a launch, which no configuration can avoid. It adds the metrics
// GFLOP/s and GB/s for the amounts that are given. If the peaks of the device are known, it also adds
// «% of limit», the share of the time that the device needs for this work: see problem.Problem.Limit.
type Roofline struct {
	Flops     Expr   // floating point operations of a launch; "": not known
	Bytes     Expr   // bytes that a launch must read or write, each counted once; "": not known
	Precision string // of the operations: float64, float32, float16, or an expression of constants that is one of these; "": float32
}
