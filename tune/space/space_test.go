package space

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/expression"
)

func mustParameters(t testing.TB, list ...Parameter) *Parameters {
	t.Helper()
	p, err := NewParameters(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func expressions(sources ...string) []Restriction {
	var r []Restriction
	for _, s := range sources {
		r = append(r, Restriction{Expression: s})
	}
	return r
}

func TestSpaceInOdometerOrder(t *testing.T) {
	p := mustParameters(t,
		Parameter{"x", []Value{16, 32, 64}},
		Parameter{"y", []Value{1, 2}},
		Parameter{"mode", []Value{"a", "b"}})
	s, err := New(t.Context(), p, expressions("x * y <= limit", `mode == "a" or y == 1`, "x != 16 or y != 2"),
		map[string]any{"limit": 64})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, c := range s.All() {
		got = append(got, c.Key())
		if j, ok := s.Index(c); !ok || j != i {
			t.Errorf("Index(%s) = %d, %v; want %d", c, j, ok, i)
		}
	}
	if want := "16,1,a 16,1,b 32,1,a 32,1,b 32,2,a 64,1,a 64,1,b"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if c := s.At(4).String(); c != "x=32, y=2, mode=a" {
		t.Errorf("String() = %s", c)
	}
	if s.CartesianSize().Int64() != 12 {
		t.Errorf("CartesianSize() = %v", s.CartesianSize())
	}
	outside, _ := p.Configure(map[string]Value{"x": 64, "y": 2, "mode": "a"})
	if _, ok := s.Index(outside); ok {
		t.Error("Index found a configuration that is restricted away")
	}
}

// TestSpaceAgainstBruteForce compares random small spaces with the plain product, filtered.
func TestSpaceAgainstBruteForce(t *testing.T) {
	candidates := []string{"p0 * p1 <= 12", "p0 + p1 + p2 > k", "p1 % p0 == 0", "p2 >= p1 or p0 == 1", "p0 != 2", "1 <= p2 < 4", "k > 0"}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var list []Parameter
		for i := range 3 {
			var values []Value
			for _, v := range rng.Perm(6)[:1+rng.IntN(5)] {
				values = append(values, v+1)
			}
			list = append(list, Parameter{fmt.Sprintf("p%d", i), values})
		}
		p := mustParameters(t, list...)
		var sources []string
		for _, i := range rng.Perm(len(candidates))[:rng.IntN(5)] {
			sources = append(sources, candidates[i])
		}
		env := map[string]any{"k": rng.IntN(8)}

		var want []string
		scope := expression.Scope{"p0": 0, "p1": 0, "p2": 0, "k": 0}
		for _, a := range list[0].Values {
			for _, b := range list[1].Values {
				for _, c := range list[2].Values {
					valid := true
					for _, source := range sources {
						e, err := expression.Compile(source, scope)
						if err != nil {
							t.Fatal(err)
						}
						ok, err := e.Bool(map[string]any{"p0": a, "p1": b, "p2": c, "k": env["k"]})
						valid = valid && ok && err == nil
					}
					if valid {
						want = append(want, fmt.Sprintf("%v,%v,%v", a, b, c))
					}
				}
			}
		}
		s, err := New(t.Context(), p, expressions(sources...), env)
		if len(want) == 0 {
			var empty *EmptyError
			if !errors.As(err, &empty) {
				t.Errorf("seed %d: %v, want an EmptyError", seed, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var got []string
		for i, c := range s.All() {
			got = append(got, c.Key())
			if j, ok := s.Index(c); !ok || j != i {
				t.Errorf("seed %d: Index(At(%d)) = %d, %v", seed, i, j, ok)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("seed %d, %v:\ngot  %v\nwant %v", seed, sources, got, want)
		}
	}
}

func TestEmptySpaceNamesTheRestriction(t *testing.T) {
	p := mustParameters(t, Parameter{"x", []Value{1, 2, 3}}, Parameter{"y", []Value{1, 2}})
	for _, c := range []struct {
		sources []string
		index   int
		alone   bool
	}{
		{[]string{"x > 0", "x * y > 100", "y > 0"}, 1, true},
		{[]string{"x > 2", "y > 1", "x < 3"}, 2, false},
	} {
		_, err := New(t.Context(), p, expressions(c.sources...), nil)
		var empty *EmptyError
		if !errors.As(err, &empty) || empty.Index != c.index || empty.Alone != c.alone {
			t.Errorf("%v: %v", c.sources, err)
		} else if !strings.Contains(err.Error(), c.sources[c.index]) {
			t.Errorf("the message does not name the restriction: %v", err)
		}
	}
}

func TestRestrictionThatFailsIsAnError(t *testing.T) {
	p := mustParameters(t, Parameter{"x", []Value{4}}, Parameter{"y", []Value{2, 0}})
	_, err := New(t.Context(), p, expressions("y >= 0", "x % y == 0"), nil)
	var bad *RestrictionError
	if !errors.As(err, &bad) || bad.Index != 1 || !strings.Contains(err.Error(), "x=4, y=0") {
		t.Errorf("got %v", err)
	}
}

func TestNoParametersIsOneConfiguration(t *testing.T) {
	s, err := New(t.Context(), mustParameters(t), nil, nil)
	if err != nil || s.Len() != 1 || s.At(0).String() != "" {
		t.Errorf("%v, %v", s, err)
	}
}

func TestParametersRefuseWhatNoKernelCanTake(t *testing.T) {
	for _, list := range [][]Parameter{
		{{"1x", []Value{1}}},
		{{"x y", []Value{1}}},
		{{"x", nil}},
		{{"x", []Value{1, 2, 1}}},
		{{"x", []Value{1}}, {"x", []Value{2}}},
		{{"x", []Value{[]int{1}}}},
	} {
		var bad *ParameterError
		if _, err := NewParameters(list); !errors.As(err, &bad) {
			t.Errorf("%v: %v, want a ParameterError", list, err)
		}
	}
}

func TestSurvivors(t *testing.T) {
	p := mustParameters(t, Parameter{"x", []Value{1, 2, 3}}, Parameter{"y", []Value{1, 2}})
	s, err := New(t.Context(), p, expressions("x + y > 3"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Survivors(0)); got != "[2 3]" {
		t.Errorf("Survivors(0) = %s", got)
	}
}

// TestBoundsForgetNothing: what bounds decide early is what the expression gives.
func TestBoundsForgetNothing(t *testing.T) {
	for _, c := range []struct {
		restriction string
		values      []Value
		want        int
	}{
		{"not (min(x / y, 5.0) <= 5.0)", []Value{0, 3}, 1},            // NaN at [0, 0]
		{"not (max(min(x / y, 5.0), -1.0) <= 5.0)", []Value{0, 3}, 1}, // finite but for NaN
		{"not (abs(x / y) >= 0)", []Value{0, 3}, 1},
		{"not (x * 1e300 * 1e300 - y * 1e300 * 1e300 < 1e9)", []Value{0, 3}, 2}, // infinities that cancel
		{"x <= 9007199254740992 and y == 1", []Value{1, 1<<53 + 1}, 1},
		{"x >= -9007199254740992 and y == 1", []Value{1, -1<<53 - 1}, 1},
	} {
		p, err := NewParameters([]Parameter{{"x", c.values}, {"y", c.values}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(t.Context(), p, expressions(c.restriction), nil)
		if err != nil || s.Len() != c.want {
			t.Errorf("%s: %v, %v; want %d configurations", c.restriction, s, err, c.want)
		}
	}
}

// TestOverflow: integers beyond 64 bits are an error with the configuration.
func TestOverflow(t *testing.T) {
	big := ints(1, 1<<16)
	p, err := NewParameters([]Parameter{{"a", big}, {"b", big}, {"c", big}, {"d", big}, {"on", []Value{true, false}}})
	if err != nil {
		t.Fatal(err)
	}
	for restriction, want := range map[string]string{
		"a * b * c * d <= 1024":                                               "a=65536, b=65536, c=65536, d=65536",
		"a * b * c * d - 1 <= 1024":                                           "beyond the integers of 64 bits",
		"a * b * c * d * 0 == 0":                                              "", // the product of what is known comes first
		"9223372036854775807 + a > 0":                                         "beyond the integers of 64 bits",
		"a * b * c * 32767 <= 9223372036854775807":                            "",
		"d < 2 and a * b * c * d <= 1024":                                     "",
		"a * b * c > 1024 or a * b * c * d <= 1024 or d == 65536":             "",
		"not on in [true, false] or a * b == 1":                               "",
		"a == 1 and b == 1 and c == 1 and a * b * c * d in [d, a * b, 65536]": "",
	} {
		_, err := New(t.Context(), p, expressions(restriction), nil)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v; want %q", restriction, err, want)
		}
	}
}
