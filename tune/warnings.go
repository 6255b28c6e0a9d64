package tune

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
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

// LastReadings returns the readings of the final measurement, and those of the search of quantities that it did not observe.
func (r *Result) LastReadings() []hardware.Reading {
	all := slices.Clone(r.Readings)
	for i := range all {
		if again, ok := hardware.ReadingOf(r.FinalReadings, all[i].Quantity); ok && again.Missing == "" {
			all[i] = again
		}
	}
	return all
}

// Notices says what a reader of some results must know: which finalists failed, how many launches were repeated, and, for each quantity that
// some results lack, how many there are and why. It leaves out the quantities that a device is known not to give.
func Notices(results []Result, d hardware.Device) (texts []string) {
	var quantities []string
	missing, first := map[string]int{}, map[string]string{}
	launches, configurations := 0, 0
	for i := range results {
		if why := results[i].FinalFailure; why != "" {
			texts = append(texts, fmt.Sprintf("%s was among the best, but failed in the final measurement: %s", results[i].Configuration, Headline("", why)))
		}
		launches += results[i].Repeated
		configurations += min(1, results[i].Repeated)
		for _, r := range results[i].Readings {
			if known, _ := d.Instrument(r.Quantity); r.Missing == "" || known.Missing != "" {
				continue
			}
			if missing[r.Quantity]++; missing[r.Quantity] == 1 {
				quantities, first[r.Quantity] = append(quantities, r.Quantity), strings.TrimSuffix(r.Missing, ".")
			}
		}
	}
	if launches > 0 {
		texts = append(texts, fmt.Sprintf("Other work seems to use the device: %s of %s took far longer than the others. "+
			"As many were added; all count in the median", figure.Count(launches, "launch"), figure.Count(configurations, "configuration")))
	}
	slices.Sort(quantities)
	for _, q := range quantities {
		texts = append(texts, fmt.Sprintf("%s is missing in %d of %d results, in the first of them because %s",
			q, missing[q], len(results), first[q]))
	}
	return texts
}

// An Ineffective parameter changes neither the binary, nor the launch, nor a setting of the device.
type Ineffective struct {
	Parameter string
	Pairs     int // of configurations that differ in this parameter alone
}

// IneffectiveParameters compares the results that differ in one parameter alone. It returns the
// parameters for which all these pairs have the same binary and the same launch. Results without a
// digest of their binary do not count.
func IneffectiveParameters(p *problem.Problem, results []Result, d hardware.Device) []Ineffective {
	launches := map[string]string{} // by configuration
	for i := range results {
		r := &results[i]
		if r.Binary == 0 {
			continue
		}
		if v, err := p.Variant(r.Configuration, d); err == nil {
			launches[r.Configuration.Key()] = fmt.Sprint(r.Binary, v.Launches, v.Elements, v.Pixels, v.Settings)
		}
	}
	var found []Ineffective
	for i, q := range p.Parameters().List() {
		groups := map[string][]string{} // by the other parameters
		for j := range results {
			c := results[j].Configuration
			if launch, known := launches[c.Key()]; known {
				others := without(c, i)
				groups[others] = append(groups[others], launch)
			}
		}
		pairs, effect := 0, false
		for _, group := range groups {
			pairs += len(group) - 1
			effect = effect || slices.ContainsFunc(group, func(l string) bool { return l != group[0] })
		}
		if pairs > 0 && !effect {
			found = append(found, Ineffective{q.Name, pairs})
		}
	}
	return found
}

// without returns the values of a configuration but for parameter i.
func without(c space.Configuration, i int) string {
	var text strings.Builder
	for j := range c.Len() {
		if j != i {
			text.WriteString(space.FormatValue(c.At(j)) + "\x00")
		}
	}
	return text.String()
}
