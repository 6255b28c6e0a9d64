package job

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/source"
)

func TestProbableLanguage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel.yaml")
	for text, want := range map[string][]source.Language{
		"kernel: {name: add, file: add.cl}":                                {source.OpenCL},
		"kernel:\n  file: add.cu\n":                                        {source.CUDA},
		"kernel: {file: [a.cuh, b.cu]}":                                    {source.CUDA},
		"kernel: {file: \"in a folder/add.cu\"}":                           {source.OpenCL}, // slower, but no harm
		"kernel: {file: add.cl, language: 'cuda'}":                         {source.CUDA},
		"kernel:\n  source: |\n    __global__ void add() {}\n":             {source.CUDA},
		"kernel:\n  file:\n    opencl: add.cl\n    cuda: add.cu\n":         {source.OpenCL, source.CUDA},
		"kernel: {name: add, file: {opencl: add.cl, cuda: add.cu}}":        {source.OpenCL, source.CUDA},
		"kernel: {name: add, file: add.cl}\nverify: {spec: add_cuda.yaml}": {source.OpenCL},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&Spec{Path: path}).Languages(); !slices.Equal(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := (&Spec{Path: "-", TakesInput: true}).Languages(); len(got) != 2 {
		t.Errorf("unknown: %s", got)
	}
}
