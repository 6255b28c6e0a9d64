package device

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// needImages ends the test on a device without images.
func needImages(t *testing.T) {
	if info, err := testDevice(t).Info(); err != nil || info.Images == nil {
		t.Skip("the device has no images")
	}
}

// blur is a Gaussian blur from one image to another, and the same in buffers as its reference.
func blur(weights string) definition.Definition {
	kernel := definition.Kernel{Name: "blur", Source: `
__kernel void blur(__write_only image2d_t out, __read_only image2d_t in, sampler_t s, __constant float *weights) {
    int x = get_global_id(0) * per_item, y = get_global_id(1);
    for (int i = 0; i < per_item; i++, x++) {
        if (x >= get_image_width(out) || y >= get_image_height(out)) continue;
        float4 sum = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += weights[dx + 1] * ` + weights + ` * read_imagef(in, s, (int2)(x + dx, y + dy));
        write_imagef(out, (int2)(x, y), sum);
    }
}`}
	reference := definition.Definition{
		Kernel: definition.Kernel{Name: "blur", Source: `
__kernel void blur(__global float4 *out, __global const float4 *in, __constant float *weights) {
    int x = get_global_id(0), y = get_global_id(1);
    float4 sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += weights[dx + 1] * weights[dy + 1] * in[clamp(y + dy, 0, ny - 1) * nx + clamp(x + dx, 0, nx - 1)];
    out[y * nx + x] = sum;
}`},
		Constants:   []definition.Constant{{Name: "nx", Value: 50}, {Name: "ny", Value: 20}},
		ProblemSize: []definition.Expr{"nx", "ny"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float4", Size: "nx * ny"},
			{Name: "in", Type: "float4", Size: "nx * ny", Fill: definition.Fill{Kind: array.Random}},
			{Name: "weights", Data: []float32{0.25, 0.5, 0.25}},
		},
	}
	size := []definition.Expr{"nx", "ny"}
	return definition.Definition{
		Kernel: kernel, Constants: reference.Constants, ProblemSize: reference.ProblemSize,
		GridDiv: [3][]definition.Expr{{"block_size_x", "per_item"}, nil, nil},
		Arguments: []definition.Argument{
			{Name: "out", Image: &definition.Image{Shape: "2d", Format: "rgba/float32", Size: size}, Output: true},
			{Name: "in", Image: &definition.Image{Shape: "2d", Format: "rgba/float32", Size: size}, Fill: definition.Fill{Kind: array.Random}},
			{Name: "s", Sampler: &definition.Sampler{Coordinates: "pixels", Addressing: "clamp_to_edge", Filter: "nearest"}},
			reference.Arguments[2],
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{8}}, {Name: "block_size_y", Values: []space.Value{2}}, {Name: "per_item", Values: []space.Value{3}},
		},
		Verify: &definition.Verification{Problem: &reference},
	}
}

func TestGaussianBlurOfAnImage(t *testing.T) {
	needImages(t)
	for key, r := range evaluateAll(t, blur("weights[dy + 1]")) {
		wantCorrect(t, key, r)
	}
	r := evaluateFirst(t, blur("(y == 7 && x == 9 ? 0.3f : weights[dy + 1])"))
	wantStatus(t, "a wrong pixel", r, tune.Correctness, "out: element 359.s0: got ")
}

// TestACommandJudgesImages: it gets the images with their shapes, and structs as rows of bytes.
func TestACommandJudgesImages(t *testing.T) {
	needImages(t)
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "paint", Source: `
typedef struct { float4 color; int on; } pen;
__kernel void paint(__write_only image2d_t out, __global const pen *pens) {
    if (pens[0].on) write_imagef(out, (int2)(get_global_id(0), get_global_id(1)), paints ? pens[0].color : (float4)(0));
}`},
		ProblemSize: []definition.Expr{"6", "4"},
		Types:       []definition.StructType{{Name: "pen", Fields: []definition.StructField{{Name: "color", Type: "float4"}, {Name: "on", Type: "int"}}}},
		Arguments: []definition.Argument{
			{Name: "out", Image: &definition.Image{Shape: "2d", Format: "rgba/float32", Size: []definition.Expr{"6", "4"}}, Output: true},
			{Name: "pens", Type: "pen", Size: "3", Fill: definition.Fill{Kind: array.Ones}},
		},
		BlockSize:  [3]definition.Expr{"2", "2"},
		Parameters: []space.Parameter{{Name: "paints", Values: []space.Value{1, 0}}},
		Verify: &definition.Verification{Command: &definition.Command{Args: []string{"sh", "-c", `
while read -r line; do
  set -- $(printf %s "$line" | grep -o '/[^"]*[.]npy')
  grep -q '(4, 6, 4)' "$1" && grep -q '(3, 32)' "$2" && test $# = 3 || exit 9
  cmp -s "$1" "$3" && echo '{"correct": false, "reason": "nothing is painted"}' || echo '{"correct": true}'
done`}}},
	}
	results := evaluateAll(t, d)
	wantCorrect(t, "painted", results["1"])
	wantStatus(t, "zeros", results["0"], tune.Correctness, "nothing is painted")
}

// TestImagesOfEveryShape copies images in place, so that they are restored before each launch. Without NDTUNE_LONG it has one shape
// of each number of dimensions, and the one that is made of a buffer.
func TestImagesOfEveryShape(t *testing.T) {
	needImages(t)
	for shape, c := range map[string]struct {
		size []definition.Expr
		at   string
	}{
		"1d": {[]definition.Expr{"12"}, "i"}, "1d_buffer": {[]definition.Expr{"12"}, "i"},
		"2d": {[]definition.Expr{"4", "3"}, "(int2)(i % 4, i / 4)"}, "1d_array": {[]definition.Expr{"4", "3"}, "(int2)(i % 4, i / 4)"},
		"3d": {[]definition.Expr{"2", "3", "2"}, "(int4)(i % 2, i / 2 % 3, i / 6, 0)"}, "2d_array": {[]definition.Expr{"2", "3", "2"}, "(int4)(i % 2, i / 2 % 3, i / 6, 0)"},
	} {
		if os.Getenv("NDTUNE_LONG") == "" && (shape == "1d" || strings.HasSuffix(shape, "_array")) {
			continue
		}
		want := make([]int32, 12)
		for i := range want {
			want[i] = int32(100 + i)
		}
		r := evaluateFirst(t, definition.Definition{
			Kernel: definition.Kernel{Name: "read", Source: fmt.Sprintf(`
#ifdef cl_khr_3d_image_writes
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#endif
__kernel void read(__write_only image%s_t copy, __read_only image%s_t in, __global int *out) {
    int i = get_global_id(0);
    int4 v = read_imagei(in, %s);
    out[i] = v.x;
    write_imagei(copy, %s, v + 1);
}`, shape, shape, c.at, c.at)},
			ProblemSize: []definition.Expr{"12"},
			Arguments: []definition.Argument{
				{Name: "copy", Image: &definition.Image{Shape: shape, Format: "r/int32", Size: c.size}, Output: true},
				{Name: "in", Image: &definition.Image{Shape: shape, Format: "r/int32", Size: c.size}, Data: want, RestoreEachLaunch: true},
				{Name: "out", Type: "int32", Size: "12", Output: true},
			},
			Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
				next := make([]int32, len(want))
				for i := range next {
					next[i] = want[i] + 1
				}
				return map[string]*array.Array{"copy": array.Of(next), "out": in["in"]}, nil
			}},
		})
		wantCorrect(t, shape, r)
	}
}

// TestSamplers reads between two pixels of a normalized image, and beyond its edge.
func TestSamplers(t *testing.T) {
	needImages(t)
	cases := []struct {
		sampler definition.Sampler
		at      string
		want    float32
	}{
		{definition.Sampler{Coordinates: "normalized", Addressing: "clamp_to_edge", Filter: "linear"}, "0.5f, 0.5f", 0.4},
		{definition.Sampler{Coordinates: "normalized", Addressing: "repeat", Filter: "nearest"}, "1.1f, 0.5f", 0.2},
		{definition.Sampler{Coordinates: "normalized", Addressing: "mirrored_repeat"}, "1.1f, 0.5f", 0.6},
		{definition.Sampler{Addressing: "clamp"}, "5.0f, 0.5f", 0},
	}
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "sample"},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "4", Output: true},
			{Name: "in", Image: &definition.Image{Shape: "2d", Format: "r/unorm_int8", Size: []definition.Expr{"2", "1"}}, Data: []uint8{51, 153}},
		},
	}
	var samplers, reads string
	var want []float32
	for i, c := range cases {
		samplers += fmt.Sprintf(", sampler_t s%d", i)
		reads += fmt.Sprintf("out[%d] = read_imagef(in, s%d, (float2)(%s)).x; ", i, i, c.at)
		want = append(want, c.want)
		d.Arguments = append(d.Arguments, definition.Argument{Name: fmt.Sprint("s", i), Sampler: &c.sampler})
	}
	d.Kernel.Source = "__kernel void sample(__global float *out, __read_only image2d_t in" + samplers + ") { " + reads + "}"
	d.Verify = &definition.Verification{Expected: map[string]any{"out": want}, ATol: "0.003"}
	wantCorrect(t, "samplers", evaluateFirst(t, d))
}

func TestImagesBeyondTheDevice(t *testing.T) {
	needImages(t)
	read := func(i definition.Image) tune.Result {
		return evaluateFirst(t, definition.Definition{
			Kernel:      definition.Kernel{Name: "read", Source: `__kernel void read(__read_only image2d_t in, __global int *out) { *out = get_image_width(in); }`},
			ProblemSize: []definition.Expr{"1"},
			Arguments:   []definition.Argument{{Name: "in", Image: &i}, {Name: "out", Type: "int32", Size: "1"}},
		})
	}
	wide := definition.Expr(fmt.Sprint(math.MaxInt32))
	wantStatus(t, "size", read(definition.Image{Shape: "2d", Format: "r/uint8", Size: []definition.Expr{wide, "1"}}), tune.Constraints, "image in of 2147483647×1 pixels > device limit ")
	// No driver has this format, since intensity is for normalized channels and floats.
	wantStatus(t, "format", read(definition.Image{Shape: "2d", Format: "intensity/int32", Size: []definition.Expr{"4", "4"}}), tune.Constraints, "image in: the device does not support the format intensity/int32 for images of the shape 2d")
	if tellsArguments(t) {
		wantStatus(t, "shape", read(definition.Image{Shape: "3d", Format: "r/uint8", Size: []definition.Expr{"4", "4", "4"}}), tune.Compile, "argument 0 (in): the kernel takes image2d_t, the definition gives image3d_t")
	}
}

func TestConstantMemoryBeyondTheDevice(t *testing.T) {
	info, err := testDevice(t).Info()
	if err != nil || info.MaxConstantSize > 1<<24 || !tellsArguments(t) {
		t.Skipf("the limit of constant memory, %d B, is not in reach (%v)", info.MaxConstantSize, err)
	}
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "read", Source: `__kernel void read(__constant int *in, __global int *out) { *out = in[0]; } // standin: read is nothing()`},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "in", Type: "int32", Size: fmt.Sprint(info.MaxConstantSize / 4)}, {Name: "out", Type: "int32", Size: "1"}},
	}
	wantStatus(t, "as large as allowed", evaluateFirst(t, d), tune.Correct, "")
	d.Arguments[0].Size += " + 1"
	wantStatus(t, "larger", evaluateFirst(t, d), tune.Constraints, fmt.Sprintf("argument 0 (in): %d B of constant memory > device limit %d B", info.MaxConstantSize+4, info.MaxConstantSize))
}
