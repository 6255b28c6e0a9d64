package source

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestBounds(t *testing.T) {
	f := FindKernel(`
__kernel void k(__global float *a, __global float *b, __global float *c, __global int *list, int ni, int nj, int nk)
{
	int j = get_global_id(0), i = get_group_id(1) * BLOCK + get_local_id(1), z = get_global_id(2) * DEPTH;
	const int at = i + 1, row = list[j];
	if (j >= nj) return;
	for (int k = 0; k < nk; k++)
		if (at < ni && row < nk && i + j < nk && z->n && (z >> n) && 3 > n)
			c[j] += a[j] * b[i * nk + k] * c[j] + a[j + 1] + b[j], list[0] = i + x < ni;
	x[x] = 0;
	list[at] = list[at];
}`, "k")
	if f == nil {
		t.Fatal("the kernel is not found")
	}
	if want := [3][]string{{"nj"}, {"ni", "ni"}}; !reflect.DeepEqual(f.Bounds, want) {
		t.Errorf("the indices are bounded by %v, want %v", f.Bounds, want)
	}
	for name, want := range map[string]string{"c": "nj", "a": "", "b": "", "list": "", "x": ""} {
		if f.Elements[name] != want {
			t.Errorf("%s has %q elements, want %q", name, f.Elements[name], want)
		}
	}
	if f.Lines != [2]int{4, 12} {
		t.Errorf("the body has the lines %v", f.Lines)
	}
	for text, want := range map[string][3][]string{
		"int i = get_group_id(0), c = get_global_id(1); for (int l = 0; l < B; l += s) if (i * B + l < ni && c <= nj) x[i] = 0;": {{"ni"}, {"nj"}},
		"int i = get_global_id(0); return i >= n;":                           {{"n"}},
		"if (get_global_id(1) < n && get_local_id(0) < m) ; ":                {nil, {"n"}},
		"int2 at = (int2)(get_global_id(0), 1); if (at.x < n && at.y < m) ;": {},
	} {
		if f := FindKernel("__kernel void k() { "+text+" }", "k"); f == nil || !reflect.DeepEqual(f.Bounds, want) {
			t.Errorf("%s: %+v, want %q", text, f.Bounds, want)
		}
	}
	for _, text := range []string{"a[ = }", "for (i < ; ", "a = a; b = c; c = b; d[b] = 1; }", "a = ; *b = ; c[ ] = 1; }", "while () x[(", "i = get_global_id", "i = get_group_id(0) *"} {
		FindKernel("__kernel void k() { "+text, "k") // ends
	}
}

func TestPerGroup(t *testing.T) {
	for text, want := range map[string][]string{
		"int i = get_group_id(0) * BX * per_item + get_local_id(0);":     {"BX", "per_item"},
		"int i = get_group_id(0) * (BX * per_item) + get_local_id(0);":   {"BX", "per_item"},
		"int i = get_group_id(0) * get_local_size(0) * A;":               {"get_local_size ( 0 )", "A"},
		"int i = get_group_id(0) * B * n; j = get_group_id(0) * B;":      {"B"},
		"int i = get_group_id(0) * (s + 1);":                             nil,
		"int i = get_group_id(0); x[i] = 0; int j = i * get_group_id(1)": nil,
	} {
		if f := FindKernel("__kernel void k() { "+text+" }", "k"); f == nil || !reflect.DeepEqual(f.PerGroup[0], want) {
			t.Errorf("%s: %+v, want %q", text, f.PerGroup[0], want)
		}
	}
}

func TestPointers(t *testing.T) {
	f := FindKernel(`__kernel void k(__global S *in, __global float *out) {
	__global S *p = in + get_global_id(0);
	__global float *q = (__global float *)(out + get_global_id(0));
	*q = p->a + p->b;
}`, "k")
	if f.Use("out") != (Use{Written: true}) || f.Use("in") != (Use{Read: true}) {
		t.Errorf("out %+v, in %+v", f.Use("out"), f.Use("in"))
	}
	g := FindKernel(`__kernel void k(write_only image2d_t out, __global float *c) {
	write_imageui(out, p, convert_uint4(v));
	__global float *q = c + i, *r = (__global float *)&a[2];
	*q = a[k];
	q[1] = c[2];
}`, "k")
	if !g.Use("out").Written || g.Use("c") != (Use{true, true}) || g.Use("q") != (Use{Written: true}) {
		t.Errorf("out %+v, c %+v, q %+v", g.Use("out"), g.Use("c"), g.Use("q"))
	}
}

// TestUnrolled reads code whose variables depend on others in more ways than can be followed one by one.
func TestUnrolled(t *testing.T) {
	var code strings.Builder
	code.WriteString("int v0 = get_global_id(0), w0 = N;")
	for i := 1; i < 200; i++ {
		fmt.Fprintf(&code, "int v%[1]d = v%[2]d + v%[2]d * v%[2]d + v%[2]d - v%[2]d; int w%[1]d = w%[2]d%[3]s;", i, i-1, strings.Repeat(fmt.Sprintf(" * w%d", i-1), 7))
	}
	f := FindKernel("__kernel void k() { "+code.String()+" if (v199 < n) a[v199] = get_group_id(0) * w199; }", "k")
	if f.Bounds[0][0] != "n" || f.Elements["a"] != "n" {
		t.Errorf("%v %v", f.Bounds, f.Elements)
	}
}
