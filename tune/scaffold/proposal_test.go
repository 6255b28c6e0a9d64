package scaffold

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

func TestRoles(t *testing.T) {
	for name, want := range map[string]struct {
		role role
		axis int
	}{
		"BLOCK_SIZE": {blockRole, -1}, "block_size_x": {blockRole, 0}, "blockDimY": {blockRole, 1}, "WGS": {blockRole, -1}, "LOCAL_SIZE": {blockRole, -1},
		"TILE_WIDTH": {blockRole, -1}, "WORK_GROUP_X": {blockRole, 0}, "NUM_BLOCKS": {otherRole, -1}, "USE_LOCAL": {otherRole, -1}, "LOCAL_MEMORY": {otherRole, -1},
		"per_item": {perItemRole, -1}, "WORK_PER_THREAD": {perItemRole, -1}, "WPT": {perItemRole, -1}, "tile_size_x": {perItemRole, 0}, "LOOP_UNROLL": {unrollRole, -1},
		"n": {otherRole, -1}, "WIDTH": {otherRole, -1}, "step_z": {otherRole, 2}, "MAX": {otherRole, -1},
	} {
		if r, axis := roleOf(name); r != want.role || axis != want.axis {
			t.Errorf("%s has the role %d and the dimension %d, want %+v", name, r, axis, want)
		}
	}
}

func TestAround(t *testing.T) {
	for n, want := range map[int][]space.Value{16: {8, 16, 32, 64}, 1: {1, 2, 4}, 48: {24, 48, 96, 192}, 512: {256, 512, 1024}} {
		if got := around(n); !slices.Equal(got, want) {
			t.Errorf("around %d: %v, want %v", n, got, want)
		}
	}
}

// proposed returns the lines of the specification that is proposed for a kernel k, without comments.
func proposed(t *testing.T, u Untuned, arguments ...cl.ArgInfo) string {
	t.Helper()
	u.Sources, u.Kernel = []string{"k.cl"}, device.Signature{Name: "k", Arguments: arguments}
	return string(Propose(u, "k.yaml").YAML())
}

func global(typ, name string) cl.ArgInfo {
	return cl.ArgInfo{Name: name, Type: typ + "*", Address: cl.AddressGlobal}
}

func private(typ, name string) cl.ArgInfo {
	return cl.ArgInfo{Name: name, Type: typ, Address: cl.AddressPrivate}
}

// TestProposedNumbers makes sure that the kernel gets the numbers of its source and of -D as they are written.
func TestProposedNumbers(t *testing.T) {
	const kernel = `
#define width 512u
#define HASH 2654435761u
#define WIDTHS 7
#ifndef M_PI
#define M_PI 3.14159265358979323846f
#endif
__kernel void k(__global float *a) { int i = get_global_id(0); if (i < width) a[i] = EPS + M_PI + HASH * BLOCK; }`
	u := Untuned{Text: kernel, Given: []source.Macro{
		{Name: "EPS", Text: "0.1f"}, {Name: "BLOCK", Text: "64u"}, {Name: "MASK", Text: "0xFFFFFFFF"}, {Name: "LONG", Text: "3.14159265358979323846"}, {Name: "ONE", Text: "1.0"},
		{Name: "SCALE", Text: "1e5"}, {Name: "BRACKET", Text: "(4096)"}, {Name: "SUM", Text: "(1+2)"}, {Name: "CAST", Text: "(float)(3)"}, {Name: "EMPTY", Text: ""}, {Name: "OCTAL", Text: "010"},
	}}
	text := proposed(t, u, global("float", "a"))
	for _, line := range []string{
		"  EPS: 0.1f", "  BLOCK: 64u", "  MASK: '0xFFFFFFFF'", "  LONG: '3.14159265358979323846'", "  ONE: 1.0", "  SCALE: '1e5'", "  BRACKET: 4096", "  SUM: (1+2)", "  CAST: (float)(3)",
		"  EMPTY: ''", "  OCTAL: '010'", "  width: 512u", "problem_size: width", "block_size: {x: BLOCK}",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no line %q", line)
		}
	}
	for _, own := range []string{"\n  HASH:", "\n  M_PI:", "\n  WIDTHS:"} {
		if strings.Contains(text, own) {
			t.Errorf("%q: the source defines it", own)
		}
	}
	s, err := spec.LoadFS(fstest.MapFS{"k.yaml": {Data: []byte(text)}, "k.cl": {Data: []byte(kernel)}}, "k.yaml", spec.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := `-D EPS=0.1f -D BLOCK=64u -D MASK=0xFFFFFFFF -D LONG=3.14159265358979323846 -D ONE=1.0 -D SCALE=1e5 -D BRACKET=4096 -D SUM="(1+2)" -D CAST="(float)(3)" -D EMPTY="" -D OCTAL=010 -D width=512u`
	if got := s.Problem.FixedOptions(); got != want {
		t.Errorf("the kernel gets\n%s, want\n%s", got, want)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestQuestions makes sure that a specification asks for what only its user knows, and is refused until the answer.
func TestQuestions(t *testing.T) {
	const shared = "__kernel void k(__global float *a, int n) { __local float t[64]; t[get_local_id(0)] = 0; a[get_global_id(1)] = 0; if (get_group_id(2) < n) a[0] = 1; }"
	bounded := func(code string) string {
		return "__kernel void k(__global float *a, int n) { int i = get_global_id(0); if (i < n) { " + code + " } }"
	}
	macro := func(name string) Untuned {
		return Untuned{Text: bounded("a[i] = " + name + ";"), Missing: []source.Macro{new(Untuned).missingMacro(name, false)}}
	}
	for _, c := range []struct {
		name      string
		untuned   Untuned
		arguments []cl.ArgInfo
		want      string // a line
		asks      string // fields
	}{
		{"a local size that the kernel is written for", Untuned{Text: shared}, []cl.ArgInfo{global("float", "a"), private("int", "n")}, "block_size: {x: DECIDE, y: 1, z: 1}", "problem_size[0] problem_size[1] block_size.x arguments[0].size"},
		{"one that it reads", Untuned{Text: strings.Replace(shared, "= 0;", "= get_local_size(0);", 1)}, []cl.ArgInfo{global("float", "a"), private("int", "n")}, "  block_size_x: [8, 16, 32, 64]", "problem_size[0] problem_size[1] arguments[0].size"},
		{"an integer", Untuned{Text: bounded("a[i] = mode;")}, []cl.ArgInfo{global("float", "a"), private("int", "n"), private("int", "mode")}, "  mode: {value: DECIDE, host: true}", "constants.mode.value"},
		{"vectors", Untuned{Text: bounded("a[i] = v.x * w.y;")}, []cl.ArgInfo{global("float", "a"), private("int", "n"), private("int2", "v"), private("float2", "w")}, "  - {name: w, type: float2, value: [0.5, 0.5]}", "arguments[2].value[0] arguments[2].value[1]"},
		{"a buffer", Untuned{Text: bounded("a[i] = b[i + 1];")}, []cl.ArgInfo{global("float", "a"), private("int", "n"), global("float", "b")}, "  #   line 1 of the source: " + bounded("a[i] = b[i + 1];"), "arguments[2].size"},
		{"local memory", Untuned{Text: bounded("a[i] = t[get_local_size(0)];")}, []cl.ArgInfo{global("float", "a"), private("int", "n"), {Name: "t", Type: "float*", Address: cl.AddressLocal}}, "  - {name: t, type: float, local_size: DECIDE}", "arguments[2].local_size"},
		{"a size", Untuned{Text: "__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }"}, []cl.ArgInfo{global("float", "a")}, "problem_size: DECIDE", "problem_size arguments[0].size"},
		{"a grid", Untuned{Text: bounded("a[get_group_id(0) * n] = 1;")}, []cl.ArgInfo{global("float", "a"), private("int", "n")}, "grid_div: {x: DECIDE}", "grid_div.x arguments[0].size"},
		{"the grid of an element in each work-item", Untuned{Text: bounded("a[i] = 1;")}, []cl.ArgInfo{global("float", "a"), private("int", "n")}, "  - {name: a, type: float, size: n, output: true}", ""},
		{"an image", Untuned{Text: bounded("a[i] = 1;")}, []cl.ArgInfo{global("float", "a"), private("int", "n"), private("image2d_t", "p")}, "  - {name: p, image: 2d, format: DECIDE, size: [DECIDE, DECIDE]}", "arguments[2].format arguments[2].size[0] arguments[2].size[1]"},
		{"a macro", macro("RADIUS_X"), []cl.ArgInfo{global("float", "a"), private("int", "n")}, "  RADIUS_X: DECIDE", "constants.RADIUS_X"},
		{"a macro that is a local size", macro("block_size"), []cl.ArgInfo{global("float", "a"), private("int", "n")}, "  block_size: [32, 64, 128, 256]", ""},
		{"a macro that bounds the index", Untuned{Text: strings.ReplaceAll(bounded("a[i] = 1;"), "< n", "< N"), Missing: []source.Macro{new(Untuned).missingMacro("N", false)}}, []cl.ArgInfo{global("float", "a")}, "  N: 65536", ""},
	} {
		text := proposed(t, c.untuned, c.arguments...)
		if !strings.Contains(text, "\n"+c.want+"\n") {
			t.Errorf("%s: there is no line %q in\n%s", c.name, c.want, text)
		}
		_, err := spec.LoadFS(fstest.MapFS{"k.yaml": {Data: []byte(text)}, "k.cl": {Data: []byte(c.untuned.Text)}}, "k.yaml", spec.Options{})
		var errs spec.Errors
		errors.As(err, &errs)
		var asked []string
		for _, e := range errs {
			if asked = append(asked, e.Field); !strings.Contains(e.Error(), "DECIDE") {
				t.Errorf("%s: %v", c.name, e)
			}
		}
		if got := strings.Join(asked, " "); got != c.asks || c.asks == "" && err != nil {
			t.Errorf("%s: it asks for %q, want %q: %v", c.name, got, c.asks, err)
		}
	}
}

// TestProposedTypes makes sure that structs are described, and that the reason is given where one cannot be.
func TestProposedTypes(t *testing.T) {
	u := Untuned{
		Text: `typedef enum { A, B } mode; typedef unsigned int u32; struct packed { char a; int b; } __attribute__((packed)); struct lonely { struct lonely a; };
struct colours { mode m; u32 c[2]; };
__kernel void k() {}`,
	}
	u.Kernel.Arguments = []cl.ArgInfo{
		global("mode", "modes"), global("u32", "codes"), global("struct packed", "p"), global("struct lonely", "l"), private("vec3", "v"), global("void", "any"), global("struct colours", "c"), private("sampler_t", "s"),
	}
	text := proposed(t, u, u.Kernel.Arguments...)
	for _, line := range []string{
		"name: modes, type: int,", "name: codes, type: uint,", "name: p, type: bytes, size: DECIDE,", "DECIDE: the bytes of l.",
		"name: v, type: bytes, value: DECIDE", "name: any, type: uchar,", "  colours: {m: int, c: {type: uint, count: 2}}", "# DECIDE: packed cannot be described: its attributes change the layout.",
		"DECIDE: lonely cannot be described: its field a has the type lonely: it contains itself.",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("there is no %q in\n%s", line, text)
		}
	}
}
