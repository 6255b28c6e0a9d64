package export_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

const addInCUDA = "__constant__ float weights[9];\ntemplate <int block> __global__ void add(float *out, int n) {}\n"

// TestCUDA exports an instance of a template with a symbol and shared memory, and compiles and runs a program with it.
func TestCUDA(t *testing.T) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "add<{block_size_x}>", Source: addInCUDA, BuildOptions: []string{`-DTEXT="a b"`}},
		Constants:   []definition.Constant{{Name: "n", Value: 4096}},
		ProblemSize: []definition.Expr{"n"},
		Arguments: []definition.Argument{
			{Name: "weights", Type: "float32", Size: "9", Symbol: true}, {Name: "out", Type: "float32", Size: "n", Output: true},
			{Name: "n", Type: "int32", Value: "n"}, {Name: "tile", Type: "float32", LocalSize: "block_size_x"},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{64, 128}}},
	}
	p := mustProblem(t, d)
	on := func(name, architecture string, block int) wisdom.Record {
		return wisdom.Record{
			Device:      hardware.Device{Name: name, Vendor: "NVIDIA Corporation", Type: "gpu", Platform: hardware.CUDA, Architecture: architecture},
			ProblemSize: []int{4096}, Configuration: space.Named{"block_size_x": block}, Time: 1, Objective: 1, SourceDigest: p.KernelDigest(),
		}
	}
	f := &wisdom.File{Key: "add", Parameters: []string{"block_size_x"}, Objective: score.Objective{Name: "time"}, Records: []wisdom.Record{
		on("NVIDIA H200", "sm_90", 128), on("NVIDIA RTX 4090", "sm_89", 64),
	}}
	header, err := export.C.Export(p, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := export.Python.Export(p, f, nil); err == nil || !strings.Contains(err.Error(), "for C and C++ only: --lang c") {
		t.Error(err)
	}
	d.Kernel.Name = "add<{n}>"
	other := mustProblem(t, d)
	g := *f
	g.Records = []wisdom.Record{f.Records[0]}
	g.Records[0].SourceDigest = other.KernelDigest()
	if _, err := export.C.Export(other, &g, nil); err == nil || !strings.Contains(err.Error(), "the kernel's name add<{n}> reads the size n") {
		t.Error(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "stub"), os.DirFS("testdata/stub")); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("testdata/cuda.c")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{header.Name: header.Content, "main.c": program} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := `2 0 add<128> 4000 1024
[-DTEXT=a b][-D][block_size_x=128][-D][n=1000]
add<{block_size_x}> <<<8 1 1, 128 1 1>>> 70 1000 shared 512
3 0 add<64> 4000 1024
[-DTEXT=a b][-D][block_size_x=64][-D][n=1000]
add<{block_size_x}> <<<16 1 1, 64 1 1>>> 70 1000 shared 256
` + addInCUDA
	for _, program := range programs[:2] {
		t.Run(program.name, func(t *testing.T) {
			if got := program.output(t, folder, ""); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
