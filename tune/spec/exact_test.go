package spec

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/tune/problem"
)

// TestExactIntegers: every integer of 64 bits passes exactly, wherever a specification has a number that a kernel gets.
func TestExactIntegers(t *testing.T) {
	const text = `{
"constants": {"n": 2, "c": INT, "h": {"value": INT, "host": true}},
"parameters": {"block_size_x": [1], "p": [INT, 5]},
"arguments": [
 {"name": "constant", "type": "TYPE", "size": "n", "fill": {"constant": INT}},
 {"name": "named", "type": "TYPE", "size": "n", "fill": {"constant": "h"}},
 {"name": "random", "type": "TYPE", "size": "n", "fill": {"random": [INT, NEXT]}},
 {"name": "value", "type": "TYPE", "value": INT},
 {"name": "text", "type": "TYPE", "value": "h"},
 {"name": "vector", "type": "TYPEx2", "value": [INT, "h"]},
 {"name": "integers", "type": "TYPEx2", "value": [INT, INT]},
 {"name": "output", "type": "int", "size": 2, "output": true}]}`
	for _, c := range []struct{ typ, text, next string }{
		{"int64", "-9223372036854775808", "-9223372036854775807"},
		{"int64", "-9007199254740993", "-9007199254740992"},
		{"int64", "9007199254740993", "9007199254740994"},
		{"int64", "9223372036854775807", "9223372036854775808"},
		{"uint64", "9007199254740993", "9007199254740994"},
		{"uint64", "9223372036854775809", "9223372036854775810"},
		{"uint64", "18446744073709551614", "18446744073709551615"},
		{"uint64", "18446744073709551615", "2 ** 64"},
	} {
		json := strings.NewReplacer("INT", c.text, "NEXT", fmt.Sprintf("%q", c.next), "TYPE", c.typ).Replace(text)
		s := loaded(t, json2yaml(json), Options{})
		for _, name := range []string{"constant", "named", "random"} {
			i := argumentNamed(s, name)
			a, err := s.Problem.Content(i, 2)
			if err != nil || a.Text(0) != c.text || a.Text(1) != c.text {
				t.Errorf("%s: the fill of %s is %v, %v", c.text, name, a, err)
			}
		}
		for _, name := range []string{"value", "text", "vector", "integers"} {
			a := s.Problem.Arguments()[argumentNamed(s, name)]
			raw, err := a.Scalars[0].Bytes(environment(s))
			for at := 0; at < len(raw); at += 8 {
				bits := binary.NativeEndian.Uint64(raw[at:])
				if got := map[bool]string{true: fmt.Sprint(bits), false: fmt.Sprint(int64(bits))}[c.typ == "uint64"]; got != c.text {
					t.Errorf("%s: the value of %s is %s, %v", c.text, name, got, err)
				}
			}
			if err != nil {
				t.Error(name, err)
			}
		}
		config, err := ParseConfiguration(s.Problem.Parameters(), "block_size_x=1,p="+c.text)
		if err != nil {
			t.Fatal(err)
		}
		options, _, lines := problem.Defines(s.Definition.Constants, config, nil)
		want := map[string]string{"-9223372036854775808": "(-9223372036854775807L-1)"}[c.text]
		if want == "" {
			want = c.text
		}
		if all := strings.Join(options, "\n") + "\n" + lines; strings.Count(all, "c="+want)+strings.Count(all, " c "+want) != 1 || strings.Count(all, "p="+want)+strings.Count(all, " p "+want) != 1 {
			t.Errorf("%s: the macros are %s", c.text, all)
		}
		by := loaded(t, "constants: {n: 2, c: 1}\nparameters: {block_size_x: [1], p: [1]}\n",
			Options{Set: map[string]string{"c": c.text}, Parameters: map[string][]string{"p": {c.text}}}).Definition
		if by.Constants[1].Text() != c.text || fmt.Sprint(by.Parameters[1].Values) != "["+c.text+"]" {
			t.Errorf("%s by options: %v, %v", c.text, by.Constants, by.Parameters)
		}
	}
	// Two integers that are one float64 are two values.
	two := loaded(t, "parameters: {block_size_x: [1], p: [9007199254740992, 9007199254740993]}\n", Options{})
	if c, err := ParseConfiguration(two.Problem.Parameters(), "block_size_x=1,p=9007199254740993"); err != nil || c.At(1) != 1<<53+1 {
		t.Errorf("p = %v, %v", c, err)
	}
}

// TestIntegersThatNoPlaceHolds: what cannot hold an integer says so.
func TestIntegersThatNoPlaceHolds(t *testing.T) {
	for text, want := range map[string]string{
		"constants: {n: 18446744073709551616}\n":                                                                         "18446744073709551616 is beyond the integers of 64 bits",
		"constants: {n: -9223372036854775809}\n":                                                                         "-9223372036854775809 is beyond the integers of 64 bits",
		"constants: {n: 18446744073709551615}\n":                                                                         "\"n\" is 18446744073709551615, beyond the integers that expressions compute with",
		"constants: {n: 1, m: 18446744073709551615}\nproblem_size: [m - 1]\n":                                            "m is 18446744073709551615, beyond the integers that expressions compute with",
		"problem_size: [18446744073709551615]\n":                                                                         "beyond the integers that expressions compute with",
		"seed: 18446744073709551615\n":                                                                                   "expected a number, found 18446744073709551615, which only",
		"parameters: {block_size_x: [1], p: {powers_of_two: [1, 9223372036854775808]}}\n":                                "expected a power of two, found 9223372036854775808, which only",
		"arguments: [{name: c, type: int64, size: n, output: true, fill: {constant: 9223372036854775808}}]\n":            "9223372036854775808 is out of the range of int64",
		"arguments: [{name: c, type: uint64, size: n, output: true, fill: {constant: -1}}]\n":                            "-1 is out of the range of uint64",
		"arguments: [{name: c, type: int64, size: n, output: true, fill: {random: [0, 9223372036854775809]}}]\n":         "int64 holds -9223372036854775808",
		"arguments: [{name: c, type: uint64, size: n, output: true, fill: {random: [9, 9]}}]\n":                          "the interval [9, 9) is empty",
		"arguments: [{name: c, type: uint64, size: n, output: true, fill: {expression: 18446744073709551615}}]\n":        "beyond the integers that expressions compute with",
		"arguments: [{name: c, type: int, size: n, output: true}, {name: v, type: int64, value: 9223372036854775808}]\n": "9223372036854775808 is out of the range of int64",
	} {
		fsys := library()
		fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(with(text))}
		if _, err := LoadFS(fsys, "spec.yaml", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v\n; want %s", text, err, want)
		}
	}
}

// json2yaml is JSON with its keys as sections of a specification.
func json2yaml(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "{\n"), "}")
	return strings.NewReplacer("\"constants\":", "constants:", ",\n\"parameters\":", "\nparameters:", ",\n\"arguments\":", "\narguments:").Replace(text) + "\n"
}

func argumentNamed(s *Spec, name string) int {
	for i, a := range s.Problem.Arguments() {
		if a.Name == name {
			return i
		}
	}
	return math.MaxInt
}

func environment(s *Spec) map[string]any {
	env := map[string]any{}
	for _, c := range s.Definition.Constants {
		env[c.Name] = c.Number()
	}
	return env
}
