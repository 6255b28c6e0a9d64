package space

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFailures: what cannot be computed is an error where nothing else decides, with the
// values at which it cannot, and none where something else does.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		restrictions []string
		want         string // in the error; "": there is none
	}{
		{[]string{"floor_div(least, minus) < 0"}, "least=-9223372036854775808, minus=-1"},
		{[]string{"a % zero == 0"}, "restrictions[0]"},
		{[]string{"zero != 0", "a % zero == 0"}, ""},
		{[]string{"zero == 0 or a % zero == 0"}, ""},
		{[]string{"zero == 0 or (a % zero) * b == 0"}, ""}, // a part of it is not known, and not needed
		{[]string{"(a % zero) * b == 0 or zero == 0"}, ""}, // either part decides
		{[]string{"zero != 0 and (a % zero) * b >= 0"}, ""},
		{[]string{"b > 0 and zero != 0 and a % zero >= 0"}, ""},
		{[]string{"div(a, b - b) > 0"}, "restrictions[0]"},
	} {
		p, err := NewParameters([]Parameter{
			{"a", ints(1, 2, 3)}, {"zero", ints(0, 1, 2)}, {"b", ints(1, 5)},
			{"least", ints(math.MinInt, 5)}, {"minus", ints(-1, 2)},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(t.Context(), p, expressions(c.restrictions...), nil)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v; want %q", c.restrictions, err, c.want)
		}
	}
}

// A generator makes random spaces with random restrictions.
type generator struct {
	*rand.Rand
	parameters []Parameter
}

func (g *generator) space() (parameters []Parameter, restrictions []string) {
	for i := range 1 + g.IntN(5) {
		q := Parameter{Name: fmt.Sprintf("p%d", i)}
		for _, v := range g.Perm(12)[:1+g.IntN(5)] {
			if v -= 3; i == 4 {
				q.Values = append(q.Values, float64(v)/2)
			} else {
				q.Values = append(q.Values, v)
			}
		}
		parameters = append(parameters, q)
	}
	g.parameters = parameters
	for range g.IntN(4) {
		restrictions = append(restrictions, g.condition(3))
	}
	return parameters, restrictions
}

func (g *generator) condition(depth int) string {
	switch n := g.IntN(9); {
	case n == 8:
		return fmt.Sprintf("%s(%s, %s) %s %d", []string{"compare", "true_div", "power"}[g.IntN(3)], g.number(depth), g.number(depth), []string{"<", ">=", "=="}[g.IntN(3)], g.IntN(3)-1)
	case depth == 0 || n < 4:
		return fmt.Sprintf("%s %s %s", g.number(depth), []string{"<", "<=", "==", "!=", ">", ">="}[g.IntN(6)], g.number(depth))
	case n == 4:
		return "not (" + g.condition(depth-1) + ")"
	case n == 5:
		return "(" + g.condition(depth-1) + " or " + g.condition(depth-1) + ")"
	case n == 6:
		return g.whole(0) + " in [" + strings.Join([]string{"1", "4", "-2", g.whole(0)}[:1+g.IntN(4)], ", ") + "]"
	}
	return "(" + g.condition(depth-1) + " and " + g.condition(depth-1) + ")"
}

func (g *generator) number(depth int) string {
	if len(g.parameters) > 4 && g.IntN(4) == 0 {
		return "(p4 + " + g.whole(depth) + ")"
	}
	return g.whole(depth)
}

func (g *generator) whole(depth int) string {
	if depth <= 0 || g.IntN(3) == 0 {
		if g.IntN(3) == 0 {
			return fmt.Sprint(g.IntN(9))
		}
		return fmt.Sprintf("p%d", g.IntN(min(4, len(g.parameters))))
	}
	a, b := g.whole(depth-1), g.whole(depth-1)
	switch g.IntN(11) {
	case 9:
		return []string{"floor_div", "floor_mod", "bit_and", "shift_left"}[g.IntN(4)] + "(" + a + ", " + b + ")"
	case 10:
		return []string{"truncate((", "round_even((", "truncate(sqrt(", "round_up(log2("}[g.IntN(4)] + a + "))"
	case 0, 1, 2:
		return "(" + a + " * " + b + ")"
	case 3:
		return "(" + a + " + " + b + ")"
	case 4:
		return "(" + a + " - " + b + ")"
	case 5:
		return "(" + a + " % " + b + ")"
	case 6:
		return "div(" + a + ", " + b + ")"
	case 7:
		return []string{"min", "max"}[g.IntN(2)] + "(" + a + ", " + b + ")"
	}
	return "(" + g.condition(depth-1) + " ? " + a + " : " + b + ")"
}

// checkAgainstProduct compares a space with the product of all values, filtered by the expressions
// one at a time. A configuration for which one fails, and which no other restriction refuses, may be
// in, or out, or an error: in a space «and» and «or» have a result where either part decides, in an
// expression by itself only where the first part does.
func checkAgainstProduct(t *testing.T, parameters []Parameter, restrictions []string) {
	t.Helper()
	p, err := NewParameters(parameters)
	if err != nil {
		t.Fatal(err)
	}
	rules, bad := compileRestrictions(p, expressions(restrictions...), nil)
	if len(bad) > 0 {
		return // refused by the checker of the language
	}
	s, err := New(t.Context(), p, expressions(restrictions...), nil)
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%v with %v: %s", parameters, restrictions, fmt.Sprintf(format, args...))
	}
	next, doubtful := 0, 0 // the index of the next valid configuration
	for row := range combinations(p) {
		env := map[string]any{}
		for i, digit := range row {
			env[p.list[i].Name] = p.list[i].Values[digit]
		}
		valid, fails := true, false
		for _, c := range rules {
			ok, err := c.expression.Bool(env)
			fails = fails || err != nil
			valid = valid && (ok || err != nil)
		}
		if fails {
			doubtful++ // whether it is an error depends on what is decided first
		}
		if err != nil {
			if valid && !fails {
				next++
			}
			continue
		}
		i, found := s.Find(row)
		switch {
		case found && !valid, !found && valid && !fails:
			wrong("%v: found %v, valid %v", row, found, valid)
		case found && (i != next || fmt.Sprint(s.Row(i, nil)) != fmt.Sprint(row)):
			wrong("%v has the index %d, where %d is next, and stands for %v", row, i, next, s.Row(i, nil))
		case found:
			if j, ok := s.Index(s.At(i)); !ok || j != i {
				wrong("configuration %d has the index %d, %v", i, j, ok)
			}
			next++
		}
	}
	_, empty := err.(*EmptyError)
	switch {
	case err == nil && s.Len() != next:
		wrong("%d configurations, want %d", s.Len(), next)
	case empty && next > 0, err != nil && !empty && doubtful == 0:
		wrong("%v", err)
	case err != nil && doubtful == 0 && next == 0 && !empty:
		wrong("%v, want an empty space", err)
	}
}

// combinations are all combinations of values, in order, each by the indices of the values.
func combinations(p *Parameters) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		row := make([]int, p.Len())
		for yield(row) {
			i := len(row) - 1
			for ; i >= 0; i-- {
				if row[i]++; row[i] < len(p.list[i].Values) {
					break
				}
				row[i] = 0
			}
			if i < 0 {
				return
			}
		}
	}
}

// TestAgainstProduct constructs random small spaces.
func TestAgainstProduct(t *testing.T) {
	for seed := range uint64(4000) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
		parameters, restrictions := g.space()
		checkAgainstProduct(t, parameters, restrictions)
	}
}

// FuzzAgainstProduct constructs random small spaces without end.
func FuzzAgainstProduct(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		g := &generator{Rand: rand.New(rand.NewPCG(a, b))}
		parameters, restrictions := g.space()
		checkAgainstProduct(t, parameters, restrictions)
	})
}

// TestRestrictionsOfTheDeviceAlone: what reads no parameter holds for all configurations or
// for none, also where it has no translation.
func TestRestrictionsOfTheDeviceAlone(t *testing.T) {
	environment := map[string]any{"element": "double", "zero": 0, "n": 4, "device": map[string]any{"extensions": []string{"cl_khr_fp64"}}}
	for restriction, want := range map[string]int{
		`element != "double" or "cl_khr_fp64" in device.extensions`: 2,
		`element != "double" or "cl_khr_fp16" in device.extensions`: 0,
		`"cl_khr_fp64" in device.extensions and a > 1`:              1,
		// Either part decides, also where the other cannot be computed.
		"zero == 0 or div(n, zero) >= 2":    2,
		"div(n, zero) >= 2 or zero == 0":    2,
		"zero == 0 or n % zero == 0":        2,
		"zero != 0 and n % zero == 0":       0,
		"n % zero == 0 and zero != 0":       0,
		"zero != 0 or n % zero == a":        -1,
		"zero != 0 or div(n, zero) >= 2":    -1,
		"zero == 0 ? a > 1 : n % zero == 0": 1,
	} {
		p, err := NewParameters([]Parameter{{"a", ints(1, 2)}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(t.Context(), p, []Restriction{{Expression: restriction}}, environment)
		switch {
		case want < 0 && (err == nil || !strings.Contains(err.Error(), "zero")):
			t.Errorf("%s: %v, want an error", restriction, err)
		case want == 0 && (err == nil || !strings.Contains(err.Error(), "empty")):
			t.Errorf("%s: %v, want an empty space", restriction, err)
		case want > 0 && (err != nil || s.Len() != want):
			t.Errorf("%s: %v, want %d configurations", restriction, err, want)
		}
	}
}
