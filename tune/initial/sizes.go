package initial

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
)

// perGroup returns the factors by which the kernel multiplies the index of a work-group, if all their names are known. Only the user
// knows the value of an argument among them.
func (p *proposer) perGroup(axis int) (factors []task.Expr) {
	macros := clc.Macros(p.active)
	for _, factor := range p.function.Indices.PerGroup[axis] {
		if factor == "get_local_size" {
			factor = p.blocks[axis]
		}
		for _, name := range identifier.FindAllString(factor, -1) {
			own := slices.IndexFunc(macros, func(m clc.Macro) bool { return m.Name == name })
			if own >= 0 && !p.isKnown(name) {
				if value, number := literal(macros[own].Text); isInt(number) {
					p.Definition.Constants = append(p.Definition.Constants, task.Constant{Name: name, Value: value})
					p.own = append(p.own, name)
				}
			}
			switch {
			case p.isKnown(name):
			case slices.ContainsFunc(p.Kernel.Arguments, func(a cl.ArgInfo) bool { return a.Name == name }):
				factor = spec.Undecided
			default:
				return nil
			}
		}
		factors = append(factors, factor)
	}
	return factors
}

// isKnown reports whether a name is that of a parameter or a constant.
func (p *proposer) isKnown(name string) bool {
	return p.Defaults[name] != nil || slices.ContainsFunc(p.Definition.Constants, func(c task.Constant) bool { return c.Name == name })
}

func isInt(v space.Value) bool { _, ok := v.(int); return ok }

func isInteger(t array.Type) bool { return t.Scalar() < array.Float16 }

// isSize returns whether a scalar argument is a size of the problem: its name says so, or it bounds an index.
func (p *proposer) isSize(a cl.ArgInfo) (size, bool) {
	t, ok := p.typeOf(a.Type)
	r, axis := roleOf(a.Name)
	x := p.function.Indices
	bounds := slices.Contains(slices.Concat(x.Limits[:]...), a.Name) || p.function.Loops[a.Name] && !hasWord(a.Name, notSize)
	for _, names := range x.Elements {
		bounds = bounds || slices.ContainsFunc(names, func(of []string) bool { return slices.Contains(of, a.Name) })
	}
	known := r == sizeRole || bounds && r == otherRole
	return size{a.Name, axis}, ok && a.Address == cl.AddressPrivate && isInteger(t) && t.Lanes() == 1 && known && !task.Reserved(a.Name)
}

// chooseSizes chooses the size of the problem: arguments that are sizes become constants of the host.
func (p *proposer) chooseSizes() {
	d := &p.Definition
	var scalars []size
	images := 0 // the most dimensions of an image
	for _, a := range p.Kernel.Arguments {
		if s, ok := p.isSize(a); ok && !p.isKnown(a.Name) {
			scalars = append(scalars, s)
		}
		if shape, ok := imageShape(a.Type); ok {
			images = max(images, len(imageAxes[shape]))
		}
	}
	p.rank = max(p.dimensions, min(3, len(scalars)), images)
	value := firstSizes[p.rank-1]
	if len(scalars) > 0 {
		p.sizes = scalars
	} else if len(p.sizes) == 0 {
		p.sizes = []size{{"problem_size_n", -1}}
		p.Remark("constants.problem_size_n", "DECIDE: no argument and no macro has the name of a size.")
		scalars = p.sizes
	} else {
		p.rank = max(p.rank, min(2, len(p.sizes)))
	}
	inLoop := func(s size) bool { return p.function.Loops[s.name] }
	if p.function.Loops["get_global_size"] || slices.ContainsFunc(p.sizes, inLoop) || images > 0 {
		value = [...]int{1 << 10, 256, 64}[p.rank-1] // each work-item loops over a size, or an image has it
	}
	for _, s := range scalars {
		d.Constants = append(d.Constants, task.Constant{Name: s.name, Value: value, Host: true})
	}
	if len(p.Remarks["constants"]) == 0 {
		p.Remark("constants",
			"DECIDE: the sizes of the problem, small for a first try. --set %s=… changes one for a run. A constant with host: true is\n"+
				"no macro of the kernel.", p.sizes[0].name)
	}
	used := map[string]bool{}
	for i := range p.dimensions {
		name := p.limit(i)
		p.GuessedGrid = p.GuessedGrid || name == ""
		again := i == 0 || len(p.sizes) == 1 // a size may be that of several dimensions
		for _, fits := range []func(size) bool{
			func(s size) bool { return s.axis == i && !used[s.name] },
			func(s size) bool { return s.axis < 0 && !used[s.name] && !inLoop(s) },
			func(s size) bool { return p.dimensions > 1 && !used[s.name] && !inLoop(s) },
			func(s size) bool { return again && !inLoop(s) },
			func(s size) bool { return again && !used[s.name] },
			func(size) bool { return again },
		} {
			if at := slices.IndexFunc(p.sizes, fits); name == "" && at >= 0 {
				name = p.sizes[at].name
			}
		}
		used[name] = true
		d.ProblemSize = append(d.ProblemSize, cmp.Or(name, "1"))
	}
	p.Remark("problem_size", "DECIDE: the work-items that the kernel needs in each dimension (before grid_div).")
}

// limit returns the size with which the kernel compares the global index of a dimension, or by which it multiplies the
// rest of an index; "" if the text shows none.
func (p *proposer) limit(axis int) string {
	for _, name := range p.function.Indices.Limits[axis] {
		if p.hasSize(name) {
			return name
		}
	}
	return ""
}

func (p *proposer) hasSize(name string) bool {
	return slices.ContainsFunc(p.sizes, func(s size) bool { return s.name == name })
}

// elements is the number of elements of a buffer, as factors: the bounds of the variables in its index, else a number
// that is enough for most buffers.
func (p *proposer) elements(buffer string) (factors []task.Expr) {
	for _, bound := range p.function.Indices.Elements[buffer] {
		for _, name := range bound {
			if axis := strings.Index("012", name); axis >= 0 && axis < p.dimensions {
				name = p.Definition.ProblemSize[axis]
			}
			if p.hasSize(name) {
				factors = append(factors, name)
				break
			}
		}
	}
	if len(factors) > 0 { // in the order of the sizes
		place := func(name string) int { return slices.IndexFunc(p.sizes, func(s size) bool { return s.name == name }) }
		slices.SortStableFunc(factors, func(a, b task.Expr) int { return place(a) - place(b) })
		return factors
	}
	for _, s := range p.sizes {
		factors = append(factors, s.name)
	}
	if len(factors) > p.rank {
		factors = []string{"max(" + strings.Join(factors, ", ") + ")"}
	}
	for len(factors) < p.rank {
		factors = append(factors, factors[0])
	}
	return factors
}
