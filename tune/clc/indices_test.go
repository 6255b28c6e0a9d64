package clc

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestIndices(t *testing.T) {
	f := FindKernel(`
__kernel void k(__global float *a, __global float *b, __global float *c, __global int *list, int ni, int nj, int nk, int rows)
{
	int j = get_global_id(0), i = get_group_id(1) * BLOCK + get_local_id(1), z = get_global_id(2) * DEPTH;
	if (i >= ni) return;
	const int row = z * rows + i;
	for (int k = 0; k < nk; k++)
		c[i * nj + j] += a[i * nk + k] * b[k * nj + j];
	for (int k = 0; k < 4; ++k)
		a[list[k]] = 0;
	int at = list[j];
	b[at] = row;
	__global float *q = c + i, *r = (__global float *)&a[2];
	*q = a[k];
	q[1] = 0;
}`, "k")
	if f == nil {
		t.Fatal("the kernel is not found")
	}
	x := f.Indices
	if want := [3][]string{{"nj"}, {"ni", "rows"}, nil}; !reflect.DeepEqual(x.Limits, want) {
		for axis, names := range want {
			for _, name := range names {
				if len(x.Limits[axis]) == 0 || x.Limits[axis][0] != want[axis][0] {
					t.Errorf("dimension %d is bounded by %v, want %s", axis, x.Limits[axis], name)
				}
			}
		}
	}
	for name, want := range map[string][][]string{"c": {{"1"}, {"0"}}, "a": {{"1"}, {"nk"}}, "b": {{"nk"}, {"0"}}} {
		if !reflect.DeepEqual(x.Elements[name], want) {
			t.Errorf("%s has %v, want %v", name, x.Elements[name], want)
		}
	}
	if want := []string{"a", "b"}; !reflect.DeepEqual(x.Targets["list"], want) || x.Targets["c"] != nil {
		t.Errorf("targets %v", x.Targets)
	}
	if want := [3][]string{1: {"BLOCK"}}; !reflect.DeepEqual(x.PerGroup, want) {
		t.Errorf("per group %v", x.PerGroup)
	}
	if want := [3][]string{nil, nil, {"DEPTH"}}; !reflect.DeepEqual(x.PerItem, want) {
		t.Errorf("per item %v", x.PerItem)
	}
	if want := (Use{Written: true, Read: true}); f.Uses["c"] != want || f.Uses["q"] != (Use{Written: true}) {
		t.Errorf("c %+v, q %+v", f.Uses["c"], f.Uses["q"])
	}
	for _, text := range []string{"__kernel void k() { a[ = }", "__kernel void k() { for (i < ; ", "__kernel void k() { a = a; b = c; c = b; d[b] = 1; }", "__kernel void k() { a = ; *b = ; c[ ] = 1; }", "__kernel void k() { while () x[("} {
		FindKernel(text, "k") // ends
	}
}

func TestPerGroup(t *testing.T) {
	for text, want := range map[string][]string{
		"int b = get_group_id(0), s = BLOCK - halo * 2; int i = s * b - halo;":           {"BLOCK - halo * 2"},
		"int i = get_group_id(0) * BX * per_item + get_local_id(0);":                     {"BX", "per_item"},
		"int i = A * get_local_size(0) * get_group_id(0);":                               {"get_local_size", "A"},
		"int s = 2 * B; int i = get_group_id(0) * (s + 1);":                              {"(2 * B) + 1"},
		"int i = get_group_id(0); x[i] = 0;":                                             nil,
		"int i = get_group_id(0) * (n / 2);":                                             nil,
		"int i = get_group_id(0) * get_num_groups(1);":                                   nil,
		"int i = get_group_id(0) * s; s = 1; s = 2; j = get_group_id(0) * d[1];":         nil,
		"int s = s; int q = r; int r = q; int i = get_group_id(0) * s * q; i = b * ( ; ": nil,
	} {
		f := FindKernel("__kernel void k() { "+text+" }", "k")
		if f == nil || !reflect.DeepEqual(f.Indices.PerGroup[0], want) {
			t.Errorf("%s: %+v, want %q", text, f, want)
		}
	}
}

func TestLimits(t *testing.T) {
	for text, want := range map[string][3][]string{
		"int i = get_group_id(0), c = get_global_id(1); for (int l = 0; l < B; l += s) if (i * B + l < ni && c <= nj) x[i] = 0;": {{"ni"}, {"nj"}},
		"int i = get_global_id(0); if (a->n && (i >> n) && i + get_global_id(1) < n && 3 > n) x[i] = 0;":                         {},
		"int i = get_global_id(0); return i >= n;": {{"n"}},
	} {
		f := FindKernel("__kernel void k() { "+text+" }", "k")
		if f == nil || !reflect.DeepEqual(f.Indices.Limits, want) {
			t.Errorf("%s: %+v, want %q", text, f.Indices.Limits, want)
		}
	}
	f := FindKernel("__kernel void k() { int i = get_group_id(0); p += i * B * stride; q[i * B + 1] = 0; }", "k")
	if want := []string{"B"}; !reflect.DeepEqual(f.Indices.PerGroup[0], want) {
		t.Errorf("per group %q, want %q", f.Indices.PerGroup[0], want)
	}
}

func TestPointers(t *testing.T) {
	f := FindKernel(`__kernel void k(__global S *in, __global float *out) {
	__global S *p = in + get_global_id(0);
	__global float *q = (__global float *)(out + get_global_id(0));
	*q = p->a + p->b;
}`, "k")
	if f.Uses["out"] != (Use{Written: true}) || f.Uses["in"] != (Use{Read: true}) {
		t.Errorf("%+v", f.Uses)
	}
	if want := [][]string{{"0"}}; !reflect.DeepEqual(f.Indices.Elements["in"], want) || !reflect.DeepEqual(f.Indices.Elements["out"], want) {
		t.Errorf("%v", f.Indices.Elements)
	}
}

func TestImages(t *testing.T) {
	f := FindKernel(`__kernel void k(read_only image2d_t in, read_only image2d_t gray, write_only image2d_t out) {
	float4 v = read_imagef(in, s, p) + read_imagef(in, s, q).x + read_imagef(gray, s, p).x;
	write_imageui(out, p, convert_uint4(v));
}`, "k")
	for name, want := range map[string]Image{"in": {Suffix: "f"}, "gray": {"f", true}, "out": {Suffix: "ui"}} {
		if f.Images[name] != want {
			t.Errorf("%s: %+v, want %+v", name, f.Images[name], want)
		}
	}
	if !f.Uses["out"].Written || f.Uses["in"].Written {
		t.Errorf("%+v", f.Uses)
	}
}

// TestUnrolled reads code whose variables depend on others in more ways than can be followed one by one.
func TestUnrolled(t *testing.T) {
	var code strings.Builder
	code.WriteString("int v0 = get_global_id(0), w0 = N;")
	for i := 1; i < 200; i++ {
		fmt.Fprintf(&code, "int v%[1]d = v%[2]d + v%[2]d * v%[2]d + v%[2]d - v%[2]d; int w%[1]d = w%[2]d%[3]s;", i, i-1, strings.Repeat(fmt.Sprintf(" * w%d", i-1), 7))
	}
	f := FindKernel("__kernel void k() { "+code.String()+" a[v9] = 0; b[v199] = get_group_id(0) * w199; c[get_group_id(1) * w1] = 0; }", "k")
	if want := [][]string{{"0"}}; !reflect.DeepEqual(f.Indices.Elements["a"], want) {
		t.Errorf("a has %v, want %v", f.Indices.Elements["a"], want)
	}
	if want := [3][]string{1: {"N" + strings.Repeat(" * N", 7)}}; !reflect.DeepEqual(f.Indices.PerGroup, want) {
		t.Errorf("per group %v, want %v", f.Indices.PerGroup, want)
	}
}
