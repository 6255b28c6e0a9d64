package tune

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// Warnings says what a user must know of the results of a search: doubts about the verification, the compiler's warnings, those of
// [Notices], parameters without effect, and wrong outputs that agree.
func Warnings(p *problem.Problem, results []Result, d hardware.Device) (texts []string) {
	correct := false
	for i := range results {
		correct = correct || results[i].Status == Correct
		if notice := results[i].Notice; notice != "" && len(texts) == 0 {
			texts = append(texts, notice)
		}
	}
	texts = append(texts, compilerWarnings(results)...)
	if !correct {
		if equal, wrong := EqualOutputs(results); 2*equal > max(wrong, 2) {
			texts = append(texts, fmt.Sprintf("Of %d wrong outputs %d are equal to each other: is the reference right?", wrong, equal))
		}
		return texts
	}
	texts = append(texts, Notices(results, d)...)
	for _, q := range IneffectiveParameters(p, results, d) {
		texts = append(texts, fmt.Sprintf("The parameter %s has no effect: %s of configurations that differ in it alone "+
			"have the same binary and the same launch.", q.Parameter, figure.Count(q.Pairs, "pair")))
	}
	return texts
}

// maxWarnings is how many different warnings of the compiler are told.
const maxWarnings = 10

// compilerWarnings tells each different warning of the compiler once, with the first configuration.
func compilerWarnings(results []Result) (texts []string) {
	told := map[string]bool{}
	for i := range results {
		var fresh []string
		for _, warning := range splitWarnings(results[i].Warnings) {
			switch {
			case told[warning]:
			case len(told) == maxWarnings:
				return append(texts, "The compiler has more warnings, which are not shown.")
			default:
				told[warning] = true
				fresh = append(fresh, warning)
			}
		}
		if len(fresh) > 0 {
			texts = append(texts, fmt.Sprintf("The compiler warns, first at %s:\n%s", results[i].Configuration, strings.Join(fresh, "\n")))
		}
	}
	return texts
}

// splitWarnings returns the warnings of a build log. Compilers show the line of the source and notes below a
// warning: they belong to it.
func splitWarnings(log string) []string {
	var all []string
	var current []string
	warns := false
	end := func() {
		if warns {
			all = append(all, strings.TrimSpace(strings.Join(current, "\n")))
		}
		current, warns = nil, false
	}
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case warningCount.MatchString(line):
			continue
		case warningLine.MatchString(line):
			if warns {
				end()
			}
			warns = true
		}
		current = append(current, line)
	}
	end()
	return all
}

var (
	warningLine  = regexp.MustCompile(`(?i)(^|[^#])\bwarning\b`) // #warning is a line of the source
	warningCount = regexp.MustCompile(`^\d+ warnings? generated\.?\s*$`)
)
