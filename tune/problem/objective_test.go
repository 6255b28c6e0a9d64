package problem

import (
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
)

func TestObjectiveAtRefusesWhatCannotBeRanked(t *testing.T) {
	def := lineDefinition(2)
	def.Metrics = []definition.Metric{{Name: "rate", Expression: "1 / (time - 1)"}}
	def.Objective = score.Objective{Name: "rate", Maximize: true}
	p := mustProblem(t, def)
	c := mustSpace(t, p).At(0)
	for name, times := range map[string][]float64{
		"no launch": nil, "a launch of no time": {1, 0}, "an endless launch": {math.Inf(1)}, "an endless rate": {1},
	} {
		if got, err := p.ObjectiveAt(c, hardware.Device{}, times); err == nil || got != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
