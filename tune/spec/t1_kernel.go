package spec

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/python"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// A t1Kernel has the fields of KernelSpecification that are read after others.
type t1Kernel struct {
	file, options, problemSize, globalSize, localSize field
	gridDiv                                           [3]field
	arguments                                         field
	sizeType                                          string
}

// readKernel reads everything but the search space.
func (t *t1) readKernel(f field) {
	var k t1Kernel
	language := ""
	later := func(name string, to *field) reader { return key(name, to, field.unlessNull) }
	f.keys(append(ignored("Device", "Profiling", "BenchmarkName", "Misc", "SimulationInput", "Stream"),
		reader{key: "Language", read: func(f field) {
			if language = f.text(); language != "OpenCL" && language != "" {
				f.failf("the kernel is written in %s; only OpenCL kernels can be tuned (ndtune space shows the search space of any)", language)
			}
		}},
		reader{key: "KernelName", read: func(f field) { t.definition.Kernel.Name = f.text(); t.comesFrom("kernel.name", f) }},
		reader{key: "SharedMemory", read: func(f field) {
			if !f.isNull() && f.number() != 0 && !f.failed(f.name) {
				f.failf("an OpenCL kernel has no dynamic shared memory; give it an argument of MemoryType Local")
			}
		}},
		reader{key: "KernelTypeNames", read: func(f field) { f.failf("an OpenCL kernel has no template arguments") }},
		reader{key: "ReferenceArguments", read: func(f field) {
			switch {
			case f.node.Kind == yaml.SequenceNode && len(f.node.Content) == 0:
			case f.converting:
				f.lost = append(f.lost, f.name+": "+f.excerpt())
			default:
				f.failf("references of T1 files are not supported; convert the file to YAML (ndtune convert), and add verify")
			}
		}},
		key("GlobalSizeType", &k.sizeType, func(f field) string { return f.choice("OpenCL", "CUDA", "Vulkan") }),
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
		t.definition.Kernel.Source, t.definition.Kernel.SourceName = k.file.sourceFile(dirs)
		t.comesFrom("kernel.file", k.file)
	}
}

// withoutEmpty returns a list without its empty texts, which mean no option.
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

// readSizes reads the NDRange: a problem size and divisors (Kernel Tuner), or a global size in
// work-items or work-groups (KTT).
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
			t.definition.GridDiv[i] = []task.Expr{} // it counts work-groups
		}
	}
}

// unlessNull returns the field, or a missing one if the field is null.
func (f field) unlessNull() field {
	if f.isNull() {
		return field{}
	}
	return f
}

// extent returns the fields X, Y and Z.
func (t *t1) extent(f field) (sizes [3]field) {
	if f.node == nil {
		return sizes
	}
	sizes = dimensions(f, t1Dimensions, field.itself)
	f.require("X")
	return sizes
}

// environment returns the variables of the sizes of arguments: each parameter, as the list of its
// values, and ProblemSize.
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

// A t1Argument has the fields of an argument.
type t1Argument struct {
	memory, fill           string
	size, value, data, typ field
	fillAt                 field
}

func (t *t1) readArguments(k t1Kernel) {
	if k.arguments.node == nil {
		return
	}
	env := t.environment()
	for i, item := range k.arguments.list() {
		t.definition.Arguments = append(t.definition.Arguments, t.readArgument(i, item, env))
	}
}

func (t *t1) readArgument(i int, f field, env map[string]any) (a task.Argument) {
	var r t1Argument
	a.Name = fmt.Sprintf("argument %d", i+1)
	f.keys(append(ignored("AccessType", "MemType", "TypeSize", "RandomSeed"),
		key("Name", &a.Name, field.text),
		reader{key: "Type", read: func(f field) { r.typ = f; a.Type = f.t1Type() }},
		key("MemoryType", &r.memory, func(f field) string { return f.choice("Scalar", "Vector", "Local") }),
		key("Size", &r.size, field.itself),
		reader{key: "FillType", read: func(f field) { r.fillAt, r.fill = f, f.choice("Constant", "Random", "BinaryRaw", "Uninitialized") }},
		key("FillValue", &r.value, field.itself),
		key("DataSource", &r.data, field.itself),
		key("Output", &a.Output, field.t1Boolean),
	)...)
	f.require("Type", "MemoryType")
	name := fmt.Sprintf("arguments[%d]", i)
	t.comesFrom(name, f)
	for key, from := range map[string]field{"type": r.typ, "size": r.size, "local_size": r.size, "value": r.value, "fill": r.fillAt, "data": r.data} {
		if from.node != nil {
			t.comesFrom(name+"."+key, from)
		}
	}
	if f.failed(f.name) {
		return a
	}
	switch r.memory {
	case "Scalar":
		if r.fill != "" && r.fill != "Constant" {
			r.fillAt.failf("a scalar is constant; the fill %s is one of vectors", r.fill)
		} else if r.value.node == nil {
			f.failf("the scalar has no FillValue")
		} else {
			a.Value = r.value.pythonValue(nil)
		}
	case "Local":
		a.LocalSize = t.argumentSize(f, r.size, env)
	default:
		t.readVector(f, &a, r, env)
	}
	return a
}

// t1Type reads the type of an argument. float16 is a vector of sixteen floats in T1 files.
func (f field) t1Type() string {
	switch name := f.text(); name {
	case "float16":
		return "float32x16"
	case "custom":
		f.failf("a custom type is not supported; give the type of its numbers, and as many of them")
	case "bool":
		f.failf("an OpenCL kernel has no arguments of bools; give uint8")
	default:
		return name
	}
	return ""
}

// t1Boolean reads true or false, or 1 or 0.
func (f field) t1Boolean() bool {
	if f.node.Kind == yaml.ScalarNode && (f.node.Value == "0" || f.node.Value == "1") {
		return f.node.Value == "1"
	}
	return f.boolean()
}

func (t *t1) readVector(f field, a *task.Argument, r t1Argument, env map[string]any) {
	if r.fill != "BinaryRaw" || r.size.node != nil {
		a.Size = t.argumentSize(f, r.size, env)
	}
	switch r.fill {
	case "BinaryRaw":
		if r.data.node == nil {
			f.failf("the file is missing; give DataSource")
			return
		}
		if data := r.data.rawFile(a.Type); data != nil { // not a nil pointer in an interface
			a.Data = data
		}
	case "Random":
		a.Fill.Kind = array.Random
		if end := r.value.t1Number(); end != 0 {
			a.Fill.Low, a.Fill.High = numberText(min(0, end)), numberText(max(0, end))
		}
	case "Constant":
		a.Fill.Kind, a.Fill.Value = array.Constant, numberText(r.value.t1Number())
	}
}

func numberText(v float64) task.Expr { return strconv.FormatFloat(v, 'g', -1, 64) }

// t1Number reads a number, or 0 if the field is missing.
func (f field) t1Number() float64 {
	if f.node == nil {
		return 0
	}
	switch v := f.pythonValue(nil).(type) {
	case int:
		return float64(v)
	case float64:
		return v
	case nil:
	default:
		f.expected("a number")
	}
	return 0
}

// argumentSize reads the number of elements of an argument, the same for all configurations.
func (t *t1) argumentSize(f, size field, env map[string]any) task.Expr {
	if size.node == nil {
		f.failf("the size is missing; give Size, the number of elements")
		return ""
	}
	switch v := size.pythonValue(env).(type) {
	case nil:
		return ""
	case int:
		return space.FormatValue(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return space.FormatValue(int(v))
		}
		size.failf("%v is not a whole number", v)
	default:
		size.failf("a size is a number; in it a parameter is the list of its values, as in max(filter_width)")
	}
	return ""
}

// rawFile reads a file of little-endian numbers.
func (f field) rawFile(typeName string) *array.Array {
	typ, err := array.ParseType(typeName)
	if err != nil {
		return nil // check reports it
	}
	name := f.text()
	if name == "" {
		return nil
	}
	path := f.beside(f.path, name)
	file, err := f.open(path)
	if err != nil {
		f.fail(f.explain(path, err))
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		f.fail(f.explain(path, withoutPath(err)))
		return nil
	}
	size := int64(typ.Size())
	if info.Size()%size != 0 {
		f.failf("%s has %d bytes, which are no whole number of elements of %v", path, info.Size(), typ)
		return nil
	}
	a := array.New(typ, int(info.Size()/size))
	if _, err := io.ReadFull(file, a.Bytes); err != nil {
		f.fail(f.explain(path, withoutPath(err)))
		return nil
	}
	return a
}
