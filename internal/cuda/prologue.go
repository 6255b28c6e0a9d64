package cuda

import (
	_ "embed" // the prologue
	"regexp"
	"strings"
)

// prologue makes CUDA C of OpenCL C, as far as the kernels of ndtune itself need it: verification, peaks, cold caches, references.
//
//go:embed prologue.cuh
var prologue string

var (
	comment       = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	openCLKernel  = regexp.MustCompile(`\b__kernel\b|\bkernel\s+(?:void|__attribute__)\b`)
	spaceWord     = regexp.MustCompile(`\b(kernel|global|local|constant|private)\b`)
	vectorLiteral = regexp.MustCompile(`\(((?:u?(?:char|short|int|long)|float|double|half)(?:2|4|8|16))\)[ \t]*\(`)
	localArgument = regexp.MustCompile(`,(\s*)__local\s+(\w+)\s*\*\s*(?:restrict\s+)?(\w+)(\s*\)\s*\{)`)
	localVariable = regexp.MustCompile(`\b__local\s+((?:\w+\s+)+\w+\s*[\[;])`)
)

// isOpenCL reports whether a source has kernels of OpenCL C, and none of CUDA C.
func isOpenCL(source string) bool {
	source = comment.ReplaceAllString(source, "")
	return openCLKernel.MatchString(source) && !strings.Contains(source, "__global__")
}

// translated returns a source in OpenCL C with what macros cannot make of it, in the same lines: words get their underscores, since
// __global__ is a macro with the word global, vector literals become constructors, and local memory as the last argument becomes
// dynamic shared memory.
func translated(source string) string {
	source = spaceWord.ReplaceAllString(source, "__$1")
	source = localArgument.ReplaceAllString(source, "$1$4 extern __shared__ $2 $3[];")
	source = vectorLiteral.ReplaceAllString(source, "$1(")
	return localVariable.ReplaceAllString(source, "__shared__ $1")
}

// openCLArguments returns the arguments of NVRTC for a source in OpenCL C: functions without a space are for the device, warnings of
// pragmas that NVRTC does not know are left out, and products are rounded before they are added where the source wants it.
func openCLArguments(source string) []string {
	all := []string{"-default-device", "-w"}
	if strings.Contains(source, "FP_CONTRACT OFF") {
		all = append(all, "-fmad=false")
	}
	return all
}
