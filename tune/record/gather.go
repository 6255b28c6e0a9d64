package record

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/space"
)

// A gatherer makes the list of parameters of a file that has none, or an incomplete one,
// from the configurations in it.
type gatherer struct {
	parameters []space.Parameter
	index      map[string]int
	seen       []map[string]bool      // the JSON of values
	texts      []map[string]bool      // the text of values
	values     []map[space.Value]bool // numbers as float64
}

func newGatherer(names []string) *gatherer {
	g := &gatherer{index: map[string]int{}}
	for _, name := range names {
		g.name(name)
	}
	return g
}

func (g *gatherer) name(name string) int {
	i, ok := g.index[name]
	if !ok {
		i = len(g.parameters)
		g.index[name] = i
		g.parameters = append(g.parameters, space.Parameter{Name: name})
		g.seen = append(g.seen, map[string]bool{})
		g.texts = append(g.texts, map[string]bool{})
		g.values = append(g.values, map[space.Value]bool{})
	}
	return i
}

// value adds a value to parameter i unless it has it.
func (g *gatherer) value(i int, raw []byte) error {
	if g.seen[i][string(raw)] {
		return nil
	}
	v, err := parseValue(raw)
	if err != nil {
		return fmt.Errorf("parameter %s: %w", g.parameters[i].Name, err)
	}
	g.seen[i][string(raw)] = true
	text, same := space.FormatValue(v), v
	if _, isText := v.(string); !isText {
		same = asFloat(v)
	}
	if !g.texts[i][text] && !g.values[i][same] { // no value that is the same for a kernel
		g.texts[i][text], g.values[i][same] = true, true
		g.parameters[i].Values = append(g.parameters[i].Values, v)
	}
	return nil
}

// sort puts the values of parameters that have nothing but numbers in ascending order.
func (g *gatherer) sort() {
	for _, p := range g.parameters {
		if slices.ContainsFunc(p.Values, func(v space.Value) bool { return !isNumber(v) }) {
			continue
		}
		slices.SortStableFunc(p.Values, func(a, b space.Value) int { return cmp.Compare(asFloat(a), asFloat(b)) })
	}
}

func isNumber(v space.Value) bool {
	switch v.(type) {
	case int, float64:
		return true
	}
	return false
}

func asFloat(v space.Value) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
	}
	return 0
}
