package check

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// sanitizerLog has messages of all forms, as versions of compute-sanitizer write them.
const sanitizerLog = `========= COMPUTE-SANITIZER
printed by the program: Invalid __global__ write of size 4 bytes
========= Invalid __global__ read of size 4 bytes
=========     at smooth(float *, const float *)+0x210 in <source>:6
=========     by thread (31,0,0) in block (7,0,0)
=========     Access to 0x7f0000001004 is out of bounds
=========     and is 5 bytes after the nearest allocation at 0x7f0000000000 of size 4,096 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main in main.cu:25 [0x8a81] in ndtune
=========
========= Invalid __global__ atomic of size 4 bytes
=========     at 0x578 in /home/me/sub/h.cuh:2:twice(float *)
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7effffffffff is out of bounds
=========     and is 1 bytes before the nearest allocation at 0x7f0000000000 of size 4096 bytes
=========     Device Frame:smooth(float *, const float *)+0x10 in <source>:9
=========
========= Invalid __shared__ write of size 8 bytes
=========     at void tiled<float, (int)16>(T1 *)+0x20
=========     by thread (1,2,3) in block (4,5,6)
=========     Address 0x400 is out of bounds
=========
========= Invalid __local__ write of size 4 bytes
=========     at smooth(float *, const float *)+0x160 in cuda_fp16.hpp:344
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0xfffda1 is misaligned
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuStreamSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========
========= Error: Race reported between Write access at smooth(float *, const float *)+0xf0 in <source>:7
=========     and Read access at smooth(float *, const float *)+0x280 in <source>:6 [248 hazards]
=========     and Write access at smooth(float *, const float *)+0xf0 in <source>:7 [4 hazards]
=========
========= WARNING: Race reported between Read access at 0x278 in /home/me/<source>:6:smooth(float*, float)
=========     and Write access at 0x298 in /home/me/<source>:8:smooth(float*, float) [6144 hazards]
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at smooth(float *, const float *)+0x70 in <source>:8
=========     by thread (2,0,0) in block (1,0,0)
=========     Address 0x7f0000200008
=========
========= Host API memory access error at host access to 0x7f0000200000 of size 16 bytes
=========     Uninitialized access at 0x7f0000200000 on access by cudaMemcopy source
=========
========= Barrier error detected. Divergent thread(s) in block
=========     at smooth(float *, const float *)+0xb0 in <source>:9
=========     by thread (32,0,0) in block (0,0,0)
=========
========= Barrier error detected. Invalid arguments.
=========     at __cuda_sm70_warpsync+0x30
=========     by thread (0,0,0) in block (0,0,0)
=========         Device Frame: __syncwarp(unsigned int)+0xf0 in sm_30_intrinsics.hpp:110
=========         Device Frame: smooth(float *, const float *)+0x3c0 in <source>:9
=========
========= ERROR SUMMARY: 13 errors
`

const faultyCUDA = `#define head
#line 1
#line 1 "sub/h.cuh"
1
    atomicAdd(a, 1);
#line 3
3
4
5
    out[i] = in[i + 1] + t[l];
    t[l] = 1;
    t[l] += out[i];
    __syncthreads();
`

func TestMessagesOfTheSanitizerBecomeFindings(t *testing.T) {
	r := reader{
		problem: problemOf(t, sample()), lines: source.Lined(strings.Replace(faultyCUDA, "#line 3", "#line 3 \"\"", 1)), file: "smooth.cu",
		addresses: []uint64{0x7f0000200000, 0x7f0000000000},
	}
	messages, fatal := readSanitizer(sanitizerLog)
	if fatal != "" {
		t.Error(fatal)
	}
	var got []string
	for _, m := range messages {
		f := r.sanitized(m)
		where := ""
		for _, l := range f.Where {
			where += fmt.Sprintf(" %s «%s»", l, l.Text)
		}
		got = append(got, fmt.Sprintf("%s: %s (%s)%s|%s", f.Kind, f.Text, f.Memory, where, f.Entity))
	}
	want := []string{
		"out of bounds: read out of bounds at in[1025] (global) smooth.cu:6 «out[i] = in[i + 1] + t[l];»|thread (31,0,0) in block (7,0,0)",
		"out of bounds: atomic out of bounds at in[-1] (global) sub/h.cuh:2 «atomicAdd(a, 1);»|thread (0,0,0) in block (0,0,0)",
		"out of bounds: write out of bounds at shared memory (shared)|thread (1,2,3) in block (4,5,6)",
		"misaligned access: the address is no multiple of the size of the type (private) cuda_fp16.hpp:344 «»|thread (0,0,0) in block (0,0,0)",
		"data race: read-write race in shared memory (shared) smooth.cu:6 «out[i] = in[i + 1] + t[l];» smooth.cu:7 «t[l] = 1;»|",
		"data race: write-write race in shared memory (shared) smooth.cu:7 «t[l] = 1;» smooth.cu:7 «t[l] = 1;»|",
		"data race: read-write race in shared memory (shared) smooth.cu:6 «out[i] = in[i + 1] + t[l];» smooth.cu:8 «t[l] += out[i];»|",
		"uninitialised memory: read of out[2], which nothing has written; the specification has no fill for out (global) smooth.cu:8 «t[l] += out[i];»|thread (2,0,0) in block (1,0,0)",
		"divergent barrier: not all threads of the block come here () smooth.cu:9 «__syncthreads();»|thread (32,0,0) in block (0,0,0)",
		"divergent barrier: Barrier error detected. Invalid arguments. () smooth.cu:9 «__syncthreads();»|thread (0,0,0) in block (0,0,0)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestASanitizerThatDoesNotWatch(t *testing.T) {
	for log, want := range map[string]string{
		"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n":                                              "",
		"========= COMPUTE-SANITIZER\n":                                                                                 "it ended early",
		"========= Error: Device not supported. Please refer to the documentation\n========= ERROR SUMMARY: 0 errors\n": "Error: Device not supported. Please refer to the documentation",
		"========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)":                                       "",
	} {
		if messages, fatal := readSanitizer(log); len(messages) > 0 || fatal != want {
			t.Errorf("%q: %v, %q; want %q", log, messages, fatal, want)
		}
	}
}

// sanitizerScript stands in for compute-sanitizer: it runs the program and writes the messages of a tool, which lie beside it.
const sanitizerScript = `#!/bin/sh
while [ "$#" -gt 1 ]; do
	case "$1" in
	--tool) tool=$2 ;;
	--log-file) log=$2 ;;
	esac
	shift 2
done
[ ! -f "$(dirname "$0")/hangs" ] || exec tail -f /dev/null
[ "$tool" != synccheck ] || { echo "========= COMPUTE-SANITIZER" > "$log"; exec kill -9 $$; }
"$1"
cat "$(dirname "$0")/$tool.txt" > "$log"
`

// sampleInCUDA is the sample in CUDA C, with statements of the stand-in.
func sampleInCUDA(statements string) definition.Definition {
	d := sample()
	d.Kernel.Source = "__global__ void k(float *out, const float *in) { const int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = in[i]; } // standin: " + statements
	return d
}

// TestASanitizedConfiguration has findings of each tool that came to its end, with a stand-in for compute-sanitizer.
func TestASanitizedConfiguration(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for compute-sanitizer is a script of a POSIX shell")
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"compute-sanitizer": sanitizerScript,
		"memcheck.txt":      "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n",
		"racecheck.txt": "========= COMPUTE-SANITIZER\n========= Error: Race reported between Write access at k(float *)+0xf0 in <source>:1\n" +
			"=========     and Write access at k(float *)+0xf0 in <source>:1 [4 hazards]\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n",
		"initcheck.txt": "========= Error: Device not supported.\n========= ERROR SUMMARY: 0 errors\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	program, err := Sanitizer()
	if err != nil || program != filepath.Join(folder, "compute-sanitizer") {
		t.Fatal(program, err)
	}
	o := onCUDA(t)
	o.Sanitizer, o.Set, o.File, o.Limit = program, map[string]space.Value{"n": 64}, "k.cu", time.Hour
	d := sampleInCUDA("k is copy(out, in)")
	d.Verify = &definition.Verification{Expected: map[string]any{"out": make([]float32, 4096)}} // which the size of the check does not fit
	p := problemOf(t, d)
	c, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), p, []space.Configuration{c}, o)
	if err != nil {
		t.Fatal(err)
	}
	run := r.Runs[0]
	if run.Device != sanitizer || run.Size != "n=64" || run.Unchecked != "" || run.Findings != 1 || len(run.Skipped) != 2 ||
		run.Skipped[0] != "uninitialised memory: compute-sanitizer gave up: Error: Device not supported." ||
		!strings.HasPrefix(run.Skipped[1], "divergent barriers: compute-sanitizer gave up: it ended early") {
		t.Errorf("%+v", run)
	}
	if err := os.WriteFile(filepath.Join(folder, "hangs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Limit = 300 * time.Millisecond
	if r, err := Run(t.Context(), p, []space.Configuration{c}, o); err != nil || r.Runs[0].Unchecked != "compute-sanitizer did not finish within 300ms" {
		t.Errorf("%v, %+v", err, r.Runs)
	}
	if f := r.Findings[0]; f.Text != "write-write race in shared memory" || f.Where[0].String() != "k.cu:1" || !strings.HasPrefix(f.Where[0].Text, "__global__ void k(") {
		t.Errorf("%+v", f)
	}
}

func TestTheSanitizerIsSoughtWhereTheToolkitIs(t *testing.T) {
	t.Setenv("PATH", "")
	home := t.TempDir()
	t.Setenv("CUDA_HOME", home)
	t.Setenv("CUDA_PATH", "")
	if _, err := Sanitizer(); err == nil {
		t.Skip("compute-sanitizer is installed in /usr/local/cuda")
	} else if err.Error() != InstallSanitizer {
		t.Error(err)
	}
	name := filepath.Join(home, "bin", "compute-sanitizer")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Sanitizer(); err != nil || !strings.EqualFold(got, name) {
		t.Errorf("%q, %v; want %q", got, err, name)
	}
}

// TestFaultsInCUDAWithoutTheSanitizer are seen in the content of buffers, as in OpenCL C.
func TestFaultsInCUDAWithoutTheSanitizer(t *testing.T) {
	o := onCUDA(t)
	for statements, want := range map[string]Kind{
		"k is copy(out, in)":                         "",
		"k is copy(out, in); k is set(out, 4098, 1)": OutOfBounds,
		"k is copy(out, in); k is fill(in, 7)":       ConstWrite,
		"k is axpy(out, 1, in)":                      Uninitialised,
		"k is copy(out, in); k crashes after 1":      Crash,
	} {
		t.Setenv(standin.StateVariable, t.TempDir())
		p := problemOf(t, sampleInCUDA(statements))
		c, err := p.Parameters().ConfigureFirst(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), p, []space.Configuration{c}, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == want }); got != (want != "") || want == "" && !r.Clean() {
			t.Errorf("%s: want %q\n%s", statements, want, text(r))
		}
	}
}

// onCUDA returns options with the device of CUDA's stand-in.
func onCUDA(t *testing.T) Options {
	t.Helper()
	if standin.OnSystem() {
		t.Skip("the stand-in knows the kernel")
	}
	all, err := device.List(source.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Device: all[0].Selector(), Identity: *all[0].Identity, Limit: time.Hour}
}
