package report

import (
	"slices"

	"github.com/ndtune/ndtune/tune"
)

// A best is the best configuration of a run.
type best struct {
	row     int
	figures tune.Figures

	// undecided says that there was a final measurement, but not what the objective is at its
	// times: the search's decided.
	undecided bool
}

// bestOf is the first of a ranking; nil where that is empty.
func bestOf(results []tune.Result, ranking tune.Ranking) *best {
	if len(ranking.Places) == 0 {
		return nil
	}
	row := ranking.Places[0]
	return &best{
		row: row, figures: results[row].Figures(),
		undecided: ranking.Finalists == 0 && slices.ContainsFunc(results, func(r tune.Result) bool { return r.Rankable() && len(r.Final) > 0 }),
	}
}
