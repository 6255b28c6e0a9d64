package simulate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ndtune/ndtune/tune/search"
)

// A Trace is what one search on a recording asked for, in order.
type Trace []Visit

// A Visit is a request of a strategy for a configuration. The first one evaluates it, others cost only the strategy's time.
type Visit struct {
	Index  int     // of the configuration
	Search float64 // the time that the strategy took to choose it, in seconds
}

// clock tells a function of each visit: its number, from 0, the time when it is complete, and the configuration.
func (t Trace) clock(n *Recording, visit func(step int, now float64, index int)) {
	now, seen := 0.0, map[int]bool{}
	for step, v := range t {
		now += v.Search
		if !seen[v.Index] {
			now += n.costs[v.Index]
			seen[v.Index] = true
		}
		visit(step, now, v.Index)
	}
}

// total returns the number of configurations that were evaluated, and the time that the strategy took.
func (t Trace) total() (evaluations int, search float64) {
	seen := map[int]bool{}
	for _, v := range t {
		seen[v.Index] = true
		search += v.Search
	}
	return len(seen), search
}

// quality fills a curve with the quality of the best configuration found after each evaluation. Where the trace has ended, the curve
// stays constant.
func (t Trace) quality(n *Recording, curve []float64) {
	progress, found := n.progress(), 0.0
	for i := range curve {
		if i < len(t) {
			found = progress(t[i].Index)
		}
		curve[i] = found
	}
}

// RunScores simulates a plan with the time of the scorings as the limit of each search, one for each of the plan's
// recordings, instead of a number of evaluations. It returns the score of every strategy on every recording, ordered by
// strategy. The strategies are not told how many evaluations they have. Because the time that a strategy takes is measured,
// two runs may differ a little.
func RunScores(ctx context.Context, p Plan, scorings []*Scoring) ([]Score, error) {
	if p.Batch > 1 {
		return nil, errors.New("a score is that of a search that evaluates one configuration at a time")
	}
	p.MaxEvaluations = 1 // unused
	if err := p.check(); err != nil {
		return nil, err
	}
	within := func(r *Recording) limit {
		i := slices.Index(p.Recordings, r)
		return limit{len(r.quality), scorings[i].Budget()}
	}
	traces := make([][]Trace, len(p.Strategies)*len(p.Recordings))
	for i := range traces {
		traces[i] = make([]Trace, p.Repeats)
	}
	err := p.run(ctx, within, func(part part) collector {
		next := part.first
		return collector{
			add: func(t Trace, _ []search.Trust) {
				traces[part.pair][next] = slices.Clone(t)
				next++
			},
			done: func() {},
		}
	})
	if err != nil {
		return nil, err
	}
	scores := make([]Score, len(traces))
	for i := range scores {
		strategy, recording := p.pair(i)
		if scores[i], err = scorings[i%len(scorings)].Score(strategy.Name, traces[i]); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", strategy.Name, recording.Name, err)
		}
	}
	return scores, nil
}

// ScoreTraces reads traces of any tuner, and returns a score for each strategy and record of them, ordered by strategy. A trace
// is a line with a JSON object:
//
//	{"strategy":"NAME","record":"NAME","trace":[["16,2,1",0.25],…]}
//
// Each visit has the values of the parameters in the order of the record, separated by commas, and the milliseconds that the
// strategy took for it. It is an error if a strategy has no trace of one of the records.
func ScoreTraces(r io.Reader, scorings []*Scoring) ([]Score, error) {
	var names []string
	traces := map[string][][]Trace{} // by strategy and recording
	keys := make([]map[string]int, len(scorings))
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		name, at, trace, err := readTrace(line, scorings, keys)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if traces[name] == nil {
			names, traces[name] = append(names, name), make([][]Trace, len(scorings))
		}
		traces[name][at] = append(traces[name][at], trace)
	}
	var scores []Score
	for _, name := range names {
		for i, of := range traces[name] {
			record := scorings[i].recording.Name
			if len(of) == 0 {
				return nil, fmt.Errorf("there is no trace of %s on the record %s", name, record)
			}
			score, err := scorings[i].Score(name, of)
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", name, record, err)
			}
			scores = append(scores, score)
		}
	}
	return scores, nil
}

// readTrace reads a line of [ScoreTraces]. Keys holds the configurations of the scorings by their keys, as far as needed.
func readTrace(line []byte, scorings []*Scoring, keys []map[string]int) (strategy string, at int, trace Trace, err error) {
	var read struct {
		Strategy, Record string
		Trace            [][2]any
	}
	if err := json.Unmarshal(line, &read); err != nil {
		return "", 0, nil, fmt.Errorf("a trace is a JSON object: %w", err)
	}
	if read.Strategy == "" || len(read.Trace) == 0 {
		return "", 0, nil, errors.New(`want the members "strategy", "record" and a "trace" that is not empty`)
	}
	at = slices.IndexFunc(scorings, func(s *Scoring) bool { return s.recording.Name == read.Record })
	if at < 0 {
		return "", 0, nil, fmt.Errorf("no record is named %q", read.Record)
	}
	space := scorings[at].recording.Space
	if keys[at] == nil {
		keys[at] = make(map[string]int, space.Len())
		for i := range space.Len() {
			keys[at][space.At(i).Key()] = i
		}
	}
	for n, v := range read.Trace {
		key, isText := v[0].(string)
		took, isNumber := v[1].(float64)
		i, known := keys[at][key]
		switch {
		case !isText || !isNumber || took < 0:
			return "", 0, nil, fmt.Errorf(`visit %d: want ["VALUE,…",MILLISECONDS], not %v`, n+1, v)
		case !known:
			return "", 0, nil, fmt.Errorf("visit %d: the record %s has no configuration %q", n+1, read.Record, key)
		}
		trace = append(trace, Visit{Index: i, Search: took / 1000})
	}
	return read.Strategy, at, trace, nil
}
