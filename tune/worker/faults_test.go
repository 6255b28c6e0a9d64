package worker

import (
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// The faults of the faulty problem.
const (
	faultNone    = "none"
	faultSlow    = "slow"
	faultOutput  = "output"
	faultCompile = "compile"
	faultBounds  = "bounds"
	faultGroup   = "group"
	faultLarge   = "large"
	faultLoop    = "loop"
	faultDies    = "dies"
)

// survivable are the faults that a process survives, and none.
var survivable = []string{faultNone, faultSlow, faultOutput, faultCompile, faultBounds, faultGroup, faultLarge}

const faultySource = `
// standin: faulty is index(y, 1, 0); faulty takes 5000 + 1000000 * (fault == slow); build fails "error: no such statement" when fault == compile
// standin: faulty errs at 77 when fault == output; faulty is set(y, 259, 1) when fault == bounds
// standin: faulty hangs when fault == loop; faulty crashes apart when fault == dies; build logs "warning: built anew" when NDTUNE_FRESH_7
#ifndef NDTUNE_FRESH_7
#define NDTUNE_FRESH_7 0
#endif
__kernel
__attribute__((reqd_work_group_size(fault == group ? 7 : 64, 1, 1)))
void faulty(volatile __global float *y, volatile __global int *counter) {
    int i = get_global_id(0);
    float sum = i;
#if fault == compile
    no such statement;
#endif
    for (int n = 0; n < (fault == slow ? 20000 : 0); n++) sum += counter[1]; // is 0
    y[i] = sum;
    if (fault == output && i == 77) y[i] = sum + 0.25f;
    if (fault == bounds && i == 0) y[256 + 3] = 1;
    if (fault == loop && i == 0) while (counter[0] == 0) ;
    if (fault == dies && i == 0) *(volatile __global int *)0x10 = 1;
}
`

// faulty has one configuration for each fault.
func faulty(t testing.TB, faults ...string) *problem.Problem {
	t.Helper()
	if len(faults) == 0 {
		faults = append(append(faults, survivable...), faultLoop, faultDies)
	}
	y := make([]float32, 256)
	for i := range y {
		y[i] = float32(i)
	}
	d := definition.Definition{
		Kernel:      inBoth("faulty", faultySource),
		ProblemSize: []definition.Expr{"256"},
		BlockSize:   [3]definition.Expr{`fault == "large" ? 1000000 : 64`},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "256", Output: true},
			{Name: "counter", Type: "int32", Size: "16"},
		},
		Verify: &definition.Verification{Expected: map[string]any{"y": y}},
	}
	for i, name := range []string{faultNone, faultSlow, faultOutput, faultCompile, faultBounds, faultGroup, faultLarge, faultLoop, faultDies} {
		d.Constants = append(d.Constants, definition.Constant{Name: name, Value: i})
	}
	var values []space.Value
	for _, f := range faults {
		values = append(values, f)
	}
	d.Parameters = []space.Parameter{{Name: "fault", Values: values}}
	return mustProblem(t, d)
}

func faultyValues(t testing.TB, p *problem.Problem, fault string) values {
	t.Helper()
	return valuesOf(configurationOf(t, p, map[string]space.Value{"fault": fault}))
}
