package space

import (
	"encoding/json"
	"math"
	"testing"
)

func TestFormatValue(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{0, "0"}, {-3, "-3"}, {0.5, "0.5"}, {2.0, "2.0"}, {-1e-9, "-1e-09"}, {1e300, "1e+300"},
		{"float4", "float4"}, {"", ""}, {true, "1"}, {false, "0"},
	} {
		if got := FormatValue(c.v); got != c.want {
			t.Errorf("FormatValue(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestNormalizeValue(t *testing.T) {
	for _, c := range []struct{ in, want any }{
		{int8(3), 3}, {uint32(7), 7}, {float32(0.5), 0.5}, {true, true}, {"s", "s"}, {uint64(math.MaxUint64), "18446744073709551615"},
	} {
		if got, err := NormalizeValue(c.in); err != nil || got != c.want {
			t.Errorf("NormalizeValue(%v) = %v, %v", c.in, got, err)
		}
	}
	for _, bad := range []any{nil, math.NaN(), math.Inf(1), []int{1}, struct{}{}} {
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
	for range 20 { // a map has no order, an error has
		if _, err := p.Configure(map[string]Value{"y": 1, "n": 1, "k": 1, "z": 1}); err == nil || err.Error() != "no parameter is named k" {
			t.Fatalf("three unknown names: %v", err)
		}
	}
	text, err := json.Marshal(c)
	if err != nil || string(text) != `{"z":1,"a":2.0,"m":"x\"","b":true}` {
		t.Errorf("%s, %v", text, err)
	}
}
