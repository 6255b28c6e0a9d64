package space

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTables compares spaces that tables restrict, alone and with expressions, with all combinations that are listed.
func TestTables(t *testing.T) {
	p, err := NewParameters([]Parameter{
		{Name: "a", Values: []Value{1, 2, 3, 4}}, {Name: "b", Values: []Value{"x", "y", "z"}}, {Name: "c", Values: []Value{true, false}},
		{Name: "d", Values: []Value{0.5, 1.0, 2.0, 8.0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for trial, names := range [][]string{{"a", "b", "c", "d"}, {"d", "b"}, {"c"}, {"b", "a"}, {"d", "c", "a"}} {
		text := fmt.Sprintf("[%q]\n\n", strings.Join(names, `","`))
		text = strings.ReplaceAll(text, `\"`, `"`)
		allowed := map[string]bool{}
		for range 1 + random.IntN(40) {
			var row, key []string
			for _, name := range names {
				i, _ := p.Index(name)
				v := p.At(i).Values[random.IntN(len(p.At(i).Values))]
				json, _ := MarshalValue(v)
				if name == "d" {
					json = []byte(fmt.Sprintf("%ge0", v))
				}
				row, key = append(row, string(json)), append(key, FormatValue(v))
			}
			text += "[" + strings.Join(row, ", ") + "]\n"
			if random.IntN(9) == 0 {
				text += strings.Repeat("["+strings.Join(row, ",")+"]\n", 2)
			}
			allowed[strings.Join(key, ",")] = true
		}
		table, err := ReadTable("t.jsonl", strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, more := range [][]Restriction{nil, {{Expression: `a + d > 2 or b == "x"`}}} {
			s, err := New(t.Context(), p, append([]Restriction{{Table: table}}, more...), nil)
			var empty *EmptyError
			if errors.As(err, &empty) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, c := range s.All() {
				got = append(got, c.Key())
			}
			all, err := New(t.Context(), p, more, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range all.All() {
				var key []string
				for _, name := range names {
					v, _ := c.Get(name)
					key = append(key, FormatValue(v))
				}
				if allowed[strings.Join(key, ",")] {
					want = append(want, c.Key())
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d: %q and %v leave\n%q, want\n%q", trial, text, more, got, want)
			}
		}
	}
}

// TestTablesThatAreNone: the error names the line or the parameter, and a table without a row that fits leaves nothing.
func TestTablesThatAreNone(t *testing.T) {
	p, err := NewParameters([]Parameter{{Name: "tile", Values: []Value{1, 2}}, {Name: "b", Values: []Value{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"\n\n":                    "it is empty; want an array of names of parameters in its first line",
		"[]\n[]":                  "line 1: want an array of names of parameters",
		"\n{\"tile\": 1}":         "line 2: want an array of names of parameters",
		"[\"tile\"]\n[1]\n[1, 2]": "line 3: want an array of 1 values, as the first line has names",
		"[\"tile\"]\n[1]\n1":      "line 3: want an array of 1 values, as the first line has names",
		"[\"tile\"]\n[[1]]":       "line 2: tile: a []interface {} is not a number, a bool or a string",
		"[\"tile\"]\n[null]":      "line 2: tile: no value given; want a number, a bool or a string",
		"[\"tilo\"]\n[1]":         `restrictions[0], t.jsonl, a table of 1 combinations: t.jsonl: no parameter is named tilo; did you mean "tile"?`,
		"[\"tile\"]\n":            "the space is empty: no configuration satisfies restrictions[0], t.jsonl, a table of 0 combinations",
		"[\"b\"]\n[3]\n[\"1\"]":   "the space is empty: no configuration satisfies restrictions[0], t.jsonl, a table of 2 combinations",
	} {
		table, err := ReadTable("t.jsonl", strings.NewReader(text))
		if err == nil {
			_, err = New(t.Context(), p, []Restriction{{Table: table}}, nil)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// BenchmarkTable reads a million combinations of eight parameters and constructs their space.
func BenchmarkTable(b *testing.B) {
	var list []Parameter
	var names []string
	for i := range 8 {
		q := Parameter{Name: fmt.Sprint("p", i)}
		for v := range 10 {
			q.Values = append(q.Values, 1<<v)
		}
		if i == 0 {
			q.Values[0] = 0
		}
		list, names = append(list, q), append(names, q.Name)
	}
	p, err := NewParameters(list)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	fmt.Fprintf(&text, `["%s"]`, strings.Join(names, `","`))
	for range 1_000_000 {
		text.WriteString("\n[0")
		for range 7 {
			fmt.Fprintf(&text, ", %d", 1<<random.IntN(10))
		}
		text.WriteString("]")
	}
	for b.Loop() {
		table, err := ReadTable("t.jsonl", strings.NewReader(text.String()))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := New(b.Context(), p, []Restriction{{Table: table}}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
