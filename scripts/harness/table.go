//go:build linux

package harness

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"text/tabwriter"
)

// A Table has a row for each kind of thing that was tried, in the order in which they come first, and a number in each column. It may
// be used by several goroutines.
type Table struct {
	Columns []string

	mutex sync.Mutex
	rows  []string
	cells map[string]map[string]int // by row and column
}

// Add adds to a cell. A number of 0 only makes the row.
func (t *Table) Add(row, column string, n int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.cells == nil {
		t.cells = map[string]map[string]int{}
	}
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
		t.cells[row] = map[string]int{}
	}
	t.cells[row][column] += n
}

// Rows returns the names of the rows.
func (t *Table) Rows() []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return slices.Clone(t.rows)
}

// Of returns the number in a cell.
func (t *Table) Of(row, column string) int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.cells[row][column]
}

// Sum returns the sum of some columns.
func (t *Table) Sum(columns ...string) (n int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, cells := range t.cells {
		for _, column := range columns {
			n += cells[column]
		}
	}
	return n
}

// Print prints the table.
func (t *Table) Print(out io.Writer) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\t")
	for _, column := range t.Columns {
		fmt.Fprint(w, column, "\t")
	}
	fmt.Fprintln(w)
	for _, row := range t.rows {
		fmt.Fprint(w, row, "\t")
		for _, column := range t.Columns {
			fmt.Fprint(w, t.cells[row][column], "\t")
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
