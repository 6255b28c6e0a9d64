package expression

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongExpressions: one of 120,000 characters is taken, and one with too many parts is refused.
func TestLongExpressions(t *testing.T) {
	of := func(n int) string {
		var terms []string
		for i := range n {
			terms = append(terms, fmt.Sprintf("(a == %d and b == %d)", i, i%3))
		}
		return strings.Join(terms, " or ")
	}
	e, err := Compile(of(5000), Scope{"a": 1, "b": 1})
	if err != nil {
		t.Fatal(err)
	}
	for a, want := range map[int]bool{4999: true, 5000: false} {
		if got, err := e.Bool(map[string]any{"a": a, "b": a % 3}); err != nil || got != want {
			t.Errorf("%d: %v, %v", a, got, err)
		}
	}
	if _, err := Compile(of(15000), Scope{"a": 1, "b": 1}); err == nil || !strings.Contains(err.Error(), "exceeds maximum allowed nodes") {
		t.Error(err)
	}
}
