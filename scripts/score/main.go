// Command score compares search strategies of ndtune, and of other tuners, on recorded spaces by the time that a search takes: by the
// performance score of the autotuning methodology, see [Scoring]. It is for those who develop a strategy. It runs in the folder scripts:
//
//	go run ./score -strategy auto,random_sample -repeats 10 ../tune/record/testdata/convolution_A100.json.gz
//	go run ./score -strategy 'command:python3 ../docs/strategies/evolution.py' -trace kernel_tuner.jsonl a100.json.gz w7800.json.gz
//	go run ./score -strategy genetic_algorithm -strategy genetic_algorithm:popsize=40 -o traces.jsonl a100.json.gz
//
// With several objectives, it prints how much of the front the searches of ndtune simulate have found, see [front]:
//
//	ndtune simulate k.jsonl --objective time,energy --strategy auto,nsga2 -o traces.jsonl
//	go run ./score -objective time,energy -trace traces.jsonl k.jsonl
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/search/command"
	"github.com/ndtune/ndtune/tune/simulate"
	"github.com/ndtune/ndtune/tune/space"
)

// A recording is a recorded space, and the time of each evaluation.
type recording struct {
	*simulate.Recording
	costs []float64 // by the index of the configuration: without the strategy's share, in seconds
}

// options are those of the command line.
type options struct {
	strategies, traces []string
	repeats            int
	seed               uint64
	objective, output  string
}

func main() {
	var o options
	flag.Func("strategy", "search with `NAME[:OPTION=VALUE,…]`, several names with commas, or command:PROGRAM; may be repeated", func(s string) error {
		o.strategies = append(o.strategies, s)
		return nil
	})
	flag.Func("trace", "score the searches in `FILE`, a trace on each line; may be repeated", func(s string) error {
		o.traces = append(o.traces, s)
		return nil
	})
	flag.IntVar(&o.repeats, "repeats", 50, "search `N` times with each strategy on each record")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of all random choices")
	flag.StringVar(&o.objective, "objective", "", "improve `OBJECTIVES` instead of those of the records")
	flag.StringVar(&o.output, "o", "", "write the trace of each search to `FILE`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, o options, paths []string) error {
	if len(paths) == 0 || len(o.strategies)+len(o.traces) == 0 || o.repeats < 1 {
		return errors.New("usage: go run ./score [-strategy NAME] [-trace FILE] [-repeats N] RECORD…")
	}
	var recordings []*recording
	for _, path := range paths {
		r, err := read(ctx, path, o.objective)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		recordings = append(recordings, r)
	}
	if slices.ContainsFunc(recordings, func(r *recording) bool { return r.Objective.Several() }) {
		return printFronts(recordings, o)
	}
	scorings := make([]*Scoring, len(recordings))
	for i, r := range recordings {
		var err error
		if scorings[i], err = NewScoring(r); err != nil {
			return fmt.Errorf("score %s: %w", r.Name, err)
		}
	}
	strategies, err := parse(ctx, o.strategies, recordings)
	if err != nil {
		return err
	}
	searches, err := searchAll(ctx, strategies, scorings, o.repeats, o.seed)
	if err != nil {
		return err
	}
	if o.output != "" {
		if err := writeSearches(o.output, searches); err != nil {
			return err
		}
	}
	for _, path := range o.traces {
		more, err := readSearches(path, recordings)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		searches = append(searches, more...)
	}
	scores, err := scoresOf(scorings, searches)
	if err != nil {
		return err
	}
	printScores(scorings, scores)
	return nil
}

// read reads a record; its name is that of the file.
func read(ctx context.Context, path, objective string) (*recording, error) {
	r, err := record.Read(path)
	if err != nil {
		return nil, err
	}
	if objective != "" {
		given, err := score.ParseObjectives(objective)
		if err != nil {
			return nil, err
		}
		if err := r.SetObjective(given); err != nil {
			return nil, err
		}
	}
	name := filepath.Base(path)
	for _, extension := range []string{".gz", ".json", ".jsonl"} {
		name = strings.TrimSuffix(name, extension)
	}
	n, err := simulate.NewRecording(ctx, name, r)
	if err != nil {
		return nil, err
	}
	return newRecording(n, r), nil
}

func newRecording(n *simulate.Recording, r *record.Record) *recording {
	costs := make([]float64, n.Space.Len())
	for i := range r.Results {
		if k, ok := n.Space.Index(r.Results[i].Configuration); ok {
			costs[k] = cost(&r.Results[i])
		}
	}
	return &recording{n, costs}
}

// cost returns the time of an evaluation in seconds: of the measurement, it counts only the timed launches.
func cost(r *tune.Result) float64 {
	seconds := (r.Durations.Build + r.Durations.Verify + r.Durations.Framework).Seconds()
	for _, t := range r.Times {
		seconds += t / 1000
	}
	return seconds
}

// parse returns the strategies that the command line names.
func parse(ctx context.Context, texts []string, recordings []*recording) ([]simulate.Strategy, error) {
	var all []simulate.Strategy
	for _, text := range texts {
		if program, ok := strings.CutPrefix(text, "command:"); ok {
			all = append(all, simulate.Strategy{Name: text, New: func(s *space.Space, o search.Options) (search.Strategy, error) {
				r := recordings[slices.IndexFunc(recordings, func(r *recording) bool { return r.Space == s })]
				return command.New(ctx, s, command.Options{Args: strings.Fields(program), Objective: r.Objective, Seed: o.Seed, Evaluators: 1})
			}})
			continue
		}
		name, list, hasOptions := strings.Cut(text, ":")
		if !hasOptions {
			for name := range strings.SplitSeq(text, ",") {
				all = append(all, simulate.Named(name, nil))
			}
			continue
		}
		values := map[string]string{}
		for option := range strings.SplitSeq(list, ",") {
			key, value, ok := strings.Cut(option, "=")
			if !ok {
				return nil, fmt.Errorf("-strategy %s: want NAME:OPTION=VALUE,OPTION=VALUE", text)
			}
			values[key] = value
		}
		all = append(all, simulate.Named(name, values))
	}
	return all, nil
}

// scoresOf returns the score of each strategy on each recording.
func scoresOf(scorings []*Scoring, all []searches) ([]Score, error) {
	var scores []Score
	for _, s := range all {
		of := scorings[slices.IndexFunc(scorings, func(n *Scoring) bool { return n.recording == s.on })]
		score, err := of.Score(s.strategy, s.traces)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", s.strategy, s.on.Name, err)
		}
		scores = append(scores, score)
	}
	return scores, nil
}

// printScores prints a table for each record, and one for the mean over all of them.
func printScores(scorings []*Scoring, scores []Score) {
	fmt.Println("performance score, mean ± standard error: 0 is random sampling, 1 finds the best at once")
	for _, s := range scorings {
		r := s.recording
		fmt.Printf("\n%s: %s, %d correct; scored from %.4gs to %.4gs, where random sampling has made %d and %s\n", r.Name,
			figure.Count(r.Space.Len(), "configuration"), r.Correct, s.Start, s.End, s.StartEvaluations, figure.Count(s.EndEvaluations, "evaluation"))
		printTable(slices.DeleteFunc(slices.Clone(scores), func(s Score) bool { return s.Record != r.Name }))
	}
	if len(scorings) > 1 {
		fmt.Printf("\nmean over the %d records\n", len(scorings))
		printTable(AverageScores(scores))
	}
}

// printTable prints a row for each score, the best first.
func printTable(scores []Score) {
	slices.SortStableFunc(scores, func(a, b Score) int { return cmp.Compare(b.Mean, a.Mean) })
	rows := [][]string{{"strategy", "score", "searches", "evaluations", "time of the strategy"}}
	for _, s := range scores {
		rows = append(rows, []string{
			s.Strategy, fmt.Sprintf("%.3f ± %.3f", s.Mean, s.StandardError), strconv.Itoa(s.Repeats),
			fmt.Sprintf("%.0f", s.Evaluations), fmt.Sprintf("%.2gs", s.Search),
		})
	}
	figure.Columns(os.Stdout, "  ", func(column int) bool { return column > 0 }, rows...)
}
