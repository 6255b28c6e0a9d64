package device

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
)

func TestSourcesThatDoNotBuild(t *testing.T) {
	kernel := func(source string) tune.Result {
		return evaluateFirst(t, definition.Definition{
			Kernel: definition.Kernel{Name: "k", Source: source}, ProblemSize: []definition.Expr{"1"},
			Constants: []definition.Constant{{Name: "odd", Value: "(1 + 1)"}},
		})
	}
	wantStatus(t, "an error", kernel("\n\n__kernel void k() { nonsense; }"), tune.Compile, "build k: ")
	// The prologue that «odd» needs does not count, or the reason says that it does.
	r := kernel("\n\n__kernel void k() { nonsense; }")
	counts := strings.Contains(r.Reason, ":5:") && strings.Contains(r.Reason, "(2 lines with #define stand before the source")
	if !strings.Contains(r.Reason, ":3:") && !counts {
		t.Errorf("the error is on line 3, the log says %q", r.Reason)
	}
	const others = "__kernel void l(__global int *y) { *y = 1; } __kernel void m(__global int *y) { *y = 2; }"
	wantStatus(t, "another name", kernel(others), tune.Compile, "the source has no kernel named k")
	r = kernel("__kernel void k() {\n" + strings.Repeat("nonsense_of_a_long_name_so_that_the_log_is_long\n", 3000) + "}")
	wantStatus(t, "a long log", r, tune.Compile, "build k: ")
	if len(r.Reason) > maxLog+1000 {
		t.Errorf("a reason of %d bytes", len(r.Reason))
	}
	if r := kernel("__kernel void k() {\n#pragma message \"\xff\xfe\"\n#error \xff\xfe\n}"); r.Status != tune.Compile || !utf8.ValidString(r.Reason) {
		t.Errorf("a log that is not UTF-8: %s %q", r.Status, r.Reason)
	}
}

func TestOptionsThatDoNotBuild(t *testing.T) {
	d := scale(1)
	d.Kernel.BuildOptions = []string{"-no-such-option"}
	if r := evaluateFirst(t, d); r.Status != tune.Compile && r.Status != tune.Correct { // some drivers take anything
		t.Errorf("%s %q", r.Status, r.Reason)
	}
}

func TestShortenKeepsBothEnds(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"0123456789abcdefghij", 8, "012345\n[… 12 bytes left out …]\nij"},
		{"ééééééééééé", 8, "ééé\n[… 14 bytes left out …]\né"},
		{"aééééééééééé", 8, "aéé\n[… 16 bytes left out …]\né"},
	} {
		if got := shorten(c.text, c.limit); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q at %d: %q", c.text, c.limit, got)
		}
	}
	if got := readable("\x00 error \xff\n\x00", "", "source"); got != "error \uFFFD" {
		t.Errorf("%q", got)
	}
}

func TestWarnings(t *testing.T) {
	const nvidia = "(): Warning: Function saxpy is a kernel, so overriding noinline attribute. The function may be inlined when called."
	for log, want := range map[string]string{
		"":                                     "",
		"compiled in 3 ms":                     "",
		nvidia:                                 "",
		"k.cl:3:7: warning: unused variable x": "k.cl:3:7: warning: unused variable x",
		nvidia + "\nk.cl:3:7: Warning: unused": "k.cl:3:7: Warning: unused",
	} {
		if got := warningsIn(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}

// TestReadable: messages name the user's file and line, whatever the compiler calls the source and counts.
func TestReadable(t *testing.T) {
	const source = "#define n 3\n#line 1\n#line 1 \"saxpy.cl\"\none\n#line 1 \"lib/a.h\"\nof a\n#line 3 \"saxpy.cl\"\nthree\n"
	for log, want := range map[string]string{
		"\x00 error \n\x00": "error",
		"warning: /home/a b/.cache/pocl/kcache/tempfile_CUP19T.cl:1:38: division by zero":     "warning: saxpy.cl:1:38: division by zero",
		"error: tempfile_d8Rytn.cl:12:5: undeclared\nerror: k.cl:3:5: undeclared":             "error: saxpy.cl:12:5: undeclared\nerror: k.cl:3:5: undeclared",
		"k.cl:1:1: warning: a / b in my_tempfile.cl":                                          "k.cl:1:1: warning: a / b in my_tempfile.cl",
		"<kernel>:8:5: error: undeclared\n<kernel>:6:2: note: here":                           "saxpy.cl:3:5: error: undeclared\nlib/a.h:1:2: note: here",
		"/tmp/comgr-1a/input/CompileSource:3:5: error: undeclared":                            "saxpy.cl:3:5: error: undeclared",
		"<program source>:3:5: error: undeclared":                                             "saxpy.cl:3:5: error: undeclared",
		"1:3:5: error: undeclared\n1 error generated.":                                        "saxpy.cl:3:5: error: undeclared\n1 error generated.",
		"<source>:3: error: undeclared\n1 error detected in the compilation of \"<source>\".": "saxpy.cl:3: error: undeclared\n1 error detected in the compilation of \"saxpy.cl\".",
	} {
		if got := readable(log, source, "saxpy.cl"); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
	if got := readable("<kernel>:4:5: error", "#define n 3\n#line 1\none\ntwo\n", "saxpy.yaml:kernel.source"); got != "saxpy.yaml:kernel.source:2:5: error" {
		t.Errorf("without the name of a file: %q", got)
	}
}

// TestDigest evaluates as if the device were a GPU, and as on a CPU. PoCL's binaries differ from build to
// build, so digests of two builds are not compared.
func TestDigest(t *testing.T) {
	e := open(t, definition.Definition{
		Kernel:      definition.Kernel{Name: "k", Source: `__kernel void k(__global float *o) { o[get_global_id(0)] = 1; } // standin: k is fill(o, 1)`},
		ProblemSize: []definition.Expr{"64"},
		Arguments:   []definition.Argument{{Name: "o", Type: "float32", Size: "64"}},
	})
	for typ, want := range map[string]bool{"gpu": true, "cpu": false} {
		e.identity.Type = typ
		if r := e.evaluateFor(t, nil); r.Status != tune.Correct || (r.Binary != 0) != want {
			t.Errorf("%s: %s, digest %x, want one: %v", typ, r.Status, r.Binary, want)
		}
	}
}

func TestFeatureHint(t *testing.T) {
	const (
		pocl   = "error: source:2:13: use of undeclared identifier 'sub_group_reduce_add'; did you mean 'work_group_reduce_add'?"
		nvidia = "<kernel>:2:13: error: implicit declaration of function 'get_sub_group_local_id' is invalid in OpenCL"
		intel  = "error: use of undeclared identifier 'intel_sub_group_shuffle'"
	)
	none, khr, both := []string{"cl_khr_fp64"}, []string{"cl_khr_subgroups"}, []string{"cl_khr_subgroups", "cl_intel_subgroups"}
	for _, c := range []struct {
		log, options string
		extensions   []string
		want         string
	}{
		{pocl, "-DA=1", none, "the device has no sub-groups"},
		{nvidia, "-DA=1", none, "the device has no sub-groups"},
		{nvidia, "-DA=1", khr, "build_options: [-cl-std=CL3.0]"},
		{intel, "-DA=1", khr, "does not have the extension cl_intel_subgroups"},
		{intel, "-DA=1", both, "build_options: [-cl-std=CL3.0]"},
		{pocl, "-cl-std=CL2.0", none, "the device has no sub-groups"},
		{pocl, "-DA=1 -cl-std=CL3.0", append(both, "cl_khr_fp64"), "the device has cl_khr_subgroups, cl_intel_subgroups"},
		{"error: use of undeclared identifier 'x'\nsub_group_barrier(0);", "", khr, ""},
		{"error: half.cl:1:42: declaring variable of type '__private half' is not allowed", "", none, "the device computes no half: it lacks the extension cl_khr_fp16; vload_half and vstore_half"},
		{"<kernel>:1:40: error: declaring function parameter of type '__private half' is not allowed; did you forget * ?", "", khr, "lacks the extension cl_khr_fp16"},
		{"error: half.cl:2:40: use of undeclared identifier 'half2'", "", none, "lacks the extension cl_khr_fp16"},
		{"error: source:2:1: unknown type name 'half16'", "", none, "lacks the extension cl_khr_fp16"},
		{"error: loading directly from pointer to type '__global half' requires cl_khr_fp16. Use vector data load builtin functions instead", "", none, "lacks the extension cl_khr_fp16"},
		{"error: half precision constant requires cl_khr_fp16", "", []string{"cl_khr_fp16"}, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable"},
		{"error: half.cl:1:4: use of undeclared identifier 'half_size'", "", none, ""},
		{"error: passing '__global half *' to parameter of incompatible type", "", none, ""},
		{"error: too few arguments to sub_group_reduce_add", "", none, ""},
	} {
		got := featureHint(c.log, c.options, &cl.DeviceInfo{Extensions: c.extensions})
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%q, %v: %q, want %q", c.log, c.extensions, got, c.want)
		}
	}
}
