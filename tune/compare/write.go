package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/internal/markdown"
	"github.com/ndtune/ndtune/tune"
)

// forms holds the output formats by file extension.
var forms = map[string]func(*Comparison, io.Writer) error{
	".json": (*Comparison).WriteJSON,
	".csv":  (*Comparison).WriteCSV,
	".md":   (*Comparison).WriteMarkdown,
}

// CheckPath returns an error if [Comparison.WriteFile] does not know the extension of path, so that
// callers can check it before measuring.
func CheckPath(path string) error {
	if _, known := forms[strings.ToLower(filepath.Ext(path))]; !known {
		return fmt.Errorf("%s: the extension says no form of a comparison; known are .json, .csv, .md", path)
	}
	return nil
}

// WriteFile writes the comparison to path in the format of its extension: .json, .csv or .md. The
// file appears, or is replaced, when it is complete.
func (c *Comparison) WriteFile(path string) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	write := forms[strings.ToLower(filepath.Ext(path))]
	if err := files.Write(path, func(w io.Writer) error { return write(c, w) }); err != nil {
		return fmt.Errorf("write the comparison to %s: %w", path, err)
	}
	return nil
}

// WriteJSON writes the whole comparison as one JSON object.
func (c *Comparison) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// WriteCSV writes a row for each cell: each device's best, and the best over all («over all»), on
// each device. Fields of unknown numbers are empty.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	row := func(fields ...string) { _ = out.Write(fields) } // Error returns the first error
	row("tuned_for", "run_on", "configuration", "state", "status", "time_ms", "slowdown", "in_turn", "percent_of_limit", "verified", "reason")
	cells := func(label, configuration string, cells []Cell) {
		for j, cell := range cells {
			row(label, c.Devices[j].Label, configuration, cell.State, string(cell.Status), number(cell.Time), number(cell.Slowdown),
				strconv.FormatBool(cell.InTurn), number(cell.OfLimit), strconv.FormatBool(cell.Verified), cell.Reason)
		}
	}
	for i, d := range c.Devices {
		if d.Best != nil {
			cells(d.Label, d.Best.Configuration, c.Matrix[i])
		}
	}
	if o := c.Overall; o != nil {
		cells("over all", o.Configuration, o.Cells)
	}
	out.Flush()
	return out.Error()
}

// number returns an unknown number as an empty text.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// Reasons returns the reasons of the failed cells, each once, in the order of the matrix. Tables
// refer to a reason by its place in the slice, counted from 1.
func (c *Comparison) Reasons() []string {
	var all []string
	add := func(cells []Cell) {
		for i := range cells {
			if text := cells[i].Why(); text != "" {
				all = each.AppendNew(all, text)
			}
		}
	}
	for _, row := range c.Matrix {
		add(row)
	}
	if c.Overall != nil {
		add(c.Overall.Cells)
	}
	return all
}

// Why returns the reason of a failed cell in one line, or "" if the cell did not fail.
func (c *Cell) Why() string {
	if c.State != StateFailed {
		return ""
	}
	return fmt.Sprintf("%s: %s", c.Status, tune.Headline(c.Status, c.Reason))
}

// WriteMarkdown writes the tables in Markdown. It escapes characters that Markdown or HTML would
// interpret.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n", markdown.Escape(c.Title()))
	for _, t := range c.Tables() {
		fmt.Fprintf(&b, "\n%s\n\n", markdown.Escape(t.Title))
		markdown.Table(&b, t.Head, t.Number, t.Rows)
		for i, note := range t.Notes {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- %s\n", markdown.Escape(note))
		}
	}
	if why := c.NoOverall(); why != "" {
		fmt.Fprintf(&b, "\nno best over all: %s\n", markdown.Escape(why))
	}
	for i, n := range c.Notices {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", markdown.Escape(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
