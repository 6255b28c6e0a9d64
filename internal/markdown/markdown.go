// Package markdown writes texts that others gave as Markdown (GitHub's), so that nothing in them is
// read as Markdown or HTML.
package markdown

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
)

// Escape takes what is special in Markdown, in a table or in HTML out of a text. An underscore
// inside of a word is not special, and stays as it is.
func Escape(text string) string {
	var b strings.Builder
	runes := []rune(excerpt.Visible(text))
	for i, c := range runes {
		switch {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '_' && insideWord(runes, i):
			b.WriteRune(c)
		case strings.ContainsRune("\\`*_[]|~", c):
			b.WriteRune('\\')
			b.WriteRune(c)
		case c == '\n' || c == '\r' || c == '\t':
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func insideWord(runes []rune, i int) bool {
	return i > 0 && i+1 < len(runes) && inWord(runes[i-1]) && inWord(runes[i+1])
}

func inWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// Code is a text as code, fenced by more backquotes than it has in a row.
func Code(text string) string {
	text = strings.Join(strings.Fields(excerpt.Visible(text)), " ")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// Table writes a table of texts. Its rows have as many cells as its head; columns of numbers
// stand to the right.
func Table(b *strings.Builder, head []string, number []bool, rows [][]string) {
	writeRow(b, head)
	for i := range head {
		rule := " --- |"
		if number[i] {
			rule = " ---: |"
		}
		if i == 0 {
			rule = "|" + rule
		}
		b.WriteString(rule)
	}
	b.WriteByte('\n')
	for _, row := range rows {
		writeRow(b, row)
	}
}

func writeRow(b *strings.Builder, cells []string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(each.Of(cells, Escape), " | "))
}
