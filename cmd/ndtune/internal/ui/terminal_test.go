package ui

import (
	"strings"
	"testing"
)

// TestPlainWriter: texts of others do not rule the terminal.
func TestPlainWriter(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc\r\n":             "a\tb\nc\n",
		"k\x1b[31m, \x1b]0;x\x07": "k\uFFFD[31m, \uFFFD]0;x\uFFFD",
		"50%\rdone\b\x7f\x00":     "50%\uFFFDdone\uFFFD\uFFFD\uFFFD",
		"dévice\u009b2J…█":        "dévice\uFFFD2J…█",
		"\u202ered\u2066 \u061c":  `\u202ered\u2066 \u061c`,
	} {
		var b strings.Builder
		if n, err := (plainWriter{&b}).Write([]byte(text)); n != len(text) || err != nil || b.String() != want {
			t.Errorf("%q: %q, %d, %v, want %q", text, b.String(), n, err, want)
		}
	}
}

func TestShortened(t *testing.T) {
	long := strings.Repeat("é", 3000)
	got := Shortened("a.yaml:1:1: kernel.name: " + long + " is not a name\nb: short\n" + long)
	lines := strings.Split(got, "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "a.yaml:1:1: kernel.name: é") || !strings.HasSuffix(lines[0], "é is not a name") || lines[1] != "b: short" {
		t.Errorf("%q", got)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > maxLine+len(" … ") {
			t.Errorf("a line of %d characters", n)
		}
	}
}
