package ui

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestDocuments: lines «---» separate the texts of standard input, of any length up to a limit.
func TestDocuments(t *testing.T) {
	defer func(was int) { maxDocument = was }(maxDocument)
	maxDocument = 1 << 20
	long := strings.Repeat("x", 4096) + "---\n" + strings.Repeat("y", 10000)
	for _, test := range []struct {
		in   string
		want []string
		err  string
	}{
		{"", nil, "EOF"},
		{"\n---\n \n---\n", nil, "EOF"},
		{"a\n---\nb\n--- \r\n\n---\nc", []string{"a\n", "b\n", "\nc"}, "EOF"}, // blank lines before a text belong to it
		{long + "\n---\n" + long, []string{long + "\n", long}, "EOF"},
		{"a\n---\n" + strings.Repeat("\x00", 3<<20), []string{"a\n"}, "standard input has a text of more than 1 MiB"},
		{"a\n---\n" + strings.Repeat("y\n", 3<<19), []string{"a\n"}, "standard input has a text of more than 1 MiB"},
	} {
		d := Documents{bufio.NewReader(io.MultiReader(strings.NewReader(test.in)))}
		var got []string
		text, err := d.Next(t.Context())
		for ; err == nil; text, err = d.Next(t.Context()) {
			got = append(got, string(text))
		}
		if !slices.Equal(got, test.want) || err.Error() != test.err {
			t.Errorf("%.20q: %.30q, %v", test.in, got, err)
		}
	}
}
