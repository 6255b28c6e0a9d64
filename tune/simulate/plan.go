// Package simulate runs search strategies on recorded spaces. As every configuration has been
// measured before, a search takes microseconds, needs no device, and can be repeated until
// the mean no longer depends on luck.
//
// Its types: a [Plan] repeats searches on a [Recording] and makes a [Curve] of each strategy.
//
// A [Recording] is a record prepared for simulations. [Run] repeats each strategy on each
// recording, on all cores, and summarises the repeats as a [Curve]: the mean quality of the
// best configuration found, after each evaluation. Quality is the best value of the objective
// in the record divided by the best one found (the inverse if the objective is maximised). It
// is 1 for the best configuration, and 0 until a correct configuration is found. With several
// objectives there is no quality, but a trace of each search. A failed configuration counts as an
// evaluation, as it does on a device.
//
// A [Curve] compares strategies by number of evaluations, and does not account for the time that
// strategies and evaluations take. The program scripts/score compares them by that time.
package simulate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A Plan is the input of [Run]: every strategy is simulated on every recording. Names must be
// unique.
type Plan struct {
	Strategies     []Strategy
	Recordings     []*Recording
	MaxEvaluations int // of each search, at least 1
	Repeats        int // searches of each strategy on each recording, at least 1
	Seed           uint64

	// Batch is the number of configurations that a strategy is asked for at a time. It is told
	// of all of them before it is asked again. 0 means 1, a sequential search.
	Batch int

	Workers int // goroutines; 0: GOMAXPROCS

	// OnRepeats, if not nil, is called with the number of searches done since the last call. It
	// is called by several goroutines at once.
	OnRepeats func(n int)

	// Traces, if not nil, is set to the configurations that every search evaluated, by their indices and in order: ordered by
	// strategy, recording and repeat. See [EncodeTraces].
	Traces *[][]int
}

// check returns an error if the plan cannot be simulated.
func (p *Plan) check() error {
	switch {
	case len(p.Strategies) == 0:
		return errors.New("there is no strategy to simulate")
	case len(p.Recordings) == 0:
		return errors.New("there is no record to simulate on")
	case p.MaxEvaluations < 1:
		return fmt.Errorf("a search of %d evaluations finds nothing", p.MaxEvaluations)
	case p.Repeats < 1:
		return fmt.Errorf("%d repeats: there must be at least 1", p.Repeats)
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
		if seen[r.Name] {
			return fmt.Errorf("two records are named %s", r.Name)
		}
		seen[r.Name] = true
	}
	return nil
}

// A Strategy is a strategy to simulate. Name is the name of its curves. New starts a search with
// the seed and the budget in o; [Run] closes the search.
type Strategy struct {
	Name string
	New  func(s *space.Space, o search.Options) (search.Strategy, error)
}

// Named returns a strategy of package search with options. Its name is the one on the command
// line, with sorted options: genetic_algorithm:maxiter=50,popsize=20.
func Named(name string, options map[string]string) Strategy {
	label := name
	if given := slices.Sorted(maps.Keys(options)); len(given) > 0 {
		label += ":" + strings.Join(each.Of(given, func(option string) string { return option + "=" + options[option] }), ",")
	}
	return Strategy{
		Name: label,
		New: func(s *space.Space, o search.Options) (search.Strategy, error) {
			o.Values = options
			return search.New(name, s, o)
		},
	}
}

// seeds gives every repeat of a strategy on a recording its own seed. It depends on the seed of
// the plan, the strategy's name and the recorded objectives, not on the order of strategies and
// recordings, the names of files or the number of repeats.
type seeds uint64

func newSeeds(seed uint64, strategy string, r *Recording) seeds {
	h := fnv.New64a() // whose Write never fails
	_ = binary.Write(h, binary.LittleEndian, seed)
	_, _ = io.WriteString(h, strategy)
	for _, o := range r.Observations {
		_ = binary.Write(h, binary.LittleEndian, math.Float64bits(o.Objective))
		_ = binary.Write(h, binary.LittleEndian, o.More)
	}
	return seeds(h.Sum64())
}

// repeat returns the seed of repeat i, from 0: an element of the sequence of SplitMix64 (Steele,
// Lea, Flood, OOPSLA 2014), whose elements all differ.
func (s seeds) repeat(i int) uint64 {
	z := uint64(s) + (uint64(i)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
