package space

import (
	"encoding/json"
	"math"
	"testing"
)

func TestFormatAndParseAreInverse(t *testing.T) {
	for _, v := range []Value{0, -3, 4096, 0.5, 2.0, -1e-9, 1e300, "a b", "float4", ""} {
		if got := ParseValue(FormatValue(v)); got != v {
			t.Errorf("%v (%T) became %v (%T)", v, v, got, got)
		}
	}
	if FormatValue(true) != "1" || FormatValue(false) != "0" {
		t.Error("a bool reaches a kernel as 1 or 0")
	}
}

func TestNormalizeValue(t *testing.T) {
	for _, c := range []struct{ in, want any }{
		{int8(3), 3}, {uint32(7), 7}, {float32(0.5), 0.5}, {true, true}, {"s", "s"},
	} {
		if got, err := NormalizeValue(c.in); err != nil || got != c.want {
			t.Errorf("NormalizeValue(%v) = %v, %v", c.in, got, err)
		}
	}
	for _, bad := range []any{nil, math.NaN(), math.Inf(1), uint64(math.MaxUint64), []int{1}, struct{}{}} {
		if v, err := NormalizeValue(bad); err == nil {
			t.Errorf("NormalizeValue(%v) = %v, want an error", bad, v)
		}
	}
}

func TestConfigurationJSONKeepsOrderAndTypes(t *testing.T) {
	p := mustParameters(t, Parameter{"z", []Value{1}}, Parameter{"a", []Value{2.0}}, Parameter{"m", []Value{"x\""}}, Parameter{"b", []Value{true}})
	c, err := p.Configure(map[string]Value{"z": 1, "a": 2.0, "m": "x\"", "b": true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil || string(text) != `{"z":1,"a":2.0,"m":"x\"","b":true}` {
		t.Errorf("%s, %v", text, err)
	}
}

func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{"1", "-0", "1.0", "0x10", "NaN", "true", "inf", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := ParseValue(text)
		if n, err := NormalizeValue(v); err != nil || n != v {
			t.Errorf("ParseValue(%q) = %v is not a value: %v", text, v, err)
		}
	})
}
