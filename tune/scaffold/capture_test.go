package scaffold

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	worker.Main()
	os.Exit(standin.Main(m))
}

func compiler(t *testing.T) Compiler {
	t.Helper()
	all, err := device.List()
	if err == nil {
		var d device.Listed
		if d, err = device.Select(all, cmp.Or(os.Getenv("NDTUNE_TEST_DEVICE"), "cpu")); err == nil {
			return Compiler{d, time.Minute}
		}
	}
	t.Skipf("no device: %v", err)
	return Compiler{}
}

// fromCapture makes the specification of a captured launch, and returns its text.
func fromCapture(t *testing.T, folder string) (out, text string, err error) {
	t.Helper()
	l, err := capture.Read(folder)
	if err != nil {
		return "", "", err
	}
	out = filepath.Join(t.TempDir(), "kernel.yaml")
	proposal, err := FromCapture(t.Context(), l, out, compiler(t))
	if err != nil {
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
			t.Errorf("%v is left behind after %v", left, err)
		}
		return "", "", err
	}
	written, err := os.ReadFile(out)
	if err != nil || string(written) != string(proposal.YAML()) {
		t.Errorf("the file is not what is proposed: %v\n%s", err, written)
	}
	return out, string(written), nil
}

// asCaptured evaluates the captured configuration of a specification.
func asCaptured(t *testing.T, out string) tune.Result {
	t.Helper()
	s, err := spec.Load(out, spec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all spec.Options
	all.Parameters = map[string][]string{}
	for name, value := range s.Definition.Baseline {
		all.Parameters[name] = []string{space.FormatValue(value)}
	}
	if s, err = spec.Load(out, all); err != nil {
		t.Fatal(err)
	}
	r, err := launchOnce(t.Context(), compiler(t), s.Problem, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRecordedCaptures makes a specification of each recorded launch, whose captured configuration must have the captured output.
func TestRecordedCaptures(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	recorded, err := filepath.Abs("../capture/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(recorded, "scenes")) // for the folder of -I
	folders, err := filepath.Glob(filepath.Join(recorded, "captures", "*", "Replay", "*"))
	if err != nil || len(folders) < 30 {
		t.Fatal(folders, err)
	}
	one := "restrictions:\n  - global_size_x % block_size_x == 0\n"
	wants := map[string][]string{ // lines of the file, or "error: " and what is refused
		"alias": {
			"constants:\n  FACTOR: 2\n  global_size_x: {value: 1024, host: true}", "problem_size: global_size_x", one,
			"output: true, restore: iteration}\n  - {name: sum, type: float, alias: b}", "block_size_x: [32, 64, 128, 256, 512, 1024]",
			"verify: {npy: {b: kernel.b.expected.npy}}", "baseline: {block_size_x: 64}",
		},
		"atomics":  {"# The kernel has atomic functions"},
		"binary":   {"error: the program has no source"},
		"buffers":  {"build_options: [-cl-mad-enable]", "SCALE: 0.5f", "UNROLL: [1, 2, 4]", "{name: columns, type: int, value: 96}", "baseline: {UNROLL: 1, block_size_x: 8}"},
		"contexts": {"TERMS: "},
		"crashing": {"block_size_x: [0, "}, "driver": {"block_size_x: [0, 64, 128, 192, 256, 384, 512, 768]", "- block_size_x == 0 or global_size_x % block_size_x == 0", "baseline: {block_size_x: 0}"},
		"failing": {"arguments: []", "DECIDE: the launch changed no buffer that can be compared."},
		"grid":    {"  # DECIDE: how does the global size depend on PER_ITEM?", "PER_ITEM: 4"},
		"half":    {"type: half", "WIDTH: 4", "{name: factor, type: float, value: 1.5}"},
		"header":  {"build_options: [-I"},
		"image": {
			"{name: input, image: 2d, format: rgba/unorm_int8, size: [48, 32], fill: {file: kernel.input.npy}}",
			"{name: sampler, sampler: {coordinates: normalized, addressing: clamp_to_edge, filter: nearest}}",
			"{name: output, image: 2d, format: rgba/unorm_int8, size: [24, 16], fill: {file: kernel.output.npy}, output: true}",
			"global_size_y % block_size_y == 0", "baseline: {block_size_x: 8, block_size_y: 4}",
		},
		"linked":    {"error: the program has no source"},
		"local":     {"{name: partial, type: float, local_size: 64}", "  # DECIDE: the local size is that of the application alone, since the size of its local memory may depend on it.", "block_size_x: 64"},
		"offset":    {"global_offset: [5, 7]", "problem_size: [global_size_x, global_size_y]"},
		"optional":  {"error: argument 1 (mask) is NULL; a specification has no buffer that is missing"},
		"plane":     {"block_size: {x: TILE, y: TILE}", "global_size_y % (TILE) == 0", "  # DECIDE: how does the global size depend on TILE?", "TILE: 8", "baseline: {TILE: 8}"},
		"slices":    {"{name: slices, image: 2d_array, format: r/float32, size: [16, 8, 3]", "(global_size_y % block_size_y == 0) and (block_size_x > 0 or block_size_y == 1)"},
		"space":     {"{name: weights, type: float, fill: {file: kernel.weights.npy}}", "block_size_z: [1, 2, 4]"},
		"spirv":     {"file: kernel.spv", "since the text of the kernel is not there", "{name: argument_3, type: bytes, value: 0000803f0000003f0000803e0000003e}"},
		"subbuffer": {one}, "svm": {one}, "usm": {one}, // but for ndtune.json, they are buffers
		"threads": {"TERMS: "},
		"three":   {one},
		"values": {
			"settings: {width: int, scale: float, negate: char, shift: long}", "{name: how, type: settings, value: '200000000000803e01000000000000000000000002000000'}",
			"{name: weights, type: float4, value: [1, 2, 0.5, 0.25]}", "{name: step, type: uchar, value: 3}", "{name: seed, type: ulong, value: 123456789012345}", "{name: bias, type: double, value: 0.1}",
		},
		"volume": {"image: 3d, format: r/float32, size: [16, 8, 10]"},
	}
	others := map[string][]string{ // of the launches of a scene
		"Enqueue_1_blend":   {"error: argument 1 is local memory or NULL here, and has a value in another file"},
		"Enqueue_1_collect": {"{name: list, type: int, "}, "Enqueue_2_accumulate": {"{name: bins, type: uint, "}, "Enqueue_3_subtract": {"block_size_x: [0, "},
		"Enqueue_2_increment": {"error: the argument points into shared virtual memory (SVM or USM)"},
	}
	for _, folder := range folders {
		scene, name := filepath.Base(filepath.Dir(filepath.Dir(folder))), filepath.Base(folder)
		t.Run(scene+"/"+name, func(t *testing.T) {
			want := wants[scene]
			if other := others[name]; other != nil {
				want = other
			}
			out, text, err := fromCapture(t, folder)
			if refused, is := strings.CutPrefix(strings.Join(want, ""), "error: "); is || err != nil {
				if err == nil || !is || !strings.Contains(err.Error(), refused) {
					t.Fatalf("%v, want %q", err, want)
				}
				return
			}
			for _, line := range want {
				if !strings.Contains(text, line) {
					t.Errorf("%q is not in\n%s", line, text)
				}
			}
			r := asCaptured(t, out)
			takesNone := r.Status == tune.Constraints && strings.Contains(r.Reason, "the device takes none")
			if refused := strings.Contains(text, "# DECIDE: the launch fails here (constraints):"); refused != takesNone {
				t.Errorf("%s\n%s", r.Reason, text)
			}
			// The order of atomic functions changes these outputs, and the repetitions of init may all have had the application's.
			reordered := scene == "atomics" && r.Status == tune.Correctness
			if !takesNone && !reordered && (r.Status != tune.Correct || !r.Verified && scene != "failing") {
				t.Errorf("%s: %s, verified %v\n%s", r.Status, r.Reason, r.Verified, text)
			}
		})
		delete(others, name)
	}
	if len(others) > 0 {
		t.Errorf("there are no captures of %v", others)
	}
}

// A memory of a launch that a test captures.
type memory struct{ before, after []byte }

func floats(values ...float32) (content []byte) {
	for _, v := range values {
		content = binary.LittleEndian.AppendUint32(content, math.Float32bits(v))
	}
	return content
}

// captureOf writes a capture: each argument is a memory, the bytes of a value, or local memory as their number. It returns the folder.
func captureOf(t *testing.T, source, options, sizes string, arguments ...any) string {
	t.Helper()
	folder := t.TempDir()
	write := func(name string, content []byte) {
		path := filepath.Join(folder, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, content, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("kernelName.txt", []byte("k"))
	write("kernel.cl", []byte(source))
	write("buildOptions.txt", []byte(options))
	write("worksizes.txt", []byte(sizes))
	for i, a := range arguments {
		value := fmt.Sprintf("Argument%d.bin", i)
		switch a := a.(type) {
		case []byte:
			write(value, a)
		case int:
			write(fmt.Sprintf("Local%d.txt", i), fmt.Append(nil, a))
		case memory:
			write(value, []byte("a handle"))
			write(fmt.Sprintf("SVM_Arg_Offset_%d.txt", i), []byte("0\n"))
			name := fmt.Sprintf("Enqueue_0000_Kernel_k_Arg_%d_Buffer_%04d.bin", i, i)
			write("Pre/"+name, a.before)
			write("Post/"+name, a.after)
		}
	}
	return folder
}

// TestCapturedValues: values that no number stands for, options of all kinds, macros that are defined twice.
func TestCapturedValues(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	const twice = "__kernel void k(__global float *y, const float a) { y[get_global_id(0)] = a * 2; }"
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		folder string
		want   []string
		error  string
	}{
		"a value that is not a number": {folder: captureOf(t, twice, "", "2\n1\n0\n", memory{floats(0, 0), floats(nan, nan)}, floats(nan)), want: []string{
			"# Some of its numbers are NaN, which equals nothing, so they are bytes here.\n  - {name: y, type: bytes, fill: {file: kernel.y.npy}, output: true}",
			"{name: a, type: bytes, value: 0000c07f}",
		}},
		"an infinity": {folder: captureOf(t, twice, "", "2\n1\n0\n", memory{floats(0, 0), floats(float32(math.Inf(1)), float32(math.Inf(1)))}, floats(float32(math.Inf(1)))), want: []string{
			"{name: y, type: float, ", "{name: a, type: bytes, value: 0000807f}",
		}},
		"small and large numbers": {folder: captureOf(t, twice, "", "2\n1\n0\n", memory{floats(0, 0), floats(2e-7, 2e-7)}, floats(1e-7)), want: []string{"value: 1e-07}"}},
		"a negative zero":         {folder: captureOf(t, twice, "", "2\n1\n0\n", memory{floats(1, 1), floats(0, 0)}, floats(float32(math.Copysign(0, -1)))), want: []string{"type: bytes, value: '00000080'"}},
		"numbers of 64 bits": {folder: captureOf(t, "__kernel void k(__global ulong *y, const ulong a, const long b) { y[0] = a; y[1] = b; }", "", "1\n1\n0\n",
			memory{make([]byte, 16), []byte("\xfe\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x80")}, []byte("\xfe\xff\xff\xff\xff\xff\xff\xff"), []byte("\x01\x00\x00\x00\x00\x00\x00\x80")),
			want: []string{"type: bytes, value: feffffffffffffff", "type: long, value: -9223372036854775807"}},
		"options": {folder: captureOf(t, `
#define TWO 3
#ifdef NEVER
#include "gone.h"
#endif
#ifndef THREE
#define THREE 3
#endif
__kernel void k(__global float *y, __global const char *unused) { y[get_global_id(0)] = ONE * TWO + THREE + time + sizeof(NAME); }`,
			`-D ONE=1 -DONE=2 -DTWO=2 -D "THREE=1 + 1" -Dtime=4 -D NAME="\"a b\"" -cl-mad-enable -I /no/such/folder -Xclang -load -w -include "/etc/pass wd"`,
			"4\n2\n0\n", memory{floats(0, 0, 0, 0), floats(16, 16, 16, 16)}, memory{make([]byte, 3), make([]byte, 3)}), want: []string{
			`# The application also has -I "/no/such/folder", which is no folder here.`, `# DECIDE: the application also gives the option "-Xclang".`,
			`option "-load".`, `option "/etc/pass wd".`, `-cl-mad-enable, -w, -D TWO=2, -D time=4]`,
			"ONE: 2\n", "THREE: 1 + 1\n", `NAME: '"a b"'`, "baseline: {block_size_x: 2}",
		}},
		"braces in an option": {folder: captureOf(t, "#define SUM(a, b) a + b\n#define PAIR SUM(1, 2)\n__kernel void k(__global int *y) { y[0] = PAIR; }", "-DPAIR={1}", "1\n1\n0\n",
			memory{make([]byte, 4), []byte("\x03\x00\x00\x00")}), want: []string{`PAIR="{{1}}"`}},
		"nothing changes": {folder: captureOf(t, twice, "", "2\n1\n0\n", memory{floats(2, 2), floats(2, 2)}, floats(1)), want: []string{
			"{name: y, type: float, fill: {file: kernel.y.npy}}", "# DECIDE: the launch changed no buffer that can be compared.",
		}},
		"another output than here": {folder: captureOf(t, twice, "", "2\n1\n0\n", memory{floats(0, 0), floats(7, 7)}, floats(1)), want: []string{
			"# DECIDE: y is not compared: repetitions of the launch leave other content in it than the application had.\n  - {name: y, type: float, fill: {file: kernel.y.npy}}",
			"# DECIDE: the launch changed no buffer that can be compared.",
		}},
		"work-groups of several sizes": {folder: captureOf(t, twice, "-cl-std=CL2.0", "3\n2\n0\n", memory{floats(0, 0), floats(2, 2)}, floats(1)),
			error: "the global size [3] is no multiple of the local size [2]; work-groups of several sizes have no specification"},
		"a source that does not build": {folder: captureOf(t, "__kernel void k() { NOWHERE; }", "-DONE", "1\n1\n0\n"),
			error: "the captured source does not build here with the options of the application (-DONE)"},
		"an included file": {folder: captureOf(t, "#include \"gone.h\"\n__kernel void k() { NOWHERE; }", "-I .", "1\n1\n0\n"),
			error: "with the options of the application (-I .); it includes files that are not here, and a capture does not have: the source does not compile"},
		"no such kernel":  {folder: captureOf(t, "__kernel void other(__global float *y) { }", "", "1\n1\n0\n"), error: "the source has no kernel named k; it has other"},
		"fewer arguments": {folder: captureOf(t, twice, "", "1\n1\n0\n", memory{floats(0), floats(2)}), error: "the kernel k has 2 arguments, but the capture has 1: it is not whole"},
		"another size of a value": {folder: captureOf(t, twice, "", "1\n1\n0\n", memory{floats(0), floats(2)}, []byte("12345678")),
			error: "the argument a has 8 bytes, but the kernel declares float"},
		"memory that is a value": {folder: captureOf(t, twice, "", "1\n1\n0\n", []byte("a handle"), floats(1)),
			error: "argument 0 (float* y) was captured as something else than the kernel declares: is it shared virtual memory or a pipe?"},
		"a value that is memory": {folder: captureOf(t, twice, "", "1\n1\n0\n", memory{floats(0), floats(2)}, memory{floats(0), floats(2)}),
			error: "argument 1 (float a) was captured as something else"},
	} {
		t.Run(name, func(t *testing.T) {
			out, text, err := fromCapture(t, c.folder)
			var fault *SourceError
			if c.error != "" || err != nil {
				if c.error == "" || !errors.As(err, &fault) || !strings.Contains(err.Error(), c.error) {
					t.Fatalf("%v, want %q", err, c.error)
				}
				return
			}
			for _, line := range c.want {
				if !strings.Contains(text, line) {
					t.Errorf("%q is not in\n%s", line, text)
				}
			}
			if r := asCaptured(t, out); r.Status != tune.Correct || r.Verified != strings.Contains(text, "\nverify:") {
				t.Errorf("%s: %s, verified %v\n%s", r.Status, r.Reason, r.Verified, text)
			}
			files, err := filepath.Glob(filepath.Join(filepath.Dir(out), "kernel.*.npy"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, file := range files {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s may be read by others: %v, %v", file, info.Mode(), err)
				}
			}
		})
	}
}

// TestRemarksAreComments: no text of a capture becomes a key of the specification.
func TestRemarksAreComments(t *testing.T) {
	if !standin.OnPoCL(t) {
		return
	}
	folder := captureOf(t, "#ifndef A\n#define A \"1\u2028kernel: no\u0085kernel: no\"\n#endif\n"+
		"__kernel void k(__global float *y) { y[get_global_id(0)] = sizeof(A) > 0; }",
		"-I '\rkernel: no\u2028kernel: no' -x \"\rseed: 7\"", "2\n1\n0\n", memory{floats(0, 0), floats(1, 1)})
	out, text, err := fromCapture(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	if r := asCaptured(t, out); !r.Verified || strings.ContainsAny(text, "\r\u2028\u0085") {
		t.Errorf("%+v\n%q", r, text)
	}
}

// TestLocalSizes: which local sizes are proposed, and why not more.
func TestLocalSizes(t *testing.T) {
	p := &captured{proposer: &proposer{dimensions: 1}}
	for _, c := range []struct {
		dimensions, axis, global, value int
		want                            []space.Value
	}{
		{1, 0, 1024, 64, []space.Value{32, 64, 128, 256, 512, 1024}}, {1, 0, 1000, 8, []space.Value{8, 40, 50, 100, 200, 250, 500, 1000}},
		{1, 0, 7, 7, []space.Value{7}}, {1, 0, 96, 0, []space.Value{0, 32, 48, 96}}, {2, 0, 48, 16, []space.Value{8, 12, 16, 24, 48}}, {2, 1, 12, 3, []space.Value{1, 2, 3, 4, 6, 12}},
		{3, 2, 5, 1, []space.Value{1}}, {1, 0, 360, 0, []space.Value{0, 36, 40, 60, 72, 120, 180, 360}}, {1, 0, 1021, 1021, []space.Value{1021}},
	} {
		p.dimensions = c.dimensions
		if got := p.dividing(c.global, c.value, c.axis); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for text, why := range map[string]string{
		"y[get_global_id(0)] = 1;": "", "y[get_group_id(0) * get_local_size(0) + get_local_id(0)] = 1;": "",
		"y[get_group_id(0) * 64 + get_local_id(0)] = 1;":        "reads the place in the work-group, but not its size",
		"y[get_global_id(0)] = place();":                        "a function that the kernel calls reads the place in the work-group",
		"__local float a[64]; y[get_global_id(0)] = 1;":         "its work-items share local memory",
		"y[get_global_id(0)] = sub_group_reduce_add(1);":        "its work-items share local memory",
		"y[get_global_id(0)] = work_group_reduce_add(1);":       "its work-items share local memory",
		"y[get_local_linear_id()] = 1;":                         "its work-items share local memory",
		"y[get_global_id(0)] = 1; meet();":                      "its work-items share local memory",
		"y[get_global_id(0)] = get_local_size(0) / local_size;": "",
	} {
		u := Untuned{Sources: []string{"k.cl"}, Text: "int place() { return get_group_id(0) + get_local_id(0); }\nvoid meet() { barrier(1); }\nvoid unused() { barrier(2); }\n" +
			"__kernel void k(__global float *y) { " + text + " }", Kernel: device.Signature{Name: "k"}}
		p := &captured{proposer: newProposer(u, "k.yaml"), launch: &capture.Launch{Local: []int{8}}}
		if got := p.relies(); !strings.Contains(got, why) || (got == "") != (why == "") {
			t.Errorf("%s: %q, want %q", text, got, why)
		}
	}
}

// TestTolerances: repetitions decide how an output is compared.
func TestTolerances(t *testing.T) {
	for name, c := range map[string]struct {
		typ                array.Type
		after              []byte
		made               [][]byte
		atol               float64
		as                 array.Reduction
		remark             string
		isNotCompared, raw bool
	}{
		"the same":            {typ: array.Float32, after: floats(1, 2), made: [][]byte{floats(1, 2), floats(1, 2)}},
		"no repetition":       {typ: array.Float32, after: floats(1, 2)},
		"in the last bits":    {typ: array.Float32, after: floats(1, 2), made: [][]byte{floats(1, 2), floats(1.00001, 2)}, remark: "differ from the application in some bits, within the tolerance"},
		"two zeros":           {typ: array.Float32, after: floats(0, 2), made: [][]byte{floats(float32(math.Copysign(0, -1)), 2)}, remark: "in some bits, within the tolerance"},
		"somewhat":            {typ: array.Float32, after: floats(1, 2), made: [][]byte{floats(1, 2), floats(1, 2.015)}, atol: 0.1, remark: "by up to 0.015"},
		"far":                 {typ: array.Float32, after: floats(1, 2), made: [][]byte{floats(1, 2), floats(1, 2.15)}, isNotCompared: true, remark: "DECIDE: y is not compared"},
		"in another order":    {typ: array.Int32, after: []byte("aaaabbbb"), made: [][]byte{[]byte("bbbbaaaa")}, as: array.Multiset, remark: "sorted before they are compared"},
		"integers, somewhat":  {typ: array.Int32, after: []byte("\x00\x00\x01\x00"), made: [][]byte{[]byte("\x02\x00\x01\x00")}, atol: 10, remark: "by up to 2"},
		"integers, other":     {typ: array.Int32, after: []byte("\x00\x00\x01\x00"), made: [][]byte{[]byte("\x00\x00\x02\x00")}, isNotCompared: true, remark: "DECIDE"},
		"NaN where was none":  {typ: array.Float32, after: floats(1, 2), made: [][]byte{floats(1, float32(math.NaN()))}, isNotCompared: true, remark: "DECIDE"},
		"structs, the same":   {raw: true, typ: array.Uint8, after: floats(1, 2), made: [][]byte{floats(1, 2)}},
		"structs, somewhat":   {raw: true, typ: array.Uint8, after: floats(1, 2), made: [][]byte{floats(1, 2.0001)}, remark: "within the tolerance"},
		"structs, other":      {raw: true, typ: array.Uint8, after: floats(1, 2), made: [][]byte{floats(1, 2.1)}, isNotCompared: true, remark: "DECIDE"},
		"everything is small": {typ: array.Float32, after: floats(0, 0), made: [][]byte{floats(1, 0)}, isNotCompared: true, remark: "DECIDE"},
	} {
		p := &captured{proposer: &proposer{Proposal: &Proposal{}}}
		p.Definition.Arguments = []definition.Argument{{Name: "y", Output: true}}
		v := &definition.Verification{Files: map[string]string{"y": "y.npy"}, Compare: map[string]definition.Comparison{}}
		o := &comparison{want: &array.Array{Type: c.typ, Bytes: c.after}}
		if c.raw {
			var err error
			if o.want.Struct, err = array.NewStruct("pair", []array.Field{{Name: "a", Type: array.Float32}, {Name: "b", Type: array.Float32}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, content := range c.made {
			o.add(content)
		}
		atol := p.conclude(0, o, v)
		remarks := strings.Join(p.Remarks["arguments[0]"], "\n")
		if atol != c.atol || v.Compare["y"].As != c.as || !strings.Contains(remarks, c.remark) || (remarks == "") != (c.remark == "") ||
			p.Definition.Arguments[0].Output == c.isNotCompared || (v.Files["y"] == "") != c.isNotCompared {
			t.Errorf("%s: atol %v, %+v, %q, %+v", name, atol, v, remarks, p.Definition.Arguments[0])
		}
	}
}
