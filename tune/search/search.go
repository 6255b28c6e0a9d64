// Package search implements search strategies, which decide the order in which configurations
// are evaluated. A strategy is an ask/tell proposer over the indices of a space. It knows
// nothing of kernels, devices and time, and it evaluates nothing itself.
//
// Its types: a [Strategy] is asked and told, a [Description] makes one from [Options].
//
// A strategy consists of a [Description] and an algorithm. The algorithm is either a proposer,
// with the methods of a strategy, or the program of a team of walkers, which calls evaluate
// like any function. The following holds for all strategies: the user's start configurations
// come first, no configuration is proposed twice, known configurations cost nothing, and a
// search ends when the space is exhausted, not when its algorithm has converged.
//
// All strategies use the places of values in their parameters' lists as coordinates. Lists
// should be sorted if their values have an order.
//
// # Reasons
//
// auto, the default, is a Gaussian process over the logarithm of the objective. The model describes a numeric value by its logarithm and
// by the number of times that 2 divides it: hardware favours powers of two, and a smooth function of block_size_x cannot show that. A
// model with the same covariance function learns which configurations may fail. Spaces of more than 10,000 configurations are sampled,
// with the neighbours of the best. With several objectives there is a model for each; strategies that compare configurations by one
// number are refused then, because a weighted sum finds no hollow of a front.
//
// auto can be asked for many proposals before it is told a result. Those under way lessen the model's doubt about their surroundings, and
// the model believes of them what it predicts now. With 16 of 200 under way, that finds .967 of the best after 100 evaluations, in the mean of
// 50 searches of each of the hub's recorded spaces; one at a time finds .979. A belief that stays that of the proposal (Ginsbourger et al., 2010)
// finds .937, because the model was worse then and its targets had another scale; constant liars of the same source find .957 (the mean), .938 (the
// worst) and .931 (the best). As so little is lost, local penalties (González et al., 2016) and Thompson sampling (Kandasamy et al., 2018) were
// not tried.
//
// A sequential strategy is a plain function that runs as a coroutine in a team, which turns the function into an ask/tell proposer.
// While a walk waits and evaluators are idle, the team proposes the walk's likely next steps, then starts another walk. Members of
// populations are walkers too, so none waits for the slowest one.
//
// Defaults were chosen on the four recorded spaces of the benchmark hub and ten synthetic ones, and held on 24 other synthetic spaces.
package search

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/space"
)

// An Observation is the outcome of a proposed configuration.
type Observation struct {
	Index     int     // of the configuration in the space
	Objective float64 // to be minimised; meaningless unless Valid
	Valid     bool    // the configuration is correct and has an objective

	// More are the further objectives, to be minimised, as many as [Options.Objectives] says.
	More []float64

	// Status is the status of the result, in the words of the T4 format. The strategies of this package need only Valid.
	Status string
}

// A Strategy proposes configurations, by their index in the space.
//
// Ask proposes at most n configurations that it has not proposed before. If it returns none
// while observations are due, the caller must wait for results; if none are due, the space is
// exhausted. Tell reports observations, in any order. Close releases the strategy's resources;
// afterwards Ask returns nothing. The proposals depend only on the seed and on the sequence of
// calls. A Strategy is not safe for concurrent use.
type Strategy interface {
	Ask(n int) []int
	Tell(observations []Observation)
	Close()
}

// A Consulted is a Strategy that may fail, because it asks something outside of this package for its proposals, or that may take long.
// Callers ask it through [Ask].
type Consulted interface {
	Strategy
	// Consult is Ask, with an error if there are no proposals because the strategy cannot go on, or because ctx is done. After an error,
	// the strategy proposes nothing more.
	Consult(ctx context.Context, n int) ([]int, error)
}

// Ask asks a strategy for at most n proposals: see [Strategy] and [Consulted].
func Ask(ctx context.Context, s Strategy, n int) ([]int, error) {
	if c, ok := s.(Consulted); ok {
		return c.Consult(ctx, n)
	}
	return s.Ask(n), nil
}

// Options configure a strategy. The zero value selects the strategy's defaults.
type Options struct {
	Seed   uint64
	Budget int               // limit of proposals; 0: unknown
	Start  []int             // indices to propose first, in this order, and to start the search from
	Values map[string]string // values of the strategy's own options, by name; see [Description]

	// Objectives is the number of objectives. With several, only some strategies can search: those that aim for the
	// front, the configurations that no other one dominates, and those that learn nothing. 0 means 1.
	Objectives int

	// Priors are known results of the same problem elsewhere. Only some strategies learn from them, and they need a
	// single objective.
	Priors []Prior
}

// A setting is what the proposer of a strategy is made from.
type setting struct {
	space  *space.Space
	memory *memory
	rng    *rand.Rand
	budget int   // see [Options]
	start  []int // without duplicates; the session proposes these
	values values

	objectives int // 1 or more
	rankings   []*ranking
}

// A proposer decides which configuration to evaluate next. Its method next claims the configuration
// in the memory. It may return false before the space is exhausted: if no observations are due, the
// session then draws a random configuration.
type proposer interface {
	next() (int, bool)
}

// A learner is a proposer whose proposals depend on observations. The memory notes an observation
// before the learner sees it.
type learner interface {
	proposer
	observe(o Observation)
}

// Names returns the names of all strategies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(strategies)) }

// those returns the names of the strategies of a property, for messages.
func those(has func(Description) bool) string {
	return strings.Join(slices.DeleteFunc(Names(), func(name string) bool { return !has(strategies[name]) }), ", ")
}

// CheckPriors returns the error that [New] would return for a name and priors.
func CheckPriors(name string, objectives int) error {
	switch d := strategies[name]; {
	case objectives > 1:
		return fmt.Errorf("a prior helps to improve one objective, and there are %d", objectives)
	case !d.Priors:
		return fmt.Errorf("the strategy %s learns nothing from a prior: use %s", name, those(func(d Description) bool { return d.Priors }))
	}
	return nil
}

// Check returns the error that [New] would return for a name, values of options and a number of objectives.
func Check(name string, values map[string]string, objectives int) error {
	_, _, err := find(name, values, objectives)
	return err
}

// find returns the named strategy and the parsed values of its options.
func find(name string, given map[string]string, objectives int) (Description, values, error) {
	d, ok := strategies[name]
	if !ok {
		return d, nil, fmt.Errorf("no strategy is named %q%s (there are %s)", name, nearest.Hint(name, Names()), strings.Join(Names(), ", "))
	}
	v, err := d.parse(given)
	if err == nil && objectives > 1 && !d.Several {
		able := those(func(d Description) bool { return d.Several })
		err = fmt.Errorf("the strategy %s improves one objective, and there are %d: use %s", name, objectives, able)
	}
	return d, v, err
}

// New returns the named strategy over a space. It is an error if the name or an option is
// unknown, if an option cannot have the given value, if the strategy cannot search with so many objectives, or if a
// start index is not in the space.
func New(name string, s *space.Space, o Options) (Strategy, error) {
	d, v, err := find(name, o.Values, o.Objectives)
	if err != nil {
		return nil, err
	}
	start := make([]int, 0, len(o.Start))
	for _, i := range o.Start {
		if i < 0 || i >= s.Len() {
			return nil, fmt.Errorf("start at configuration %d: the space has %d", i, s.Len())
		}
		if !slices.Contains(start, i) {
			start = append(start, i)
		}
	}
	m := newMemory(s.Len(), rand.New(rand.NewPCG(o.Seed, 0)))
	if o.Objectives > 1 {
		m.several = o.Objectives
	}
	var rankings []*ranking
	if len(o.Priors) > 0 {
		if err := CheckPriors(name, o.Objectives); err != nil {
			return nil, err
		}
	}
	for _, prior := range o.Priors {
		r, err := newRanking(s, prior)
		if err != nil {
			return nil, err
		}
		rankings = append(rankings, r)
	}
	p := d.make(setting{
		rankings: rankings, space: s, memory: m, rng: rand.New(rand.NewPCG(o.Seed, 1)), budget: o.Budget, start: start, values: v,
		objectives: max(1, o.Objectives),
	})
	return &session{memory: m, start: start, proposer: p}, nil
}

// strategies holds all strategies by name.
var strategies = map[string]Description{}

func init() {
	for _, d := range []Description{
		autoStrategy, bayesOptStrategy, bruteForceStrategy, randomSampleStrategy,
		geneticAlgorithmStrategy, diffEvoStrategy, psoStrategy, fireflyStrategy,
		simulatedAnnealingStrategy, dualAnnealingStrategy, basinhoppingStrategy, greedyILSStrategy,
		greedyMLSStrategy, mlsStrategy, nsga2Strategy, priorRankingStrategy,
	} {
		strategies[d.Name] = d
	}
}

// A session is a [Strategy] made of a proposer. It implements what all strategies share.
type session struct {
	memory   *memory
	start    []int // not proposed yet
	proposer proposer
	closed   bool
}

func (s *session) Consult(ctx context.Context, n int) ([]int, error) {
	s.memory.ctx = ctx
	proposed := s.Ask(n)
	if err := ctx.Err(); err != nil {
		s.closed = true // a model may be half fitted
		return nil, err
	}
	return proposed, nil
}

func (s *session) Ask(n int) []int {
	if s.closed || n <= 0 {
		return nil
	}
	var proposed []int
	for len(s.start) > 0 && len(proposed) < n {
		if s.memory.claim(s.start[0]) {
			proposed = append(proposed, s.start[0])
		}
		s.start = s.start[1:]
	}
	for len(proposed) < n && !s.memory.exhausted() {
		i, ok := s.proposer.next()
		if !ok {
			break
		}
		proposed = append(proposed, i)
	}
	if len(proposed) == 0 && s.memory.due() == 0 {
		if i, ok := s.memory.draw(); ok {
			proposed = append(proposed, i)
		}
	}
	return proposed
}

func (s *session) Tell(observations []Observation) {
	if s.closed {
		return
	}
	for _, o := range observations {
		if l, learns := s.proposer.(learner); s.memory.note(o) && learns {
			l.observe(o)
		}
	}
}

func (s *session) Close() {
	s.closed = true
	if t, ok := s.proposer.(*team); ok {
		t.close()
	}
}

// Learns reports whether the proposals of a strategy depend on the observations. It returns true
// for a strategy of another package.
func Learns(s Strategy) bool {
	own, ok := s.(*session)
	if !ok {
		return true
	}
	_, learns := own.proposer.(learner)
	return learns
}

// A memory holds what a strategy knows of a space: the configurations that were proposed, and
// their observations. Its size depends on their number, not on the size of the space.
type memory struct {
	ctx      context.Context   // of the proposals that are being made
	length   int               // of the space
	claimed  map[int]bool      // proposed configurations
	claims   []int             // these in order
	known    map[int]float64   // objectives by index; +Inf for a failure
	points   map[int][]float64 // values of all objectives by index, where there are several; +Inf for a failure
	several  int               // number of objectives, if there are several; else 0
	observed []Observation     // in the order of their arrival
	best     int               // index of the best configuration; -1: none is known
	rest     *shuffle          // the order in which unseen configurations are drawn
}

func newMemory(length int, rng *rand.Rand) *memory {
	return &memory{
		ctx: context.Background(), length: length, claimed: map[int]bool{}, known: map[int]float64{}, points: map[int][]float64{}, best: -1,
		rest: &shuffle{rng: rng, moved: map[int]int{}, length: length},
	}
}

// claim marks a configuration as proposed. It returns false if it was proposed before.
func (m *memory) claim(i int) bool {
	if m.claimed[i] {
		return false
	}
	m.claimed[i] = true
	m.claims = append(m.claims, i)
	return true
}

// seen reports whether a configuration was proposed.
func (m *memory) seen(i int) bool { return m.claimed[i] }

// exhausted reports whether every configuration was proposed.
func (m *memory) exhausted() bool { return len(m.claimed) == m.length }

// due returns the number of proposed configurations without an observation.
func (m *memory) due() int { return len(m.claimed) - len(m.known) }

// draw claims a configuration, drawn uniformly from those that were not proposed. It returns
// false if there is none.
func (m *memory) draw() (int, bool) {
	i, ok := m.unseen()
	return i, ok && m.claim(i)
}

// unseen is like draw, but does not claim the configuration: the next call may return it again.
func (m *memory) unseen() (int, bool) {
	for !m.exhausted() {
		i := m.rest.first()
		if !m.seen(i) {
			return i, true
		}
		m.rest.drop()
	}
	return 0, false
}

// objective returns the objective of a configuration, if known: lower is better, +Inf is a
// failure.
func (m *memory) objective(i int) (float64, bool) {
	y, ok := m.known[i]
	return y, ok
}

// point returns the values of all objectives of an observed configuration, all +Inf for a failure.
func (m *memory) point(i int) []float64 {
	if p, several := m.points[i]; several {
		return p
	}
	return []float64{m.known[i]}
}

// note records an observation. It returns false if the configuration was observed before.
func (m *memory) note(o Observation) bool {
	if _, twice := m.known[o.Index]; twice {
		return false
	}
	y := o.Objective
	if !o.Valid || math.IsNaN(y) {
		y = math.Inf(1)
	}
	if m.several > 0 {
		p := append([]float64{y}, o.More...)
		if len(p) != m.several || slices.ContainsFunc(p, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 1) }) {
			p = slices.Repeat([]float64{math.Inf(1)}, m.several)
			y = p[0]
		}
		m.points[o.Index] = p
	}
	m.claimed[o.Index] = true
	m.known[o.Index] = y
	m.observed = append(m.observed, o)
	if m.best < 0 || y < m.known[m.best] {
		m.best = o.Index
	}
	return true
}

// A shuffle is a random permutation of the integers from 0 to length-1: a Fisher-Yates shuffle
// (Durstenfeld, CACM 7(7), 1964) that stores only the places that differ from the identity.
// Time and memory depend on the numbers drawn, not on the length.
type shuffle struct {
	rng    *rand.Rand
	moved  map[int]int
	done   int // how many numbers were dropped
	length int
	drawn  bool // the first number is drawn
}

// first returns the first number that is left.
func (s *shuffle) first() int {
	if !s.drawn {
		j := s.done + s.rng.IntN(s.length-s.done)
		s.moved[j], s.moved[s.done] = s.at(s.done), s.at(j)
		s.drawn = true
	}
	return s.at(s.done)
}

// drop removes the first number.
func (s *shuffle) drop() {
	delete(s.moved, s.done)
	s.done++
	s.drawn = false
}

func (s *shuffle) at(i int) int {
	if j, ok := s.moved[i]; ok {
		return j
	}
	return i
}
