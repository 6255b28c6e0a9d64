package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
)

// A Description describes a strategy for help texts, documentation and messages, and makes it.
type Description struct {
	Name    string   `json:"name"`
	Summary string   `json:"summary"`          // one line
	Source  string   `json:"source,omitempty"` // the paper or book that the algorithm comes from
	Options []Option `json:"options"`
	Several bool     `json:"several_objectives"` // it can search with several objectives
	Priors  bool     `json:"priors"`             // it learns from priors
	make    func(setting) proposer
}

// Descriptions returns the descriptions of all strategies, sorted by name.
func Descriptions() []Description {
	return each.Of(Names(), func(name string) Description { return strategies[name] })
}

// parse returns the values of all options: those given as text, and the defaults of the others.
func (d Description) parse(given map[string]string) (values, error) {
	parsed := values{}
	var names []string
	for _, o := range d.Options {
		names = append(names, o.Name)
		text, ok := given[o.Name]
		if !ok {
			text = o.Default
		}
		v, err := o.parse(text)
		if err != nil {
			return nil, fmt.Errorf("the strategy %s: %w", d.Name, err)
		}
		parsed[o.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case slices.Contains(names, name):
		case len(names) == 0:
			return nil, fmt.Errorf("the strategy %s has no option %q: it has none", d.Name, name)
		default:
			return nil, fmt.Errorf("the strategy %s has no option %q%s (options: %s)", d.Name, name, nearest.Hint(name, names), strings.Join(names, ", "))
		}
	}
	return parsed, nil
}

// A Kind is the type of an option's values.
type Kind string

// The kinds.
const (
	Int    Kind = "int"    // an integer from Min to Max
	Float  Kind = "float"  // a number from Min to Max
	Choice Kind = "choice" // one of Choices
)

// An Option is an option of a strategy.
type Option struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Default string   `json:"default"`
	Min     float64  `json:"min"` // of a number, inclusive
	Max     float64  `json:"max"` // of a number, inclusive; no limit unless it is more than Min
	Choices []string `json:"choices,omitempty"`
	Meaning string   `json:"meaning"`
}

// Range describes the values that an option can have: «a whole number from 2».
func (o Option) Range() string {
	noun := "a number"
	if o.Kind == Int {
		noun = "a whole number"
	}
	switch {
	case o.Kind == Choice:
		return "one of " + strings.Join(o.Choices, ", ")
	case o.Max > o.Min:
		return fmt.Sprintf("%s from %g to %g", noun, o.Min, o.Max)
	}
	return fmt.Sprintf("%s from %g", noun, o.Min)
}

// parse returns the value of a text: an int, a float64 or a string, depending on the kind.
func (o Option) parse(text string) (any, error) {
	wrong := fmt.Errorf("%s=%s: want %s", o.Name, text, o.Range())
	switch o.Kind {
	case Choice:
		if slices.Contains(o.Choices, text) {
			return text, nil
		}
	case Int:
		if n, err := strconv.Atoi(text); err == nil && o.holds(float64(n)) {
			return n, nil
		}
	case Float:
		if x, err := strconv.ParseFloat(text, 64); err == nil && o.holds(x) {
			return x, nil
		}
	}
	return nil, wrong
}

// holds reports whether x is within the limits of a number.
func (o Option) holds(x float64) bool {
	return x >= o.Min && (x <= o.Max || o.Max <= o.Min) && !math.IsInf(x, 0)
}

// values are the values of a strategy's options, by name. The methods panic for an option that
// the strategy does not have.
type values map[string]any

func (v values) int(name string) int       { return v[name].(int) }
func (v values) float(name string) float64 { return v[name].(float64) }
func (v values) choice(name string) string { return v[name].(string) }
