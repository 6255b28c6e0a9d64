package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/score"
)

// formatNumber formats a number with four significant digits, and more if its whole part has more.
func formatNumber(v float64) string { return figure.Number(v) }

// formatTime formats a time in milliseconds: with three decimals, or four significant digits if these are
// more.
func formatTime(ms float64) string { return figure.Milliseconds(ms) + "ms" }

// formatMeasured formats a configuration with its time and metrics, in the form of the tutorials.
func formatMeasured(configuration string, time float64, metrics []score.MetricValue) string {
	cells := measuredCells(time, metrics)
	if configuration != "" {
		cells = slices.Insert(cells, 0, configuration)
	}
	return strings.Join(cells, ", ")
}

// measuredCells formats a time and the metrics that are known, each with its name.
func measuredCells(time float64, metrics []score.MetricValue) []string {
	cells := []string{"time=" + formatTime(time)}
	for _, m := range metrics {
		if !math.IsNaN(m.Value) {
			cells = append(cells, m.Text())
		}
	}
	return cells
}

// joinTexts joins the texts of values.
func joinTexts[T any](between string, text func(T) string, values ...T) string {
	return strings.Join(each.Of(values, text), between)
}

// formatBytes formats a size in the largest suitable binary unit.
func formatBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v /= 1024
		u++
	}
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " " + units[u]
}
