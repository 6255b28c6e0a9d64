package excerpt

import (
	"strings"
	"testing"
)

func TestAround(t *testing.T) {
	long := strings.Repeat("a", 5000) + "µ" + strings.Repeat("b", 5000)
	for _, c := range []struct {
		text   string
		column int
		want   string
	}{
		{"x + 1", 3, "x + 1"},
		{strings.Repeat("µ", most), 7, strings.Repeat("µ", most)},
		{long, 0, strings.Repeat("a", most) + "…"},
		{long, 1, strings.Repeat("a", most) + "…"},
		{long, 5001, "…" + strings.Repeat("a", most/2-1) + "µ" + strings.Repeat("b", most/2) + "…"},
		{long, 10001, "…" + strings.Repeat("b", most)},
		{long, 20000, "…" + strings.Repeat("b", most)},
	} {
		if got := Around(c.text, c.column); got != c.want {
			t.Errorf("column %d: %q, want %q", c.column, got, c.want)
		}
	}
}
