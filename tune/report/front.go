package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A Front is the configurations of a run that no other one dominates, in the order of the first objective.
type Front struct {
	Objectives []Objective  `json:"objectives"`
	Choose     string       `json:"choose"` // the expression that chooses the winner; "": the best by the first objective
	Points     []FrontPoint `json:"points"`
	Saving     string       `json:"saving"` // a sentence: what a little more of the first objective saves
	Unmet      bool         `json:"unmet"`  // no point satisfies the condition by which Choose bounds the winner
}

// A FrontPoint is a configuration of a front.
type FrontPoint struct {
	Row           int       `json:"row"`
	Configuration string    `json:"configuration"`
	Values        []float64 `json:"values"` // of the objectives
	Winner        bool      `json:"winner"`
	Knee          bool      `json:"knee"` // see [tune.Knee]
}

// FrontOf returns the front of the results of one run. It returns nil if there is one objective, or no front.
func FrontOf(o score.Objective, results []tune.Result) *Front {
	indices := tune.Front(o, results)
	if len(indices) == 0 {
		return nil
	}
	f := &Front{Choose: o.Choose}
	f.Objectives = each.Of(o.All(), func(one score.Objective) Objective { return Objective{one.Name, one.Maximize} })
	points := each.Of(indices, func(index int) []float64 { return results[index].Values(o) })
	winner, knee := tune.Rank(o, results).Indices[0], tune.Knee(points)
	for i, index := range indices {
		values := slices.Clone(points[i])
		for k, one := range f.Objectives {
			if one.Maximize {
				values[k] = -values[k]
			}
		}
		f.Points = append(f.Points, FrontPoint{index, results[index].Configuration.String(), values, index == winner, i == knee})
	}
	f.Saving = f.saving()
	f.Unmet = f.unmet(o)
	return f
}

// unmet reports whether the choice is a condition that no point satisfies.
func (f *Front) unmet(o score.Objective) bool {
	chooser, err := o.Chooser()
	if err != nil || chooser == nil || !chooser.Condition {
		return false
	}
	bests := slices.Clone(f.Points[0].Values)
	for _, p := range f.Points {
		for k, one := range o.All() {
			if one.Better(p.Values[k], bests[k]) {
				bests[k] = p.Values[k]
			}
		}
	}
	return !slices.ContainsFunc(f.Points, func(p FrontPoint) bool { return chooser.Score(p.Values, bests) == 0 })
}

// allowance is the share of the first objective that a reader may give away, for the sentence of savings.
const allowance = 0.10

// saving says for two objectives what the second one gains if the first may be worse by a tenth. It returns "" if a
// value is not positive, because the shares have no meaning then.
func (f *Front) saving() string {
	if len(f.Objectives) != 2 || len(f.Points) < 2 {
		return ""
	}
	for _, p := range f.Points {
		if !(p.Values[0] > 0 && p.Values[1] > 0) {
			return ""
		}
	}
	first, second := f.Objectives[0], f.Objectives[1]
	ends := f.Points[0]
	// cost returns the share of the first objective that a point gives away, and gain the text of the gain in the second.
	cost := func(p FrontPoint) float64 { return math.Abs(p.Values[0]/ends.Values[0] - 1) }
	gain := func(p FrontPoint) string {
		ratio := p.Values[1] / ends.Values[1]
		switch {
		case second.Maximize:
			return fmt.Sprintf("gives %s more %s", percent(ratio-1), second.Name)
		case ratio < 0.1:
			return fmt.Sprintf("makes %s %s times less", second.Name, figure.Number(1/ratio))
		}
		return fmt.Sprintf("saves %s of %s", percent(1-ratio), second.Name)
	}
	more := map[bool]string{false: "more", true: "less"}[first.Maximize]
	within := f.Points[0]
	for _, p := range f.Points[1:] {
		if cost(p) <= allowance {
			within = p // the second objective improves along the front
		}
	}
	if within.Row == ends.Row {
		next := f.Points[1]
		return fmt.Sprintf("10 %% %s %s gains nothing in %s: the next configuration of the front has %s %s and %s.",
			more, first.Name, second.Name, percent(cost(next))+" "+more, first.Name, gain(next))
	}
	return fmt.Sprintf("10 %% %s %s %s: %s.", more, first.Name, gain(within), within.Configuration)
}

func percent(share float64) string {
	if share >= 10 {
		return figure.Number(share) + " times"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// mostPoints is the largest number of configurations of a front in a table of text.
const mostPoints = 20

// WriteFront writes the front of a run as a table of text, with the parameters at some indices. It writes nothing if
// there is none.
func WriteFront(w io.Writer, indent string, o score.Objective, parameters []int, results []tune.Result) {
	f := FrontOf(o, results)
	if f == nil {
		return
	}
	f.write(w, indent, parameters, results)
}

func (f *Front) write(w io.Writer, indent string, parameters []int, results []tune.Result) {
	head := each.Of(f.Objectives, func(one Objective) string { return one.Name })
	numbers := len(head)
	first := results[f.Points[0].Row].Configuration
	head = append(head, each.Of(parameters, func(p int) string { return first.Parameters().At(p).Name })...)
	rows := [][]string{head}
	shown := f.thinned()
	for _, p := range shown {
		var row []string
		for k, one := range f.Objectives {
			row = append(row, valueText(one, p.Values[k]))
		}
		row = append(row, each.Of(parameters, func(at int) string { return space.FormatValue(results[p.Row].Configuration.At(at)) })...)
		rows = append(rows, append(row, strings.Join(p.marks(), ", ")))
	}
	fmt.Fprintf(w, "%s%s\n", indent, f.title())
	figure.Columns(w, indent+"  ", func(i int) bool { return i < numbers }, rows...)
	if n := len(f.Points) - len(shown); n > 0 {
		fmt.Fprintf(w, "%sThe table leaves out %d of them; the report and the record have all.\n", indent, n)
	}
	if f.Unmet {
		fmt.Fprintf(w, "%sNone of them satisfies %s: the best by %s is the winner.\n", indent, f.Choose, f.Objectives[0].Name)
	}
	if f.Saving != "" {
		fmt.Fprintf(w, "%s%s\n", indent, f.Saving)
	}
}

// title introduces the table of a front.
func (f *Front) title() string {
	names := each.Of(f.Objectives, func(one Objective) string { return one.Name })
	text := fmt.Sprintf("front of %s: %d configurations that no other one beats in all objectives", strings.Join(names, " and "), len(f.Points))
	if len(f.Points) == 1 {
		text = fmt.Sprintf("front of %s: one configuration is the best in all objectives", strings.Join(names, " and "))
	}
	if f.Choose != "" && !f.Unmet {
		text += "; the winner by " + f.Choose
	}
	return text + ":"
}

// marks are words for what is special about a point.
func (p FrontPoint) marks() []string {
	var marks []string
	if p.Winner {
		marks = append(marks, "winner")
	}
	if p.Knee {
		marks = append(marks, "knee")
	}
	return marks
}

// thinned returns at most mostPoints points, evenly spread, with both ends and the points that have marks.
func (f *Front) thinned() []FrontPoint {
	n := len(f.Points)
	if n <= mostPoints {
		return f.Points
	}
	var kept []FrontPoint
	for i, p := range f.Points {
		const spread = mostPoints - 2 // marks may add two
		if p.Winner || p.Knee || i*(spread-1)/(n-1) != (i-1)*(spread-1)/(n-1) || i == 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// valueText formats the value of an objective.
func valueText(o Objective, v float64) string {
	if unitOf(o.Name) != "" {
		return figure.Milliseconds(v) + "ms"
	}
	return figure.Number(v)
}
