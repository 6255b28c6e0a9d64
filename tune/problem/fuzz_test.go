package problem

import (
	"bytes"
	"encoding/gob"
	"flag"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// FuzzProblem: whatever an agent is sent as a problem, it is a problem or an error, and a problem is the same after it was sent on.
func FuzzProblem(f *testing.F) {
	// By default, Go spends a minute on making each input smaller that reaches new code, and tries no other one meanwhile.
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil {
		f.Fatal(err)
	}
	reference := lineDefinition(2)
	verified := saxpy()
	verified.Verify = &definition.Verification{Expected: map[string]any{"y": array.New(array.Float32, 1000)}, ATol: "0.5"}
	referred := saxpy()
	referred.Verify = &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"i": 1}}
	rich := saxpy()
	rich.Arguments = append(rich.Arguments,
		definition.Argument{Name: "data", Type: "float4", Data: array.New(array.Float32.Vector(4), 3), Output: true},
		definition.Argument{Name: "image", Image: &definition.Image{Shape: "2d", Format: "r/uint8", Size: []definition.Expr{"2", "3"}}, Data: array.New(array.Uint8, 6)},
		definition.Argument{Name: "sampler", Sampler: &definition.Sampler{Filter: "linear"}},
		definition.Argument{Name: "struct", Type: "pair", Value: map[string]any{"a": 0.5, "b": []any{[]int8{1, 2}, []int8{3, 4}}}},
		definition.Argument{Name: "half", Type: "half", Value: array.HalfOf(1)})
	rich.Types = []definition.StructType{{Name: "pair", Fields: []definition.StructField{{Name: "a", Type: "float"}, {Name: "b", Type: "char2", Count: "2"}}}}
	rich.GridDiv = [3][]definition.Expr{{"block_size_x"}, {}, nil}
	all := []definition.Definition{saxpy(), verified, referred, rich, lineDefinition(3)}
	whole := array.New(array.Float32, 3)
	for _, wrong := range []*array.Array{{}, {Type: 200, Bytes: whole.Bytes}, {Type: array.Float32, Bytes: whole.Bytes[:7]}, {Type: array.Float32.Vector(4), Bytes: whole.Bytes},
		{Type: array.Float32, Bytes: whole.Bytes, Struct: &array.Struct{Name: "s"}}, {Type: array.Uint8, Bytes: whole.Bytes, Struct: &array.Struct{Name: "s", Size: 4, Members: []array.Member{{Path: "a", Type: 99, Offset: -8}}}}} {
		data, expected := saxpy(), saxpy()
		data.Arguments = append(data.Arguments, definition.Argument{Name: "data", Data: wrong, Output: true}, definition.Argument{Name: "image", Image: &definition.Image{Shape: "1d", Format: "r/float32", Size: []definition.Expr{"3"}}, Data: wrong})
		expected.Verify = &definition.Verification{Expected: map[string]any{"y": wrong}}
		value, constant := saxpy(), saxpy()
		constant.Constants[0].Value = wrong
		value.Arguments[2].Value = wrong
		all = append(all, data, expected, value, constant)
	}
	for _, d := range all {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(d); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := definition.Decode(data)
		if err != nil {
			return
		}
		if commands, files := d.Outside(); len(commands)+len(files) > 0 {
			return // an agent refuses it
		}
		p, err := New(d)
		if err != nil {
			if len(fieldsOf(err)) == 0 {
				t.Fatalf("%q: an error without a field: %v", data, err)
			}
			return
		}
		digest := p.Digest()
		text, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		d, err = definition.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := New(d)
		if err != nil {
			t.Fatalf("%q: sent on: %v", data, err)
		}
		if again.Digest() != digest {
			t.Fatalf("%q: sent on, it is another problem", data)
		}
	})
}
