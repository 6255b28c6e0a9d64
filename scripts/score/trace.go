package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ndtune/ndtune/internal/files"
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
func (t Trace) clock(r *recording, visit func(step int, now float64, index int)) {
	now, seen := 0.0, map[int]bool{}
	for step, v := range t {
		now += v.Search
		if !seen[v.Index] {
			now += r.costs[v.Index]
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

// A traceJSON is a line of a file of traces: one search. C is a configuration, as it is written or read.
type traceJSON[C any] struct {
	Strategy     string    `json:"strategy"`
	Record       string    `json:"record"`
	Repeat       int       `json:"repeat"`
	Trace        []C       `json:"trace"`                  // in the order of evaluation
	Milliseconds []float64 `json:"milliseconds,omitempty"` // that the strategy took for each
}

// writeSearches writes a line for each search.
func writeSearches(path string, all []searches) error {
	return files.Write(path, func(w io.Writer) error {
		out := json.NewEncoder(w)
		for _, s := range all {
			for i, trace := range s.traces {
				line := traceJSON[space.Configuration]{Strategy: s.strategy, Record: s.on.Name, Repeat: i}
				for _, v := range trace {
					line.Trace = append(line.Trace, s.on.Space.At(v.Index))
					line.Milliseconds = append(line.Milliseconds, v.Search*1000)
				}
				if err := out.Encode(line); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func readSearches(path string, recordings []*recording) ([]searches, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodeSearches(f, recordings)
}

// decodeSearches reads searches of any tuner, in the form of [writeSearches]; a configuration may be asked for again. They are in
// the order of strategies and recordings. It is an error if a strategy has no trace of one of the records.
func decodeSearches(r io.Reader, recordings []*recording) ([]searches, error) {
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
		name, at, trace, err := readTrace(line, recordings)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if traces[name] == nil {
			names, traces[name] = append(names, name), make([][]Trace, len(recordings))
		}
		traces[name][at] = append(traces[name][at], trace)
	}
	var all []searches
	for _, name := range names {
		for i, of := range traces[name] {
			if len(of) == 0 {
				return nil, fmt.Errorf("there is no trace of %s on the record %s", name, recordings[i].Name)
			}
			all = append(all, searches{name, recordings[i], of})
		}
	}
	return all, nil
}

// readTrace reads a line. Milliseconds may be missing where only the order counts, as in the traces of ndtune simulate.
func readTrace(line []byte, recordings []*recording) (strategy string, at int, trace Trace, err error) {
	var read traceJSON[space.Named]
	if err := json.Unmarshal(line, &read); err != nil {
		return "", 0, nil, fmt.Errorf("a trace is a JSON object: %w", err)
	}
	at = slices.IndexFunc(recordings, func(r *recording) bool { return r.Name == read.Record })
	if at < 0 {
		return "", 0, nil, fmt.Errorf("no record is named %q", read.Record)
	}
	if recordings[at].Objective.Several() && read.Milliseconds == nil {
		read.Milliseconds = make([]float64, len(read.Trace))
	}
	if read.Strategy == "" || len(read.Trace) == 0 || len(read.Milliseconds) != len(read.Trace) {
		return "", 0, nil, errors.New(`want the members "strategy", "record", a "trace" that is not empty, and "milliseconds" for each configuration of it`)
	}
	all := recordings[at].Space
	for n, values := range read.Trace {
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
