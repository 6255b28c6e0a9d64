package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ndtune/ndtune/internal/picture"
	"github.com/ndtune/ndtune/matmul"
)

// printBench prints the tables of times and rates, in which configurations the kernels ran,
// and who wins from where; to notes, what was left out and why.
func printBench(w, notes io.Writer, participants []matmul.Participant, cells []matmul.Cell, sizes []int) {
	names := make([]string, len(participants))
	for i, p := range participants {
		names[i] = p.Name
	}
	defer printLeftOut(notes, names, cells)
	if !anyMeasured(cells) {
		return
	}
	alone := func(m *matmul.Measurement) float64 { return m.Time() }
	transfers := func(m *matmul.Measurement) float64 { return m.WithTransfers() }
	asTime := func(_ int, ms float64) string { return formatTime(ms) }
	asRate := func(n int, ms float64) string { return formatNumber(matmul.Rate(n, ms)) }
	if slices.ContainsFunc(cells, func(c matmul.Cell) bool { return c.Measurement != nil && c.Measurement.HostTimer }) {
		fmt.Fprintln(w, "timer: host")
	}
	for _, t := range []struct {
		title string
		value func(*matmul.Measurement) float64
		text  func(int, float64) string
	}{
		{"multiplication alone", alone, asTime},
		{"multiplication alone, GFLOP/s", alone, asRate},
		{"with the copies to the device and back", transfers, asTime},
		{"with the copies to the device and back, GFLOP/s", transfers, asRate},
	} {
		fmt.Fprintf(w, "\n%s\n", t.title)
		printCells(w, names, cells, sizes, func(m *matmul.Measurement) string { return t.text(m.N, t.value(m)) })
	}
	printConfigurations(w, names, cells)
	printWins(w, names, cells)
}

func anyMeasured(cells []matmul.Cell) bool {
	return slices.ContainsFunc(cells, func(c matmul.Cell) bool { return c.Measurement != nil })
}

func printCells(w io.Writer, names []string, cells []matmul.Cell, sizes []int, text func(*matmul.Measurement) string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "N\t%s\t\n", strings.Join(names, "\t"))
	for _, n := range sizes {
		fmt.Fprintf(table, "%d\t", n)
		for _, name := range names {
			cell := "–"
			if m := measurementOf(cells, name, n); m != nil {
				cell = text(m)
			}
			fmt.Fprintf(table, "%s\t", cell)
		}
		fmt.Fprintln(table)
	}
	table.Flush()
}

func measurementOf(cells []matmul.Cell, name string, n int) *matmul.Measurement {
	for _, c := range cells {
		if c.Entrant == name && c.N == n {
			return c.Measurement
		}
	}
	return nil
}

// printConfigurations prints for each kernel the configurations, each with its sizes.
func printConfigurations(w io.Writer, names []string, cells []matmul.Cell) {
	title := "\nconfigurations\n"
	for _, name := range names {
		var order []string
		sizes := map[string][]string{}
		for _, c := range cells {
			if c.Entrant != name || c.Measurement == nil || c.Measurement.Configuration == "" {
				continue
			}
			text := c.Measurement.Configuration
			if sizes[text] == nil {
				order = append(order, text)
			}
			sizes[text] = append(sizes[text], strconv.Itoa(c.N))
		}
		for _, text := range order {
			fmt.Fprintf(w, "%s%s: %s (N = %s)\n", title, name, text, strings.Join(sizes[text], ", "))
			title = ""
		}
	}
}

// printWins prints from which size on each entrant that uses a device is faster than the CPU.
func printWins(w io.Writer, names []string, cells []matmul.Cell) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	written := false
	for _, name := range names {
		if name == loopName || name == openBLASName {
			continue
		}
		for _, over := range []string{loopName, openBLASName} {
			alone, transfers := matmul.CrossoverOf(cells, name, over, false), matmul.CrossoverOf(cells, name, over, true)
			if alone.Largest == 0 {
				continue
			}
			if !written {
				fmt.Fprintln(w, "\nfaster from which N on")
				fmt.Fprintln(table, "\tover\talone\twith copies\tboth measured for")
				written = true
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d to %d\n", name, over, fromText(alone), fromText(transfers), alone.Smallest, alone.Largest)
		}
	}
	table.Flush()
}

func fromText(c matmul.Crossover) string {
	if c.From == 0 {
		return "never"
	}
	return strconv.Itoa(c.From)
}

// printLeftOut says for each entrant at which sizes there is no measurement, and why.
func printLeftOut(w io.Writer, names []string, cells []matmul.Cell) {
	for _, name := range names {
		var order []string
		sizes := map[string][]string{}
		for _, c := range cells {
			if c.Entrant != name || c.Measurement != nil {
				continue
			}
			if sizes[c.Why] == nil {
				order = append(order, c.Why)
			}
			sizes[c.Why] = append(sizes[c.Why], strconv.Itoa(c.N))
		}
		for _, why := range order {
			fmt.Fprintf(w, "%s is left out at N = %s: %s\n", name, strings.Join(sizes[why], ", "), why)
		}
	}
}

// writeBench writes the outputs: a table, or a picture.
func writeBench(paths []string, title string, cells []matmul.Cell) error {
	var errs []error
	for _, path := range paths {
		if picture.Is(path) {
			errs = append(errs, matmul.Plot(path, title, cells))
		} else {
			errs = append(errs, writeBenchTable(path, cells))
		}
	}
	return errors.Join(errs...)
}

func writeBenchTable(path string, cells []matmul.Cell) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the times: %w", err)
	}
	if err := errors.Join(matmul.EncodeCSV(f, cells), f.Close()); err != nil {
		return fmt.Errorf("write the times to %s: %w", path, err)
	}
	return nil
}
