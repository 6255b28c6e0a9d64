package diffusion

import (
	"fmt"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
)

// arguments are the places of the two buffers among the kernel's arguments.
type arguments struct{ uNew, u int }

// findArguments refuses a kernel that does not take just the two buffers of a step.
func findArguments(p *tune.Problem) (arguments, error) {
	a := arguments{-1, -1}
	infos := p.Arguments()
	for i, info := range infos {
		if info.Kind != tune.BufferArgument || info.Type != array.Float32 {
			continue
		}
		switch info.Name {
		case "u_new":
			a.uNew = i
		case "u":
			a.u = i
		}
	}
	if len(infos) != 2 || a.uNew < 0 || a.u < 0 {
		return a, fmt.Errorf("%s is no diffusion step: its arguments must be two buffers of float32, u_new and u", p.KernelName())
	}
	return a, nil
}

// checkSizes refuses a field of another size than the kernel was made for.
func checkSizes(p *tune.Problem, v *tune.Variant, a arguments, nx, ny int) error {
	if size := p.FixedProblemSize(); len(size) == 2 && (size[0] != nx || size[1] != ny) {
		return fmt.Errorf("the field has %d × %d cells, the problem %d × %d", nx, ny, size[0], size[1])
	}
	if v.Elements[a.u] != nx*ny || v.Elements[a.uNew] != nx*ny {
		return fmt.Errorf("the field has %d × %d cells, the buffers u_new and u %d and %d elements",
			nx, ny, v.Elements[a.uNew], v.Elements[a.u])
	}
	return nil
}

// TimeStep is the constant dt of a problem, as its kernel has it; ok is false where there is
// none, or none that is a plain number.
func TimeStep(p *tune.Problem) (dt float32, ok bool) {
	for _, c := range p.Definition().Constants {
		if c.Name != "dt" {
			continue
		}
		switch v := c.Number().(type) {
		case float64:
			return float32(v), true
		case int:
			return float32(v), true
		}
	}
	return 0, false
}

// checkConstant refuses a constant dt for which the scheme is unstable. A dt that is no plain
// number is left to the kernel.
func checkConstant(p *tune.Problem) error {
	if dt, ok := TimeStep(p); ok {
		return checkTimeStep(dt)
	}
	return nil
}
