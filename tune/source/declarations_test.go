package source

import (
	"reflect"
	"testing"
)

func TestMacros(t *testing.T) {
	got := Macros(`
#ifndef HEADER_H
#define HEADER_H
#ifndef BLOCK
#define BLOCK 16 // default
#endif
#define N (1 << \
  4)
#define SQUARE(x) ((x) * (x))
#if 0
#define DEAD 1
#endif
#ifdef USE
#define N 8
#define M 4
#endif
/* #define COMMENT 1 */
#endif`)
	want := []Macro{{"BLOCK", "16", true}, {"N", "(1 << 4)", false}, {"M", "4", false}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

const kernelsText = `
#define INDEX get_global_id(0)
#if OTHER_FLAG
#endif
typedef float real;
float helper(__global float *h) { return h[HELPER]; }
__kernel __attribute__((reqd_work_group_size(BX, BY * 2, 1)))
void first(__global float *a, __global float4 *b, __global const float *c, __global int *d, __global float *e, __global int *f)
{
	int i = get_global_id(0), j = get_global_id(1);
	a[i * N + j] = c[i] == 3 ? c[j] : helper(c);
	b[i].x += 1;
	*e = 0;
	for (int k = 0; k < LIMIT; k++) {}
	atomic_add(&d[0], f[i]);
	vstore4(b[0], 1, (__global float *)(e));
}
kernel __attribute__((vec_type_hint(HINT))) void second(global real *a) { a[get_local_id(2)] <<= ONLY_SECOND; }
`

func TestFindKernel(t *testing.T) {
	f := FindKernel(kernelsText, "first")
	if f == nil {
		t.Fatal("the kernel is not found")
	}
	if want := []string{"BX", "BY * 2", "1"}; f.Dimensions != 2 || !reflect.DeepEqual(f.WorkGroup, want) {
		t.Errorf("%d dimensions, work-group %q", f.Dimensions, f.WorkGroup)
	}
	for name, want := range map[string]Use{"a": {true, false}, "b": {true, true}, "c": {false, true}, "d": {true, true}, "e": {true, false}, "f": {false, true}} {
		if got := f.Use(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"N": true, "HELPER": true, "OTHER_FLAG": true, "BX": true, "ONLY_SECOND": false, "HINT": false, "INDEX": false} {
		if f.Reach[name] != want {
			t.Errorf("%s is reached: %v", name, !want)
		}
	}
	g := FindKernel(kernelsText, "second")
	if g == nil || g.Dimensions != 3 || g.Use("a") != (Use{true, true}) || !g.Reach["ONLY_SECOND"] {
		t.Errorf("%+v", g)
	}
	if f := FindKernel(kernelsText, "helper"); f != nil {
		t.Errorf("helper is no kernel: %+v", f)
	}
	if f := FindKernel("__kernel void f(", "f"); f != nil {
		t.Errorf("%+v", f)
	}
}

func TestKernelOfMacro(t *testing.T) {
	const text = `
#define NAME(x) solve
#define HELPED(x) (x + HELP)
#define UNUSED NOWHERE
inline float used(float v) { return HELPED(v) * FACTOR; }
__attribute__((always_inline)) void unused(void) { OTHERS; }
typedef struct { int a[LENGTH]; } s;
kernel void first(global float *a) { unused(); }
__kernel void NAME(solve_kernel)(__global float *a, const int n, __local float *part)
{
	a[get_local_id(0) + get_group_id(1) * N] = used(part[0]);
}`
	f := FindKernel(text, "solve", "a", "n", "part")
	if f == nil {
		t.Fatal("the kernel is not found by its arguments")
	}
	for name, want := range map[string]bool{"N": true, "FACTOR": true, "HELP": true, "LENGTH": true, "OTHERS": false, "NOWHERE": false} {
		if f.Reach[name] != want {
			t.Errorf("%s is reached: %v", name, !want)
		}
	}
	if want := map[string]bool{"get_local_id(0)": true, "get_group_id(1)": true}; !f.Shares || !reflect.DeepEqual(f.Calls, want) {
		t.Errorf("shares %v, calls %v", f.Shares, f.Calls)
	}
	if f := FindKernel(text, "solve", "a", "n"); f != nil {
		t.Errorf("found by other arguments: %+v", f)
	}
}

func TestTested(t *testing.T) {
	for text, want := range map[string][]Macro{
		"#define A 1\n#if A == 1\n#if B == 2 && (C==0)\n#elif B == 4\n#endif\n#if __V == 1 || cl_k == 1\n#endif": {{"B", "2", true}, {"C", "0", true}},
		"#if W > LANES\n#elif LANES != 32 && LANES != 64\n#error\n#endif\n":                                      {{"W", "", true}, {"LANES", "32", true}},
		// switches, which are off where nobody defines them; code that reads one wants a number
		"#if DEBUG && (!QUIET) || (FAST)\n#endif":   {{"DEBUG", "0", true}, {"QUIET", "0", true}, {"FAST", "0", true}},
		"#if PAD\nint t[PAD];\n#endif":              {{"PAD", "", true}},
		"#if HAS(2) + CL_VERSION_2_0 > 1 || 3u > N": {{"N", "", true}},
		// the source asks whether they are defined, or the compiler does not come to the condition
		"#ifdef A\n#if A > 1\n#endif\n#endif\n#if defined(B) && B > 2 || !defined C || C > 1\n#endif":                                        nil,
		"#if GIVEN == 1\n#if X > 1\n#endif\n#elif GIVEN == 2\n#if Y > 1\n#endif\n#elif Z > 1\n#endif\n#ifdef NOT\n#if V > 1\n#endif\n#endif": {{"Y", "", true}},
		"#if TILE % BLOCK != 0 || 2 * M == 4\n#endif":                                                                                        {{"TILE", "", true}, {"BLOCK", "", true}, {"M", "", true}},
		"#if A > 1\n#if B > 1\n#endif\n#endif":                                                                                               {{"A", "", true}, {"B", "", true}},
	} {
		if got := Tested(text, []Macro{{Name: "GIVEN", Text: "2"}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n%+v, want %+v", text, got, want)
		}
	}
}

func TestTypes(t *testing.T) {
	if got := Typedef(kernelsText, "real"); got != "float" {
		t.Errorf("real is %q", got)
	}
	if got := Typedef(kernelsText, "float"); got != "" {
		t.Errorf("float is %q", got)
	}
	if got := Typedef("typedef unsigned int u32; typedef float4 v; typedef struct { int a; } s;", "u32"); got != "unsigned int" {
		t.Errorf("u32 is %q", got)
	}
	const text = "__global A *a; B b; int c = C * d; const D;"
	for name, want := range map[string]bool{"A": true, "B": true, "C": false, "D": true} {
		if IsType(text, name) != want {
			t.Errorf("%s is a type: %v", name, !want)
		}
	}
}
