package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Kind is what values an option has.
type Kind int

// The kinds.
const (
	Whole  Kind = iota // a whole number from Min to Max
	Real               // a number from Min to Max
	Choice             // one of Choices
)

// An Option is one setting of a strategy.
type Option struct {
	Name     string
	Kind     Kind
	Default  string
	Min, Max float64  // of a number, inclusive; no upper limit where Max is not above Min
	Choices  []string // of a Choice
	Meaning  string
}

// Range says which values an option has: «a whole number from 2».
func (o Option) Range() string {
	noun := map[Kind]string{Whole: "a whole number", Real: "a number"}[o.Kind]
	switch {
	case o.Kind == Choice:
		return "one of " + strings.Join(o.Choices, ", ")
	case o.Max > o.Min:
		return fmt.Sprintf("%s from %g to %g", noun, o.Min, o.Max)
	}
	return fmt.Sprintf("%s from %g", noun, o.Min)
}

// parse reads a value: an int, a float64 or a string by the kind.
func (o Option) parse(text string) (any, error) {
	wrong := fmt.Errorf("%s=%s: want %s", o.Name, text, o.Range())
	switch o.Kind {
	case Choice:
		if !slices.Contains(o.Choices, text) {
			return nil, wrong
		}
		return text, nil
	case Whole:
		n, err := strconv.Atoi(text)
		if err != nil || !o.holds(float64(n)) {
			return nil, wrong
		}
		return n, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !o.holds(x) {
		return nil, wrong
	}
	return x, nil
}

func (o Option) holds(x float64) bool {
	return x >= o.Min && (x <= o.Max || o.Max <= o.Min) && !math.IsInf(x, 0)
}

// values are those of a strategy's options, by name. An option that the strategy does not
// describe is a bug.
type values map[string]any

func (v values) whole(name string) int     { return v[name].(int) }
func (v values) real(name string) float64  { return v[name].(float64) }
func (v values) choice(name string) string { return v[name].(string) }
