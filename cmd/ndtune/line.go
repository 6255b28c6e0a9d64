package main

import (
	"strings"
	"unicode"
)

// A line is a line of a display, in parts of different colours.
type line []part

type part struct {
	text  string
	color color
}

// A color is one of a terminal's own, which suit its background (ECMA-48, select graphic
// rendition).
type color string

const (
	plain  color = ""
	green  color = "32"
	yellow color = "33"
)

// write writes the line, cut to a number of columns. Characters that would move the cursor are
// left out.
func (l line) write(b *strings.Builder, columns int, colored bool) {
	left := columns - 1 // for the mark of a cut
	whole := 0
	for _, p := range l {
		whole += width(p.text)
	}
	if whole <= columns {
		left = columns
	}
	for _, p := range l {
		if colored && p.color != plain {
			b.WriteString("\x1b[" + string(p.color) + "m")
		}
		for _, r := range p.text {
			if left -= runeWidth(r); left < 0 {
				break
			}
			if !unicode.IsControl(r) {
				b.WriteRune(r)
			}
		}
		if colored && p.color != plain {
			b.WriteString("\x1b[m")
		}
	}
	if whole > columns {
		b.WriteString("…")
	}
}

func width(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is how many columns a character takes at most: two from the first block on that has
// wide ones (Unicode Standard Annex 11), but for the signs that displays here consist of.
func runeWidth(r rune) int {
	switch {
	case unicode.IsControl(r):
		return 0
	case r >= 0x1100 && r != '…' && r != '█' && r != '░':
		return 2
	}
	return 1
}
