// Package launch has the kernel of a configuration, a [Variant], and the compiled parts from which package problem derives it:
// sizes, arguments, options and the steps of a pipeline.
package launch

import (
	"strings"

	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/space"
)

// A Variant is the kernel of one configuration, with all that depends on the configuration.
type Variant struct {
	Configuration space.Configuration
	Source        string   // OpenCL C or a SPIR-V module; "": problem.Problem.Generate makes it
	Prologue      int      // number of lines before the kernel's own in Source; the last is #line 1
	Options       []string // for the compiler, one option each
	Target        string   // of the assembler; "": the driver's choice
	Launches      []Launch // in order; one, except in a pipeline

	// By argument: the elements of a buffer or an image; the pixels of an image in each dimension; and the
	// argument whose buffer has the content after the launches, another one if buffers changed places.
	Elements []int
	Pixels   [][]int
	Holders  []int

	Tolerance         judge.Tolerance
	ReferenceLaunches int
	Rows              []int // by argument: of an output that is reduced before it is compared; else 0

	Settings []hardware.Setting // of the device, at which the launches are measured

	Hint string // about a build that fails; "": none
}

// SetSource gives the variant its source. OpenCL C has a prologue for what options cannot define; SPIR-V has no macros.
func (v *Variant) SetSource(source, prologue string) {
	v.Source = source
	if prologue != "" && !v.SPIRV() {
		prologue += "#line 1\n"
		v.Source, v.Prologue = prologue+source, strings.Count(prologue, "\n")
	}
}

// SPIRV reports whether the source is a SPIR-V module.
func (v *Variant) SPIRV() bool { return clc.IsSPIRV(v.Source) }

// OptionLine returns the options joined, as a compiler takes them: without macros for a SPIR-V module. A
// folder with a space is quoted in the only way that some drivers accept.
func (v *Variant) OptionLine() string {
	options := v.Options
	if v.SPIRV() {
		_, options = CutFlag("-D", options)
	}
	line := make([]string, len(options))
	for i, o := range options {
		if strings.HasPrefix(o, "-I") && strings.Contains(o, " ") && !strings.HasPrefix(o, "-I ") {
			o = `-I"` + o[len("-I"):] + `"`
		}
		line[i] = o
	}
	return strings.Join(line, " ")
}

// ExceededLimit returns the reason why a device cannot launch the variant, by the limits that are known
// before it is built, or "".
func (v *Variant) ExceededLimit(d hardware.Device) string {
	for i := range v.Launches {
		if reason := v.Launches[i].exceededLimit(d); reason != "" && len(v.Launches) > 1 {
			return v.Launches[i].Kernel + ": " + reason
		} else if reason != "" {
			return reason
		}
	}
	return ""
}
