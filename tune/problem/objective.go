package problem

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// An Objective is the quantity that a search improves: time, time_min, time_median, an observed quantity such
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
	Choose Expr `json:"-"`
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
	var texts []string
	for _, one := range o.All() {
		texts = append(texts, map[bool]string{false: "minimize ", true: "maximize "}[one.Maximize]+one.Name)
	}
	return strings.Join(texts, ", ")
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
	if n := len(o.All()); n > maxObjectives {
		return o, fmt.Errorf("there are %d objectives, and at most %d are possible", n, maxObjectives)
	}
	return o, nil
}

// Value returns the value of one objective from the metrics of a measurement, and from its times. The argument
// time is that of the measurement: the mean of a search, the median of the final measurement. The value is NaN if it
// is not known.
func (o Objective) Value(times Stats, time float64, metrics []MetricValue) float64 {
	switch o.First().Name {
	case "time":
		return time
	case "time_min":
		return times.Min
	case "time_median":
		return times.Median
	}
	if v, ok := Named(metrics, o.Name); ok {
		return v
	}
	return math.NaN()
}

// compileObjective checks the objectives. The names are those that an objective can have.
func (p *Problem) compileObjective(errs *fieldErrors, names []string) {
	all := p.Objective().All()
	field := func(i int) string {
		if len(all) > 1 {
			return fmt.Sprintf("objective[%d].name", i)
		}
		return "objective.name"
	}
	for i, o := range all {
		switch {
		case !slices.Contains(names, o.Name):
			errs.addf(field(i), "%q is neither time, time_min, time_median nor a metric%s", o.Name, nearest.Hint(o.Name, names))
		case slices.ContainsFunc(all[:i], func(other Objective) bool { return other.Name == o.Name }):
			errs.addf(field(i), "the objective %s stands twice", o.Name)
		case len(all) > 1 && strings.Contains(o.Name, ","):
			errs.addf(field(i), "one of several objectives has no comma in its name: give the metric another name")
		case o.Several() || o.Choose != "":
			errs.addf(field(i), "a further objective has no objectives of its own")
		}
	}
	if len(all) > maxObjectives {
		errs.addf("objective", "there are %d objectives, and at most %d are possible", len(all), maxObjectives)
		return
	}
	_, err := p.Objective().Chooser()
	errs.add("choose", err)
}

// maxObjectives is the largest number of objectives. With more, nearly every configuration belongs to the front.
const maxObjectives = 5

// A Chooser computes the expression of [Objective.Choose].
type Chooser struct {
	objectives []Objective
	expression *expression.Expression
	Condition  bool // it bounds the objectives; else it is a score
}

// bestName is the name of the record of the best values in the expression of a choice.
const bestName = "best"

// Chooser compiles the choice among the front. It returns nil if there is none.
func (o Objective) Chooser() (*Chooser, error) {
	if o.Choose == "" {
		return nil, nil
	}
	if !o.Several() {
		return nil, errors.New("there is nothing to choose: it needs several objectives")
	}
	c := &Chooser{objectives: o.All()}
	ones := slices.Repeat([]float64{1}, len(c.objectives))
	var err error
	if c.expression, err = expression.Compile(o.Choose, c.environment(ones, ones)); err != nil {
		return nil, err
	}
	v, err := c.expression.Eval(c.environment(ones, ones))
	switch v.(type) {
	case bool:
		c.Condition = true
		return c, nil
	case int, float64, nil:
		return c, err
	}
	return nil, fmt.Errorf("%q is neither a condition nor a number", o.Choose)
}

// environment returns the names of the expression with their values.
func (c *Chooser) environment(values, bests []float64) map[string]any {
	env, best := map[string]any{}, map[string]any{}
	for i, o := range c.objectives {
		best[o.Name] = bests[i]
		if space.IsIdentifier(o.Name) {
			env[o.Name] = values[i]
		}
	}
	if _, taken := env[bestName]; !taken {
		env[bestName] = best
	}
	return env
}

// Score returns a number that is less the better the choice likes a configuration. Of a condition, it is 0 if the
// configuration satisfies it, else 1. The values are those of the objectives, and bests are the best values. A score
// that cannot be computed is +Inf.
func (c *Chooser) Score(values, bests []float64) float64 {
	v, err := c.expression.Eval(c.environment(values, bests))
	switch v := v.(type) {
	case bool:
		if v {
			return 0
		}
		return 1
	case int:
		return float64(v)
	case float64:
		if err == nil && !math.IsNaN(v) {
			return v
		}
	}
	return math.Inf(1)
}
