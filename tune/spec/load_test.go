package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// loaded is the good specification with sections replaced, which must load.
func loaded(t *testing.T, text string, o Options) *Spec {
	t.Helper()
	fsys := library()
	fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(with(text))}
	s, err := LoadFS(fsys, "spec.yaml", o)
	if err != nil {
		t.Fatalf("%s:\n%v", text, err)
	}
	if s.Problem == nil {
		t.Fatalf("%s: no problem", text)
	}
	return s
}

// TestGridDivOfX reads a divisor without a dimension as that of x, in a pipeline, too, as block_size.
func TestGridDivOfX(t *testing.T) {
	d := loaded(t, "problem_size: n\ngrid_div: div(n, 2)\nkernels: [{name: add, grid_div: 1}, {name: add, grid_div: {y: 2}}]\n", Options{}).Definition
	if got, want := [][3][]definition.Expr{d.GridDiv, d.Stages[0].GridDiv, d.Stages[1].GridDiv}, [][3][]definition.Expr{{{"div(n, 2)"}}, {{"1"}}, {nil, {"2"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEveryKey(t *testing.T) {
	const text = `whole
kernel:
  name: add
  build_options: [-cl-mad-enable, -I, include]
  target: "{threads == 32 ? 'sm_90a' : ''}"
  source: |
    __kernel void add(__global float *c) {}
constants: {n: 0x400, dt: 0.225f, on: yes, f: 2.0, big: 1_000, tile_count: 2}
problem_size: n
block_size: {x: threads, y: 2}
grid_div: {x: threads, y: [2, tile], z: []}
types:
  pair: {first: float32, rest: {type: int32, count: tile_count}}
  pairs: {both: {type: pair, count: 2}, corner: float4}
arguments:
  - {name: c, type: float32, size: n, fill: {copy: u}, output: true, restore: iteration}
  - {name: u, type: float32, size: n, fill: random}
  - {name: v, type: float32, size: n, fill: {random: [-1, 1]}}
  - {name: w, type: float4, size: 16, fill: {normal: {mean: 2}}}
  - {name: k, type: int32, value: n - 1}
  - {name: f, type: float4, value: [1, 0.5, dt, n]}
  - {name: l, type: float32, local_size: threads * 4}
  - {name: x, type: float, alias: w}
  - {name: one, type: int32, size: 4, fill: {constant: 7}, restore: configuration}
  - {name: s, type: pairs, value: {both: [{first: 1, rest: [n, 2]}, {first: 0.5, rest: [3, 4]}], corner: [0, 0, dt, 1]}}
  - {name: b, type: bytes, value: "0000 803f"}
  - {name: i, image: 2d, format: r/unorm_int8, size: [n, 2], fill: ones}
  - {name: a, sampler: {coordinates: normalized, addressing: repeat, filter: linear}}
  - {name: r, type: int32, size: n, fill: {random: [0, n - 1]}}
  - {name: e, type: int32, size: n, fill: {expression: (index * 7919) % n}}
  - {name: p, type: pairs, size: n, fill: {fields: {both: {fields: {first: ones, rest: {expression: index + item}}}, corner: {normal: {mean: n / 2}}}}}
parameters:
  threads: {powers_of_two: [32, 256]}
  tile: {range: [1, 7, 2]}
  part: {range: [0.1, 0.5, 0.1]}
  down: {range: [3, 1, -1]}
  y: [true, false]
  type: [float, "16", off]
  one: 1
restrictions:
  - threads * tile <= 1024
build_restrictions: [spill_bytes == 0, "registers <= 64 or threads < 64"]
verify: {spec: reference.yaml, atol: 1e-4, rtol: 0, launches: tile}
metrics:
  GB/s: 4 * n / time / 1e6
  half: 0.5
objective: [{name: GB/s, direction: maximize}, half, {name: time}]
choose: half <= 1.1 * best.half
max_evals: 12
measure: {cache: cold, launches: 20, seconds: 0.5, warmup: 0}
seed: 18446744073
`
	got := loaded(t, text, Options{}).Definition
	reference := loaded(t, "parameters: {block_size_x: [64]}\n", Options{}).Definition
	reference.Seed = 18446744073
	want := definition.Definition{
		Kernel: definition.Kernel{
			Name:         "add",
			SourceName:   "spec.yaml:kernel.source",
			Source:       "__kernel void add(__global float *c) {}\n",
			BuildOptions: []string{"-cl-mad-enable"},
			Target:       "{threads == 32 ? 'sm_90a' : ''}",
		},
		Constants: []definition.Constant{
			{Name: "n", Value: 1024}, {Name: "dt", Value: "0.225f"}, {Name: "on", Value: "yes"},
			{Name: "f", Value: 2.0}, {Name: "big", Value: 1000}, {Name: "tile_count", Value: 2},
		},
		ProblemSize: []definition.Expr{"n"},
		BlockSize:   [3]definition.Expr{"threads", "2", ""},
		GridDiv:     [3][]definition.Expr{{"threads"}, {"2", "tile"}, {}},
		Types: []definition.StructType{
			{Name: "pair", Fields: []definition.StructField{{Name: "first", Type: "float32"}, {Name: "rest", Type: "int32", Count: "tile_count"}}},
			{Name: "pairs", Fields: []definition.StructField{{Name: "both", Type: "pair", Count: "2"}, {Name: "corner", Type: "float4"}}},
		},
		Arguments: []definition.Argument{
			{Name: "c", Type: "float32", Size: "n", Fill: definition.Fill{Copy: "u"}, Output: true, RestoreEachLaunch: true},
			{Name: "u", Type: "float32", Size: "n", Fill: definition.Fill{Kind: array.Random}},
			{Name: "v", Type: "float32", Size: "n", Fill: definition.Fill{Kind: array.Random, Low: "-1", High: "1"}},
			{Name: "w", Type: "float4", Size: "16", Fill: definition.Fill{Kind: array.Normal, Mean: "2", Std: "1"}},
			{Name: "k", Type: "int32", Value: "n - 1"},
			{Name: "f", Type: "float4", Value: []any{1, 0.5, "dt", "n"}},
			{Name: "l", Type: "float32", LocalSize: "threads * 4"},
			{Name: "x", Type: "float", Alias: "w"},
			{Name: "one", Type: "int32", Size: "4", Fill: definition.Fill{Kind: array.Constant, Value: "7"}},
			{Name: "s", Type: "pairs", Value: map[string]any{
				"both": []any{
					map[string]any{"first": 1, "rest": []any{"n", 2}}, map[string]any{"first": 0.5, "rest": []any{3, 4}},
				},
				"corner": []any{0, 0, "dt", 1},
			}},
			{Name: "b", Type: "bytes", Value: "0000 803f"},
			{Name: "i", Image: &definition.Image{Shape: "2d", Format: "r/unorm_int8", Size: []definition.Expr{"n", "2"}}, Fill: definition.Fill{Kind: array.Ones}},
			{Name: "a", Sampler: &definition.Sampler{Coordinates: "normalized", Addressing: "repeat", Filter: "linear"}},
			{Name: "r", Type: "int32", Size: "n", Fill: definition.Fill{Kind: array.Random, Low: "0", High: "n - 1"}},
			{Name: "e", Type: "int32", Size: "n", Fill: definition.Fill{Expression: "(index * 7919) % n"}},
			{Name: "p", Type: "pairs", Size: "n", Fill: definition.Fill{Fields: map[string]definition.Fill{
				"both":   {Fields: map[string]definition.Fill{"first": {Kind: array.Ones}, "rest": {Expression: "index + item"}}},
				"corner": {Kind: array.Normal, Mean: "n / 2", Std: "1"},
			}}},
		},
		Parameters: []space.Parameter{
			{Name: "threads", Values: []space.Value{32, 64, 128, 256}},
			{Name: "tile", Values: []space.Value{1, 3, 5, 7}},
			{Name: "part", Values: []space.Value{0.1, 0.2, 0.3, 0.4, 0.5}},
			{Name: "down", Values: []space.Value{3, 2, 1}},
			{Name: "y", Values: []space.Value{true, false}},
			{Name: "type", Values: []space.Value{"float", "16", "off"}},
			{Name: "one", Values: []space.Value{1}},
		},
		Restrictions:      []space.Restriction{{Expression: "threads * tile <= 1024"}},
		BuildRestrictions: []definition.Expr{"spill_bytes == 0", "registers <= 64 or threads < 64"},
		Verify:            &definition.Verification{Problem: &reference, Launches: "tile", ATol: "0.0001", RTol: "0"},
		Metrics:           []definition.Metric{{Name: "GB/s", Expression: "4 * n / time / 1e6"}, {Name: "half", Expression: "0.5"}},
		Objective: score.Objective{
			Name: "GB/s", Maximize: true,
			More: []score.Objective{{Name: "half"}, {Name: "time"}}, Choose: "half <= 1.1 * best.half",
		},
		Measure:        definition.Measure{Timing: definition.Timing{Cache: definition.CacheCold, Launches: 20, Time: 500 * time.Millisecond, Warmup: definition.NoWarmup}},
		MaxEvaluations: 12,
		Seed:           18446744073,
	}
	compareFields(t, got, want)
}

// compareFields names the fields of two definitions that differ.
func compareFields(t *testing.T, got, want definition.Definition) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			t.Errorf("%s\n got %#v\nwant %#v", g.Type().Field(i).Name, a, b)
		}
	}
}

func TestBundledSpecifications(t *testing.T) {
	paths, err := filepath.Glob("../../kernels/*/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no bundled specifications: %v", err)
	}
	for _, path := range paths {
		s, err := Load(path, Options{})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if s.Path != path || s.Definition.Kernel.Source == "" || s.SourcePath == "" {
			t.Errorf("%s: Path %q, SourcePath %q, %d bytes of source", path, s.Path, s.SourcePath, len(s.Definition.Kernel.Source))
		}
		folder, name := filepath.Split(path)
		embedded, err := LoadFS(os.DirFS(folder), name, Options{})
		if err != nil {
			t.Errorf("from an fs.FS: %v", err)
			continue
		}
		compareFields(t, embedded.Definition, s.Definition)
	}
}

func TestAliases(t *testing.T) {
	s := loaded(t, "parameters: {block_size_x: &sizes [32, 64], tile: *sizes}\n", Options{})
	if got := s.Definition.Parameters[1].Values; !reflect.DeepEqual(got, []space.Value{32, 64}) {
		t.Errorf("an alias of a list gave %v", got)
	}
}

// Keys that YAML 1.1 takes for booleans stay names.
func TestKeysThatLookLikeBooleans(t *testing.T) {
	s := loaded(t, "constants: {n: 8, y: 1, no: 2, on: 3, off: 4}\n", Options{})
	var names []string
	for _, c := range s.Definition.Constants {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "n y no on off" {
		t.Errorf("constants %s", got)
	}
}

func TestVerifyByItself(t *testing.T) {
	s, err := LoadFS(library(), "loop.yaml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Definition.Verify; v == nil || v.Problem == nil || v.Problem.Verify != nil {
		t.Errorf("the verification is %+v", v)
	}
}

// What is wrong with a specification that is its own reference is said once.
func TestWrongByItself(t *testing.T) {
	_, err := LoadFS(library(), "loop.yaml", Options{Set: map[string]string{"n": "abc"}})
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if slices.Sort(lines); len(slices.Compact(slices.Clone(lines))) != len(lines) {
		t.Errorf("an error is said twice:\n%s", err)
	}
}

func TestRelativePaths(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("kernels/add.cl", "#include \"common.h\"\n__kernel void add(__global float *c) { c[0] = ONE; }\n")
	write("include/common.h", "#define ONE 1\n")
	write("reference/ref.yaml", strings.NewReplacer("add.cl", "../kernels/add.cl, build_options: -I../include", "[64, 128]", "64").Replace(good))
	write("specs/spec.yaml", strings.NewReplacer("add.cl", "../kernels/add.cl, build_options: [-I ../include]").Replace(good)+
		"verify: {npy: {c: ../data/c.npy}}\n")
	write("specs/verified.yaml", strings.NewReplacer("add.cl", "../kernels/add.cl, build_options: -I ../include").Replace(good)+
		"verify: {spec: ../reference/ref.yaml}\n")
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := array.WriteNPY(filepath.Join(dir, "data", "c.npy"), array.New(array.Float32, 1024), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"spec.yaml", "verified.yaml"} {
		s, err := Load(filepath.Join(dir, "specs", name), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		k := s.Definition.Kernel
		include := filepath.Join(dir, "include")
		if !reflect.DeepEqual(k.BuildOptions, []string{"-I" + include}) {
			t.Errorf("%s: options %q", name, k.BuildOptions)
		}
		if strings.Contains(k.Source, dir) {
			t.Errorf("%s: the source depends on where it lies:\n%s", name, k.Source)
		}
	}
}

// TestSPIRVFile: a module is not read as text.
func TestSPIRVFile(t *testing.T) {
	module, err := filepath.Abs(filepath.Join("..", "device", "testdata", "affine.spv"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spec.yaml")
	text := "kernel: {name: affine, file: " + module + `}
problem_size: 64
arguments:
  - {name: out, type: uint32, size: 64}
  - {name: x, type: uint32, size: 64}
parameters: {block_size_x: 16}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(module)
	if k := s.Definition.Kernel; err != nil || k.Source != string(want) {
		t.Errorf("a source of %d bytes, %v", len(k.Source), err)
	}
}

func TestErrorsCanBeInspected(t *testing.T) {
	fsys := library()
	fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(with("kernel: {name: add, file: ad.cl}\nrestrictions: [x]\n"))}
	_, err := LoadFS(fsys, "spec.yaml", Options{})
	var all Errors
	if !errors.As(err, &all) || len(all) != 2 {
		t.Fatalf("want two errors, got %v", err)
	}
	if e := all[1]; e.File != "spec.yaml" || e.Line != 8 || e.Column != 16 || e.Field != "restrictions[0]" {
		t.Errorf("the second error is %+v", e)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

// TestTheDigestDoesNotDependOnTheFolder of sources that are named by their whole paths.
func TestTheDigestDoesNotDependOnTheFolder(t *testing.T) {
	digests := map[string]bool{}
	for range 2 {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"head.cl": "#define one 1\n", "add.cl": "__kernel void add(__global float *c) { c[get_global_id(0)] = one; }\n",
			"spec.yaml": strings.Replace(good, "file: add.cl", fmt.Sprintf("file: [%q, %q]", filepath.Join(folder, "head.cl"), filepath.Join(folder, "add.cl")), 1),
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Load(filepath.Join(folder, "spec.yaml"), Options{})
		if err != nil || !strings.Contains(s.Definition.Kernel.Source, folder) {
			t.Fatal(err)
		}
		digests[s.Problem.Digest()+s.Problem.KernelDigest()] = true
	}
	if len(digests) != 1 {
		t.Errorf("%d digests", len(digests))
	}
}
