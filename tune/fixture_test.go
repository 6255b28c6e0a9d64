package tune

import (
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// line is a problem with n configurations, i = 0 … n − 1.
func line(t testing.TB, n int) *problem.Problem {
	t.Helper()
	return mustProblem(t, lineDefinition(n))
}

func lineDefinition(n int) definition.Definition {
	values := make([]space.Value, n)
	for i := range values {
		values[i] = i
	}
	return definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: " "}, ProblemSize: []definition.Expr{"1"},
		Parameters: []space.Parameter{{Name: "i", Values: values}},
	}
}

func mustProblem(t testing.TB, d definition.Definition) *problem.Problem {
	t.Helper()
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustSpace(t testing.TB, p *problem.Problem) *space.Space {
	t.Helper()
	s, err := p.Space(t.Context(), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
