package matmul

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/tune/score"
)

// Tables returns the results of a sweep as text: times and rates, alone and with transfers, by size
// and entrant.
func Tables(cells []Cell) []figure.Table {
	asTime := func(_ Shape, ms float64) string { return figure.Milliseconds(ms) + "ms" }
	asRate := func(s Shape, ms float64) string { return figure.Number(s.Rate(ms)) }
	var tables []figure.Table
	for _, t := range []struct {
		title string
		time  func(*Measurement) float64
		text  func(s Shape, ms float64) string
	}{
		{"multiplication alone", (*Measurement).Time, asTime},
		{"multiplication alone, GFLOP/s", (*Measurement).Time, asRate},
		{"with the copies to the device and back", (*Measurement).WithTransfers, asTime},
		{"with the copies to the device and back, GFLOP/s", (*Measurement).WithTransfers, asRate},
	} {
		table := numbers(t.title, append([]string{"N"}, entrantsOf(cells)...))
		for _, row := range rowsOf(cells) {
			texts := []string{row[0].Shape.String()}
			for _, c := range row {
				text := none
				if c.Measurement != nil {
					text = t.text(c.Shape, t.time(c.Measurement))
				}
				texts = append(texts, text)
			}
			table.Rows = append(table.Rows, texts)
		}
		tables = append(tables, table)
	}
	return tables
}

// none stands in a table for a measurement that there is not.
const none = "–"

// numbers returns a table without rows, whose columns are numbers.
func numbers(title string, head []string) figure.Table {
	return figure.Table{Title: title, Head: head, Number: slices.Repeat([]bool{true}, len(head))}
}

// RatioTables returns the rates of kernels as multiples of cuBLAS in the same precision, by size, and the errors of all entrants
// (see [Errors]) by size and data. Tables without rows are left out.
func RatioTables(cells []Cell) []figure.Table {
	return slices.DeleteFunc([]figure.Table{ratioTable(cells), errorTable(cells)}, func(t figure.Table) bool { return len(t.Rows) == 0 })
}

func ratioTable(cells []Cell) figure.Table {
	var table figure.Table
	for _, row := range rowsOf(cells) {
		head, texts := []string{"N"}, []string{row[0].Shape.String()}
		some := false
		for _, c := range row {
			library := slices.IndexFunc(row, func(o Cell) bool { return o.Entrant == cuBLASName(c.Precision) })
			if library < 0 || c.Entrant == row[library].Entrant {
				continue
			}
			text := none
			if a, b := c.Measurement, row[library].Measurement; a != nil && b != nil && a.Time() > 0 {
				text, some = figure.Number(b.Time()/a.Time()), true
			}
			head, texts = append(head, c.Entrant), append(texts, text)
		}
		if table.Head == nil {
			table = numbers("multiplication alone, rate over cuBLAS in the same precision", head)
		}
		if some {
			table.Rows = append(table.Rows, texts)
		}
	}
	return table
}

func errorTable(cells []Cell) figure.Table {
	table := numbers("errors over Σ|a·b|: root of the mean square / maximum", append([]string{"N", "data"}, entrantsOf(cells)...))
	for _, row := range rowsOf(cells) {
		for i, d := range allData {
			texts, some := []string{row[0].Shape.String(), string(d)}, false
			for _, c := range row {
				text := none
				if m := c.Measurement; m != nil && i < len(m.Errors) {
					text, some = fmt.Sprintf("%.1e / %.1e", m.Errors[i].RMS, m.Errors[i].Max), true
				}
				texts = append(texts, text)
			}
			if some {
				table.Rows = append(table.Rows, texts)
			}
		}
	}
	return table
}

// rowsOf returns the cells by size.
func rowsOf(cells []Cell) [][]Cell {
	return slices.Collect(slices.Chunk(cells, max(1, len(entrantsOf(cells)))))
}

// Sizes returns a text about sizes: «N = 64, 128» if all are square, else «64, 33×65×97».
func Sizes(shapes ...Shape) string {
	text := strings.Join(each.Of(shapes, Shape.String), ", ")
	if slices.ContainsFunc(shapes, func(s Shape) bool { return !s.IsSquare() }) {
		return text
	}
	return "N = " + text
}

// Wins returns a table of the sizes from which on each entrant that uses a device is faster than
// those on the CPU. It has no rows if nothing can be compared.
func Wins(cells []Cell) figure.Table {
	table := figure.Table{Title: "faster from which N on", Head: []string{"", "over", "alone", "with copies", "both measured for"}}
	from := func(c Crossover) string {
		if c.From == 0 {
			return "never"
		}
		return strconv.Itoa(c.From)
	}
	onCPU := []string{loopName, openBLASName}
	for _, name := range entrantsOf(cells) {
		for _, over := range onCPU {
			alone, transfers := CrossoverOf(cells, name, over, false), CrossoverOf(cells, name, over, true)
			if alone.Largest > 0 && !slices.Contains(onCPU, name) {
				measured := fmt.Sprintf("%d to %d", alone.Smallest, alone.Largest)
				table.Rows = append(table.Rows, []string{name, over, from(alone), from(transfers), measured})
			}
		}
	}
	return table
}

// A Remark is something about an entrant at some sizes.
type Remark struct {
	Entrant, Text string
	Sizes         []Shape
}

// Configurations returns the configurations in which the kernels ran.
func Configurations(cells []Cell) []Remark {
	return remarks(cells, func(c Cell) string {
		if c.Measurement == nil {
			return ""
		}
		return c.Measurement.Configuration
	})
}

// LeftOut returns the reasons why there are no measurements.
func LeftOut(cells []Cell) []Remark {
	return remarks(cells, func(c Cell) string { return c.Why })
}

// remarks returns the texts about cells, by entrant, without empty ones.
func remarks(cells []Cell, text func(Cell) string) []Remark {
	var all []Remark
	for _, name := range entrantsOf(cells) {
		for _, c := range cells {
			said := text(c)
			if c.Entrant != name || said == "" {
				continue
			}
			i := slices.IndexFunc(all, func(r Remark) bool { return r.Entrant == name && r.Text == said })
			if i < 0 {
				i = len(all)
				all = append(all, Remark{Entrant: name, Text: said})
			}
			all[i].Sizes = append(all[i].Sizes, c.Shape)
		}
	}
	return all
}

// entrantsOf returns the names of a sweep's entrants, in order.
func entrantsOf(cells []Cell) []string {
	var names []string
	for _, c := range cells {
		if c.Shape == cells[0].Shape {
			names = append(names, c.Entrant)
		}
	}
	return names
}

// CheckPath returns an error if [WriteFile] cannot write files with the extension of path.
func CheckPath(path string) error {
	if strings.ToLower(filepath.Ext(path)) != ".csv" && !picture.Is(path) {
		return fmt.Errorf("%s: want a .csv, or as a picture a .png, .svg or .pdf", path)
	}
	return nil
}

// WriteFile writes a picture with a title (see [Plot]) or a table (see [EncodeCSV]), by the
// extension of path.
func WriteFile(path, title string, cells []Cell) error {
	if picture.Is(path) {
		return Plot(path, title, cells)
	}
	if err := files.Write(path, func(w io.Writer) error { return EncodeCSV(w, cells) }); err != nil {
		return fmt.Errorf("write the times to %s: %w", path, err)
	}
	return nil
}

// EncodeCSV writes a header row and a row for each cell: the entrant, its precision, the shape, the median and the least time
// of the multiplications alone in milliseconds, their number, the rate at the median in GFLOP/s, the
// same for the round trips, the configuration, whether the times alone are by the host's clock,
// why there is no measurement, and the errors (see [Errors]). Missing values are empty; there are no round trips on the CPU.
func EncodeCSV(w io.Writer, cells []Cell) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{ // an error comes again below
		"entrant", "precision", "m", "n", "k", "time_ms", "time_min_ms", "runs", "gflops",
		"with_transfers_ms", "with_transfers_min_ms", "with_transfers_runs", "with_transfers_gflops",
		"configuration", "host_timer", "left_out",
		"normal_rms", "normal_max", "uniform_rms", "uniform_max", "scaled_rms", "scaled_max",
	})
	for _, c := range cells {
		row := []string{c.Entrant, string(c.Precision), strconv.Itoa(c.Shape.M), strconv.Itoa(c.Shape.N), strconv.Itoa(c.Shape.K)}
		m := c.Measurement
		if m == nil {
			m = &Measurement{}
		}
		row = append(append(row, columns(c.Shape, m.Alone)...), columns(c.Shape, m.RoundTrips)...)
		host := ""
		if m.HostTimer {
			host = "true"
		}
		row = append(row, m.Configuration, host, c.Why)
		for i := range allData {
			if i < len(m.Errors) {
				row = append(row, number(m.Errors[i].RMS), number(m.Errors[i].Max))
			} else {
				row = append(row, "", "")
			}
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// columns returns the median, the minimum, the number and the rate of times.
func columns(shape Shape, times []float64) []string {
	if len(times) == 0 {
		return make([]string, 4)
	}
	s := score.StatsOf(times)
	return []string{number(s.Median), number(s.Min), strconv.Itoa(s.Count), number(shape.Rate(s.Median))}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// A Crossover is the size from which one entrant is faster than another.
type Crossover struct {
	From     int // the smallest N from which it is faster at every size; 0: none
	Smallest int // both were measured from this N
	Largest  int // to this N; 0: at no size
}

// CrossoverOf compares an entrant with another at the sizes at which both were measured: alone, or
// with both transfers.
func CrossoverOf(cells []Cell, entrant, over string, withTransfers bool) Crossover {
	var c Crossover
	time := (*Measurement).Time
	if withTransfers {
		time = (*Measurement).WithTransfers
	}
	for _, cell := range cells { // ascending
		other := slices.IndexFunc(cells, func(o Cell) bool { return o.Entrant == over && o.Shape == cell.Shape && o.Measurement != nil })
		if cell.Entrant != entrant || cell.Measurement == nil || other < 0 || !cell.Shape.IsSquare() {
			continue
		}
		switch {
		case time(cell.Measurement) >= time(cells[other].Measurement):
			c.From = 0
		case c.From == 0:
			c.From = cell.Shape.N
		}
		if c.Smallest == 0 {
			c.Smallest = cell.Shape.N
		}
		c.Largest = cell.Shape.N
	}
	return c
}

// Write writes the tables of times and rates, the configurations of the kernels, and the winners by
// size.
func Write(w io.Writer, cells []Cell) {
	if slices.ContainsFunc(cells, func(c Cell) bool { return c.Measurement != nil && c.Measurement.HostTimer }) {
		fmt.Fprintln(w, "timer: host")
	}
	for _, t := range append(Tables(cells), RatioTables(cells)...) {
		t.WriteTitled(w)
	}
	for i, r := range Configurations(cells) {
		if i == 0 {
			fmt.Fprintln(w, "\nconfigurations")
		}
		fmt.Fprintf(w, "%s: %s (%s)\n", r.Entrant, r.Text, Sizes(r.Sizes...))
	}
	if wins := Wins(cells); len(wins.Rows) > 0 {
		wins.WriteTitled(w)
	}
}
