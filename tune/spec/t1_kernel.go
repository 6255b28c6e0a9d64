package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/python"
)

// A t1Kernel has the fields of KernelSpecification that are read after others.
type t1Kernel struct {
	file, options, problemSize, globalSize, localSize field
	gridDiv                                           [3]field
	arguments                                         field
	sizeType                                          string
}

// readKernel reads all that is not the search space.
func (t *t1) readKernel(f field) {
	var k t1Kernel
	language := ""
	later := func(key string, to *field) reader {
		return reader{key, func(f field) {
			if !f.isNull() {
				*to = f
			}
		}}
	}
	f.keys(append(ignored("Device", "Profiling", "BenchmarkName", "Misc", "SimulationInput", "Stream"),
		reader{"Language", func(f field) {
			if language = f.text(); language != "OpenCL" && language != "" {
				f.failf("the kernel is written in %s; only OpenCL kernels can be tuned (ndtune space shows the search space of any)", language)
			}
		}},
		reader{"KernelName", func(f field) { t.definition.Kernel.Name = f.text(); t.comesFrom("kernel.name", f) }},
		reader{"SharedMemory", func(f field) {
			if !f.isNull() && f.number() != 0 && !f.failed(f.name) {
				f.failf("an OpenCL kernel has no dynamic shared memory; give it an argument of MemoryType Local")
			}
		}},
		reader{"KernelTypeNames", func(f field) { f.failf("an OpenCL kernel has no template arguments") }},
		reader{"ReferenceArguments", func(f field) {
			if f.node.Kind != yaml.SequenceNode || len(f.node.Content) > 0 {
				f.failf("references of T1 files are not supported; write the specification as YAML, with verify")
			}
		}},
		reader{"GlobalSizeType", func(f field) { k.sizeType = f.choice("OpenCL", "CUDA", "Vulkan") }},
		later("KernelFile", &k.file), later("CompilerOptions", &k.options), later("ProblemSize", &k.problemSize),
		later("GlobalSize", &k.globalSize), later("LocalSize", &k.localSize), later("Arguments", &k.arguments),
		later("GridDivX", &k.gridDiv[0]), later("GridDivY", &k.gridDiv[1]), later("GridDivZ", &k.gridDiv[2]),
	)...)
	f.require("Language", "KernelName", "KernelFile", "Arguments")
	t.comesFrom("kernel", f)
	t.comesFrom("problem_size", f)
	if t.scope == nil || f.failed(f.name+".Language") {
		return // the search space is wrong, or nothing else matters
	}
	t.readSource(k)
	if t.readSizes(f, k); len(t.definition.ProblemSize) > 0 {
		t.readArguments(k)
	}
}

func (t *t1) readSource(k t1Kernel) {
	var dirs []string
	if k.options.node != nil {
		t.definition.Kernel.BuildOptions, dirs = k.options.withoutEmpty().buildOptions()
		for _, option := range t.definition.Kernel.BuildOptions {
			if strings.HasPrefix(option, "-std=") {
				k.options.failf("%s is no option of OpenCL compilers; they have -cl-std=CL3.0", option)
			}
		}
	}
	if k.file.node != nil {
		t.definition.Kernel.Source = k.file.sourceFile(dirs)
		t.comesFrom("kernel.file", k.file)
	}
}

// withoutEmpty is a list without its empty texts, which stand for no option.
func (f field) withoutEmpty() field {
	n := *f.node
	n.Content = slices.DeleteFunc(slices.Clone(n.Content), func(n *yaml.Node) bool {
		return n.Kind == yaml.ScalarNode && n.Value == ""
	})
	f.node = &n
	return f
}

// t1Dimensions are the keys of the dimensions, in the order of the definition.
var t1Dimensions = [3]string{"X", "Y", "Z"}

// readSizes reads the NDRange: either as Kernel Tuner has it, a problem size and divisors, or
// as KTT has it, a global size in work-items or in work-groups.
func (t *t1) readSizes(f field, k t1Kernel) {
	for i, size := range t.extent(k.localSize) {
		if size.node != nil {
			t.definition.BlockSize[i] = t.pythonNumber(size)
			t.comesFrom("block_size."+strings.ToLower(t1Dimensions[i]), size)
		}
	}
	if k.problemSize.node == nil {
		t.readGlobalSize(f, k)
		return
	}
	for i, size := range k.problemSize.listOrOne() {
		t.definition.ProblemSize = append(t.definition.ProblemSize, t.pythonNumber(size))
		t.comesFrom(fmt.Sprintf("problem_size[%d]", i), size)
	}
	for i, divisors := range k.gridDiv {
		if divisors.node == nil {
			continue
		}
		for j, divisor := range divisors.listOrOne() { // an empty list is the default
			t.definition.GridDiv[i] = append(t.definition.GridDiv[i], t.pythonNumber(divisor))
			t.comesFrom(fmt.Sprintf("grid_div.%s[%d]", strings.ToLower(t1Dimensions[i]), j), divisor)
		}
	}
}

func (t *t1) readGlobalSize(f field, k t1Kernel) {
	if k.globalSize.node == nil {
		f.failAt(f.name+".ProblemSize", f.locate(f.name), errors.New("the key is missing: give ProblemSize or GlobalSize"))
		return
	}
	for i, divisors := range k.gridDiv {
		if divisors.node != nil {
			divisors.failf("GridDiv%s divides a ProblemSize, which is missing; GlobalSize is divided by LocalSize", t1Dimensions[i])
		}
	}
	for i, size := range t.extent(k.globalSize) {
		source := "1"
		if size.node != nil {
			source = t.pythonNumber(size)
			t.comesFrom(fmt.Sprintf("problem_size[%d]", i), size)
		}
		t.definition.ProblemSize = append(t.definition.ProblemSize, source)
		if k.sizeType == "CUDA" || k.sizeType == "Vulkan" {
			t.definition.GridDiv[i] = []problem.Expr{} // it counts work-groups
		}
	}
}

// extent are the fields X, Y and Z.
func (t *t1) extent(f field) (sizes [3]field) {
	if f.node == nil {
		return sizes
	}
	var readers []reader
	for i, key := range t1Dimensions {
		readers = append(readers, reader{key, func(f field) { sizes[i] = f }})
	}
	f.keys(readers...)
	f.require("X")
	return sizes
}

// environment are the names that sizes of arguments know: of each parameter its values, as a
// list, and the problem size.
func (t *t1) environment() map[string]any {
	env := map[string]any{}
	for _, p := range t.definition.Parameters {
		env[p.Name] = p.Values
	}
	var size []any
	for _, source := range t.definition.ProblemSize {
		e, err := python.Parse(source)
		if err != nil {
			return env
		}
		v, err := e.Eval(nil)
		if err != nil {
			return env // it depends on the configuration
		}
		size = append(size, v)
	}
	env["ProblemSize"] = size
	return env
}
