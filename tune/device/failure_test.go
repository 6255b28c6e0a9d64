package device

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

func TestWhatTheDeviceCannotLaunchIsSkippedWithAReason(t *testing.T) {
	d := problem.Definition{
		Kernel: problem.Kernel{Name: "k", Source: `
#if required
__attribute__((reqd_work_group_size(16, 2, 1)))
#endif
__kernel void k(__global char *y) { y[0] = 1; }`},
		ProblemSize: []problem.Expr{"1"},
		BlockSize:   [3]problem.Expr{"bx", "by", "bz"},
		Arguments:   []problem.Argument{{Name: "y", Type: "int8", Size: "1 + device.max_allocation * huge"}},
		Parameters: []space.Parameter{
			{Name: "bx", Values: []space.Value{16}}, {Name: "by", Values: []space.Value{2}}, {Name: "bz", Values: []space.Value{1}},
			{Name: "required", Values: []space.Value{0}}, {Name: "huge", Values: []space.Value{0}},
		},
	}
	e := open(t, d)
	values := func(name string, v space.Value) map[string]space.Value {
		return map[string]space.Value{"required": 1, name: v}
	}
	if r := e.evaluateFor(t, values("by", 2)); r.Status != tune.Correct {
		t.Errorf("as required: %s %q", r.Status, r.Reason)
	}
	wantStatus(t, "another work-group", e.evaluateFor(t, values("by", 1)), tune.Constraints, "requires a work-group of 16×2×1 (reqd_work_group_size), not 16×1×1")
	wantStatus(t, "a large work-group", e.evaluateFor(t, values("bx", 1<<20)), tune.Constraints, "work-items > device limit")
	wantStatus(t, "a deep work-group", e.evaluateFor(t, values("bz", 1<<20)), tune.Constraints, "work-items > device limit")
	wantStatus(t, "a work-group of 2⁸⁰", e.evaluateFor(t, map[string]space.Value{"bx": 1 << 40, "by": 1 << 40}), tune.Constraints, "more than the largest integer")
	wantStatus(t, "a huge buffer", e.evaluateFor(t, values("huge", 1)), tune.Constraints, "device limit")

	// What the device does not tell is found out from the built kernel.
	e.identity.MaxWorkGroupSize, e.identity.MaxWorkItemSizes = 0, nil
	wantStatus(t, "a work-group that only the kernel refuses", e.evaluateFor(t, map[string]space.Value{"bx": 1 << 20}), tune.Constraints, "the built kernel's limit")
}

func TestBuffersBeyondTheDevicesMemoryAreSkipped(t *testing.T) {
	d := problem.Definition{
		Kernel:      problem.Kernel{Name: "k", Source: "__kernel void k(__global char *a) { a[0] = 1; }"},
		ProblemSize: []problem.Expr{"1"},
		Arguments:   []problem.Argument{{Name: "a", Type: "int8", Size: "device.max_allocation"}},
	}
	info, err := testDevice(t).Info()
	if err != nil {
		t.Fatal(err)
	}
	for i := int64(0); i <= info.GlobalMemSize/info.MaxAllocSize; i++ {
		b := d.Arguments[0]
		b.Name = "b" + string('a'+rune(i))
		d.Arguments = append(d.Arguments, b)
	}
	e := open(t, d)
	v, err := e.problem.Variant(configurationOf(t, e.problem, nil), e.identity)
	if err != nil {
		t.Fatal(err)
	}
	var failed *failure
	if err := e.session.checkMemory(v); !errors.As(err, &failed) || failed.status != tune.Constraints || !strings.Contains(failed.reason, "device memory") {
		t.Errorf("%v", err)
	}
}

func TestSourcesThatDoNotBuild(t *testing.T) {
	kernel := func(source string) tune.Result {
		return evaluateFirst(t, problem.Definition{
			Kernel: problem.Kernel{Name: "k", Source: source}, ProblemSize: []problem.Expr{"1"},
			Constants: []problem.Constant{{Name: "odd", Value: "(1 + 1)"}},
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
	if got := readable("\x00 error \xff\n\x00"); got != "error \uFFFD" {
		t.Errorf("%q", got)
	}
}

// poisonable is a definition whose configurations lose the session's queue where poison is
// 1, as a kernel that reads out of bounds does on a GPU.
func poisonable(e **Evaluator) problem.Definition {
	d := scale(1)
	d.Parameters = append(d.Parameters, space.Parameter{Name: "poison", Values: []space.Value{0, 1}})
	d.Kernel.Source = ""
	d.Kernel.Func = func(c space.Configuration) (string, error) {
		if *e != nil && c.Int("poison") == 1 {
			(*e).session.Queue.Release()
		}
		return scaleSource, nil
	}
	return d
}

func TestASessionThatIsLostIsReplaced(t *testing.T) {
	for _, timer := range []string{hardware.TimerEvent, hardware.TimerHost} {
		var e *Evaluator
		d := poisonable(&e)
		e = open(t, d)
		e.useTimer(timer)
		timer := e.identity.Timer
		for range 2 {
			wantCorrect(t, "before", e.evaluateFor(t, nil))
			lost := e.session
			wantStatus(t, "poison", e.evaluateFor(t, map[string]space.Value{"poison": 1}), tune.Runtime, "released")
			if e.session == lost || e.session.Timer != timer {
				t.Errorf("session replaced: %v, timer %s, want %s", e.session != lost, e.session.Timer, timer)
			}
		}
		wantCorrect(t, "after", e.evaluateFor(t, nil))
	}
}

// TestAConfigurationThatTakesTheDeviceWithItIsKept has a driver that makes no new context:
// the run ends, and when it is resumed, the configuration is not tried again.
func TestAConfigurationThatTakesTheDeviceWithItIsKept(t *testing.T) {
	var e *Evaluator
	d := poisonable(&e)
	d.Parameters[0].Values = []space.Value{32}
	e = open(t, d)
	e.device = new(cl.Device)
	o, err := tune.Run(context.Background(), e.problem, e, tune.Options{})
	if err == nil || !strings.Contains(err.Error(), "the device cannot be used any more after block_size_x=32, mode=1, poison=1 failed") {
		t.Fatal(err)
	}
	if len(o.Results) != 2 || o.Results[1].Status != tune.Runtime || o.Results[1].Durations.Total() <= 0 {
		t.Errorf("%+v", o.Results)
	}
}

const outOfBoundsVariable = "NDTUNE_TEST_OUT_OF_BOUNDS"

// TestAKernelOutOfBoundsIsAResult writes far outside of its buffer, in a process of its own:
// NVIDIA's driver then refuses that process everything, other drivers may end it.
func TestAKernelOutOfBoundsIsAResult(t *testing.T) {
	if os.Getenv(outOfBoundsVariable) != "" {
		writeOutOfBounds(t)
		return
	}
	info, err := testDevice(t).Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.NVIDIA == nil {
		t.Skip("only NVIDIA's driver is known to notice a write out of bounds and to survive it")
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestAKernelOutOfBoundsIsAResult$", "-test.v")
	child.Env = append(os.Environ(), outOfBoundsVariable+"=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func writeOutOfBounds(t *testing.T) {
	d := scale(1, 2, 3)
	d.Parameters[0].Values = []space.Value{32}
	d.Kernel.Source = strings.Replace(scaleSource, "int i = get_global_id(0);", `int i = get_global_id(0);
#if mode == 2
    y[i + (1L << 40)] = 1;
#endif`, 1)
	e := open(t, d)
	o, err := tune.Run(context.Background(), e.problem, e, tune.Options{})
	if err != nil && !strings.Contains(err.Error(), "the device cannot be used any more") {
		t.Error(err)
	}
	if len(o.Results) < 2 || o.Best == nil {
		t.Fatalf("%v: %+v", err, o.Results)
	}
	wantStatus(t, "out of bounds", o.Results[1], tune.Runtime, "run: ")
}

func TestALaunchThatFailsLeavesTheSession(t *testing.T) {
	e := open(t, scale(1))
	kept := e.session
	v, err := e.problem.Variant(configurationOf(t, e.problem, nil), e.identity)
	if err != nil {
		t.Fatal(err)
	}
	program, q, err := e.session.build(t.Context(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Release()
	defer q.release()
	var failed *failure
	if _, err := e.session.times(q, 1); !errors.As(err, &failed) || failed.status != tune.Runtime || !strings.Contains(failed.reason, "launch: ") {
		t.Errorf("a kernel without arguments: %v", err)
	}
	if replaced, err := e.recover(); replaced || err != nil || e.session != kept {
		t.Errorf("replaced %v, %v", replaced, err)
	}
	wantCorrect(t, "after", e.evaluateFor(t, nil))
}

// TestTheFinalMeasurementWarmsUp has configurations whose buffers have different sizes, so that each turn makes
// them anew. A launch that is not timed comes before the timed one.
func TestTheFinalMeasurementWarmsUp(t *testing.T) {
	e := open(t, problem.Definition{
		Kernel:      problem.Kernel{Name: "count", Source: "__kernel void count(__global int *launches) { launches[0]++; }"},
		ProblemSize: []problem.Expr{"1"},
		Arguments:   []problem.Argument{{Name: "launches", Type: "int32", Size: "size"}},
		Parameters:  []space.Parameter{{Name: "size", Values: []space.Value{64, 128}}},
	})
	all := []space.Configuration{configurationOf(t, e.problem, nil), configurationOf(t, e.problem, map[string]space.Value{"size": 128})}
	times, err := e.Remeasure(context.Background(), all, 3)
	if err != nil || len(times[0]) != 3 || len(times[1]) != 3 {
		t.Fatalf("%v, %v", times, err)
	}
	if launches := e.read(t, "launches").Float(0); launches != 2 {
		t.Errorf("%v launches on the buffer of the last turn, want one to warm up and one that is timed", launches)
	}
}

func TestTheFinalMeasurementTakesTurns(t *testing.T) {
	e := open(t, problem.Definition{
		Kernel: problem.Kernel{Name: "enter", Source: `
#if mine == 4
    no such statement;
#endif
__kernel void enter(__global int *book) { book[1 + book[0]++] = mine; }`},
		ProblemSize: []problem.Expr{"1"},
		Arguments:   []problem.Argument{{Name: "book", Type: "int32", Size: "64"}},
		Parameters:  []space.Parameter{{Name: "mine", Values: []space.Value{1, 2, 3, 4}}},
	})
	var all []space.Configuration
	for _, id := range []int{1, 2, 4, 3} {
		all = append(all, configurationOf(t, e.problem, map[string]space.Value{"mine": id}))
	}
	times, err := e.Remeasure(context.Background(), all, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{4, 4, 0, 4} {
		if len(times[i]) != want || len(times) != 4 {
			t.Errorf("configuration %d: %d times, want %d", i, len(times[i]), want)
		}
	}
	book := e.read(t, "book")
	var order []float64
	for i := range int(book.Float(0)) {
		order = append(order, book.Float(1+i))
	}
	// The first launch of the last configuration stands first, then the rounds. Where a round
	// begins depends on whether it could be enqueued at once.
	if len(order) != 13 || order[0] != 3 {
		t.Fatalf("launched %v, want 3 and four rounds of three", order)
	}
	for i := 1; i < len(order); i += 3 {
		if round := slices.Sorted(slices.Values(order[i : i+3])); !slices.Equal(round, []float64{1, 2, 3}) {
			t.Fatalf("launched %v, want each once in every round", order)
		}
	}
}

func TestTheFinalMeasurementSurvivesALostSession(t *testing.T) {
	var e *Evaluator
	d := poisonable(&e)
	e = open(t, d)
	var all []space.Configuration
	for _, v := range []map[string]space.Value{{}, {"poison": 1}, {"block_size_x": 64}} {
		all = append(all, configurationOf(t, e.problem, v))
	}
	times, err := e.Remeasure(context.Background(), all, 3)
	if err != nil || len(times[0]) != 3 || len(times[1]) != 0 || len(times[2]) != 3 {
		t.Errorf("%v, %v", times, err)
	}
}

// A countdown is a context that is cancelled when it has been asked so often.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancellingTakesEffectAfterTheRunningLaunch cancels at every point at which a
// measurement can end, and counts the launches by what they left.
func TestCancellingTakesEffectAfterTheRunningLaunch(t *testing.T) {
	e := open(t, increment(false))
	e.useTimer(hardware.TimerHost) // waits for each launch
	c := configurationOf(t, e.problem, nil)
	const stages = 9 // up to the timed launches
	for n := range stages + 8 {
		left := n
		_, err := e.One(countdown{context.Background(), &left}, c, nil, "")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", n, err)
		}
		if n < 4 {
			continue
		}
		if got, want := e.read(t, "x").Float(0), float64(max(0, n-stages)); n > stages && got != want {
			t.Errorf("cancelled at %d: %v launches, want %v", n, got, want)
		}
	}
	wantCorrect(t, "after", e.evaluateFor(t, nil))
	left := 5
	if _, err := e.Remeasure(countdown{context.Background(), &left}, []space.Configuration{c}, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("the final measurement: %v", err)
	}
}

func TestCancellingBetweenLaunchesOfTheReference(t *testing.T) {
	d := diffusion()
	e := open(t, d)
	v, err := e.problem.Variant(configurationOf(t, e.problem, map[string]space.Value{"steps": 6}), e.identity)
	if err != nil {
		t.Fatal(err)
	}
	left := 3
	if _, err := e.references.of(countdown{context.Background(), &left}, e.session, v); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantCorrect(t, "after", e.evaluateFor(t, nil))
}

func TestCloseTwice(t *testing.T) {
	e, err := Open(testDevice(t), mustProblem(t, scale(1)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.evaluateFor(t, nil)
	e.Close()
	e.Close()
	if err := e.Evaluate(context.Background(), nil, nil); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	if _, err := e.Remeasure(context.Background(), nil, 1); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

func TestIterations(t *testing.T) {
	e, err := Open(testDevice(t), mustProblem(t, scale(1)), Options{Iterations: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if r := e.evaluateFor(t, nil); len(r.Times) != 3 {
		t.Errorf("times %v", r.Times)
	}
	if e.Evaluated() != 1 || e.Capacity() != 1 {
		t.Errorf("evaluated %d, capacity %d", e.Evaluated(), e.Capacity())
	}
}

func TestDurationsAddUpToTheEvaluation(t *testing.T) {
	e := open(t, diffusion())
	r := e.evaluateFor(t, nil)
	d := r.Durations
	if d.Build <= 0 || d.Verify <= 0 || d.Measure <= 0 || d.Framework <= 0 || d.Search != 0 {
		t.Errorf("%+v", d)
	}
	// The first verification builds and runs the reference kernel; a later one does not.
	if again := e.evaluateFor(t, nil).Durations; again.Verify >= d.Verify {
		t.Errorf("verified in %v, then in %v", d.Verify, again.Verify)
	}
}

// TestMemoryDoesNotGrow evaluates configurations of all kinds, over and over, and compares
// what the process holds after each of two halves.
func TestMemoryDoesNotGrow(t *testing.T) {
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("the memory of the process is only known on Linux")
	}
	rounds := 20
	if os.Getenv("NDTUNE_LONG") != "" {
		rounds = 400
	}
	d := scale(1, 3)
	d.Arguments[0].Size = "1000 + 100000 * (block_size_x == 64 ? 1 : 0)"
	d.Verify.Reference = func(in map[string]*array.Array) (map[string]*array.Array, error) {
		y := in["y"]
		for i := range scaleLength {
			binary.LittleEndian.PutUint32(y.Bytes[4*i:], math.Float32bits(float32(2*i)))
		}
		return map[string]*array.Array{"y": y}, nil
	}
	e := open(t, d)
	half := func() {
		for range rounds {
			for _, block := range []int{32, 64} {
				for _, mode := range []int{1, 3} {
					e.evaluateFor(t, map[string]space.Value{"block_size_x": block, "mode": mode})
				}
			}
			if replaced, err := e.recover(); replaced || err != nil {
				t.Fatal(replaced, err)
			}
		}
	}
	half() // caches fill
	before := residentBytes(t)
	half()
	half()
	grown := residentBytes(t) - before
	t.Logf("%d evaluations left %d KiB behind", 8*rounds, grown>>10)
	if grown > 24<<20 {
		t.Error("that is a leak")
	}
}

// residentBytes is the memory of the process that is in use.
func residentBytes(t testing.TB) int {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, resident int
	if _, err := fmt.Sscan(string(text), &all, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * os.Getpagesize()
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

func TestReadable(t *testing.T) {
	for log, want := range map[string]string{
		"\x00 error \n\x00": "error",
		"warning: /home/a b/.cache/pocl/kcache/tempfile_CUP19T.cl:1:38: division by zero": "warning: source:1:38: division by zero",
		"error: tempfile_d8Rytn.cl:12:5: undeclared\nerror: k.cl:3:5: undeclared":         "error: source:12:5: undeclared\nerror: k.cl:3:5: undeclared",
		"k.cl:1:1: warning: a / b in my_tempfile.cl":                                      "k.cl:1:1: warning: a / b in my_tempfile.cl",
	} {
		if got := readable(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}

// TestDigest evaluates as if the device were a GPU, and as on a CPU. PoCL's binaries differ from build to
// build, so digests of two builds are not compared.
func TestDigest(t *testing.T) {
	e := open(t, problem.Definition{
		Kernel:      problem.Kernel{Name: "k", Source: `__kernel void k(__global float *o) { o[get_global_id(0)] = 1; }`},
		ProblemSize: []problem.Expr{"64"},
		Arguments:   []problem.Argument{{Name: "o", Type: "float32", Size: "64"}},
	})
	for typ, want := range map[string]bool{"gpu": true, "cpu": false} {
		e.identity.Type = typ
		if r := e.evaluateFor(t, nil); r.Status != tune.Correct || (r.Binary != 0) != want {
			t.Errorf("%s: %s, digest %x, want one: %v", typ, r.Status, r.Binary, want)
		}
	}
}

func TestSubGroupHint(t *testing.T) {
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
		{"error: too few arguments to sub_group_reduce_add", "", none, ""},
	} {
		got := subGroupHint(c.log, c.options, &cl.DeviceInfo{Extensions: c.extensions})
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%q, %v: %q, want %q", c.log, c.extensions, got, c.want)
		}
	}
}
