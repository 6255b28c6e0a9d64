package problem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/judge"
)

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
		case slices.ContainsFunc(all[:i], func(other judge.Objective) bool { return other.Name == o.Name }):
			errs.addf(field(i), "the objective %s stands twice", o.Name)
		case len(all) > 1 && strings.Contains(o.Name, ","):
			errs.addf(field(i), "one of several objectives has no comma in its name: give the metric another name")
		case o.Several() || o.Choose != "":
			errs.addf(field(i), "a further objective has no objectives of its own")
		}
	}
	if len(all) > judge.MaxObjectives {
		errs.addf("objective", "there are %d objectives, and at most %d are possible", len(all), judge.MaxObjectives)
		return
	}
	_, err := p.Objective().Chooser()
	errs.add("choose", err)
}
