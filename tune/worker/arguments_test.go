package worker

import (
	"os"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

// TestArgumentsOfEveryKind hands structs and images to workers, and their outputs from one worker to the others.
func TestArgumentsOfEveryKind(t *testing.T) {
	if !standin.OnPoCL(t) { // for its images
		return
	}
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "shift", Source: `
typedef struct { float3 at; int id; } point;
__kernel void shift(__global point *out, __global const point *in, point by, __write_only image1d_t line, sampler_t s) {
    size_t i = get_global_id(0);
    out[i].at = in[i].at + by.at;
    out[i].id = in[i].id + by.id;
    write_imagei(line, (int)i, (int4)(7 * (int)i));
}`},
		ProblemSize: []definition.Expr{"64"},
		Types:       []definition.StructType{{Name: "point", Fields: []definition.StructField{{Name: "at", Type: "float3"}, {Name: "id", Type: "int"}}}},
		Arguments: []definition.Argument{
			{Name: "out", Type: "point", Size: "64", Output: true},
			{Name: "in", Type: "point", Size: "64", Fill: definition.Fill{Kind: array.Random}},
			{Name: "by", Type: "point", Value: map[string]any{"at": []any{1, 2, 3}, "id": 7}},
			{Name: "line", Image: &definition.Image{Shape: "1d", Format: "r/int32", Size: []definition.Expr{"64"}}, Output: true},
			{Name: "s", Sampler: &definition.Sampler{Filter: "linear"}},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{1, 2, 4, 8}}},
	}
	reference := d
	d.Verify = &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"block_size_x": 1}}
	p := mustProblem(t, d)
	for _, a := range arrangements {
		if a != whole && os.Getenv("NDTUNE_LONG") == "" {
			continue // the arguments cross in the same way
		}
		o := openTestPool(t, a, p, Options{Workers: 2}).run(t, loop.Options{Finalists: -1})
		if len(o.Results) != 4 {
			t.Errorf("%s: %d results", a, len(o.Results))
		}
		for _, r := range o.Results {
			wantCorrect(t, string(a)+" "+r.Configuration.Key(), r)
		}
	}
}
