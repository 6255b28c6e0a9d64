package simulate

import (
	"errors"
	"fmt"
)

// A Plan says what [Run] simulates: every strategy on every recording. Names must be unique.
type Plan struct {
	Strategies     []Strategy
	Recordings     []*Recording
	MaxEvaluations int // of each search
	Repeats        int // searches of each strategy on each recording
	Seed           uint64

	// Batch is how many configurations a strategy is asked for at a time; it is told of all
	// of them before it is asked again. 0 stands for 1, a sequential search.
	Batch int

	Workers int // goroutines; 0: as many as Go uses cores

	// OnRepeats is called with the number of searches that were done since the last call,
	// by several goroutines at once.
	OnRepeats func(n int)
}

func (p *Plan) check() error {
	switch {
	case len(p.Strategies) == 0:
		return errors.New("there is no strategy to simulate")
	case len(p.Recordings) == 0:
		return errors.New("there is no record to simulate on")
	case p.MaxEvaluations < 1:
		return fmt.Errorf("a search of %d evaluations finds nothing", p.MaxEvaluations)
	case p.Repeats < 1:
		return fmt.Errorf("%d repeats are none", p.Repeats)
	case p.Batch < 0:
		return fmt.Errorf("a strategy cannot be asked for %d configurations", p.Batch)
	}
	seen := map[string]bool{}
	for _, s := range p.Strategies {
		if seen[s.Name] {
			return fmt.Errorf("the strategy %s stands twice", s.Name)
		}
		seen[s.Name] = true
	}
	clear(seen)
	for _, r := range p.Recordings {
		if seen[r.name] {
			return fmt.Errorf("two records are named %s", r.name)
		}
		seen[r.name] = true
	}
	return nil
}
