package device

import (
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// large is a kernel whose output is wrong in one place where «wrong» says so.
func large(n int) definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "fill", Source: `
// standin: fill is index(y, 1, 0); fill is set(y, 4321, 4321.5) when wrong
__kernel void fill(__global float *y) {
    int i = get_global_id(0);
    y[i] = i + (wrong && i == 4321 ? 0.5f : 0);
}`},
		Constants:   []definition.Constant{{Name: "n", Value: n}},
		ProblemSize: []definition.Expr{"n"},
		Arguments:   []definition.Argument{{Name: "y", Type: "float32", Size: "n", Output: true}},
		Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{64, 32}}, {Name: "wrong", Values: []space.Value{0, 1}}},
		Verify: &definition.Verification{ATol: "0.1", Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			y := make([]float32, in["y"].Len())
			for i := range y {
				y[i] = float32(i)
			}
			return map[string]*array.Array{"y": array.Of(y)}, nil
		}},
	}
}

func (e *Evaluator) wantCounts(t testing.TB, passed, readBack int) {
	t.Helper()
	if v := e.session.verifier; v.passed != passed || v.readBack != readBack {
		t.Errorf("the device passed %d outputs, %d were read back; want %d and %d", v.passed, v.readBack, passed, readBack)
	}
}

// TestLargeOutputsStayOnTheDevice evaluates right configurations, and a wrong one, which is launched twice.
func TestLargeOutputsStayOnTheDevice(t *testing.T) {
	e := open(t, large(verifyOnDevice/4))
	wantCorrect(t, "right", e.evaluateFor(t, nil))
	wantCorrect(t, "right again", e.evaluateFor(t, map[string]space.Value{"block_size_x": 32}))
	e.wantCounts(t, 4, 0) // after the first launch and after the last
	if e.session.scratch != nil {
		t.Error("memory on the host for nothing")
	}
	wrong := e.evaluateFor(t, map[string]space.Value{"wrong": 1})
	wantStatus(t, "wrong", wrong, tune.Correctness, "y: element 4321: got 4321.5, want 4321 (off by 0.5, tolerance 0.1); 1 of 262144 elements differs")
	e.wantCounts(t, 4, 2)
	wantCorrect(t, "right after a wrong one", e.evaluateFor(t, nil))
	e.wantCounts(t, 6, 2)
	if n := len(e.session.buffers[0].expected); n != 1 {
		t.Errorf("%d expected outputs are on the device", n)
	}
	small := open(t, large(verifyOnDevice/4-64))
	wantCorrect(t, "small", small.evaluateFor(t, nil))
	small.wantCounts(t, 0, 2)
}

// TestASpoiledExpectedOutputIsReplaced has it overwritten on the device.
func TestASpoiledExpectedOutputIsReplaced(t *testing.T) {
	e := open(t, large(verifyOnDevice/4))
	wantCorrect(t, "right", e.evaluateFor(t, nil))
	if err := e.session.Queue.Write(e.session.buffers[0].expected[0].buffer, 100, []byte("spoiled!")); err != nil {
		t.Fatal(err)
	}
	wantCorrect(t, "in doubt", e.evaluateFor(t, nil))
	e.wantCounts(t, 3, 1)
	wantCorrect(t, "replaced", e.evaluateFor(t, nil))
	e.wantCounts(t, 5, 1)
}

// TestFalseDoubtsEnd has an output that is right, and always so close to the tolerance that
// only the host can tell.
func TestFalseDoubtsEnd(t *testing.T) {
	j := newJudge(t, array.Float32, 1000)
	out, ref := array.New(array.Float32, 1000), array.New(array.Float32, 1000)
	setBits(out, 5, bitsOf(array.Float32, 0.25))
	for i := range maxFalseDoubts + 2 {
		if err, passed := j.compare(t, out, ref, 0.25, 0, 0); err != nil || passed {
			t.Fatal(err, passed)
		}
		if asked := j.evaluator.session.ask(0, ref, 0.25, 0) != unasked; asked != (i+1 < maxFalseDoubts) {
			t.Errorf("asked after %d false doubts: %v", i+1, asked)
		}
	}
	j = newJudge(t, array.Float32, 1000)
	for range 2 * maxFalseDoubts {
		for _, tolerance := range []float64{0.25, 0.25, 0.3} {
			if err, passed := j.compare(t, out, ref, tolerance, 0, 0); err != nil || passed != (tolerance == 0.3) {
				t.Fatal(err, passed)
			}
		}
	}
}

// TestExpectedOutputsOnTheDeviceAreBounded compares one output with many, by turns.
func TestExpectedOutputsOnTheDeviceAreBounded(t *testing.T) {
	const n = 1000
	j := newJudge(t, array.Int32, n)
	var refs []*array.Array
	for i := range 2 * maxExpected {
		ref := array.New(array.Int32, n)
		setBits(ref, i, 1)
		refs = append(refs, ref)
	}
	for range 3 {
		for _, ref := range refs {
			if err, passed := j.compare(t, ref, ref, 0, 0, 0); err != nil || !passed {
				t.Fatal(err, passed)
			}
			if err, passed := j.compare(t, array.New(array.Int32, n), ref, 0, 0, 0); err == nil || passed {
				t.Fatal(err, passed)
			}
		}
	}
	s := j.evaluator.session
	if got := len(s.buffers[0].expected); got != maxExpected {
		t.Errorf("%d expected outputs are on the device", got)
	}
	kept := s.buffers[0].expected[0].buffer
	s.releaseBuffers()
	if err := s.Queue.Read(kept, 0, make([]byte, 4)); !errors.Is(err, cl.ErrReleased) {
		t.Errorf("an expected output outlives its buffer: %v", err)
	}
}

// TestWithoutTheDeviceTheHostCompares takes from the verifier what it needs.
func TestWithoutTheDeviceTheHostCompares(t *testing.T) {
	for name, spoil := range map[string]func(e *Evaluator){
		"a count":            func(e *Evaluator) { e.session.verifier.doubts.Release() },
		"the kernel":         func(e *Evaluator) { e.session.verifier.kernels[array.Float32].Release() },
		"the right kernel":   func(e *Evaluator) { e.session.verifier.kernels[array.Float32].local = 1 << 30 },
		"the expected array": func(e *Evaluator) { e.session.buffers[0].expected[0].buffer.Release() },
	} {
		e := open(t, large(verifyOnDevice/4))
		wantCorrect(t, "with "+name, e.evaluateFor(t, nil))
		spoil(e)
		wantCorrect(t, "without "+name, e.evaluateFor(t, nil))
		wantCorrect(t, "without "+name+" again", e.evaluateFor(t, nil))
		e.wantCounts(t, 2, 4)
		if len(e.session.buffers[0].expected) != 0 {
			t.Errorf("without %s: expected outputs stay on the device", name)
		}
	}
	e := open(t, large(verifyOnDevice/4))
	e.evaluateFor(t, nil)
	if e.session.roomFor(math.MaxInt) {
		t.Error("there is room for more than the device has")
	}
	if !e.session.roomFor(4) {
		t.Error("there is no room")
	}
}

// TestALostSessionComparesAnew goes on after a launch that took the session with it.
func TestALostSessionComparesAnew(t *testing.T) {
	e := open(t, large(verifyOnDevice/4))
	wantCorrect(t, "before", e.evaluateFor(t, nil))
	kernel := e.session.verifier.kernels[array.Float32]
	e.session.Queue.Release()
	if r := e.evaluateFor(t, nil); r.Status != tune.Runtime {
		t.Errorf("%s %q", r.Status, r.Reason)
	}
	wantCorrect(t, "after", e.evaluateFor(t, nil))
	e.wantCounts(t, 2, 0)
	if e.session.verifier.kernels[array.Float32] == kernel {
		t.Error("the kernel outlives its context")
	}
	if _, err := kernel.NumArgs(); !errors.Is(err, cl.ErrReleased) {
		t.Errorf("the kernel was not released: %v", err)
	}
}

// TestALostDeviceIsSaidByTheHost loses the device between the launch and the comparison.
func TestALostDeviceIsSaidByTheHost(t *testing.T) {
	j := newJudge(t, array.Float32, 1000)
	ref := array.New(array.Float32, 1000)
	j.evaluator.session.verifier.least = 0
	j.evaluator.session.Queue.Release()
	_, err := j.evaluator.session.compare(j.evaluator.problem, j.variant, map[string]*array.Array{"y": ref})
	var failed *Failure
	if !errors.As(err, &failed) || failed.Status != tune.Runtime {
		t.Errorf("%v", err)
	}
}

// TestComparingOnTheDeviceLeavesNothingBehind compares very often, and makes buffers anew.
func TestComparingOnTheDeviceLeavesNothingBehind(t *testing.T) {
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("the memory of the process is only known on Linux")
	}
	comparisons := 1000
	if os.Getenv("NDTUNE_LONG") != "" {
		comparisons = 10000
	}
	j := newJudge(t, array.Float32, 16)
	ref := array.New(array.Float32, 16)
	j.output(t, ref)
	j.evaluator.session.verifier.least = 0
	e := open(t, large(1<<14))
	e.session.verifier.least = 0
	for _, c := range []struct {
		what  string
		times int
		do    func()
		most  int // bytes that may stay
	}{
		{"comparisons", comparisons, func() {
			if j.evaluator.session.ask(0, ref, 0, 0) != right {
				t.Fatal("not compared on the device")
			}
		}, 3 << 20},
		{"buffers made anew", 100, func() {
			e.evaluateFor(t, nil)
			e.evaluateFor(t, map[string]space.Value{"wrong": 1})
		}, 4 << 20},
	} {
		half := func() {
			for range c.times {
				c.do()
			}
		}
		half() // caches fill
		before := residentBytes(t)
		half()
		half()
		grown := residentBytes(t) - before
		t.Logf("%d %s left %d KiB behind", 2*c.times, c.what, grown>>10)
		if grown > c.most {
			t.Error("that is a leak")
		}
	}
}

// BenchmarkVerify is a comparison of a right output, on the host and on the device, once the
// expected output is there.
func BenchmarkVerify(b *testing.B) {
	for _, kib := range []int{64, 256, 1 << 10, 4 << 10, 64 << 10} {
		n := kib << 8
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(i%1000) * 1.00001
		}
		ref := make([]float32, n)
		for i := range ref {
			ref[i] = float32(i % 1000)
		}
		for _, c := range []struct {
			name  string
			least int
		}{{"host", math.MaxInt}, {"device", 0}} {
			b.Run(fmt.Sprintf("%dKiB/%s", kib, c.name), func(b *testing.B) {
				j := newJudge(b, array.Float32, n)
				expected := map[string]*array.Array{"y": array.Of(ref)}
				if err, passed := j.compare(b, array.Of(out), expected["y"], 1e-6, 1e-4, c.least); err != nil || passed != (c.least == 0) {
					b.Fatal(err, passed)
				}
				b.SetBytes(int64(4 * n))
				for b.Loop() {
					if _, err := j.evaluator.session.compare(j.evaluator.problem, j.variant, expected); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFirstVerify is the first comparison on the device of a session: the kernel is built
// (or had from the driver's cache), and the expected output uploaded.
func BenchmarkFirstVerify(b *testing.B) {
	for _, kib := range []int{64, 4 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			ref := array.New(array.Float32, kib<<8)
			j := newJudge(b, array.Float32, kib<<8)
			j.output(b, ref)
			s := j.evaluator.session
			s.verifier.least = 0
			for b.Loop() {
				s.verifier.release()
				s.releaseExpected()
				if s.ask(0, ref, 0, 0) != right {
					b.Fatal("not compared on the device")
				}
			}
		})
	}
}
