package tune

import (
	"fmt"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

func TestIneffectiveParameters(t *testing.T) {
	d := lineDefinition(3)
	d.Parameters = append(d.Parameters,
		space.Parameter{Name: "code", Values: []space.Value{1, 2}},
		space.Parameter{Name: "launch", Values: []space.Value{1, 2}},
		space.Parameter{Name: "alone", Values: []space.Value{1, 2}})
	d.BlockSize[0] = "launch"
	p := mustProblem(t, d)
	s := mustSpace(t, p)
	var results []Result
	for i := range s.Len() {
		c := s.At(i)
		if c.Int("alone") == 2 { // was never evaluated
			continue
		}
		results = append(results, Result{Configuration: c, Binary: uint64(c.Int("code"))})
	}
	results = append(results, Result{Configuration: s.At(s.Len() - 1)}) // its binary is unknown
	if got := fmt.Sprint(IneffectiveParameters(p, results, hardware.Device{})); got != "[{i 8}]" {
		t.Error(got)
	}
	results[0].Binary = 77
	if got := IneffectiveParameters(p, results, hardware.Device{}); len(got) > 0 {
		t.Error(got)
	}
}
