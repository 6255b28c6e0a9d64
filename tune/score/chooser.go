package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// A Chooser computes the expression of [Objective.Choose].
type Chooser struct {
	objectives []Objective
	expression *expression.Expression
	Condition  bool // it bounds the objectives; else it is a score
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
