package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
)

// forms are the ways to write a comparison, by extension.
var forms = map[string]func(*Comparison, io.Writer) error{
	".json": (*Comparison).WriteJSON,
	".csv":  (*Comparison).WriteCSV,
	".md":   (*Comparison).WriteMarkdown,
}

// CheckPath says whether [Comparison.WriteFile] knows the extension of path, so that a bad one
// is found before anything is measured.
func CheckPath(path string) error {
	if _, known := forms[strings.ToLower(filepath.Ext(path))]; !known {
		return fmt.Errorf("%s: the extension says no form of a comparison; known are .json, .csv, .md", path)
	}
	return nil
}

// WriteFile writes the comparison in the form that the extension of path stands for. The file
// appears when it is complete.
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

// WriteJSON writes all of it as one JSON object.
func (c *Comparison) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// WriteCSV writes a row for each cell: the configuration tuned for one device, or «over all» for
// the one that is best over all, on each device. Columns of unknown numbers are empty.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	row := func(fields ...string) { _ = out.Write(fields) } // Error below has the first one
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

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// Reasons are why cells of the matrix failed, each text once, in the order of the matrix: the
// number of a failure in tables is its place here, from 1.
func (c *Comparison) Reasons() []string {
	var all []string
	each := func(cells []Cell) {
		for i := range cells {
			if text := cells[i].Why(); text != "" && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	for _, row := range c.Matrix {
		each(row)
	}
	if c.Overall != nil {
		each(c.Overall.Cells)
	}
	return all
}

// Why is why a cell has failed, in one line; "" where it has not.
func (c *Cell) Why() string {
	if c.State != StateFailed {
		return ""
	}
	return fmt.Sprintf("%s: %s", c.Status, firstLine(c.Reason))
}
