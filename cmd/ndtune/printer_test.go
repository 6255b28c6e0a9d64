package main

import (
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

func TestLinesOfCorrectResults(t *testing.T) {
	parameters, err := space.NewParameters([]space.Parameter{{Name: "block_size_x", Values: []space.Value{16}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := parameters.Configure(map[string]space.Value{"block_size_x": 16})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		verified, earlyStopped bool
		want                   string
	}{
		{true, false, "block_size_x=16, time=2.500ms, GB/s=3.200"},
		{false, false, "block_size_x=16, time=2.500ms, GB/s=3.200, unverified"},
		{true, true, "block_size_x=16, time=2.500ms, GB/s=3.200, measured once"},
		{false, true, "block_size_x=16, time=2.500ms, GB/s=3.200, measured once, unverified"},
	} {
		r := tune.Result{
			Configuration: c, Status: tune.Correct, Times: []float64{2.5}, Verified: test.verified, EarlyStopped: test.earlyStopped,
			Metrics: []problem.MetricValue{{Name: "GB/s", Value: 3.2}},
		}
		got := (&printer{}).line(r)
		if got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if !measuredLine.MatchString(got) {
			t.Errorf("the scripts take %q for no result", got)
		}
	}
}
