package device

import (
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
)

// simulation is a struct of 56 bytes with padding, a nested struct, a vector of 3 and an array.
var simulation = []definition.StructType{
	{Name: "range", Fields: []definition.StructField{{Name: "low", Type: "int16"}, {Name: "high", Type: "int64"}}},
	{Name: "simulation", Fields: []definition.StructField{
		{Name: "flag", Type: "uchar"}, {Name: "ids", Type: "int32", Count: "k"}, {Name: "limits", Type: "range"},
		{Name: "scale", Type: "real"}, {Name: "tag", Type: "bytes", Count: "3"}, {Name: "step", Type: "float2"}, {Name: "last", Type: "uint"},
	}},
}

const simulationSource = `
typedef struct { short low; long high; } range;
typedef struct { uchar flag; int ids[3]; range limits; float scale; uchar tag[3]; float2 step; uint last; } simulation;
`

func TestStructByValue(t *testing.T) {
	value := map[string]any{
		"flag": true, "ids": []any{-1, "k * unroll", 5}, "limits": map[string]any{"low": -7, "high": 1 << 40},
		"scale": "unroll / 4", "tag": []int{1, 2, 3}, "step": []any{0.5, "dt"}, "last": 9,
	}
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "take", Source: simulationSource + `
__kernel void take(__global float *out, simulation s) {
    out[0] = sizeof(s); out[1] = s.flag; out[2] = s.ids[0]; out[3] = s.ids[1]; out[4] = s.ids[2]; out[5] = s.limits.low;
    out[6] = s.limits.high >> 40; out[7] = s.scale; out[8] = s.tag[0] + 10 * s.tag[2]; out[9] = s.step.x; out[10] = s.step.y; out[11] = s.last;
}`},
		Constants:   []definition.Constant{{Name: "k", Value: 3}, {Name: "real", Value: "float"}, {Name: "dt", Value: "0.225f"}},
		ProblemSize: []definition.Expr{"1"},
		Types:       simulation,
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "12", Output: true},
			{Name: "s", Type: "simulation", Value: value},
		},
		Parameters: one("unroll", 3),
		Verify:     expect(map[string]any{"out": []float32{56, 1, -1, 9, 5, -7, 1, 0.75, 31, 0.5, 0.225, 9}}),
	}
	d.Constants[0].Host, d.Constants[2].Host = true, true
	p := mustProblem(t, d)
	if size := p.Arguments()[1].Element.Size(); size != 56 {
		t.Errorf("the struct has %d bytes, not 56", size)
	}
	wantCorrect(t, "a struct of 56 bytes", evaluateFirst(t, d))
}

func TestBytesByValue(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "take", Source: `
typedef struct { int a; float b; } pair;
__kernel void take(__global float *out, pair p) { out[0] = p.a; out[1] = p.b; }`},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "2", Output: true},
			{Name: "p", Type: "bytes", Value: "07000000 0000803f"},
		},
		Verify: expect(map[string]any{"out": []float32{7, 1}}),
	}
	wantCorrect(t, "8 bytes", evaluateFirst(t, d))
}

// bodies moves structs from one buffer to another.
func bodies(change string) definition.Definition {
	types := []definition.StructType{{Name: "body", Fields: []definition.StructField{
		{Name: "position", Type: "float3"}, {Name: "mass", Type: "float"}, {Name: "neighbours", Type: "int", Count: "2"},
	}}}
	kernel := func(name, change string) definition.Kernel {
		return definition.Kernel{Name: name, Source: `
typedef struct { float3 position; float mass; int neighbours[2]; } body;
__kernel void ` + name + `(__global body *out, __global const body *in) {
    size_t i = get_global_id(0);
    body b = in[i];
    b.position.y += b.mass;
    b.neighbours[1] = i;
    ` + change + `
    out[i] = b;
}`}
	}
	d := definition.Definition{
		Kernel: kernel("move", change), ProblemSize: []definition.Expr{"100"}, Types: types,
		Arguments: []definition.Argument{
			{Name: "out", Type: "body", Size: "100", Output: true},
			{Name: "in", Type: "body", Size: "100", Fill: definition.Fill{Kind: array.Random}},
		},
	}
	reference := d
	reference.Kernel = kernel("reference", "")
	reference.Types = append([]definition.StructType(nil), types...)
	d.Verify = &definition.Verification{Problem: &reference}
	return d
}

func TestBuffersOfStructs(t *testing.T) {
	wantCorrect(t, "moved", evaluateFirst(t, bodies("")))
	r := evaluateFirst(t, bodies("b.mass *= i == 7 ? 1.00001f : 1; if (i == 5) b.neighbours[1]++;"))
	wantStatus(t, "an integer", r, tune.Correctness, "out.neighbours[1]: element 5: got 6, want 5 ")
	r = evaluateFirst(t, bodies("if (i == 7) b.position.z += 1;"))
	wantStatus(t, "a vector", r, tune.Correctness, "out.position: element 7.s2: got ")
	r = evaluateFirst(t, bodies("if (i == 99) out[100] = b;"))
	wantStatus(t, "the guard", r, tune.Correctness, "behind the 100 elements of out, from element 100 on")
}
