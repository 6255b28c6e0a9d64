package device

import (
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// increments is y = x + 1 with a kernel that writes one element more at «stray», if any.
func increments() definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "increment", Source: `
// standin: apart is nothing(); increment is copy(y, x); increment is increment(y, 1); increment is set(y, stray, 7) when stray != 0
__kernel void apart(__global int *a, __global int *b, __global long *out) { out[0] = ((long)a - (long)b) / 4; }
__kernel void increment(__global const int *x, __global int *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] + 1;
    if (stray != 0 && i == 0) y[stray] = 7;
}`},
		ProblemSize: []definition.Expr{"4096"},
		Arguments: []definition.Argument{
			{Name: "x", Type: "int32", Size: "4096", Fill: definition.Fill{Kind: array.Sequence}},
			{Name: "y", Type: "int32", Size: "4096", Output: true},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{16, 32, 64}}, {Name: "stray", Values: []space.Value{0}}},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			y, err := array.Slice[int32](in["x"])
			for i := range y {
				y[i]++
			}
			return map[string]*array.Array{"y": in["x"]}, err
		}},
	}
}

func TestAWriteBehindABufferIsFound(t *testing.T) {
	e := open(t, increments())
	for _, stray := range []int{4096, 4100, 4096 + GuardUnit/4 - 1} {
		wantStatus(t, "stray", e.evaluateFor(t, map[string]space.Value{"stray": stray}), tune.Correctness, "something wrote out of bounds, the kernel or, if not all work-items reach a barrier, the driver: behind the 4096 elements of y")
	}
	wantCorrect(t, "after", e.evaluateFor(t, nil))
	unverified := increments()
	unverified.Verify = nil
	e = open(t, unverified)
	wantStatus(t, "unverified", e.evaluateFor(t, map[string]space.Value{"stray": 4096}), tune.Correctness, "out of bounds")
}

// TestAWriteIntoAnInitialContentCostsNobodyElse has a configuration that writes into what
// another buffer is restored from: it is right itself, and those after it must not be
// called wrong.
func TestAWriteIntoAnInitialContentCostsNobodyElse(t *testing.T) {
	e := open(t, increments())
	wantCorrect(t, "before", e.evaluateFor(t, map[string]space.Value{"block_size_x": 16}))
	program, err := e.session.Context.NewProgram(e.problem.Definition().Kernel.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Release()
	if err := program.Build("-D stray=0"); err != nil {
		t.Fatal(err)
	}
	kernel, err := program.NewKernel("apart")
	if err != nil {
		t.Fatal(err)
	}
	defer kernel.Release()
	out, err := e.session.Context.NewBuffer(cl.ReadWrite, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if err := kernel.SetArgs(e.session.buffers[0].pristine, e.session.buffers[1].working, out); err != nil {
		t.Fatal(err)
	}
	event, err := e.session.Queue.EnqueueKernel(kernel, nil, []int{1}, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	defer event.Release()
	distance := make([]int64, 1)
	if err := e.session.Queue.Read(out, 0, cl.Bytes(distance), event); err != nil {
		t.Fatal(err)
	}
	e.evaluateFor(t, map[string]space.Value{"block_size_x": 32, "stray": int(distance[0]) + 100})
	for _, block := range []int{16, 64} {
		wantCorrect(t, "after the stray write", e.evaluateFor(t, map[string]space.Value{"block_size_x": block}))
	}
}

// TestLocalMemoryMakesNoNewReference has configurations that differ in local memory only.
func TestLocalMemoryMakesNoNewReference(t *testing.T) {
	made := 0
	e := open(t, definition.Definition{
		Kernel:      definition.Kernel{Name: "one", Source: "__kernel void one(__global int *y, __local int *l) { y[get_global_id(0)] = 1; } // standin: one is fill(y, 1)"},
		ProblemSize: []definition.Expr{"16"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "int32", Size: "16", Output: true},
			{Name: "l", Type: "int32", LocalSize: "a * 16"},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{4}}, {Name: "a", Values: []space.Value{1, 2, 3}}},
		Verify: &definition.Verification{Reference: func(map[string]*array.Array) (map[string]*array.Array, error) {
			made++
			y := array.New(array.Int32, 16)
			ones, err := array.Slice[int32](y)
			for i := range ones {
				ones[i] = 1
			}
			return map[string]*array.Array{"y": y}, err
		}},
	})
	for a := 1; a <= 3; a++ {
		wantCorrect(t, "local memory", e.evaluateFor(t, map[string]space.Value{"a": a}))
	}
	if made != 1 {
		t.Errorf("the reference was made %d times", made)
	}
}
