// Package score says what times are worth: the [Stats] of the launches, the [Objective] of a search, the tolerance of outputs, and the
// [Limit], which is the least time that a device needs for a work.
package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
)

// An Objective is the quantity that a search improves: one of the [TimeNames], an observed quantity such
// as energy, or the name of a metric, including those of the roofline.
type Objective struct {
	Name     string
	Maximize bool

	// More are further objectives, which have neither More nor Choose. A search with several objectives looks
	// for their front: the configurations that no other one dominates. One configuration dominates another
	// if it is better in one objective and worse in none.
	More []Objective `json:",omitempty"`

	// Choose says which configuration of the front is the winner. It is an expression over the names of the
	// objectives and best.NAME, the best value of each objective. A condition is a bound: of the configurations
	// that satisfy it, the best by the first objective wins. A number is a score, and the least one wins. Without
	// Choose, the best by the first objective wins. The digest of a problem does not cover Choose.
	Choose string `json:"-"`
}

// Better reports whether value a of the objective improves on value b: it is smaller where the
// objective is minimised, larger where it is maximised. A value that is not a finite number
// improves on nothing, and every finite number improves on it.
func (o Objective) Better(a, b float64) bool {
	switch {
	case !Finite(a):
		return false
	case !Finite(b):
		return true
	case o.Maximize:
		return a > b
	}
	return a < b
}

// Compare returns a negative number if value a of the objective is better than b.
func (o Objective) Compare(a, b float64) int {
	switch {
	case o.Better(a, b):
		return -1
	case o.Better(b, a):
		return 1
	}
	return 0
}

// Gain returns how many times better a value of the objective is than another. It is not known unless
// both are positive.
func (o Objective) Gain(value, than float64) (ratio float64, known bool) {
	switch {
	case !(value > 0) || !(than > 0):
		return 0, false
	case o.Maximize:
		return value / than, true
	}
	return than / value, true
}

// Worse reports whether a value of the objective is worse than the best by more than a
// factor: larger than factor·best where it is minimised, smaller than best/factor where it
// is maximised. It is false if the best is not positive, if the factor is not more than 1, and if any
// of the three is not a finite number.
func (o Objective) Worse(value, best, factor float64) bool {
	switch {
	case !Finite(value) || !Finite(best) || !Finite(factor) || best <= 0 || factor <= 1:
		return false
	case o.Maximize:
		return value < best/factor
	}
	return value > factor*best
}

// Several reports whether there are further objectives.
func (o Objective) Several() bool { return len(o.More) > 0 }

// First returns the first objective alone.
func (o Objective) First() Objective {
	return Objective{Name: cmp.Or(o.Name, "time"), Maximize: o.Maximize}
}

// All returns each objective alone, the first one first.
func (o Objective) All() []Objective { return append([]Objective{o.First()}, o.More...) }

// Has reports whether one of the objectives has a name.
func (o Objective) Has(name string) bool {
	return slices.ContainsFunc(o.All(), func(one Objective) bool { return one.Name == name })
}

// Equal reports whether two searches have the same objectives, in the same order. They may choose differently.
func (o Objective) Equal(other Objective) bool {
	return o.String() == other.String()
}

// String returns the objectives in the words of [ParseObjectives]: «minimize time, maximize GB/s».
func (o Objective) String() string {
	direction := map[bool]string{false: "minimize ", true: "maximize "}
	return strings.Join(each.Of(o.All(), func(one Objective) string { return direction[one.Maximize] + one.Name }), ", ")
}

// Value returns the value of one objective from the times and the metrics of a measurement. It is NaN if it is not known.
func (o Objective) Value(times Stats, metrics []MetricValue) float64 {
	if v, ok := times.Named(o.First().Name); ok {
		return v
	}
	if v, ok := Named(metrics, o.Name); ok {
		return v
	}
	return math.NaN()
}

// ParseObjectives reads names of objectives, with commas between them: «time, maximize GB/s». Objectives are
// minimised unless «maximize» precedes the name.
func ParseObjectives(text string) (o Objective, err error) {
	for i, part := range strings.Split(text, ",") {
		var one Objective
		one.Name = strings.TrimSpace(part)
		if direction, name, ok := strings.Cut(one.Name, " "); ok && (direction == "minimize" || direction == "maximize") {
			one = Objective{Name: strings.TrimSpace(name), Maximize: direction == "maximize"}
		}
		switch {
		case one.Name == "":
			return o, fmt.Errorf("%q: an objective has no name", text)
		case i == 0:
			o = one
		default:
			o.More = append(o.More, one)
		}
	}
	if n := len(o.All()); n > MaxObjectives {
		return o, fmt.Errorf("there are %d objectives, and at most %d are possible", n, MaxObjectives)
	}
	return o, nil
}

// maxObjectives is the largest number of objectives. With more, nearly every configuration belongs to the front.
const MaxObjectives = 5
