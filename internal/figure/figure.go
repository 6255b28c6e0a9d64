// Package figure writes numbers, and tables of them, for people, the same way in the terminal and in reports.
package figure

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Number has four significant digits, and never fewer than the whole part has.
func Number(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	decimals := 3 - exponent(v)
	if decimals > 12 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, decimals), 64)
}

// exponent is that of the first digit. (A logarithm would round: math.Log10(1000) is below 3.)
func exponent(v float64) int {
	_, text, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	e, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // v is finite
	}
	return e
}

// Milliseconds is a time, without its unit: three decimals, or four significant digits where
// that is more.
func Milliseconds(ms float64) string {
	if ms >= 1 || ms == 0 {
		return strconv.FormatFloat(ms, 'f', 3, 64)
	}
	return Number(ms)
}

// Launch describes a launch by its work-items, those of a work-group, and the offset of the global ids, by
// dimension. The driver chooses an empty local size. An empty offset is 0.
func Launch(global, local, offset []int) string {
	text := "global size " + Sizes(global) + ", local size chosen by the driver"
	if len(local) > 0 {
		text = "global size " + Sizes(global) + ", local size " + Sizes(local)
	}
	if len(offset) > 0 {
		text += ", global offset " + Sizes(offset)
	}
	return text
}

// Count returns a number with its noun: «1 configuration», «225 configurations».
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Sizes joins the sizes of some dimensions: «4096×4096».
func Sizes(sizes []int) string {
	texts := make([]string, len(sizes))
	for i, n := range sizes {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, "×")
}

// A Table is a table of texts. Each row has as many cells as Head. Columns of numbers are aligned to the right.
type Table struct {
	Name   string     `json:"name"`
	Title  string     `json:"title"`
	Head   []string   `json:"head"`
	Number []bool     `json:"number"` // by column; a missing one is none
	Rows   [][]string `json:"rows"`
	Notes  []string   `json:"notes"` // lines below the table
}

// RemoveColumn removes a column.
func (t *Table) RemoveColumn(i int) {
	t.Head, t.Number = slices.Delete(t.Head, i, i+1), slices.Delete(t.Number, i, i+1)
	for row := range t.Rows {
		t.Rows[row] = slices.Delete(t.Rows[row], i, i+1)
	}
}

// Write writes the head, the rows and the notes as text.
func (t Table) Write(w io.Writer, indent string) {
	isNumber := func(column int) bool { return column < len(t.Number) && t.Number[column] }
	Columns(w, indent, isNumber, append([][]string{t.Head}, t.Rows...)...)
	for _, note := range t.Notes {
		fmt.Fprintf(w, "%s%s\n", indent, note)
	}
}

// Columns writes rows whose columns are as wide as their widest cells and two spaces apart. Columns for
// which right is true are aligned right.
func Columns(w io.Writer, indent string, right func(column int) bool, rows ...[]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := indent
		for i, cell := range row {
			if right(i) {
				line += fmt.Sprintf("%*s  ", widths[i], cell)
			} else {
				line += fmt.Sprintf("%-*s  ", widths[i], cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// WriteTitled writes the table below its title.
func (t Table) WriteTitled(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", t.Title)
	indent := ""
	if t.Number != nil {
		indent = "  "
	}
	t.Write(w, indent)
}

// Bytes formats a size in the largest suitable binary unit.
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v /= 1024
		u++
	}
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " " + units[u]
}
