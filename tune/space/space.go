package space

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/ndtune/ndtune/tune/expression"
)

// A Space is the set of valid configurations of a problem, each addressed by an index
// from 0 to Len()-1. It is immutable and safe for concurrent use.
//
// The order is that of an odometer: by the first parameter's value, then the second's,
// each in the order of its list. No list of configurations is held: for each group of
// parameters that restrictions tie together there is a diagram, and an index is a sum over
// its edges. What a space takes grows with what the restrictions have to tell apart, which is
// far less than the configurations.
type Space struct {
	parameters *Parameters
	diagrams   []*diagram
	home       []position    // by parameter
	digits     []map[any]int // by parameter: the index of a value, numbers as floats
	size       *big.Int      // configurations; nil: as many as length
	length     int           // at most math.MaxInt
}

// A position is the diagram and the level of a parameter.
type position struct{ diagram, level int }

// New constructs the space of the configurations that satisfy all restrictions. The
// environment holds the values of constants and of the device by name. A [RestrictionError]
// names an expression that does not compile or that fails for some configuration (a remainder
// by zero), and a restriction that makes the space take more than 1 GiB to construct. A space
// without a single configuration is an [EmptyError]. New returns the context's error soon
// after the context is done.
func New(ctx context.Context, parameters *Parameters, restrictions []Restriction, environment map[string]any) (*Space, error) {
	rules, bad := compileRestrictions(parameters, restrictions, environment)
	if len(bad) > 0 {
		return nil, bad[0]
	}
	s, err := construct(ctx, parameters, rules, environment, maxBytes)
	if err != nil {
		return nil, err
	}
	if s.length == 0 {
		return nil, explainEmpty(ctx, parameters, rules, environment)
	}
	return s, nil
}

// CheckRestrictions compiles the restrictions and constructs nothing. It returns an error for each
// restriction that does not compile.
func CheckRestrictions(parameters *Parameters, restrictions []Restriction, environment map[string]any) []*RestrictionError {
	_, bad := compileRestrictions(parameters, restrictions, environment)
	return bad
}

func compileRestrictions(
	parameters *Parameters, restrictions []Restriction, environment map[string]any,
) (rules []rule, bad []*RestrictionError) {
	scope := make(expression.Scope, len(environment)+parameters.Len())
	maps.Copy(scope, environment)
	parameters.Describe(scope)
	for i, r := range restrictions {
		c, err := compileRestriction(i, r, parameters, scope)
		if err != nil {
			bad = append(bad, &RestrictionError{i, r, err})
			continue
		}
		rules = append(rules, c)
	}
	return rules, bad
}

// Describe adds every parameter to a scope: by its type where all its values have one,
// as a number where ints and floats are mixed, else as any type.
func (p *Parameters) Describe(scope expression.Scope) {
	for _, q := range p.list {
		scope[q.Name] = q.Values[0]
		for _, v := range q.Values[1:] {
			if fmt.Sprintf("%T", v) != fmt.Sprintf("%T", q.Values[0]) {
				scope[q.Name] = nil
			}
		}
	}
}

// construct builds the diagrams of a space, which may be empty, in so many bytes at most.
func construct(ctx context.Context, p *Parameters, rules []rule, environment map[string]any, most int) (*Space, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bound := &budget{most: most}
	defer context.AfterFunc(ctx, func() { bound.stopped.Store(true) })()
	s := &Space{parameters: p, home: make([]position, p.Len())}
	r, err := prepare(p, rules, environment)
	if err != nil {
		return nil, err
	}
	if r.empty >= 0 {
		return s, nil
	}
	count := big.NewInt(1)
	var cannot *failedCondition
	groups := r.groups(p)
	for _, group := range groups {
		d, failed, at := newDiagram(p, r.nodes, group, bound)
		switch {
		case d != nil:
		case bound.stopped.Load():
			return nil, ctx.Err()
		case failed == nil:
			return nil, r.tooLarge(p, group, at, bound)
		default:
			if cannot == nil {
				cannot = failed
			}
			continue // another group may be empty, and then it is never asked
		}
		count.Mul(count, new(big.Int).SetUint64(d.count()))
		if n := len(s.diagrams); len(groups) <= manyGroups || n == 0 || !s.diagrams[n-1].join(d) {
			s.diagrams = append(s.diagrams, d)
		}
	}
	for i, d := range s.diagrams {
		for level, of := range d.parameters {
			s.home[of] = position{i, level}
		}
	}
	if cannot != nil && count.Sign() > 0 {
		return nil, r.cannot(p, cannot, environment)
	}
	s.length = math.MaxInt
	if count.IsInt64() {
		s.length = int(count.Int64())
	} else {
		s.size = count
	}
	s.indexValues()
	if bound.stopped.Load() {
		return nil, ctx.Err()
	}
	return s, nil
}

// indexValues lets values be found by themselves.
func (s *Space) indexValues() {
	s.digits = make([]map[any]int, len(s.parameters.list))
	for i, q := range s.parameters.list {
		s.digits[i] = make(map[any]int, len(q.Values))
		for digit, v := range q.Values {
			if _, twice := s.digits[i][plain(v)]; !twice {
				s.digits[i][plain(v)] = digit
			}
		}
	}
}

// plain is a value as [SameValue] compares it.
func plain(v Value) any {
	if f, ok := Number(v); ok {
		return f
	}
	return v
}

// Parameters are the parameters of the space.
func (s *Space) Parameters() *Parameters { return s.parameters }

// Len is the number of valid configurations that have an index: all, unless they are more
// than the largest int.
func (s *Space) Len() int { return s.length }

// Size is the number of valid configurations, also where it is beyond what an int can hold.
func (s *Space) Size() *big.Int {
	if s.size != nil {
		return new(big.Int).Set(s.size)
	}
	return big.NewInt(int64(s.length))
}

// CartesianSize is the number of combinations before any restriction.
func (s *Space) CartesianSize() *big.Int { return s.parameters.CartesianSize() }

// At is the configuration of index i, which must be in [0, Len()).
func (s *Space) At(i int) Configuration { return combine(s.parameters, s.Row(i, nil)) }

// Row is the configuration of index i as the index of each parameter's value in its list. It
// is written to into, where that is long enough.
func (s *Space) Row(i int, into []int) []int {
	n := len(s.home)
	if cap(into) < n {
		into = make([]int, n)
	}
	into = into[:n]
	w := s.walk()
	rank := uint64(i)
	for p := range into {
		l, node := w.at(p)
		others := w.others(p)
		edge := l.holding(node, rank/others)
		rank -= l.before[edge] * others // the quotient is at least this: no overflow
		into[p] = int(l.digits[edge])
		w.follow(p, edge)
	}
	return into
}

// Index is the index of a configuration, found by its values under its own parameters'
// names; false where the space does not hold it.
func (s *Space) Index(c Configuration) (int, bool) {
	row := make([]int, len(s.home))
	for p, q := range s.parameters.list {
		v, ok := c.Get(q.Name)
		if !ok {
			return 0, false
		}
		if row[p], ok = s.digits[p][plain(v)]; !ok {
			return 0, false
		}
	}
	return s.Find(row)
}

// Indices are those of the configurations that the space holds.
func (s *Space) Indices(configurations []Configuration) (indices []int) {
	for _, c := range configurations {
		if i, ok := s.Index(c); ok {
			indices = append(indices, i)
		}
	}
	return indices
}

// Find is the index of a row; false where the space does not hold it, because an index is, too
// beyond its list.
func (s *Space) Find(row []int) (int, bool) {
	w := s.walk()
	rank := uint64(0)
	for p, digit := range row {
		l, node := w.at(p)
		if digit < 0 || digit > math.MaxUint16 {
			return 0, false
		}
		edge, ok := l.find(node, uint16(digit))
		if !ok {
			return 0, false
		}
		if before := l.before[edge]; before > 0 {
			rank = addCounts(rank, multiplyCounts(before, w.others(p)))
		}
		w.follow(p, edge)
	}
	if rank > math.MaxInt {
		return 0, false // it has no index
	}
	return int(rank), true
}

// All are the configurations with their indices, in order.
func (s *Space) All() iter.Seq2[int, Configuration] {
	return func(yield func(int, Configuration) bool) {
		for i := range s.length {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// Survivors are the values of parameter p that stand in at least one valid configuration.
func (s *Space) Survivors(p int) []Value {
	q := s.parameters.list[p]
	alive := make([]bool, len(q.Values))
	at := s.home[p]
	for _, digit := range s.diagrams[at.diagram].levels[at.level].digits {
		alive[digit] = true
	}
	var values []Value
	for i, v := range q.Values {
		if alive[i] {
			values = append(values, v)
		}
	}
	return values
}

// A walk goes down the diagrams of a space, parameter by parameter, all at once: the order of
// the space is that of the parameters, whatever groups they are in.
type walk struct {
	space *Space
	nodes []uint32 // by diagram, where the walk is
	left  []uint64 // by diagram, the combinations from there
}

func (s *Space) walk() *walk {
	w := &walk{space: s, nodes: make([]uint32, len(s.diagrams)), left: make([]uint64, len(s.diagrams))}
	for i, d := range s.diagrams {
		w.left[i] = d.count()
	}
	return w
}

// at is the level of a parameter, and the node there that the walk has come to.
func (w *walk) at(parameter int) (*level, uint32) {
	home := w.space.home[parameter]
	return &w.space.diagrams[home.diagram].levels[home.level], w.nodes[home.diagram]
}

// others is the number of combinations that all other diagrams have left.
func (w *walk) others(parameter int) uint64 {
	own := w.space.home[parameter].diagram
	n := uint64(1)
	for i, left := range w.left {
		if i != own {
			n = multiplyCounts(n, left)
		}
	}
	return n
}

// follow goes along an edge.
func (w *walk) follow(parameter int, edge uint32) {
	home := w.space.home[parameter]
	levels := w.space.diagrams[home.diagram].levels
	w.nodes[home.diagram] = levels[home.level].to[edge]
	w.left[home.diagram] = 1
	if next := home.level + 1; next < len(levels) {
		w.left[home.diagram] = levels[next].counts[w.nodes[home.diagram]]
	}
}

// Sample is n different indices, uniformly drawn; all of them where there are fewer.
// (Floyd's algorithm: Bentley and Floyd, CACM 30(9), 1987; then shuffled.)
func (s *Space) Sample(n int, r *rand.Rand) []int {
	n = max(0, min(n, s.length))
	drawn := make(map[int]bool, n)
	sample := make([]int, 0, n)
	for j := s.length - n; j < s.length; j++ {
		i := r.IntN(j + 1)
		if drawn[i] {
			i = j
		}
		drawn[i] = true
		sample = append(sample, i)
	}
	r.Shuffle(n, func(i, j int) { sample[i], sample[j] = sample[j], sample[i] })
	return sample
}
