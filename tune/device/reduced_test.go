package device

import (
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// partialSums has each of groups work-groups sum a part of each row of x: out has one row of partial sums
// for each row of x. Mode 1 forgets the last element of row 1, mode 2 makes it NaN.
const partialSums = `
// standin: partial_sums is index(out, 65536 / groups / groups, 32768 / groups / groups - 128 / groups)
// standin: partial_sums is set(out, 2 * groups - 1, mode == 2 ? 0 / 0 : 130944 / groups - 32768 / groups / groups - 511) when mode != 0
__kernel void partial_sums(__global float *out, __global const float *x) {
    const int width = 256, part = width / groups;
    const int g = get_global_id(0) % groups, row = get_global_id(0) / groups;
    float sum = 0;
    for (int i = 0; i < part; i++)
        if (mode == 0 || row != 1 || g * part + i != width - 1) sum += x[row * width + g * part + i];
        else if (mode == 2) sum = NAN;
    out[row * groups + g] = sum;
}`

func partialSum(groups ...space.Value) definition.Definition {
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "partial_sums", Source: partialSums},
		ProblemSize: []definition.Expr{"4 * groups"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "4 * groups", Output: true},
			{Name: "x", Type: "float32", Size: "1024", Fill: definition.Fill{Kind: array.Sequence}},
		},
		Parameters: []space.Parameter{{Name: "groups", Values: groups}, {Name: "mode", Values: []space.Value{0, 1, 2}}},
	}
}

// TestPartialSumsAreReducedBeforeTheyAreCompared has outputs whose length depends on the configuration, and
// references of other lengths: a kernel, and the sums as data.
func TestPartialSumsAreReducedBeforeTheyAreCompared(t *testing.T) {
	simple := partialSum(1)
	simple.Parameters[1].Values = []space.Value{0}
	e := open(t, partialSum(2))
	e.evaluateFor(t, nil)
	var sums []float32
	for i, out := 0, e.read(t, "out"); i < out.Len(); i += 2 {
		sums = append(sums, float32(out.Float(i)+out.Float(i+1)))
	}
	for name, verify := range map[string]definition.Verification{
		"kernel": {Problem: &simple},
		"data":   {Expected: map[string]any{"out": sums}},
	} {
		for rows, want := range map[string]string{"4": "out: the sum of row 1: got ", "": "out: the sum: got "} {
			d := partialSum(1, 2, 64)
			verify.Compare = map[string]definition.Comparison{"out": {As: array.Sum, Rows: rows}}
			d.Verify = &verify
			e := open(t, d)
			for _, groups := range []int{2, 1, 64} {
				wantCorrect(t, name, e.evaluateFor(t, map[string]space.Value{"groups": groups}))
				for _, mode := range []int{1, 2} {
					wantStatus(t, name, e.evaluateFor(t, map[string]space.Value{"groups": groups, "mode": mode}), tune.Correctness, want)
				}
			}
			if n := len(e.references.made); n != 1 {
				t.Errorf("%s: the reference was made %d times", name, n)
			}
		}
	}
}

// TestRowsThatDoNotFitAreNotCompared has a number of rows that depends on the configuration.
func TestRowsThatDoNotFitAreNotCompared(t *testing.T) {
	d := partialSum(1, 2)
	d.Verify = &definition.Verification{
		Expected: map[string]any{"out": make([]float32, 10)},
		Compare:  map[string]definition.Comparison{"out": {As: array.Max, Rows: "groups == 1 ? 3 : 8"}},
	}
	e := open(t, d)
	wantStatus(t, "the output", e.evaluateFor(t, nil), tune.Constraints, "the 4 elements of out are not 3 rows of one length")
	wantStatus(t, "the reference", e.evaluateFor(t, map[string]space.Value{"groups": 2}), tune.Correctness, "the reference of out: 10 elements are not 8 rows of one length")
}

// TestAMultisetMayHaveAnyOrder compares a permutation that depends on the configuration.
func TestAMultisetMayHaveAnyOrder(t *testing.T) {
	right := make([]int32, 100)
	for i := range right {
		right[i] = int32(i / 2)
	}
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "permute", Source: `
// standin: permute is index(out, leap == 1 ? 0.5 : -0.5, leap == 1 ? 0 : 50); permute is set(out, 0, 0); permute is set(out, leap == 1 ? 7 : 93, odd)
__kernel void permute(__global int *out) {
    int i = get_global_id(0);
    out[i * leap % 100] = i == 7 ? odd : i / 2;
}`},
		ProblemSize: []definition.Expr{"100"},
		Arguments:   []definition.Argument{{Name: "out", Type: "int32", Size: "100", Output: true}},
		Parameters:  []space.Parameter{{Name: "leap", Values: []space.Value{1, 99}}, {Name: "odd", Values: []space.Value{3, 4}}},
		Verify: &definition.Verification{
			Expected: map[string]any{"out": right},
			Compare:  map[string]definition.Comparison{"out": {As: array.Multiset}},
		},
	}
	e := open(t, d)
	for _, leap := range []int{1, 99} {
		wantCorrect(t, "a permutation", e.evaluateFor(t, map[string]space.Value{"leap": leap}))
		wantStatus(t, "another multiset", e.evaluateFor(t, map[string]space.Value{"leap": leap, "odd": 4}), tune.Correctness,
			"out: sorted, element 7: got 4, want 3 (off by 1, tolerance 0); 1 of 100 elements differs")
	}
}
