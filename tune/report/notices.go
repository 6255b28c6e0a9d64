package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
)

// The levels of a [Notice].
const (
	levelWarning = "warning"
	levelHint    = "hint"
)

// noisy is the standard deviation over the mean from which on a mean of a few launches is
// doubtful.
const noisy = 0.05

// noticesOf says what is doubtful about a run, then what could be better.
func noticesOf(run *Run, b *best, verification bool) []Notice {
	all := []Notice{}
	warn := func(format string, a ...any) {
		all = append(all, Notice{levelWarning, fmt.Sprintf(format, a...)})
	}
	s := &run.Summary
	if len(run.results) == 0 {
		return all // a run that has only begun
	}
	if b == nil {
		warn("No configuration is correct. The failures below say why.")
		return all
	}
	correct := s.Statuses[0].Count
	switch {
	case s.Verified == 0 && !verification:
		warn("Nothing checked that the output is right: the specification has no verify, or this file format does not say.")
	case s.Verified < correct:
		warn("%d of %d correct configurations are unverified.", correct-s.Verified, correct)
	}
	if run.Device.Timer == tune.TimerHost {
		warn("Times come from the host's clock, because the driver's profiling timestamps cannot be used; they include the cost of a launch.")
	}
	r := &run.results[b.row]
	if stats := r.Stats(); stats.Mean > 0 && stats.Count > 1 && stats.StandardDeviation/stats.Mean > noisy && !b.figures.Final {
		warn("The times of the best scatter by %s %% (standard deviation over mean of %d launches): a repeated run may choose another.",
			figure.Number(100*stats.StandardDeviation/stats.Mean), stats.Count)
	}
	if b.undecided {
		warn("The best were measured again at the end, but the record does not say what their %s is at these times: the search's measurements decided. Older versions did not keep it; ndtune tune with the same --log adds it.", run.objective.Name)
	}
	if n := rivals(run, b); n > 0 {
		all = append(all, Notice{levelHint, fmt.Sprintf("%s within 1 %% of the best: a difference that another run may turn around.", countConfigurations(n))})
	}
	if edges := edgesOf(run, b); len(edges) > 0 {
		all = append(all, Notice{levelHint, fmt.Sprintf("The best lies at the edge of what was tried: %s. Values beyond may be better still.", strings.Join(edges, ", "))})
	}
	return all
}

func countConfigurations(n int) string {
	if n == 1 {
		return "1 other configuration is"
	}
	return fmt.Sprintf("%d other configurations are", n)
}

// rivals are how many others are within 1 % of the best by the objective: in the final measurement
// where that decided, else in the search.
func rivals(run *Run, b *best) int {
	n := 0
	for _, i := range run.ranking.Places {
		f := run.results[i].Figures()
		if i == b.row || f.Final != b.figures.Final {
			continue
		}
		if x, y := f.Objective, b.figures.Objective; y != 0 && math.Abs(x-y) <= 0.01*math.Abs(y) {
			n++
		}
	}
	return n
}

// edgesOf are the parameters of which the best has the largest number of at least three that
// grow by a factor or a step. The smallest is left out: it is most often the smallest there is.
func edgesOf(run *Run, b *best) []string {
	var edges []string
	for _, p := range run.Parameters {
		if !p.Numeric || len(p.Numbers) < 3 {
			continue
		}
		v, _ := run.results[b.row].Configuration.Get(p.Name)
		mine, _ := number(v)
		largest := true
		for _, f := range p.Numbers {
			largest = largest && f <= mine
		}
		if largest {
			edges = append(edges, fmt.Sprintf("%s=%s is the largest value", p.Name, figureOf(p, mine)))
		}
	}
	return edges
}

func figureOf(p Parameter, v float64) string {
	for i, f := range p.Numbers {
		if f == v {
			return p.Values[i]
		}
	}
	return figure.Number(v)
}
