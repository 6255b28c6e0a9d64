package simulate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
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
	if p.Traces == nil {
		p.Traces = new([]Trace)
	}
	err := p.run(ctx, within, func(part) collector {
		return collector{add: func(Trace, []search.Trust) {}, done: func() {}}
	})
	if err != nil {
		return nil, err
	}
	scores := make([]Score, len(p.Strategies)*len(p.Recordings))
	for i := range scores {
		strategy, recording := p.pair(i)
		if scores[i], err = scorings[i%len(scorings)].Score(strategy.Name, (*p.Traces)[i*p.Repeats:][:p.Repeats]); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", strategy.Name, recording.Name, err)
		}
	}
	return scores, nil
}

// A traceJSON is a line of a file of traces: one search. C is a configuration, as it is written or read.
type traceJSON[C any] struct {
	Strategy     string    `json:"strategy"`
	Record       string    `json:"record"`
	Repeat       int       `json:"repeat"`
	Trace        []C       `json:"trace"`                  // in the order of evaluation
	Milliseconds []float64 `json:"milliseconds,omitempty"` // that the strategy took for each
}

// EncodeTraces writes the traces of a plan that was simulated, a line for each. They have milliseconds if the time of the
// strategies was measured, which [RunScores] does.
func EncodeTraces(w io.Writer, p Plan) error {
	out := json.NewEncoder(w)
	for i, trace := range *p.Traces {
		strategy, recording := p.pair(i / p.Repeats)
		line := traceJSON[space.Configuration]{Strategy: strategy.Name, Record: recording.Name, Repeat: i % p.Repeats}
		isTimed := slices.ContainsFunc(trace, func(v Visit) bool { return v.Search > 0 })
		for _, v := range trace {
			line.Trace = append(line.Trace, recording.Space.At(v.Index))
			if isTimed {
				line.Milliseconds = append(line.Milliseconds, v.Search*1000)
			}
		}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// ScoreTraces reads traces of any tuner, in the form of [EncodeTraces] with milliseconds. It returns a score for each strategy
// and record of them, ordered by strategy. A configuration may be asked for again. It is an error if a strategy has no trace of
// one of the records.
func ScoreTraces(r io.Reader, scorings []*Scoring) ([]Score, error) {
	var names []string
	traces := map[string][][]Trace{} // by strategy and recording
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		name, at, trace, err := readTrace(line, scorings)
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

// readTrace reads a line of [ScoreTraces].
func readTrace(line []byte, scorings []*Scoring) (strategy string, at int, trace Trace, err error) {
	var read traceJSON[map[string]record.JSONValue]
	if err := json.Unmarshal(line, &read); err != nil {
		return "", 0, nil, fmt.Errorf("a trace is a JSON object: %w", err)
	}
	if read.Strategy == "" || len(read.Trace) == 0 || len(read.Milliseconds) != len(read.Trace) {
		return "", 0, nil, errors.New(`want the members "strategy", "record", a "trace" that is not empty, and "milliseconds" for each configuration of it`)
	}
	at = slices.IndexFunc(scorings, func(s *Scoring) bool { return s.recording.Name == read.Record })
	if at < 0 {
		return "", 0, nil, fmt.Errorf("no record is named %q", read.Record)
	}
	all := scorings[at].recording.Space
	for n, typed := range read.Trace {
		values := map[string]space.Value{}
		for name, v := range typed {
			values[name] = v.Value
		}
		c, err := all.Parameters().Configure(values)
		if err != nil {
			return "", 0, nil, fmt.Errorf("configuration %d: %w", n+1, err)
		}
		i, known := all.Index(c)
		switch {
		case !known:
			return "", 0, nil, fmt.Errorf("configuration %d: the record %s has no result of %s", n+1, read.Record, c)
		case !(read.Milliseconds[n] >= 0):
			return "", 0, nil, fmt.Errorf("milliseconds of configuration %d: %g is no time", n+1, read.Milliseconds[n])
		}
		trace = append(trace, Visit{Index: i, Search: read.Milliseconds[n] / 1000})
	}
	return read.Strategy, at, trace, nil
}
