package cl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestBuildOptions(t *testing.T) {
	r := newRig(t)
	p := r.program("// standin: f is fill(out, N)\nkernel void f(global int *out) { *out = N; }", "-D N=42 -cl-mad-enable")
	k := must(p.NewKernel("f"))(t)
	defer k.Release()
	out := r.buffer(make([]byte, 4))
	r.check(k.SetArg(0, out))
	r.done(r.queue.EnqueueKernel(k, nil, []int{1}, nil))
	if got := r.read(out)[0]; got != 42 {
		t.Errorf("%d", got)
	}
	if log := must(p.BuildLog())(t); strings.ContainsRune(log, 0) {
		t.Errorf("log %q", log)
	}
}

func TestKernelNames(t *testing.T) {
	r := newRig(t)
	p := r.program(`// standin: a is nothing(); b is nothing()
		kernel void a(global int *o) { o[0] = 1; }
		kernel void b(global int *o, int v) { o[1] = v; }`, "")
	names := must(p.KernelNames())(t)
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q", names)
	}
	if _, err := p.NewKernel("c"); !errors.Is(err, cl.InvalidKernelName) || !strings.Contains(err.Error(), "c") {
		t.Errorf("%v", err)
	}
}

func TestBinaryRoundTrip(t *testing.T) {
	r := newRig(t)
	binary := must(r.program("// standin: f is fill(out, v + 1)\nkernel void f(global int *out, int v) { *out = v + 1; }", "").Binary())(t)
	if len(binary) == 0 {
		t.Fatal("no binary")
	}
	p := must(r.context.NewProgramFromBinary(binary))(t)
	defer p.Release()
	r.check(p.Build(""))
	k := must(p.NewKernel("f"))(t)
	defer k.Release()
	out := r.buffer(make([]byte, 4))
	r.check(k.SetArgs(out, int32(41)))
	r.done(r.queue.EnqueueKernel(k, nil, []int{1}, nil))
	if got := r.read(out)[0]; got != 42 {
		t.Errorf("%d", got)
	}
	if _, err := r.context.NewProgramFromBinary(nil); !errors.Is(err, cl.InvalidBinary) {
		t.Errorf("no binary: %v", err)
	}
}

func TestUnbuiltProgram(t *testing.T) {
	r := newRig(t)
	p := must(r.context.NewProgram("kernel void f() {}"))(t)
	defer p.Release()
	if binary, _ := p.Binary(); binary != nil {
		t.Errorf("a binary of %d bytes", len(binary))
	}
	if _, err := p.NewKernel("f"); !errors.Is(err, cl.InvalidProgramExecutable) && !r.simulated() {
		t.Errorf("kernel: %v", err)
	}
	if _, err := r.context.NewProgram(""); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("empty source: %v", err)
	}
}

// A variable in constant memory is a buffer, which lives and dies with its program.
func TestVariableOfAProgram(t *testing.T) {
	if !onCUDA() {
		t.Skip("OpenCL has no such variables: see TestOnCUDA")
	}
	r := newRig(t)
	p := r.program(`// standin: f is copy(out, table)
		__constant__ int table[4];
		kernel void f(global int *out) { out[get_global_id(0)] = table[get_global_id(0)]; }`, "")
	table := must(p.Symbol("table"))(t)
	defer table.Release()
	if table.Size() != 16 {
		t.Errorf("%d bytes", table.Size())
	}
	r.check(r.queue.Write(table, 0, pattern(16)))
	k := must(p.NewKernel("f"))(t)
	defer k.Release()
	out := r.buffer(make([]byte, 16))
	r.check(k.SetArg(0, out))
	r.done(r.queue.EnqueueKernel(k, nil, []int{4}, nil))
	if !slices.Equal(r.read(out), pattern(16)) {
		t.Errorf("%v", r.read(out))
	}
	var e *cl.Error
	if _, err := p.Symbol("tables"); !errors.As(err, &e) || e.Call != "cuModuleGetGlobal_v2" || !strings.Contains(e.Text, "NOT_FOUND") || !strings.Contains(err.Error(), "tables") {
		t.Errorf("a variable that is not there: %v", err)
	}
}

// The log is whole however long it is. Compilers stop after a number of errors, so that the
// length is made of warnings, each with a long name.
func TestBuildFailure(t *testing.T) {
	r := newRig(t)
	var source strings.Builder
	source.WriteString("kernel void f(global int *out) {\n")
	for i := range 400 {
		fmt.Fprintf(&source, "#warning \"%d %s\"\n", i, strings.Repeat("long ", 60))
	}
	source.WriteString("*out = undeclared_at_the_end; }\n")
	p := must(r.context.NewProgram(source.String()))(t)
	defer p.Release()
	err := p.Build("-D unused=1")
	var failure *cl.BuildError
	if !errors.As(err, &failure) || !errors.Is(err, cl.BuildProgramFailure) {
		t.Fatalf("%v", err)
	}
	t.Logf("the log has %d bytes", len(failure.Log))
	if len(failure.Log) < 64<<10 {
		t.Errorf("the log has %d bytes only", len(failure.Log))
	}
	for _, word := range []string{"undeclared_at_the_end", "399 long"} {
		if !strings.Contains(failure.Log, word) {
			t.Errorf("%q is not in the log", word)
		}
	}
	text := err.Error()
	for _, word := range []string{"clBuildProgram", "CL_BUILD_PROGRAM_FAILURE", "-D unused=1", r.device.String(), "undeclared_at_the_end"} {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not in the error", word)
		}
	}
	if failure.Device != r.device || failure.Options != "-D unused=1" {
		t.Errorf("%s, %q", failure.Device, failure.Options)
	}
	if err := p.Build("a\x00b"); !errors.Is(err, cl.InvalidBuildOptions) {
		t.Errorf("NUL in the options: %v", err)
	}
}

// TestSPIRV builds package device's module, where the device takes it.
func TestSPIRV(t *testing.T) {
	r := newRig(t)
	module := must(os.ReadFile(filepath.Join("..", "tune", "device", "testdata", "affine.spv")))(t)
	if _, err := r.context.NewProgramFromIL(nil); err == nil {
		t.Error("an empty module is taken")
	}
	if !strings.Contains(r.info.ILVersion, "SPIR-V") {
		if _, err := r.context.NewProgramFromIL(module); err == nil || !strings.Contains(err.Error(), "clCreateProgramWithIL") {
			t.Errorf("a device that takes no SPIR-V: %v", err)
		}
		t.Skipf("%s takes no SPIR-V: only the refusal was tested", r.device)
	}
	p := must(r.context.NewProgramFromIL(module))(t)
	defer p.Release()
	r.check(p.Build(""))
	k := must(p.NewKernel("affine"))(t)
	defer k.Release()
	out, x := r.buffer(make([]byte, 4)), r.buffer([]byte{2, 0, 0, 0})
	r.check(k.SetArg(0, out))
	r.check(k.SetArg(1, x))
	r.done(r.queue.EnqueueKernel(k, nil, []int{1}, nil))
	if got := r.read(out)[0]; got != 2 {
		t.Errorf("2 · 1 + 0 is %d", got)
	}
}
