package problem

import (
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

const saxpyInCUDA = "__global__ void saxpy(float *y, const float *x, float a, unsigned n) {}"

var h200 = hardware.Device{Platform: hardware.CUDA, MaxWorkGroupSize: 1024}

func inBoth() definition.Definition {
	d := saxpy()
	d.Kernel.CUDA = &definition.KernelText{Source: saxpyInCUDA, SourceName: "saxpy.cu"}
	return d
}

func TestTwoLanguages(t *testing.T) {
	plain, both := mustProblem(t, saxpy()), mustProblem(t, inBoth())
	if got := plain.Languages(); !slices.Equal(got, []source.Language{source.OpenCL}) {
		t.Errorf("languages of OpenCL C: %v", got)
	}
	if got := both.Languages(); !slices.Equal(got, []source.Language{source.OpenCL, source.CUDA}) || both.Language() != source.OpenCL {
		t.Errorf("languages of two files: %v, and %v", got, both.Language())
	}
	if plain.Digest() != both.Digest() || plain.KernelDigest() != both.KernelDigest() || plain.MeasurementDigest() != both.MeasurementDigest() {
		t.Error("the file in CUDA C changes the digest of the problem in OpenCL C")
	}
	cuda, err := both.In(source.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	d := saxpy()
	d.Kernel.Source, d.Kernel.SourceName = saxpyInCUDA, "saxpy.cu"
	if alone := mustProblem(t, d); alone.Digest() != cuda.Digest() || alone.Language() != source.CUDA {
		t.Error("a problem in CUDA C is another one than that in CUDA C of two")
	}
	if v, err := cuda.Variant(configurationOf(t, cuda, nil), h200); err != nil || v.Source != saxpyInCUDA || cuda.SourceName() != "saxpy.cu" {
		t.Errorf("%+v, %v", v, err)
	}
	if cuda.OpenCLDigest() != both.Digest() || both.OpenCLDigest() != "" {
		t.Error("the problem in CUDA C does not know its digest in OpenCL C")
	}
	if same, err := both.In(source.OpenCL); err != nil || same != both {
		t.Error("the problem is in OpenCL C already")
	}
	if _, err := plain.In(source.CUDA); err == nil || err.Error() != "the kernel saxpy is written in OpenCL C, not in CUDA C" {
		t.Error(err)
	}
	for name, digest := range map[string]func(*Problem) string{
		"digest": (*Problem).Digest, "kernel digest": (*Problem).KernelDigest, "measurement digest": (*Problem).MeasurementDigest,
	} {
		d := saxpy()
		d.Kernel.Language = source.CUDA // of the same text
		if digest(mustProblem(t, d)) == digest(plain) {
			t.Errorf("the %s does not cover the language", name)
		}
	}
}

// A process that gets a problem in CUDA C makes the same one, though it knows no file.
func TestPortableLanguages(t *testing.T) {
	both := inBoth()
	reference := inBoth()
	both.Verify = &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"block_size_x": 32, "unroll": 1}}
	generated := saxpy()
	generated.Kernel = definition.Kernel{Name: "saxpy", Language: source.CUDA, Command: &definition.Command{Args: []string{"none"}}, CommandDigest: "known"}
	for _, d := range []definition.Definition{both, generated} {
		p := mustProblem(t, d)
		cuda, err := p.In(source.CUDA)
		if err != nil {
			t.Fatal(err)
		}
		if r, _, _ := cuda.Reference(); r != nil && r.Language() != source.CUDA {
			t.Error("the reference stays in OpenCL C")
		}
		for _, p := range []*Problem{p, cuda} {
			portable, err := p.Portable()
			if err != nil {
				t.Fatal(err)
			}
			again := mustProblem(t, portable)
			if again.Digest() != p.Digest() || !slices.Equal(again.Languages(), []source.Language{p.Language()}) {
				t.Errorf("elsewhere, the problem in %v is in %v, or another one", p.Language(), again.Languages())
			}
		}
	}
}

func TestTemplates(t *testing.T) {
	d := saxpy()
	d.Kernel.Source, d.Kernel.Target = saxpyInCUDA, "sm_90a"
	d.Kernel.Name = "ns::saxpy<float, {unroll * 2}>"
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, map[string]space.Value{"unroll": 2}), h200)
	if err != nil {
		t.Fatal(err)
	}
	line := v.OptionLine()
	if v.Launches[0].Kernel != "ns::saxpy<float, 4>" || strings.Count(line, `-ndtune-name="ns::saxpy<float, 4>"`) != 1 {
		t.Errorf("kernel %q, options %s", v.Launches[0].Kernel, line)
	}
	if v.Target != "" || !strings.Contains(line, "--gpu-architecture=sm_90a") {
		t.Errorf("target %q, options %s", v.Target, line)
	}
	if text, err := p.ProgramOptions(v.Configuration, h200); err != nil || strings.Contains(text, "-ndtune") {
		t.Errorf("options for a program: %s, %v", text, err)
	}
	for _, notice := range p.Notices() {
		if strings.Contains(notice, "no effect") {
			t.Error(notice, "(the name reads unroll)")
		}
	}

	d.Kernel.Name, d.Stages = "", []definition.Stage{{Kernel: "saxpy<{unroll}>", Repeat: "3"}, {Kernel: "plain"}, {Kernel: "saxpy<1>"}}
	p = mustProblem(t, d)
	if v, err = p.Variant(configurationOf(t, p, nil), h200); err != nil || strings.Count(v.OptionLine(), "-ndtune-name=") != 1 {
		t.Errorf("of a pipeline: %v, %v", v, err)
	}
}

func TestLimitsOfCUDA(t *testing.T) {
	for _, c := range []struct{ size, want string }{
		{"[65535]", ""}, {"[65536]", "65536 blocks in dimension y > CUDA's limit 65535"},
	} {
		d := saxpy()
		d.ProblemSize = []definition.Expr{"200000", strings.Trim(c.size, "[]")}
		p := mustProblem(t, d)
		configuration := configurationOf(t, p, nil)
		if got := p.ExceededLimit(configuration, h200); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := p.ExceededLimit(configuration, hardware.Device{}); got != "" {
			t.Errorf("OpenCL has a limit: %q", got)
		}
	}
	d := saxpy()
	d.ProblemSize = []definition.Expr{"70368744177664"}
	wide := mustProblem(t, d)
	if got := wide.ExceededLimit(configurationOf(t, wide, nil), h200); !strings.HasSuffix(got, " blocks in dimension x > CUDA's limit 2147483647") {
		t.Errorf("%q", got)
	}
	d.Kernel.Source, d.BlockSize[0] = saxpyInCUDA, "unroll - 1"
	p := mustProblem(t, d)
	if got := p.ExceededLimit(configurationOf(t, p, map[string]space.Value{"unroll": 1}), h200); got != noBlockSize {
		t.Errorf("%q, want %q", got, noBlockSize)
	}
}

func TestGeneratedLanguage(t *testing.T) {
	d := saxpy()
	d.Kernel.Source = ""
	d.Kernel.Func = func(space.Configuration) (string, error) { return saxpyInCUDA, nil }
	if _, err := generate(t, d, nil); err == nil || !strings.Contains(err.Error(), "kernel.language: cuda") {
		t.Errorf("a function makes CUDA C, and nobody says so: %v", err)
	}
	d.Kernel.Language = source.CUDA
	if v, err := generate(t, d, nil); err != nil || v.Source != saxpyInCUDA {
		t.Errorf("%v, %v", v, err)
	}
}

// TestTemplateParameters makes sure that the head of a template gets no value in place of the name of its parameter.
func TestTemplateParameters(t *testing.T) {
	d := saxpy()
	d.Kernel.Source = "template <int block_size_x> __global__ void saxpy(float *y, const float *x, float a, unsigned n) { unroll; }"
	d.Kernel.Name = "saxpy<{block_size_x}>"
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, nil), h200)
	if line := v.OptionLine(); err != nil || strings.Contains(line, "block_size_x") || !strings.Contains(line, "-D unroll=") || !strings.Contains(line, `-ndtune-name="saxpy<`) {
		t.Error(line, err)
	}
}

// constantMemory is a problem with a symbol and dynamic shared memory.
func constantMemory() definition.Definition {
	d := saxpy()
	d.Kernel.Source, d.Kernel.Name = "__constant__ float weights[9];\n__global__ void smooth(float *out) {}", "smooth"
	d.Constants = []definition.Constant{{Name: "n", Value: 1024}}
	d.ProblemSize, d.Restrictions, d.Verify = []definition.Expr{"n"}, nil, nil
	d.Arguments = []definition.Argument{
		{Name: "weights", Type: "float32", Size: "9", Symbol: true},
		{Name: "out", Type: "float32", Size: "n", Output: true},
		{Name: "tile", Type: "float32", LocalSize: "block_size_x"},
	}
	return d
}

// TestSymbols: a symbol has content, and no place in the kernel.
func TestSymbols(t *testing.T) {
	p := mustProblem(t, constantMemory())
	v, err := p.Variant(configurationOf(t, p, nil), h200)
	if err != nil {
		t.Fatal(err)
	}
	if l := v.Launches[0]; !slices.Equal(l.Arguments, []int{1, 2}) || v.Elements[0] != 9 || l.LocalBytes[1] != 4*l.NDRange.WorkItems() {
		t.Errorf("%+v of %v elements", l, v.Elements)
	}
	if content, err := p.Content(0, 9); err != nil || content.Len() != 9 {
		t.Errorf("%v, %v", content, err)
	}
	other := constantMemory()
	other.Arguments[0].Symbol = false
	if q := mustProblem(t, other); q.Digest() == p.Digest() || q.KernelDigest() == p.KernelDigest() {
		t.Error("the digest does not cover that an argument is a symbol")
	}
	for want, change := range map[string]func(d *definition.Definition){
		"arguments[0].symbol: OpenCL C has no symbols":                           func(d *definition.Definition) { d.Kernel.Language = source.OpenCL },
		"arguments[0].name: \"a b\" is not the name of a variable":               func(d *definition.Definition) { d.Arguments[0].Name = "a b" },
		"arguments[0].output: only a buffer has it; weights is a symbol":         func(d *definition.Definition) { d.Arguments[0].Output = true },
		"arguments[0]: is a scalar (value), local memory (local_size), an image": func(d *definition.Definition) { d.Arguments[0].Value = 1 },
		"tile is dynamic shared memory, which a kernel in CUDA C has once":       func(d *definition.Definition) { slices.Reverse(d.Arguments) },
		"kernels[0].arguments: weights is a symbol of the source, which no kernel": func(d *definition.Definition) {
			d.Stages = []definition.Stage{{Kernel: "smooth", Arguments: []string{"out", "weights"}}}
		},
	} {
		d := constantMemory()
		change(&d)
		if _, err := New(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
