package markdown

import (
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"block_size_x=16", "block_size_x=16"},
		{"_x_", `\_x\_`},
		{"a_ b _c a__b", `a\_ b \_c a\_\_b`},
		{"größe_ä1_2", "größe_ä1_2"},
		{"a|b*c`d[e]~f\\", "a\\|b\\*c\\`d\\[e\\]\\~f\\\\"},
		{"<img src=x> & more", "&lt;img src=x&gt; &amp; more"},
		{"one\ntwo\tthree", "one two three"},
		{"\u202ered", `\\u202ered`},
		{"", ""},
	} {
		if got := Escape(c.text); got != c.want {
			t.Errorf("Escape(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCode(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"-D x=1", "`-D x=1`"},
		{"a `b` c", "``a `b` c``"},
		{"`a", "`` `a ``"},
		{"a\nb", "`a b`"},
		{"-D x=\u2067", "`-D x=\\u2067`"},
	} {
		if got := Code(c.text); got != c.want {
			t.Errorf("Code(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	Table(&b, []string{"name", "time|ms"}, []bool{false, true}, [][]string{{"a<b", "1"}, {"c\nd", "2"}})
	want := "| name | time\\|ms |\n| --- | ---: |\n| a&lt;b | 1 |\n| c d | 2 |\n"
	if b.String() != want {
		t.Errorf("the table is\n%s, want\n%s", b.String(), want)
	}
}
