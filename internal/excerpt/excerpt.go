// Package excerpt shortens what messages quote, and shows in it what nobody would see.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Visible is a text with escapes, such as \u202e, in the place of characters that change the direction of writing: with them, a text may look
// like another one. In strings of JSON, C and Python the escapes are the same characters.
func Visible(text string) string { return visible.Replace(text) }

// visible has all characters with the property Bidi_Control (Unicode Standard Annex 9).
var visible = strings.NewReplacer("\u061c", `\u061c`, "\u200e", `\u200e`, "\u200f", `\u200f`,
	"\u202a", `\u202a`, "\u202b", `\u202b`, "\u202c", `\u202c`, "\u202d", `\u202d`, "\u202e", `\u202e`,
	"\u2066", `\u2066`, "\u2067", `\u2067`, "\u2068", `\u2068`, "\u2069", `\u2069`)

// most is the number of characters that a message quotes.
const most = 120

// Of is the beginning of a text, or the whole of a short one.
func Of(text string) string { return Around(text, 1) }

// Around is the part of a text around a column, which counts characters from 1, or the whole
// of a short text. An ellipsis stands for what is left out.
func Around(text string, column int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	from := min(max(0, column-most/2), len(runes)-most)
	part := string(runes[from : from+most])
	if from > 0 {
		part = "…" + part
	}
	if from+most < len(runes) {
		part += "…"
	}
	return part
}

// FirstLine returns the first line of a text, with a mark if more lines follow.
func FirstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.TrimSpace(rest) != "" {
		line = strings.TrimRight(line, " ") + " […]"
	}
	return line
}

// Beginning returns the first bytes of a long text, with a mark, or the whole of a short one.
func Beginning(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "\n[…]"
}
