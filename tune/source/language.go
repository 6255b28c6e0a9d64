package source

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Language is one in which kernels are written.
type Language string

// The languages that ndtune speaks.
const (
	OpenCL Language = "opencl"
	CUDA   Language = "cuda"
)

// Name returns the name of a language for people.
func (l Language) Name() string {
	if l == CUDA {
		return "CUDA C"
	}
	return "OpenCL C"
}

// LanguageOf returns the language of a source, which has a file name or "". It is CUDA C if the name ends in .cu or .cuh, or if the word
// __global__ stands outside of comments, strings and conditions that do not hold in OpenCL C; else it is OpenCL C. A name that ends in .hip,
// or a text that includes headers of HIP, is an error.
func LanguageOf(fileName, text string) (Language, error) {
	extension := strings.ToLower(filepath.Ext(fileName))
	isCUDA, isHIP := extension == ".cu" || extension == ".cuh", extension == ".hip"
	if strings.Contains(text, "__global__") || strings.Contains(text, "hip") {
		active := macroTable{"__OPENCL_VERSION__": {anyText, yes}}.active(text)
		isCUDA = isCUDA || len(Lines(active, "__global__")) > 0
		isHIP = isHIP || slices.ContainsFunc(scanDirectives(active).directives, directive.includesHIP)
	}
	switch {
	case isHIP:
		return "", fmt.Errorf("%s is written in HIP, which ndtune does not speak: its languages are OpenCL C and CUDA C", cmp.Or(fileName, "the source"))
	case isCUDA:
		return CUDA, nil
	}
	return OpenCL, nil
}

// FunctionName returns the name of the function of a kernel whose name may have a namespace, or be an instance of a template.
func FunctionName(kernel string) string {
	name, _, _ := strings.Cut(kernel, "<")
	return strings.TrimSpace(name[strings.LastIndex(name, ":")+1:])
}

// includesHIP reports whether a directive includes a header of HIP, such as <hip/hip_runtime.h>.
func (d directive) includesHIP() bool {
	header := strings.TrimLeft(d.argument, `<"`)
	return d.name == "include" && (strings.HasPrefix(header, "hip/") || strings.HasPrefix(header, "hip_runtime"))
}
