package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// gathered is what the sources hold, by case: a device, or a device and a size.
type gathered struct {
	sources   []Source
	doubts    []string
	objective score.Objective
	names     []string // of the parameters, in order
	devices   []*measured
}

// measured is all that was measured on one device, at one size.
type measured struct {
	identity hardware.Device
	size     string // "": there is one
	listing  string
	sources  []int // indices
	entries  map[string]*entry
	keys     []string // of the entries, in the order of arrival
	least    cost     // of the correct ones, by the measurements that are not in turn
	best     string   // the key of the best; "": none is correct
	own      string   // the key of the best that the searches of this device found; "": none
}

// An entry is one configuration on one device.
type entry struct {
	configuration space.Configuration
	first         *tune.Result // the one that counts: of two results of a configuration the first
	cost          cost         // of first, where it is correct
	finals        []finalTime  // in the order of the sources
}

// finalTime is a measurement that was taken in turn with the others of its source.
type finalTime struct {
	source int
	cost   cost
	tune.Figures
}

func (e *entry) correct() bool { return e != nil && e.first.Status == tune.Correct }

func gather(sources []Source) (*gathered, error) {
	if len(sources) == 0 {
		return nil, errors.New("there is no record to compare")
	}
	sources = slices.Clone(sources)
	after := map[bool]int{false: 1} // searches come first: of two results of a configuration that of a search counts
	slices.SortStableFunc(sources, func(a, b Source) int { return after[a.isSearch()] - after[b.isSearch()] })
	doubts, err := sameProblem(sources)
	if err != nil {
		return nil, err
	}
	g := &gathered{sources: sources, doubts: doubts, objective: sources[0].Record.Header.Objective}
	g.names = each.Of(sources[0].Record.Header.Parameters, func(p space.Parameter) string { return p.Name })
	for i := range sources {
		if err := g.add(i); err != nil {
			return nil, fmt.Errorf("%s: %w", sources[i].Name, err)
		}
	}
	for _, m := range g.devices {
		m.least = math.Inf(1)
		for _, e := range m.entries {
			if e.correct() {
				m.least = math.Min(m.least, e.cost)
			}
		}
		m.own = m.choose(g, func(s *Source) bool { return s.isSearch() })
		m.best = m.choose(g, func(*Source) bool { return true })
	}
	return g, nil
}

// deviceOf finds the device of a source among those that are known, or adds it.
func (g *gathered) deviceOf(s *Source) *measured {
	identity, size := described(s), s.Record.Header.Size
	for _, m := range g.devices {
		if m.size != size {
			continue
		}
		if m.listing != "" && s.Listing != "" {
			if m.listing == s.Listing {
				return m
			}
			continue
		}
		if hardware.SameDevice(m.identity, identity) {
			m.listing = cmp.Or(m.listing, s.Listing)
			return m
		}
	}
	m := &measured{identity: identity, size: size, listing: s.Listing, entries: map[string]*entry{}}
	g.devices = append(g.devices, m)
	return m
}

func (g *gathered) add(i int) error {
	s := &g.sources[i]
	m := g.deviceOf(s)
	m.sources = append(m.sources, i)
	m.identity.Timer = cmp.Or(m.identity.Timer, s.Record.Header.Device.Timer)
	m.identity.Peaks = cmp.Or(m.identity.Peaks, s.Record.Header.Device.Peaks)
	for j := range s.Record.Results {
		r := &s.Record.Results[j]
		key := g.key(r.Configuration)
		e := m.entries[key]
		if e == nil {
			e = &entry{configuration: r.Configuration, first: r}
			if r.Status == tune.Correct {
				var err error
				if e.cost, err = costOf(g.objective, r.Objective); err != nil {
					return fmt.Errorf("%s: %w", r.Configuration, err)
				}
			}
			m.entries[key] = e
			m.keys = append(m.keys, key)
		}
		if f := r.Figures(); f.Final && e.correct() && r.Status == tune.Correct {
			if c, err := costOf(g.objective, f.Objective); err == nil {
				e.finals = append(e.finals, finalTime{i, c, f})
			}
		}
	}
	return nil
}

// key is the values of a configuration in the order of the names, numbers by their value: the
// same for configurations that are the same for a kernel.
func (g *gathered) key(c space.Configuration) string {
	var b strings.Builder
	for _, name := range g.names {
		v, _ := c.Get(name)
		b.WriteString(valueKey(v))
		b.WriteByte(0)
	}
	return b.String()
}

func valueKey(v space.Value) string {
	if f, ok := space.Number(v); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprintf("%q", v)
}

// choose is the key of the best configuration of some sources of a device: of each source the
// winner; of these, one after the other, the one that is better where both were measured in turn,
// and else by what each was measured at.
func (m *measured) choose(g *gathered, counts func(*Source) bool) string {
	best := ""
	for _, i := range m.sources {
		if !counts(&g.sources[i]) {
			continue
		}
		next := m.bestOf(g, i)
		switch {
		case next == "", next == best:
		case best == "", m.better(next, best):
			best = next
		}
	}
	return best
}

// bestOf is the winner of one source, among the results that count; "" where none is correct.
func (m *measured) bestOf(g *gathered, source int) string {
	results := g.sources[source].Record.Results
	for _, i := range tune.Rank(g.objective, results).Indices {
		key := g.key(results[i].Configuration)
		// A cost that cannot be had was refused when the entry was made, or is of a result
		// that does not count.
		if _, err := costOf(g.objective, results[i].Objective); err == nil && m.entries[key].correct() {
			return key
		}
	}
	return ""
}

// better reports whether configuration a is better than b on this device.
func (m *measured) better(a, b string) bool {
	x, y := m.entries[a], m.entries[b]
	if f, g, together := inTurn(x, y); together {
		return f.cost < g.cost
	}
	first, _ := x.latest()
	second, _ := y.latest()
	return first < second
}

// bySearch are the figures of the search.
func (e *entry) bySearch() tune.Figures {
	r := e.first
	return tune.Figures{Time: r.Time(), Judgement: score.Judgement{Metrics: r.Metrics, Objective: r.Objective}}
}

// latest are the cost and the figures of the latest final measurement, else of the search.
func (e *entry) latest() (cost, tune.Figures) {
	if n := len(e.finals); n > 0 {
		return e.finals[n-1].cost, e.finals[n-1].Figures
	}
	return e.cost, e.bySearch()
}

// inTurn is what two configurations took in the latest final measurement that both took part in.
func inTurn(a, b *entry) (x, y finalTime, together bool) {
	for _, f := range slices.Backward(a.finals) {
		for _, h := range b.finals {
			if h.source == f.source {
				return f, h, true
			}
		}
	}
	return x, y, false
}

// A relation is what a correct configuration takes on a device beside the device's best.
type relation struct {
	slowdown float64 // cost / cost of the best, at least 1
	figures  tune.Figures
	inTurn   bool // both were measured in turn, or it is the best itself
}

// relate relates a correct configuration to the best of the device: by what both took in turn.
// Else its measurement is held against the least of its kind, which need not be that of the best:
// one is as likely to have been unlucky as the other. Nothing is better than the best, which
// stands until something is measured in turn with it and is better.
func (m *measured) relate(key string) relation {
	e := m.entries[key]
	if f, h, together := inTurn(e, m.entries[m.best]); together {
		return relation{math.Max(1, f.cost/h.cost), f.Figures, true}
	}
	if key == m.best {
		return relation{1, e.bySearch(), true}
	}
	return relation{e.cost / m.least, e.bySearch(), false}
}

// usable are the indices of the devices that have a best configuration.
func (g *gathered) usable() []int {
	return each.Indices(g.devices, func(m *measured) bool { return m.best != "" })
}

// configuration is one of a key, as any device has it.
func (g *gathered) configuration(key string) space.Configuration {
	for _, m := range g.devices {
		if e := m.entries[key]; e != nil {
			return e.configuration
		}
	}
	return space.Configuration{}
}
