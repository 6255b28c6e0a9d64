package space

import (
	"math/bits"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/expression"
)

// A layer is the nodes of a level while a diagram is built.
type layer struct {
	known   []*node // what the nodes stand for: by slot
	keys    *keys   // by node: the slots, and the set of those that failed
	parents []uint32
	digits  []uint16 // the edge from the parent by which the node was made
}

// A step binds one parameter: it makes the next layer of the last.
type step struct {
	values []uint64 // raw, of the parameter; nil where they are of several kinds
	count  int      // of values
	tests  []*test
	known  []*node // of the next layer
	out    []output
	words  int // of a key of the next layer
	budget *budget
	frame  *frame // of all its programs
}

// An output is a slot of the next layer: handed on from a slot of this one, or computed.
type output struct {
	from    int // -1: computed
	program expression.Program
	fails   bool
}

// A test is a condition that the parameter decides, or may decide.
type test struct {
	index   int
	decide  expression.Program // nil: it may decide, by its bounds
	bounds  ranger
	slots   []int // that it reads
	fails   []int // those of them that can fail
	results *keys // by these slots: what it was
	allowed []set
	failed  []set
	key     []uint64 // of results
	memo    bool     // the results are worth keeping: several nodes share them
}

func newStep(p *Parameters, b *nodes, parameter int, known []*node, conditions []condition, bound *budget) *step {
	s := &step{count: len(p.list[parameter].Values), budget: bound, frame: &frame{}}
	if b.parameterNode(parameter) != nil {
		s.values = make([]uint64, s.count)
		for i, v := range p.list[parameter].Values {
			_, s.values[i] = b.raw(v)
		}
	}
	slots := make(map[*node]int, len(known))
	for i, n := range known {
		slots[n] = i
	}
	for _, c := range conditions {
		switch {
		case c.low > parameter: // nothing of it is known
		case c.node.high == parameter:
			s.tests = append(s.tests, newTest(c.index, c.node, slots, parameter, s.frame, true))
		case c.node.high > parameter:
			if c.node.readsParameter(parameter) && c.node.canPrune() {
				s.tests = append(s.tests, newTest(c.index, c.node, slots, parameter, s.frame, false))
			}
			c.node.known(parameter, &s.known)
		}
	}
	// What is decided comes first, in the order of the restrictions.
	slices.SortStableFunc(s.tests, func(a, b *test) int {
		switch {
		case (a.decide == nil) != (b.decide == nil):
			if a.decide != nil {
				return -1
			}
			return 1
		}
		return a.index - b.index
	})
	// The slots that can fail come first, so that the set of those that did is short.
	slices.SortStableFunc(s.known, func(a, b *node) int { return int(expression.Bit(b.fails)) - int(expression.Bit(a.fails)) })
	fails := 0
	for _, n := range s.known {
		o := output{from: -1, fails: n.fails}
		if slot, ok := slots[n]; ok {
			o.from = slot
		} else {
			o.program = compile(n, slots, parameter, s.frame)
		}
		s.out = append(s.out, o)
		fails += int(expression.Bit(n.fails))
	}
	s.words = len(s.out) + len(newSet(fails))
	return s
}

func newTest(index int, n *node, slots map[*node]int, parameter int, of *frame, decides bool) *test {
	t := &test{index: index}
	if decides {
		t.decide = compile(n, slots, parameter, of)
	} else {
		t.bounds = compileBounds(n, slots, parameter, of)
	}
	n.slots(slots, &t.slots)
	t.memo = len(t.slots) < len(slots) || len(slots) == 0
	for known, slot := range slots {
		if known.fails && slices.Contains(t.slots, slot) {
			t.fails = append(t.fails, slot)
		}
	}
	slices.Sort(t.fails)
	t.key = make([]uint64, len(t.slots)+len(newSet(len(t.fails))))
	t.results = newKeys(len(t.key))
	return t
}

// slots adds the slots that the program of a node reads.
func (n *node) slots(of map[*node]int, into *[]int) {
	if slot, ok := of[n]; ok {
		*into = each.AppendNew(*into, slot)
		return
	}
	for _, a := range n.args {
		a.slots(of, into)
	}
}

func (n *node) readsParameter(parameter int) bool {
	if (n.Code == parameterCode || n.Code == digitCode) && n.parameter == parameter {
		return true
	}
	return slices.ContainsFunc(n.args, func(a *node) bool { return a.readsParameter(parameter) })
}

// canPrune reports whether bounds can tell early that a condition is false.
func (n *node) canPrune() bool {
	switch n.Code {
	case expression.Less, expression.LessEqual:
		return true
	case expression.Equal:
		return n.args[0].Kind != expression.String
	case expression.Not, expression.And, expression.Or, expression.If:
		return slices.ContainsFunc(n.args, func(a *node) bool { return a.canPrune() })
	}
	return false
}

// run makes the edges of a layer, and the next layer. It ends early where the budget is spent.
func (s *step) run(at *layer, into *level) (*layer, *failure) {
	next := &layer{known: s.known, keys: newKeys(s.words)}
	into.first = make([]uint32, 0, at.keys.length+1)
	f := s.frame
	key := make([]uint64, s.words)
	allowed := newSet(s.count)
	for node := range at.keys.length {
		if s.budget.spent() {
			return nil, nil
		}
		into.first = append(into.first, uint32(len(into.digits)))
		f.Slots = at.keys.of(node)
		f.bad = set(f.Slots[len(at.known):])
		allowed.fill(s.count)
		for _, t := range s.tests {
			if failed := t.narrow(s, f, allowed); failed >= 0 {
				return nil, &failure{t.index, node, uint16(failed)}
			}
		}
		for w, word := range allowed {
			for ; word != 0; word &= word - 1 {
				digit := w*64 + bits.TrailingZeros64(word)
				s.bind(f, digit)
				s.key(f, key)
				child, added := next.keys.add(key)
				if added {
					next.parents, next.digits = append(next.parents, uint32(node)), append(next.digits, uint16(digit))
					s.budget.bytes += nodeBytes + 8*s.words
				}
				into.digits, into.to = append(into.digits, uint16(digit)), append(into.to, child)
				s.budget.bytes += edgeBytes
			}
		}
	}
	into.first = append(into.first, uint32(len(into.digits)))
	return next, nil
}

func (s *step) bind(f *frame, digit int) {
	f.digit, f.Failed = uint64(digit), false
	if s.values != nil {
		f.Value = s.values[digit]
	}
}

// key computes what the node at the end of an edge stands for.
func (s *step) key(f *frame, key []uint64) {
	bad := set(key[len(s.out):])
	clear(bad)
	for i, o := range s.out {
		if o.from >= 0 {
			key[i] = f.Slots[o.from]
			if o.fails && f.bad.has(o.from) {
				bad.add(i)
			}
			continue
		}
		f.Failed = false
		if key[i] = o.program(&f.Frame); f.Failed {
			key[i] = 0
			bad.add(i)
		}
	}
}

// narrow strikes the digits that the test does not allow. It gives a digit for which the
// condition cannot be computed though all tests before it allow it, or -1.
func (t *test) narrow(s *step, f *frame, allowed set) (failed int) {
	if !t.memo {
		return t.apply(s, f, allowed)
	}
	for i, slot := range t.slots {
		t.key[i] = f.Slots[slot]
	}
	bad := set(t.key[len(t.slots):])
	clear(bad)
	for i, slot := range t.fails {
		if f.bad.has(slot) {
			bad.add(i)
		}
	}
	n, added := t.results.add(t.key)
	if added {
		yes, bad := newSet(s.count), newSet(s.count)
		s.budget.bytes += nodeBytes + 8*(len(t.key)+len(yes)+len(bad))
		for digit := range s.count {
			if s.budget.stopped.Load() {
				break // run ends at the next node
			}
			s.bind(f, digit)
			ok := t.holds(f)
			if f.Failed {
				bad.add(digit)
			} else if ok {
				yes.add(digit)
			}
		}
		t.allowed, t.failed = append(t.allowed, yes), append(t.failed, bad)
	}
	for i := range allowed {
		if both := allowed[i] & t.failed[n][i]; both != 0 {
			return i*64 + bits.TrailingZeros64(both)
		}
		allowed[i] &= t.allowed[n][i]
	}
	return -1
}

// apply is narrow for a node that shares its results with no other.
func (t *test) apply(s *step, f *frame, allowed set) (failed int) {
	for w, word := range allowed {
		for ; word != 0; word &= word - 1 {
			if s.budget.stopped.Load() {
				return -1
			}
			digit := w*64 + bits.TrailingZeros64(word)
			s.bind(f, digit)
			ok := t.holds(f)
			if f.Failed {
				return digit
			}
			if !ok {
				allowed[w] &^= 1 << (digit % 64)
			}
		}
	}
	return -1
}

// holds reports whether the condition holds, or still may.
func (t *test) holds(f *frame) bool {
	if t.decide != nil {
		return t.decide(&f.Frame) != 0
	}
	b := t.bounds(f)
	if f.Failed { // then nothing is known yet
		f.Failed = false
		return true
	}
	return b[1] > 0
}

// A failure is a condition that cannot be computed at an edge.
type failure struct {
	index int
	node  int
	digit uint16
}

// at finds the values on the way to a failure.
func (f *failure) at(parameters []int, history []*layer) *failedCondition {
	c := &failedCondition{index: f.index, digits: map[int]uint16{}}
	node, digit := uint32(f.node), f.digit
	for i := len(history) - 1; i >= 0; i-- {
		c.digits[parameters[i]] = digit
		if i > 0 {
			digit = history[i].digits[node]
			node = history[i].parents[node]
		}
	}
	return c
}

// A ranger computes the bounds of a node of which not all is known.
type ranger func(f *frame) expression.Bounds

func compileBounds(n *node, slots map[*node]int, parameter int, of *frame) ranger {
	_, inSlot := slots[n]
	switch {
	case inSlot || n.high <= parameter:
		compute, k := compile(n, slots, parameter, of), n.Kind
		return func(f *frame) expression.Bounds {
			raw := compute(&f.Frame)
			if k == expression.String {
				return expression.Unbounded
			}
			v := numeric(k, raw)
			return expression.BoundsOf(k, v, v)
		}
	case len(n.args) == 0, len(n.args) > 3, n.Code == expression.In, n.Code == opaqueCode:
		return func(*frame) expression.Bounds { return n.bounds }
	}
	var args [3]ranger
	for i, a := range n.args {
		args[i] = compileBounds(a, slots, parameter, of)
	}
	count := len(n.args)
	if count == 2 { // most are
		return func(f *frame) expression.Bounds {
			b := [2]expression.Bounds{args[0](f), args[1](f)}
			return n.Operation.Bounds(b[:])
		}
	}
	return func(f *frame) expression.Bounds {
		var b [3]expression.Bounds
		for i := range count {
			b[i] = args[i](f)
		}
		return n.Operation.Bounds(b[:count])
	}
}

// keys numbers the distinct keys of a fixed number of words in the order in which they are
// added: a hash table with open addressing.
type keys struct {
	words  int
	all    []uint64 // by number
	length int
	table  []uint32 // hash table: a number + 1, or 0
}

func newKeys(words int) *keys { return &keys{words: words, table: make([]uint32, 64)} }

// of is the key of a number.
func (k *keys) of(n int) []uint64 { return k.all[n*k.words : (n+1)*k.words] }

// add is the number of a key, and whether it is new.
func (k *keys) add(key []uint64) (number uint32, added bool) {
	if 2*k.length >= len(k.table) {
		k.grow()
	}
	mask := uint32(len(k.table) - 1)
	for at := hash(key) & mask; ; at = (at + 1) & mask {
		n := k.table[at]
		if n == 0 {
			k.table[at] = uint32(k.length + 1)
			k.all = append(k.all, key...)
			k.length++
			return uint32(k.length - 1), true
		}
		if slices.Equal(k.of(int(n-1)), key) {
			return n - 1, false
		}
	}
}

func (k *keys) grow() {
	k.table = make([]uint32, 2*len(k.table))
	mask := uint32(len(k.table) - 1)
	for n := range k.length {
		at := hash(k.of(n)) & mask
		for k.table[at] != 0 {
			at = (at + 1) & mask
		}
		k.table[at] = uint32(n + 1)
	}
}

// hash mixes the words (multiplication and shifts, as in splitmix64: Steele et al., OOPSLA
// 2014).
func hash(key []uint64) uint32 {
	h := uint64(len(key))
	for _, w := range key {
		h ^= w
		h *= 0xBF58476D1CE4E5B9
		h ^= h >> 29
	}
	h *= 0x94D049BB133111EB
	return uint32(h >> 32)
}

// A set is some of the numbers from 0 up to a limit, a bit each.
type set []uint64

func newSet(limit int) set { return make(set, (limit+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// fill makes it all numbers below a limit.
func (s set) fill(limit int) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	if r := limit % 64; r != 0 {
		s[len(s)-1] = 1<<r - 1
	}
}
