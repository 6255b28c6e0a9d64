package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// WriteText writes each run for a terminal: its summary, the best with its options and its launch, the
// finalists, or the best configurations if there was no final measurement, the notices and the failures.
func (r *Report) WriteText(w io.Writer) error { return r.writeRuns(w, (*Run).writeText) }

// writeRuns writes all runs, with empty lines between them.
func (r *Report) writeRuns(w io.Writer, write func(*Run, *strings.Builder)) error {
	var b strings.Builder
	for i, run := range r.Runs {
		if i > 0 {
			b.WriteString("\n")
		}
		write(run, &b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (run *Run) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n%s\n", run.Title(), run.summaryLine(asIs))
	if best := run.Summary.Best; best != nil {
		fmt.Fprintf(b, "best: %s, %s ms%s\noptions: %s\n", best.Configuration, figure.Milliseconds(best.Time), run.bestFigures(asIs), best.Options)
		for _, launch := range best.Sizes {
			fmt.Fprintf(b, "launch: %s\n", launch)
		}
		varying := run.varying()
		if run.Front != nil {
			run.Front.write(b, "", varying, run.results)
		} else if run.ranking.Finalists > 0 {
			WriteFinalists(b, "", run.objective, varying, run.results)
		} else {
			b.WriteString("the best of the search:\n")
			run.bestTable().Write(b, "  ")
		}
	}
	for _, n := range run.Notices {
		fmt.Fprintf(b, "%s: %s\n", n.Level, n.Text)
	}
	if len(run.Failures) > 0 {
		b.WriteString("failures:\n")
		rows := each.Of(run.Failures, func(f Failure) []string { return []string{fmt.Sprint(f.Count), f.Status, f.Text} })
		figure.Columns(b, "  ", func(i int) bool { return i == 0 }, rows...)
	}
}

// asIs is the escape of plain text.
func asIs(text string) string { return text }

// varying returns the indices of the parameters with several values.
func (run *Run) varying() (indices []int) {
	for i, p := range run.Parameters {
		if len(p.Values) > 1 {
			indices = append(indices, i)
		}
	}
	return indices
}

// WriteFinalists writes the finalists of a run as a table of text. It has the parameters at some indices,
// the median in the search, the final time, its scatter (see [tune.Finalist]), the objective unless it
// is a time, and whether the final times differ from those of the winner. Finalists that failed follow. It writes nothing if there are
// no finalists.
func WriteFinalists(w io.Writer, indent string, o score.Objective, parameters []int, results []tune.Result) {
	finalists := tune.Finalists(o, results)
	if len(finalists) == 0 {
		return
	}
	first := finalists[0].Configuration
	head := append([]string{"rank"}, each.Of(parameters, func(p int) string { return first.Parameters().At(p).Name })...)
	head = append(head, "search", "final", "scatter")
	showObjective := unitOf(o.Name) == "" && o.Name != ""
	if showObjective {
		head = append(head, o.Name)
	}
	numbers := len(head)
	rows := [][]string{head}
	begin := func(rank string, r *tune.Result) []string {
		values := each.Of(parameters, func(p int) string { return space.FormatValue(r.Configuration.At(p)) })
		return append(append([]string{rank}, values...), figure.Milliseconds(r.Time())+"ms")
	}
	for i, f := range finalists {
		row := append(begin(fmt.Sprint(i+1), f.Result), figure.Milliseconds(f.FinalTime())+"ms", fmt.Sprintf("%.1f %%", 100*f.Scatter))
		if showObjective {
			row = append(row, figure.Number(f.AtFinal.Objective))
		}
		if f.Standing != tune.Different {
			row = append(row, string(f.Standing))
		}
		rows = append(rows, row)
	}
	for i := range results {
		if r := &results[i]; r.FinalFailure != "" {
			rows = append(rows, append(begin("–", r), "failed"))
		}
	}
	on := ""
	if card := finalists[0].FinalDevice; card != "" {
		on = " on " + card
	}
	fmt.Fprintf(w, "%sfinalists, measured again in turn%s, in %d rounds:\n", indent, on, len(finalists[0].Final))
	figure.Columns(w, indent+"  ", func(i int) bool { return i < numbers }, rows...)
	if slices.ContainsFunc(finalists, func(f tune.Finalist) bool { return f.Standing == tune.TooFewRounds }) {
		fmt.Fprintf(w, "%sToo few rounds: noise cannot be told from differences.\n", indent)
	}
}
