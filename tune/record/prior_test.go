package record

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// TestPriorFor takes a record of an older source, which had a constant that is now a parameter with one value, for a space that has
// other values.
func TestPriorFor(t *testing.T) {
	parameters := func(list ...space.Parameter) *space.Parameters {
		p, err := space.NewParameters(list)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	x := space.Parameter{Name: "x", Values: []space.Value{1, 2, 4}}
	own := parameters(x)
	r := &Record{Header: Header{Parameters: []space.Parameter{x}, Objective: score.Objective{Name: "time"}}}
	for i, v := range x.Values {
		c, err := own.Configure(map[string]space.Value{"x": v})
		if err != nil {
			t.Fatal(err)
		}
		result := tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{2}, Metrics: []score.MetricValue{{Name: "rate", Value: float64(10 * i)}}}
		if i == 2 {
			result = tune.Result{Configuration: c, Status: tune.Compile, Reason: "it failed"}
		}
		r.Results = append(r.Results, result)
	}
	rate := score.Objective{Name: "rate", Maximize: true}
	wanted := parameters(space.Parameter{Name: "x", Values: []space.Value{2, 8}}, space.Parameter{Name: "unroll", Values: []space.Value{1}})
	p, err := r.Prior("p", wanted, rate)
	if err != nil || len(p.Entries) != 3 || p.Name != "p" {
		t.Fatalf("%+v, %v", p, err)
	}
	for i, want := range []struct {
		text      string
		objective float64
		valid     bool
	}{{"x=1, unroll=1", 0, true}, {"x=2, unroll=1", -10, true}, {"x=4, unroll=1", 0, false}} {
		e := p.Entries[i]
		if e.Configuration.String() != want.text || e.Valid != want.valid || want.valid && e.Objective != want.objective {
			t.Errorf("entry %d is %+v, want %+v", i, e, want)
		}
	}
	for says, wanted := range map[string]*space.Parameters{
		"it has no parameter y":                           parameters(x, space.Parameter{Name: "y", Values: []space.Value{1, 2}}),
		"it has a parameter x, which the problem has not": parameters(space.Parameter{Name: "unroll", Values: []space.Value{1}}),
	} {
		if _, err := r.Prior("p", wanted, rate); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if _, err := r.Prior("p", own, score.Objective{Name: "energy"}); err == nil || !strings.Contains(err.Error(), "it has no energy") {
		t.Error(err)
	}
}
