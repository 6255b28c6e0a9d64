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
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

func TestWhatTheDeviceCannotLaunchIsSkippedWithAReason(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: `
// standin: k is nothing()
__kernel __attribute__((reqd_work_group_size(16, 2, 1))) void k(__global char *y) { y[0] = 1; }`},
		ProblemSize: []definition.Expr{"1"},
		BlockSize:   [3]definition.Expr{"bx", "by", "bz"},
		Arguments:   []definition.Argument{{Name: "y", Type: "int8", Size: "1 + device.max_allocation * huge"}},
		Parameters: []space.Parameter{
			{Name: "bx", Values: []space.Value{16}}, {Name: "by", Values: []space.Value{2}}, {Name: "bz", Values: []space.Value{1}},
			{Name: "huge", Values: []space.Value{0}},
		},
	}
	e := open(t, d)
	values := func(name string, v space.Value) map[string]space.Value { return map[string]space.Value{name: v} }
	if r := e.evaluateFor(t, values("by", 2)); r.Status != tune.Correct {
		t.Errorf("as required: %s %q", r.Status, r.Reason)
	}
	wantStatus(t, "another work-group", e.evaluateFor(t, values("by", 1)), tune.Constraints, "requires a work-group of 16×2×1 (reqd_work_group_size), not 16×1×1")
	wantStatus(t, "a large work-group", e.evaluateFor(t, values("bx", 1<<20)), tune.Constraints, "work-items > device limit")
	wantStatus(t, "a deep work-group", e.evaluateFor(t, values("bz", 1<<20)), tune.Constraints, "work-items > device limit")
	wantStatus(t, "a work-group of 2⁸⁰", e.evaluateFor(t, map[string]space.Value{"bx": 1 << 40, "by": 1 << 40}), tune.Constraints, "more than the largest integer")
	wantStatus(t, "a huge buffer", e.evaluateFor(t, values("huge", 1)), tune.Constraints, "device limit")

	// What the device does not tell is found out from the built kernel.
	d.Kernel.Source = "__kernel void k(__global char *y) { y[0] = 1; } // standin: k is nothing()"
	e = open(t, d)
	e.identity.MaxWorkGroupSize, e.identity.MaxWorkItemSizes = 0, nil
	wantStatus(t, "a work-group that only the kernel refuses", e.evaluateFor(t, values("bx", 1<<20)), tune.Constraints, "the built kernel's limit")
}

func TestBuffersBeyondTheDevicesMemoryAreSkipped(t *testing.T) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "k", Source: "__kernel void k(__global char *a) { a[0] = 1; }"},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "a", Type: "int8", Size: "device.max_allocation"}},
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
	var failed *Failure
	if err := e.session.checkMemory(v); !errors.As(err, &failed) || failed.Status != tune.Constraints || !strings.Contains(failed.Reason, "device memory") {
		t.Errorf("%v", err)
	}
}

// poisonable is a definition whose configurations lose the session's queue where poison is
// 1, as a kernel that reads out of bounds does on a GPU.
func poisonable(e **Evaluator) definition.Definition {
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
	o, err := loop.Run(context.Background(), e.problem, e, loop.Options{})
	if err == nil || !strings.Contains(err.Error(), "the device cannot be used any more after block_size_x=32, mode=1, poison=1 failed") {
		t.Fatal(err)
	}
	if len(o.Results) != 2 || o.Results[1].Status != tune.Runtime || o.Results[1].Durations.Total() <= 0 {
		t.Errorf("%+v", o.Results)
	}
}

const outOfBoundsVariable = "NDTUNE_TEST_OUT_OF_BOUNDS"

// TestAKernelOutOfBoundsIsAResult loses the device by a write far outside of a buffer, in a process of its own: NVIDIA's driver
// then refuses that process everything, as the stand-in does, and other drivers may end it.
func TestAKernelOutOfBoundsIsAResult(t *testing.T) {
	if os.Getenv(outOfBoundsVariable) != "" {
		writeOutOfBounds(t)
		return
	}
	info, err := testDevice(t).Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.NVIDIA == nil && standin.OnSystem() {
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
#endif`, 1) + "// standin: scale loses when mode == 2"
	e := open(t, d)
	o, err := loop.Run(context.Background(), e.problem, e, loop.Options{})
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
	built, err := e.session.build(t.Context(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer built.Release()
	var failed *Failure
	if _, err := built.Times(1); !errors.As(err, &failed) || failed.Status != tune.Runtime || !strings.Contains(failed.Reason, "launch: ") {
		t.Errorf("a kernel without arguments: %v", err)
	}
	if replaced, err := e.recover(); replaced || err != nil || e.session != kept {
		t.Errorf("replaced %v, %v", replaced, err)
	}
	wantCorrect(t, "after", e.evaluateFor(t, nil))
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
	const stages = 11 // up to the timed launches
	for n := range stages + 8 {
		left := n
		_, err := e.One(countdown{context.Background(), &left}, c, Prebuilt{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", n, err)
		}
		if n < 5 { // there are no buffers yet
			continue
		}
		if got, want := e.read(t, "x").Float(0), float64(max(0, n-stages)); n > stages && got != want {
			t.Errorf("cancelled at %d: %v launches, want %v", n, got, want)
		}
	}
	wantCorrect(t, "after", e.evaluateFor(t, nil))
	left := 5
	if _, err := e.Remeasure(countdown{context.Background(), &left}, "", []space.Configuration{c}, 10, false); !errors.Is(err, context.Canceled) {
		t.Errorf("the final measurement: %v", err)
	}
}

func TestCancellingBetweenLaunchesOfTheReference(t *testing.T) {
	d := stepping()
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
	if _, err := e.Remeasure(context.Background(), "", nil, 1, false); !errors.Is(err, errClosed) {
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
	d := stepping()
	d.Verify.Problem.Kernel.Source += " // standin: build waits 30"
	e := open(t, d)
	r := e.evaluateFor(t, nil)
	took := r.Durations
	if took.Build <= 0 || took.Verify <= 0 || took.Measure <= 0 || took.Framework <= 0 || took.Search != 0 {
		t.Errorf("%+v", took)
	}
	// The first verification builds and runs the reference kernel; a later one does not.
	if again := e.evaluateFor(t, nil).Durations; again.Verify >= took.Verify {
		t.Errorf("verified in %v, then in %v", took.Verify, again.Verify)
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
