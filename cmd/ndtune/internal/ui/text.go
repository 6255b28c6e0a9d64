package ui

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
)

// StatusTexts returns a text for each status that is counted: «2 did not compile».
func StatusTexts(counts map[tune.Status]int) []string {
	var texts []string
	for _, s := range tune.Statuses() {
		if n := counts[s]; n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, s.Text()))
		}
	}
	return texts
}

// RoundElapsed keeps tenths of a second, and milliseconds of less than one.
func RoundElapsed(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// FormatTime formats a time in milliseconds: with three decimals, or four significant digits if these are
// more.
func FormatTime(ms float64) string { return figure.Milliseconds(ms) + "ms" }

// FormatMeasured formats a configuration with its time and metrics, in the form of the tutorials.
func FormatMeasured(configuration string, time float64, metrics []score.MetricValue) string {
	cells := MeasuredCells(time, metrics)
	if configuration != "" {
		cells = slices.Insert(cells, 0, configuration)
	}
	return strings.Join(cells, ", ")
}

// MeasuredCells formats a time and the metrics that are known, each with its name.
func MeasuredCells(time float64, metrics []score.MetricValue) []string {
	cells := []string{"time=" + FormatTime(time)}
	for _, m := range metrics {
		if !math.IsNaN(m.Value) {
			cells = append(cells, m.Text())
		}
	}
	return cells
}

// Join joins the texts of values.
func Join[T any](between string, text func(T) string, values ...T) string {
	return strings.Join(each.Of(values, text), between)
}

// FormatGain formats a ratio of times: «1.36×».
func FormatGain(ratio float64) string { return figure.Number(ratio) + "×" }

// List prints a line for each thing, of at most so many.
func List[T fmt.Stringer](w io.Writer, most int, all []T) {
	for _, one := range all[:min(most, len(all))] {
		fmt.Fprintf(w, "  %s\n", one)
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}
