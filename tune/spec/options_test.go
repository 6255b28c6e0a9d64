package spec

import (
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/tune/space"
)

func TestOptions(t *testing.T) {
	const text = "constants: {n: 1024, dt: 0.225f, m: 100000u, k: 1.5f, one: 1.0, many: 1e3, flag: true}\n" +
		"parameters: {block_size_x: [64, 128], part: [0.5, 1.0], on: [true, false], type: [float, \"16\"], step: [1.0], only: [true], scale: [1.0f]}\n" +
		"verify: {spec: reference.yaml}\n"
	s := loaded(t, text, Options{
		Set:        map[string]string{"n": "512", "dt": "0.1f", "m": "512", "k": "2", "one": "2", "many": "1_000_000", "flag": "0"},
		Parameters: map[string][]string{"block_size_x": {"128", "32.0"}, "part": {"1"}, "on": {"1"}, "type": {"16"}, "step": {"2", "1e3"}, "only": {"0"}, "scale": {"3"}},
	})
	d := s.Definition
	if d.Constants[0].Value != 512 || d.Constants[1].Value != "0.1f" || d.Constants[2].Value != "512u" || d.Constants[3].Value != "2.0f" ||
		d.Constants[4].Value != 2.0 || d.Constants[5].Value != 1e6 || d.Constants[6].Value != false {
		t.Errorf("constants %v", d.Constants)
	}
	want := []space.Parameter{
		{Name: "block_size_x", Values: []space.Value{128, 32}},
		{Name: "part", Values: []space.Value{1.0}},
		{Name: "on", Values: []space.Value{true}},
		{Name: "type", Values: []space.Value{"16"}},
		{Name: "step", Values: []space.Value{2.0, 1000.0}},
		{Name: "only", Values: []space.Value{false}},
		{Name: "scale", Values: []space.Value{"3.0f"}},
	}
	if !reflect.DeepEqual(d.Parameters, want) {
		t.Errorf("parameters\n got %v\nwant %v", d.Parameters, want)
	}
	reference := d.Verify.Problem
	if reference.Constants[0].Value != 512 || len(reference.Constants) != 1 {
		t.Errorf("constants of the reference %v", reference.Constants)
	}
}

func TestWrongOptions(t *testing.T) {
	fsys := library()
	fsys["bare.yaml"] = &fstest.MapFile{Data: []byte(with("constants: {}\nproblem_size: 3\narguments: [{name: c, type: int, size: 1}]\n"))}
	for _, c := range []struct {
		path string
		o    Options
		want string
	}{
		{"good.yaml", Options{Set: map[string]string{"m": "3"}}, `good.yaml: --set m=3: no constant is named m; the specification has n`},
		{"good.yaml", Options{Set: map[string]string{"height": "3"}}, `good.yaml: --set height=3: no constant is named height; the specification has n`},
		{"good.yaml", Options{Set: map[string]string{"n": ""}}, `good.yaml: --set n=: no value is given`},
		{"good.yaml", Options{Set: map[string]string{"n": "08"}}, `good.yaml: --set n=08: 08 has a leading zero, which makes it octal for YAML 1.1 and C but decimal for YAML 1.2; write it without, or as 0o…`},
		{"good.yaml", Options{Set: map[string]string{"n": "0"}}, "good.yaml:3:16: problem_size[0]: n = 0: it must be positive\ngood.yaml:5:36: arguments[0].size: n = 0: it must be positive"},
		{"good.yaml", Options{Parameters: map[string][]string{"block_size": {"3"}}}, `good.yaml: -p block_size=3: no parameter is named block_size; did you mean "block_size_x"?`},
		{"good.yaml", Options{Parameters: map[string][]string{"block_size_x": {"3", "3"}}}, `good.yaml: -p block_size_x=3,3: the value 3 stands twice`},
		{"good.yaml", Options{Parameters: map[string][]string{"block_size_x": nil}}, `good.yaml: -p block_size_x=: no value is given`},
		{"good.yaml", Options{Parameters: map[string][]string{"block_size_x": {"3", ""}}}, `good.yaml: -p block_size_x=3,: no value is given`},
		{"good.yaml", Options{Set: map[string]string{"n": "2.5"}}, `good.yaml: --set n=2.5: the type of 1024 holds no 2.5`},
		{"good.yaml", Options{Sizes: true, Set: map[string]string{"n": "1,2.5"}}, `good.yaml: --set n=1,2.5: n: the type of 1024 holds no 2.5`},
		{"good.yaml", Options{Parameters: map[string][]string{"block_size_x": {"2.5"}}}, `good.yaml: -p block_size_x=2.5: the type of 64 holds no 2.5`},
		{"bare.yaml", Options{Set: map[string]string{"n": "3"}}, `bare.yaml: --set n=3: the specification has no constants`},
	} {
		_, err := LoadFS(fsys, c.path, c.o)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v:\n got %v\nwant %s", c.o, err, c.want)
		}
	}
}

func TestParseAssignments(t *testing.T) {
	got, err := ParseAssignments([]string{"block_size_x=16,32", "type=float4", "define=a=b", "empty="})
	want := map[string][]string{"block_size_x": {"16", "32"}, "type": {"float4"}, "define": {"a=b"}, "empty": {""}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"block_size_x": `"block_size_x" is not of the form name=value`,
		"=3":           `"=3" is not of the form name=value`,
	} {
		if _, err := ParseAssignments([]string{text}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if _, err := ParseAssignments([]string{"a=1", "a=2"}); err == nil || err.Error() != "a is given twice" {
		t.Errorf("a name given twice: %v", err)
	}
}
