package main

import (
	"bytes"
	"io"
	"strings"
	"unicode"
)

// A plainWriter writes texts that may come from others, of their records for example. A
// control character could change what the terminal shows: all but tabs and line ends become
// U+FFFD. Each write must be of whole characters.
type plainWriter struct{ to io.Writer }

func (w plainWriter) Write(text []byte) (int, error) {
	plain := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if _, err := w.to.Write(plain); err != nil {
		return 0, err
	}
	return len(text), nil
}

// maxLine is the length of a line of an error message, in characters. A name in a file can be
// longer than a screen.
const maxLine = 1000

// shortened leaves out the middle of every line that is longer than maxLine: the place of an
// error stands at the beginning, and the reason often at the end.
func shortened(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		if runes := []rune(line); len(runes) > maxLine {
			line = string(runes[:maxLine/2]) + " … " + string(runes[len(runes)-maxLine/2:])
		}
		b.WriteString(line)
	}
	return b.String()
}
