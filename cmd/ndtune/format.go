package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
)

// formatNumber has four significant digits, and never fewer than the whole part has.
func formatNumber(v float64) string { return figure.Number(v) }

// formatTime is a time in milliseconds: three decimals, or four significant digits where
// that is more.
func formatTime(ms float64) string { return figure.Milliseconds(ms) + "ms" }

// formatMeasured is a configuration with a time and metrics, in the form of the tutorials.
func formatMeasured(configuration string, time float64, metrics []problem.MetricValue) string {
	var b strings.Builder
	if configuration != "" {
		b.WriteString(configuration + ", ")
	}
	b.WriteString("time=" + formatTime(time))
	for _, m := range metrics {
		b.WriteString(", " + m.Name + "=" + formatNumber(m.Value))
	}
	return b.String()
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// firstLine is the first line of a text, with a mark where more follows.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.TrimSpace(rest) != "" {
		line = strings.TrimRight(line, " ") + " […]"
	}
	return line
}

// shortReason is the line of a failure's reason that says most: the first, or, where a
// kernel did not compile, the first error of the build log behind it.
func shortReason(r tune.Result) string {
	lines := strings.Split(strings.TrimSpace(r.Reason), "\n")
	if r.Status == tune.Compile {
		for _, line := range lines[1:] {
			if strings.Contains(strings.ToLower(line), "error") {
				return strings.TrimSpace(line) + " […]"
			}
		}
	}
	return firstLine(r.Reason)
}

// countNoun is a number with its noun: «1 configuration», «225 configurations».
func countNoun(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// formatBytes is a size in the binary unit that leaves the fewest digits.
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
