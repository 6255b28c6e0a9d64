package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/simulate"
)

// runScores computes and prints the scores of the plan's strategies and of the traces that the command line names.
func runScores(c *cli.Context, plan simulate.Plan) error {
	scorings := make([]*simulate.Scoring, len(plan.Recordings))
	for i, r := range plan.Recordings {
		var err error
		if scorings[i], err = simulate.NewScoring(r); err != nil {
			return &usageError{fmt.Errorf("score %s: %w", r.Name, err)}
		}
	}
	var traced []simulate.Score
	for _, path := range c.StringSlice("trace") {
		scores, err := readTraces(path, scorings)
		if err != nil {
			return &usageError{fmt.Errorf("--trace %s: %w", path, err)}
		}
		traced = append(traced, scores...)
	}
	bar := newProgress(c.App.ErrWriter, len(plan.Strategies)*len(plan.Recordings)*plan.Repeats, "search", false)
	plan.OnRepeats = bar.count
	scores, err := simulate.RunScores(c.Context, plan, scorings)
	bar.finish()
	if err != nil {
		return fmt.Errorf("simulate %w", err)
	}
	scores = append(scores, traced...)
	averages := simulate.AverageScores(scores)
	if c.Bool("json") {
		err = printScoresJSON(c.App.Writer, append(scores, averages...))
	} else {
		printScores(c.App.Writer, plan.Recordings, scorings, scores, averages)
	}
	return errors.Join(err, writeSimulation(c, plan, nil, nil))
}

func readTraces(path string, scorings []*simulate.Scoring) ([]simulate.Score, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return simulate.ScoreTraces(f, scorings)
}

// printScores prints a table for each record, and one for the mean over all of them.
func printScores(w io.Writer, recordings []*simulate.Recording, scorings []*simulate.Scoring, scores, averages []simulate.Score) {
	fmt.Fprintln(w, "performance score, mean ± standard error: 0 is random sampling, 1 finds the best at once")
	for i, r := range recordings {
		s := scorings[i]
		fmt.Fprintf(w, "\n%s: %s, %d correct, %s; scored from %ss to %ss, where random sampling has made %d and %s\n",
			r.Name, figure.Count(r.Space.Len(), "configuration"), r.Correct, bestText(r),
			secondsText(s.Start), secondsText(s.End), s.StartEvaluations, figure.Count(s.EndEvaluations, "evaluation"))
		printScoreTable(w, slices.DeleteFunc(slices.Clone(scores), func(s simulate.Score) bool { return s.Record != r.Name }))
	}
	if len(recordings) > 1 {
		fmt.Fprintf(w, "\nmean over the %d records\n", len(recordings))
		printScoreTable(w, averages)
	}
}

func secondsText(s float64) string { return strconv.FormatFloat(s, 'g', 4, 64) }

// printScoreTable prints a row for each score, the best first.
func printScoreTable(w io.Writer, scores []simulate.Score) {
	slices.SortStableFunc(scores, func(a, b simulate.Score) int {
		switch {
		case a.Mean > b.Mean:
			return -1
		case a.Mean < b.Mean:
			return 1
		}
		return 0
	})
	rows := [][]string{{"strategy", "score", "searches", "evaluations", "time of the strategy"}}
	for _, s := range scores {
		rows = append(rows, []string{
			s.Strategy, estimate(s.Mean, s.StandardError), strconv.Itoa(s.Repeats), fmt.Sprintf("%.0f", s.Evaluations),
			fmt.Sprintf("%.2gs", s.Search),
		})
	}
	figure.Columns(w, "  ", func(column int) bool { return column > 0 }, rows...)
}

// A scoreJSON is an entry of simulate --score --json.
type scoreJSON struct {
	Strategy    string   `json:"strategy"`
	Record      string   `json:"record"`
	Repeats     int      `json:"repeats"`
	Score       float64  `json:"score"`
	StdErr      *float64 `json:"stderr"` // nil: there is one repeat
	Evaluations float64  `json:"evaluations"`
	Search      float64  `json:"strategy_seconds"`
}

func printScoresJSON(w io.Writer, scores []simulate.Score) error {
	list := make([]scoreJSON, len(scores))
	for i, s := range scores {
		list[i] = scoreJSON{s.Strategy, s.Record, s.Repeats, s.Mean, nil, s.Evaluations, s.Search}
		if !math.IsNaN(s.StandardError) {
			list[i].StdErr = &s.StandardError
		}
	}
	return printJSON(w, list)
}
