package device

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

// TestAPipelineSwapsItsBuffers takes one step a launch, with buffers that change places, and compares with the
// kernel that takes all steps in one launch. An even number of steps ends in the other buffer.
func TestAPipelineSwapsItsBuffers(t *testing.T) {
	d := stepping()
	reference := *d.Verify.Problem
	d.Kernel = reference.Kernel
	d.Stages = []definition.Stage{{Kernel: "one_step", Repeat: "steps + wrong", Swap: [2]string{"u_new", "u"}}}
	d.Arguments[0].RestoreEachLaunch, d.Arguments[1].RestoreEachLaunch = true, true
	e := open(t, d)
	o, err := loop.Run(context.Background(), e.problem, e, loop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range o.Results {
		steps, wrong := r.Configuration.Int("steps"), r.Configuration.Int("wrong")
		if wrong == 1 {
			wantStatus(t, r.Configuration.String(), r, tune.Correctness, "u_new: ")
			continue
		}
		wantCorrect(t, r.Configuration.String(), r)
		if len(r.Parts) != 1 || r.Parts[0].Launches != steps || math.Abs(r.Parts[0].Time-r.Time()) > 1e-9*r.Time() {
			t.Errorf("%s: parts %v of %v ms", r.Configuration, r.Parts, r.Time())
		}
		if len(r.Final) == 0 || len(r.Global) > 0 {
			t.Errorf("%s: %d final times, global size %v", r.Configuration, len(r.Final), r.Global)
		}
	}
}

// TestScalarsThatChangeByStep marks the launches of nested loops in a buffer.
func TestScalarsThatChangeByStep(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Source: `
// standin: clear is fill(out, 0); mark is set(out, at, value)
__kernel void clear(__global int *out) { out[get_global_id(0)] = 0; }
__kernel void mark(const int at, __global int *out, const int value) { if (get_global_id(0) == 0) out[at] = value + out[at]; }`},
		ProblemSize: []definition.Expr{"12"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "int32", Size: "12", Output: true, Fill: definition.Fill{Kind: array.Constant, Value: "7"}},
			{Name: "at", Type: "int32", Value: "4 * i + j"}, {Name: "value", Type: "int32", Value: "10 * i + j + 1"},
		},
		Parameters: one("block_size_x", 4),
		Stages: []definition.Stage{
			{Kernel: "clear", Arguments: []string{"out"}, Shape: definition.Shape{BlockSize: [3]definition.Expr{"0"}}},
			{Repeat: "3", Index: "i", Stages: []definition.Stage{
				{Kernel: "mark", Arguments: []string{"at", "out", "value"}, Repeat: "i + 1", Index: "j", Shape: definition.Shape{ProblemSize: []definition.Expr{"1"}}},
			}},
		},
		Verify: &definition.Verification{Expected: map[string]any{"out": []int32{1, 0, 0, 0, 11, 12, 0, 0, 21, 22, 23, 0}}},
	}
	r := evaluateFirst(t, d)
	wantCorrect(t, "nested loops", r)
	if len(r.Parts) != 2 || r.Parts[1].Launches != 6 || r.Parts[0].Local != nil || !slices.Equal(r.Parts[0].Global, []int{12}) {
		t.Errorf("parts %v", r.Parts)
	}
	d.Stages[0].Kernel = "mark"
	d.Stages[0].Arguments = []string{"out"}
	wantStatus(t, "too few arguments", evaluateFirst(t, d), tune.Compile, "the kernel mark takes 3 arguments, 1 are given")
	d.Stages[0].Kernel = "unmark"
	wantStatus(t, "no kernel", evaluateFirst(t, d), tune.Compile, "the source has no kernel named unmark; it has ")
}

func TestOffsetsAndWorkGroupsOfTheDriver(t *testing.T) {
	d := definition.Definition{
		Kernel:       definition.Kernel{Name: "ids", Source: "__kernel void ids(__global int *out) { out[get_global_id(0)] = get_global_offset(0) + 100; }"},
		ProblemSize:  []definition.Expr{"5"},
		GlobalOffset: []definition.Expr{"3"},
		Arguments:    []definition.Argument{{Name: "out", Type: "int32", Size: "9", Output: true}},
		Parameters:   []space.Parameter{{Name: "block_size_x", Values: []space.Value{0, 1, 5}}},
		Verify:       &definition.Verification{Expected: map[string]any{"out": []int32{0, 0, 0, 103, 103, 103, 103, 103, 0}}},
	}
	for name, r := range evaluateAll(t, d) {
		wantCorrect(t, name, r)
		want := "[5] [] [3]"
		if local := r.Configuration.Int("block_size_x"); local > 0 {
			want = fmt.Sprintf("[5] [%d] [3]", local)
		}
		if got := fmt.Sprint(r.Global, r.Local, r.Offset); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
