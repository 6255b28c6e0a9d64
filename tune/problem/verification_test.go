package problem

import (
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// TestParametersOfTheReferenceMayBeExpressions has constants of both kernels, and parameters that depend on
// others.
func TestParametersOfTheReferenceMayBeExpressions(t *testing.T) {
	reference := saxpy()
	reference.Parameters = []space.Parameter{
		{Name: "block_size_x", Values: []space.Value{32, 64, 128}},
		{Name: "unroll", Values: []space.Value{1, 2}},
		{Name: "scale", Values: []space.Value{0.5, 1.0}},
		{Name: "kind", Values: []space.Value{"n", "plain"}},
		{Name: "fixed", Values: []space.Value{4}},
	}
	reference.Constants = append(reference.Constants, definition.Constant{Name: "own", Value: 3})
	for want, given := range map[string]map[string]space.Value{
		"block_size_x=256, unroll=2, scale=0.5, kind=n, fixed=4":     {"block_size_x": "min(256, n)", "unroll": 2, "scale": 0.5, "kind": "n"},
		"block_size_x=16, unroll=8, scale=4.0, kind=m, fixed=4":      {"block_size_x": "unroll * 2", "unroll": "scale * 2", "scale": "fixed / 1", "kind": "m"},
		"block_size_x=30, unroll=9, scale=0.75, kind=plain, fixed=7": {"block_size_x": "own * 10", "unroll": "outer", "scale": "own / 4", "kind": "plain", "fixed": "7"},
	} {
		d := saxpy()
		d.Constants = append(d.Constants, definition.Constant{Name: "own", Value: 5}, definition.Constant{Name: "outer", Value: 9})
		d.Verify = &definition.Verification{Problem: &reference, Configuration: given}
		if _, at, _ := mustProblem(t, d).Reference(); at.String() != want {
			t.Errorf("%v: %s, want %s", given, at, want)
		}
	}
}

// TestBuffersThatTheReferenceShares: outputs, and what either of the two fills. Scratch of one name may differ in type and size.
func TestBuffersThatTheReferenceShares(t *testing.T) {
	for name, c := range map[string]struct {
		mine, theirs definition.Argument
		shared       bool
	}{
		"output":                {definition.Argument{Type: "float32", Size: "n", Output: true}, definition.Argument{Type: "float32", Size: "n"}, true},
		"output of vectors":     {definition.Argument{Type: "float4", Size: "n", Output: true}, definition.Argument{Type: "float32", Size: "4 * n"}, true},
		"filled":                {definition.Argument{Type: "float32", Size: "n", Fill: definition.Fill{Kind: array.Ones}}, definition.Argument{Type: "float32", Size: "n"}, true},
		"filled there":          {definition.Argument{Type: "float32", Size: "n"}, definition.Argument{Type: "float32", Size: "n", Fill: definition.Fill{Expression: "index"}}, true},
		"filled vectors":        {definition.Argument{Type: "int2", Size: "n", Fill: definition.Fill{Kind: array.Random}}, definition.Argument{Type: "int4", Size: "div(n, 2)"}, true},
		"scratch":               {definition.Argument{Type: "float32", Size: "n"}, definition.Argument{Type: "float32", Size: "n"}, false},
		"scratch of zeros":      {definition.Argument{Type: "float32", Size: "n * unroll"}, definition.Argument{Type: "double", Size: "7", Fill: definition.Fill{Kind: array.Zeros}}, false},
		"scratch by a constant": {definition.Argument{Type: "float32", Size: "unroll"}, definition.Argument{Type: "float32", Size: "9", Output: true}, false},
	} {
		d, reference := saxpy(), saxpy()
		c.mine.Name, c.theirs.Name = "tmp", "tmp"
		d.Arguments, reference.Arguments = append(d.Arguments, c.mine), append([]definition.Argument{c.theirs}, reference.Arguments...)
		d.Verify = &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"block_size_x": 32, "unroll": 1}}
		want := -1
		if c.shared {
			want = 0
		}
		if got := mustProblem(t, d).Shared(4); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
