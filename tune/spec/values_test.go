package spec

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/space"
)

func TestPlainValues(t *testing.T) {
	for _, c := range []struct {
		text string
		want space.Value
	}{
		{"0", 0}, {"16", 16}, {"-16", -16}, {"+16", 16}, {"0x10", 16}, {"-0xff", -255}, {"0o20", 16}, {"0b101", 5}, {"1_000", 1000},
		{"9223372036854775807", 9223372036854775807}, {"-9223372036854775808", -9223372036854775808},
		{"+9223372036854775808", "9223372036854775808"}, {"0xffff_ffff_ffff_ffff", "18446744073709551615"},
		{"2.0", 2.0}, {".5", 0.5}, {"5.", 5.0}, {"1e3", 1000.0}, {"-1.5E-3", -0.0015}, {"00.5", 0.5},
		{"true", true}, {"FALSE", false}, {"yes", "yes"}, {"on", "on"}, {"y", "y"}, {"tRUE", "tRUE"},
		{"~", nil}, {"", nil}, {"null", nil},
		{"0.225f", "0.225f"}, {"16u", "16u"}, {"0x", "0x"}, {"1.2.3", "1.2.3"}, {"2020-01-02", "2020-01-02"}, {"12:30", "12:30"},
		{"nx * ny", "nx * ny"}, {"float4", "float4"}, {"-", "-"}, {".", "."}, {"e5", "e5"}, {"inf", "inf"},
	} {
		got, err := plain(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q is %v (%T), %v; want %v (%T)", c.text, got, got, err, c.want, c.want)
		}
	}
	for _, text := range []string{"010", "-08", "00", "18446744073709551616", "-0x8000000000000001", "1e400", ".inf", "-.INF", ".nan"} {
		if got, err := plain(text); err == nil {
			t.Errorf("%q is %v, and should be refused", text, got)
		}
	}
}

// What the YAML library writes is read back as the same values.
func TestValuesComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		values := map[string]space.Value{}
		for i := range 8 {
			values[fmt.Sprintf("c%d", i)] = randomValue(r)
		}
		values["n"] = 1
		text, err := yaml.Marshal(map[string]any{"constants": values})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range loaded(t, string(text), Options{}).Definition.Constants {
			if want := values[c.Name]; c.Value != want {
				t.Errorf("%v (%T) came back as %v (%T) from\n%s", want, want, c.Value, c.Value, text)
			}
		}
	}
}

func randomValue(r *rand.Rand) space.Value {
	switch r.IntN(4) {
	case 0:
		return int(r.Uint64()) >> r.IntN(64)
	case 1:
		return r.NormFloat64() * 1e3
	case 2:
		return r.IntN(2) == 0
	}
	const letters = "01eE.xX+-_ #:'\"{[&*!|>%@`yntf~\\é"
	runes := []rune(letters)
	text := "t"
	if r.IntN(2) == 0 {
		text = "1"
	}
	for range r.IntN(6) {
		text += string(runes[r.IntN(len(runes))])
	}
	return text
}

// A range begins at its first number, goes on in steps, and ends where the next step would
// leave it.
func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		first, step := r.IntN(200)-100, 1+r.IntN(9)
		last := first + r.IntN(100)
		if r.IntN(2) == 0 {
			step, last = -step, 2*first-last
		}
		values := rangeOf(t, fmt.Sprintf("[%d, %d, %d]", first, last, step))
		for i, v := range values {
			if v != first+i*step {
				t.Fatalf("[%d, %d, %d]: value %d is %v", first, last, step, i, v)
			}
		}
		end := values[len(values)-1].(int)
		if (last-end)*step < 0 || (last-end-step)*step >= 0 {
			t.Errorf("[%d, %d, %d] ends with %d", first, last, step, end)
		}
	}
	if got := fmt.Sprint(rangeOf(t, "[0.1, 1, 0.1]")); got != "[0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1]" {
		t.Errorf("tenths are %s", got)
	}
	if got := fmt.Sprint(rangeOf(t, "[0, 9007199254740991, 9007199254740992]")); got != "[0]" {
		t.Errorf("a step beyond the last number gives %s", got)
	}
}

func rangeOf(t *testing.T, bounds string) []space.Value {
	t.Helper()
	fsys := library()
	fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(with("parameters: {a: {range: " + bounds + "}}\n"))}
	s, err := LoadFS(fsys, "spec.yaml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Definition.Parameters[0].Values
}
