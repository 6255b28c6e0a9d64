package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// t1Files are the T1 files of testdata, with the files that they name.
func t1Files(t testing.TB) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{
		"gemm.cl":    {Data: []byte("__kernel void gemm() {}\n")},
		"scale.cl":   {Data: []byte("__kernel void scale() {}\n")},
		"b.bin":      {Data: make([]byte, 64)},
		"broken.bin": {Data: make([]byte, 7)},
	}
	for _, name := range []string{"dedispersion.json", "gemm.json"} {
		text, err := os.ReadFile("testdata/t1/" + name)
		if err != nil {
			t.Fatal(err)
		}
		fsys[name] = &fstest.MapFile{Data: text}
	}
	return fsys
}

// The number of configurations, counted by loops in which the conditions are Go's.
func TestT1Spaces(t *testing.T) {
	dedispersion := 0
	for x := 1; x <= 32; x *= 2 {
		for y := 32; y <= 256; y += 8 {
			if 32 <= x*y && x*y <= 1024 {
				dedispersion += 1 + 3*2 // a stride needs a tile
			}
		}
	}
	gemm := 0
	for _, m := range []int{16, 32, 64} {
		for _, n := range []int{16, 32, 64} {
			for _, k := range []int{16, 32} {
				for bits := range 8 {
					mc, nc, ma := 8<<(bits&1), 8<<(bits>>1&1), 8<<(bits>>2)
					for _, v := range []int{1, 2, 4} {
						if m%(mc*v) == 0 && m%(ma*v) == 0 && k%(mc*nc/ma) == 0 && !(m == 64 && n == 64 && mc == 8) {
							gemm++ // with SA
							if v <= 2 {
								gemm++
							}
						}
					}
				}
			}
		}
	}
	for name, want := range map[string]int{"dedispersion.json": dedispersion, "gemm.json": gemm} {
		s, err := loadSpace(t1Files(t), name, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		all, _, err := s.Space(t.Context(), nil)
		if err != nil || all.Len() != want {
			t.Errorf("%s has %d configurations, %v; want %d", name, all.Len(), err, want)
		}
	}
}

func TestT1Definition(t *testing.T) {
	s, err := LoadFS(t1Files(t), "gemm.json", Options{Parameters: map[string][]string{"KWG": {"64"}, "SA": {"1"}}})
	if err != nil {
		t.Fatal(err)
	}
	d := s.Definition
	want := task.Definition{
		Kernel:      task.Kernel{Name: "gemm", SourceName: "gemm.cl", Source: "__kernel void gemm() {}\n", BuildOptions: []string{"-cl-mad-enable"}},
		ProblemSize: []task.Expr{"div(128 * MDIMC, MWG)", "div(128 * NDIMC, NWG)", "1"},
		BlockSize:   [3]task.Expr{"MDIMC", "NDIMC", "1"},
		Arguments: []task.Argument{
			{Name: "size", Type: "int32", Value: 128},
			{Name: "a", Type: "float", Size: "16384", Fill: task.Fill{Kind: array.Random, Low: "0", High: "2"}},
			{Name: "b", Type: "float4", Data: array.New(array.Float32, 16)},
			{Name: "c", Type: "float", Size: "16384", Fill: task.Fill{Kind: array.Constant, Value: "0"}, Output: true},
			{Name: "tile", Type: "float32x16", LocalSize: "64"},
		},
		Parameters: d.Parameters,
		Restrictions: []space.Restriction{
			{Expression: "div(MWG, MDIMC * VWM) * (MDIMC * VWM) == MWG"},
			{Expression: "MWG % (MDIMA * VWM) == 0"},
			{Expression: "floor_mod(KWG, MDIMC * NDIMC / MDIMA) == 0"},
			{Expression: "not (MWG == 64 and NWG == 64 and MDIMC == 8)"},
			{Expression: "(SA ? 1 : 0) == 1 or VWM in [1, 2]"},
		},
	}
	if b := d.Arguments[2].Data.(*array.Array); b.Len() != 4 || b.Type.String() != "float32x4" && b.Type.String() != "float4" {
		t.Errorf("b is %d elements of %v", b.Len(), b.Type)
	}
	want.Arguments[2].Data = d.Arguments[2].Data
	compareFields(t, d, want)
	if got := d.Parameters[2].Values; !reflect.DeepEqual(got, []space.Value{64}) {
		t.Errorf("KWG is %v", got)
	}
	if got := d.Parameters[7]; !reflect.DeepEqual(got, space.Parameter{Name: "SA", Values: []space.Value{true}}) {
		t.Errorf("SA is %v", got)
	}
}

// A section of t1_wrong.txt is a T1 file, or lines that each replace a part of the good one:
// «old» => «new».
func TestWrongT1Files(t *testing.T) {
	golden.Check(t, "testdata/t1_wrong.txt", func(name, text string) string {
		fsys := t1Files(t)
		file := text
		if strings.Contains(text, " => ") {
			file = goodT1
			for line := range strings.Lines(text) {
				from, to, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
				if strings.Count(file, from) != 1 {
					return fmt.Sprintf("%q is not once in the good file", from)
				}
				file = strings.Replace(file, from, to, 1)
			}
		}
		fsys["spec.json"] = &fstest.MapFile{Data: []byte(file)}
		s, err := LoadFS(fsys, "spec.json", Options{})
		if err == nil {
			err = s.CheckSpace(t.Context())
		}
		if err == nil {
			return "no error"
		}
		return err.Error()
	})
}

const goodT1 = `{
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[32, 64]"},
      {"Name": "real", "Type": "string", "Values": "['float', 'half']"}
    ],
    "Conditions": [
      {"Expression": "block_size_x > 1", "Parameters": ["block_size_x"]}
    ]
  },
  "KernelSpecification": {
    "Language": "OpenCL", "KernelName": "scale", "KernelFile": "scale.cl",
    "ProblemSize": [1024], "GridDivX": ["block_size_x"],
    "Arguments": [
      {"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0] + max(block_size_x)", "FillType": "Random", "FillValue": 1.0},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 3}
    ]
  }
}
`

// TestRawFileOnce: a file of numbers can be large. It is read once, and copied once for the
// problem.
func TestRawFileOnce(t *testing.T) {
	const size = 16 << 20
	folder := t.TempDir()
	raw := strings.Replace(goodT1, `"FillType": "Random"`, `"FillType": "BinaryRaw", "DataSource": "data.bin"`, 1)
	raw = strings.Replace(raw, `"Size": "ProblemSize[0] + max(block_size_x)", `, "", 1)
	for name, text := range map[string]string{"spec.json": raw, "scale.cl": "__kernel void scale() {}\n", "data.bin": strings.Repeat("\x00\x00\x80?", size/4)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := Load(filepath.Join(folder, "spec.json"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if a := s.Definition.Arguments[0].Data.(*array.Array); a.Len() != size/4 || a.Bytes[size-1] != '?' {
		t.Errorf("%d elements", a.Len())
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > size*5/2 {
		t.Errorf("%d bytes were taken for a file of %d", taken, size)
	}
}

func TestGoodT1(t *testing.T) {
	fsys := t1Files(t)
	fsys["spec.json"] = &fstest.MapFile{Data: []byte(goodT1)}
	s, err := LoadFS(fsys, "spec.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Definition.Arguments[0].Size; got != "1088" {
		t.Errorf("x has %s elements", got)
	}
	nvml := strings.Replace(goodT1, `{"Name": "real",`, `{"Name": "nvml_gr_clock", "Type": "int", "Values": "[900, 1200]"},
      {"Name": "nvml_pwr_limit", "Type": "int", "Values": "[300]"}, {"Name": "real",`, 1)
	fsys["nvml.json"] = &fstest.MapFile{Data: []byte(nvml)}
	s, err = LoadFS(fsys, "nvml.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Definition.Measure.Settings, []task.Setting{{Name: "clock", Expression: "nvml_gr_clock"}, {Name: "power_limit", Expression: "nvml_pwr_limit"}}; !slices.Equal(got, want) {
		t.Errorf("the parameters of Kernel Tuner's observer become the settings %v, want %v", got, want)
	}
	if _, err := LoadFS(fsys, "spec.json", Options{Parameters: map[string][]string{"block": {"3"}}}); err == nil || !strings.Contains(err.Error(), "spec.json: -p block=3: no parameter is named block") {
		t.Errorf("an unknown parameter: %v", err)
	}
}
