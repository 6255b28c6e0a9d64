package space

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// maxBytes bounds the memory that a construction uses, counting what it frees as it goes.
// Known spaces of the field use less than a tenth.
const maxBytes = 1 << 30

// The bytes of an edge (digits, to and before of its level) and, beside the words of its key,
// of a node (first and counts, a slot in the hash table, and the way back).
const (
	edgeBytes = 14
	nodeBytes = 32
)

// A budget bounds a construction.
type budget struct {
	stopped     atomic.Bool // the context is done
	bytes, most int
}

func (b *budget) spent() bool { return b.bytes > b.most || b.stopped.Load() }

var errLarge = errors.New("the search space is too large")

// tooLarge is the error for a budget that was spent at a parameter of a group: it names the
// restrictions whose parts the diagram has to tell apart there, and the parameters that they read.
func (r *restrictions) tooLarge(p *Parameters, g *group, parameter int, bound *budget) error {
	reads := map[int]bool{}
	var indices []int
	for _, c := range g.conditions {
		if c.low <= parameter && parameter <= c.node.high && !slices.Contains(indices, c.index) {
			indices = append(indices, c.index)
			c.node.reads(reads)
		}
	}
	if len(indices) == 0 {
		return fmt.Errorf("%w: its parameters take more than %d MiB; give them fewer values", errLarge, bound.most>>20)
	}
	var names, others []string
	for i, name := range p.names {
		if reads[i] {
			names = append(names, name)
		}
	}
	subject := "it ties"
	if len(indices) > 1 {
		for _, i := range indices[1:] {
			others = append(others, fmt.Sprintf("restrictions[%d]", i))
		}
		subject = "with " + excerpt.Of(strings.Join(others, ", ")) + " it ties"
	}
	c := r.of(indices[0])
	return &RestrictionError{c.index, c.restriction, fmt.Errorf(
		"%w: %s %s together, which takes more than %d MiB; give these parameters fewer values, or restrict fewer of them at a time",
		errLarge, subject, excerpt.Of(strings.Join(names, ", ")), bound.most>>20)}
}
