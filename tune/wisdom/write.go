package wisdom

import (
	"fmt"
	"io"
	"slices"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/record"
)

// WriteTable shows the records by device and size, the best first, and the best over all.
func (f *File) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", f.Key, figure.Count(len(f.Records), "record"))
	if len(f.Records) == 0 {
		return
	}
	rows := [][]string{{"device", "architecture", "driver", "size", "time", "configuration"}}
	ownObjective := f.Objective.Name != "time"
	if ownObjective {
		rows[0] = slices.Insert(rows[0], 5, f.Objective.Name)
	}
	for _, r := range f.Sorted() {
		row := []string{r.Device.Name, r.Device.Architecture, r.Device.Driver, figure.Sizes(r.ProblemSize), figure.Milliseconds(r.Time) + "ms"}
		if ownObjective {
			row = append(row, figure.Number(r.Objective))
		}
		row = append(row, f.Text(&r))
		if !r.Verified {
			row[len(row)-1] += " (unverified)"
		}
		rows = append(rows, row)
	}
	figure.Columns(w, "  ", func(i int) bool { return i >= 3 && i < len(rows[0])-1 }, rows...)
	if o, err := f.Overall(""); err == nil && o.Of > 1 {
		fmt.Fprintf(w, "best over all: %s, on average %.2f times the best of the %d of %d devices and sizes for which it is recorded\n",
			f.Text(&Record{Configuration: o.Configuration}), o.Slowdown, o.Recorded, o.Of)
	}
}

// A Content is a file for JSON.
type Content struct {
	Key        string               `json:"key"`
	Parameters []string             `json:"parameters"`
	Objective  string               `json:"objective"`
	Maximize   bool                 `json:"maximize"`
	Records    []Record             `json:"records"`
	Overall    *Overall             `json:"overall,omitempty"`
	Skipped    []record.DamagedLine `json:"skipped,omitempty"`
}

// Content returns the file for JSON.
func (f *File) Content() Content {
	c := Content{f.Key, f.Parameters, f.Objective.Name, f.Objective.Maximize, f.Sorted(), nil, f.Skipped}
	if o, err := f.Overall(""); err == nil {
		c.Overall = &o
	}
	return c
}

// A ChoiceContent is a choice for JSON.
type ChoiceContent struct {
	Record     Record     `json:"record"`
	Level      Level      `json:"level"`
	Match      string     `json:"match"` // for people
	Weaknesses []Weakness `json:"weaknesses,omitempty"`
}

// Content returns the choice for JSON.
func (c Choice) Content() ChoiceContent {
	return ChoiceContent{c.Record, c.Level, c.String(), c.Weaknesses}
}
