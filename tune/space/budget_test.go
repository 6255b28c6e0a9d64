package space

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/expression"
)

// TestCancelled cancels a construction that would take longer than any test may.
func TestCancelled(t *testing.T) {
	var wide []Parameter
	for i := range 6 {
		wide = append(wide, Parameter{fmt.Sprintf("p%d", i), span(1, 1000, 1)})
	}
	p := mustParameters(t, wide...)
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if s, err := New(ctx, p, expressions("p0 * p1 * p2 * p3 * p4 * p5 <= 100000000"), nil); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v; want the error of the context", s, err)
	}
	if _, err := New(ctx, p, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("already cancelled: %v", err)
	}
}

// TestTooLarge names what makes a space large, and its parameters.
func TestTooLarge(t *testing.T) {
	var list []Parameter
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		list = append(list, Parameter{name, span(1, 1000, 1)})
	}
	p := mustParameters(t, list...)
	for _, c := range []struct {
		restrictions []Restriction
		index        int
		want         string
	}{
		{expressions("a <= 5", "a * b * c * d * e * f <= 1000000"), 1, "it ties a, b, c, d, e, f together, which takes more than 1 MiB"},
		{expressions("a * b * c <= 100000", "a + c + d <= 100"), 0, "with restrictions[1] it ties a, b, c, d together"},
	} {
		rules, bad := compileRestrictions(p, c.restrictions, nil)
		if len(bad) > 0 {
			t.Fatal(bad)
		}
		_, err := construct(t.Context(), p, rules, nil, 1<<20)
		var at *RestrictionError
		if !errors.Is(err, errLarge) || !errors.As(err, &at) || at.Index != c.index || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want restrictions[%d] and %q", c.restrictions, err, c.index, c.want)
		}
	}
}

// TestKnownSpacesAreFarBelowTheBound includes the direct kernel of CLBlast's matrix
// multiplication with all sizes up to 64.
func TestKnownSpacesAreFarBelowTheBound(t *testing.T) {
	direct := knownSpace{name: "direct", valid: 2876260, restrictions: []string{
		"WGD % KWID == 0", "WGD % (MDIMCD*VWMD) == 0", "WGD % (NDIMCD*VWND) == 0", "WGD % (MDIMAD*VWMD) == 0", "WGD % (NDIMBD*VWND) == 0",
		"MDIMCD*NDIMCD % MDIMAD == 0", "MDIMCD*NDIMCD % NDIMBD == 0",
		"WGD % div(MDIMCD*NDIMCD, MDIMAD) == 0", "WGD % div(MDIMCD*NDIMCD, NDIMBD) == 0", "MDIMCD*NDIMCD <= 1024",
	}}
	for _, name := range []string{"WGD", "MDIMCD", "NDIMCD", "MDIMAD", "NDIMBD", "KWID"} {
		direct.parameters = append(direct.parameters, Parameter{name, span(1, 64, 1)})
	}
	direct.parameters = append(direct.parameters, Parameter{"VWMD", powers(1, 8)}, Parameter{"VWND", powers(1, 8)}, Parameter{"PADA", ints(0, 1)}, Parameter{"PADB", ints(0, 1)})
	large := vast()
	large.valid = 44501171
	for _, k := range append(knownSpaces(), large, direct) {
		p := mustParameters(t, k.parameters...)
		rules, _ := compileRestrictions(p, expressions(k.restrictions...), nil)
		if s, err := construct(t.Context(), p, rules, nil, maxBytes/10); err != nil || s.Len() != k.valid {
			t.Errorf("%s: %v, %v; want %d configurations", k.name, s, err, k.valid)
		}
	}
}

// TestManyFallibleParts: more parts of restrictions can fail at once than a word has bits.
func TestManyFallibleParts(t *testing.T) {
	const count, guarded = 150, 130
	list := []Parameter{{"a", ints(4)}, {"z", ints(0, 1)}}
	var sources []string
	for i := range count {
		list = append(list, Parameter{fmt.Sprintf("b%d", i), ints(0)})
		source := fmt.Sprintf("(a + %d) %% z == b%d", i, i)
		if i < guarded {
			source = "z == 0 or " + source
		}
		sources = append(sources, source)
	}
	p := mustParameters(t, list...)
	_, err := New(t.Context(), p, expressions(sources...), nil)
	var bad *RestrictionError
	if !errors.As(err, &bad) || bad.Index < guarded || !strings.Contains(err.Error(), "z=0") {
		t.Errorf("%v; want an error of one of the restrictions from %d", err, guarded)
	}
	if s, err := New(t.Context(), p, expressions(sources[:guarded]...), nil); err != nil || s.Len() != 2 {
		t.Errorf("%v, %v; want two configurations", s, err)
	}
}

// TestManyParameters walks a space of very many parameters, with groups that enclose others.
func TestManyParameters(t *testing.T) {
	const count = 20000
	var list []Parameter
	for i := range count {
		list = append(list, Parameter{fmt.Sprintf("p%d", i), ints(1, 2)})
	}
	sources := []string{fmt.Sprintf("p0 == p%d", count-1)}
	for i := 1; i < count-2; i += 2 {
		sources = append(sources, fmt.Sprintf("p%d <= p%d", i, i+1))
	}
	s, err := New(t.Context(), mustParameters(t, list...), expressions(sources...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Size().BitLen(); n != 15850 { // 2 · 3^9999
		t.Errorf("the size has %d bits", n)
	}
	for _, i := range []int{0, 1, 12345678, math.MaxInt - 1} {
		if j, ok := s.Index(s.At(i)); !ok || j != i {
			t.Errorf("configuration %d has the index %d, %v", i, j, ok)
		}
	}
}

// TestJoinedDiagrams: the order of a space is the same where groups are so many that their
// diagrams are joined.
func TestJoinedDiagrams(t *testing.T) {
	var list []Parameter
	for i := range manyGroups + 8 {
		values := ints(7)
		if i%16 < 3 {
			values = ints(1, 2)
		}
		list = append(list, Parameter{fmt.Sprintf("p%d", i), values})
	}
	checkAgainstProduct(t, list, []string{"p0 <= p66", "p1 == p2", "p17 + p18 > 2", "p32 == 1 or p33 == 1", "p50 != p49"})
	checkAgainstProduct(t, list, []string{"p0 + p1 > p64", "p16 < 2"})
}

// TestLongExpressions: a message holds the part of a long expression that it is about.
func TestLongExpressions(t *testing.T) {
	p := mustParameters(t, Parameter{"a", ints(1, 2)})
	long := strings.Repeat("a > 0 and ", 1000)
	for _, c := range []struct{ source, want string }{
		{long + "b > 0" + strings.Repeat(" and a > 0", 1000), " and a > 0 and b > 0 and a > 0 and "},
		{long + "a // 2 > 0", "a > 0 and a // 2 > 0\", column 10003: // would begin"},
		{long + "a ? 2", "a ? 2\", column 10005: "},
		{long + `a > "x"`, "a > 0 and a > \\\"x\\\"\", column 10003: "},
		{long + "a % (a - a) > 0", "restrictions[0], a > 0 and "},
		{long + "a > 9", "no configuration satisfies restrictions[0], a > 0 and "},
	} {
		_, err := New(t.Context(), p, expressions(c.source), nil)
		if err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.1000v; want %q in less than 500 bytes", err, c.want)
		}
	}
	e, err := expression.Compile(long+"a > 0", expression.Scope{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Int(map[string]any{"a": 1}); err == nil || len(err.Error()) > 500 {
		t.Errorf("%.1000v", err)
	}
}
