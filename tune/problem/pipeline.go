package problem

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// The sizes of a pipeline are limited.
const (
	maxStages     = 1000
	maxStageDepth = 8
)

// compileStages compiles the launches of the definition. The scope has no names of indices.
func (p compiler) compileStages() {
	d := p.definition
	if len(d.Stages) == 0 {
		s := Step{Kernel: d.Kernel.Name, name: p.compileName("kernel.name", d.Kernel.Name), Shape: p.compileShape("", d.Shape()), Repeated: true}
		s.Arguments = p.compilePlaces("arguments", nil, nil)
		p.stages, p.problemSize = []Step{s}, s.Shape.ProblemSize
		return
	}
	for i, source := range d.ProblemSize {
		p.problemSize = append(p.problemSize, p.compileSize(fmt.Sprintf("problem_size[%d]", i), source))
	}
	if n := len(slices.Collect(definition.Every(d.Stages))); n > maxStages {
		p.addf("kernels", "%d kernels and loops are more than the %d that are taken", n, maxStages)
		return
	}
	if _, taken := p.constants[partTimes]; taken {
		p.addf("constants."+partTimes, "metrics of a pipeline use this name for the times of its kernels")
	} else if _, taken := p.scope[partTimes]; taken {
		p.addf("parameters."+partTimes, "metrics of a pipeline use this name for the times of its kernels")
	}
	p.stages = p.compileList("kernels", d.Stages, nil)
	if len(definition.KernelNames(d.Stages)) == 0 {
		p.addf("kernels", "no kernel is named")
	}
}

// compileList compiles stages within loops with some indices.
func (p compiler) compileList(field string, list []definition.Stage, indices []string) (all []Step) {
	if len(indices) > maxStageDepth {
		p.addf(field, "loops are nested deeper than %d", maxStageDepth)
		return nil
	}
	for i, given := range list {
		all = append(all, p.compileStage(fmt.Sprintf("%s[%d]", field, i), given, indices))
	}
	return all
}

func (p compiler) compileStage(field string, given definition.Stage, indices []string) Step {
	s := Step{Kernel: given.Kernel, Index: given.Index}
	if given.Kernel != "" {
		p.checkName(field+".name", given.Kernel)
		s.name = p.compileName(field+".name", given.Kernel)
	}
	if given.Repeat != "" {
		s.Repeat = p.compile(field+".repeat", given.Repeat, func(e *expression.Expression) error {
			_, err := repetitions(e, p.constants)
			return err
		})
	}
	if given.Swap != [2]string{} {
		s.Swap = p.compileSwap(field+".swap", given.Swap)
	}
	if (given.Index != "" || given.Swap != [2]string{}) && given.Repeat == "" {
		p.addf(field, "index and swap belong to a repeat")
	}
	inner := p
	if given.Index != "" {
		_, taken := p.scope[given.Index]
		if !space.IsIdentifier(given.Index) || taken || definition.Reserved(given.Index) {
			p.addf(field+".index", "%q is no new name", given.Index)
			return s
		}
		inner.scope = maps.Clone(p.scope)
		inner.scope[given.Index] = 0
	}
	indices = append(indices[:len(indices):len(indices)], given.Index) // "" keeps the depth
	switch {
	case given.Kernel == "" && len(given.Stages) == 0:
		p.addf(field, "give the name of a kernel, or a list of kernels")
	case given.Kernel != "" && len(given.Stages) > 0:
		p.addf(field, "is a kernel or a list of kernels, not both")
	case given.Kernel == "":
		if given.Arguments != nil || !given.Shape.IsZero() {
			p.addf(field, "sizes and arguments belong to the kernels of the list")
		}
		s.Steps = inner.compileList(field+".kernels", given.Stages, indices)
		return s
	}
	inner.fieldErrors = &fieldErrors{}
	s.Shape = inner.compileShape(field+".", given.Shape.Or(p.definition.Shape()))
	p.addShapeFaults(inner.errs, field+".", given)
	s.Arguments = p.compilePlaces(field+".arguments", given.Arguments, indices)
	s.Repeated = !slices.ContainsFunc(s.Shape.Expressions(), p.readsIndex) && !slices.ContainsFunc(s.Arguments, func(i int) bool {
		return slices.ContainsFunc(p.arguments[i].Values(), p.readsIndex)
	})
	return s
}

// addShapeFaults adds the faults of the index space of a stage. Those of keys that it takes from the definition are
// faults of the definition's keys, and are added once for all stages.
func (p compiler) addShapeFaults(faults []error, prefix string, s definition.Stage) {
	own := s.Has()
	own["problem_size"] = own["problem_size"] || p.definition.ProblemSize == nil
	for _, err := range faults {
		fault := err.(*definition.FieldError)
		field := strings.TrimPrefix(fault.Field, prefix)
		if end := strings.IndexAny(field, ".["); !own[field[:max(end, 0)]] && end > 0 {
			fault = &definition.FieldError{Field: field, Err: fault.Err}
		}
		if !slices.ContainsFunc(p.errs, func(e error) bool { return e.Error() == fault.Error() }) {
			p.errs = append(p.errs, fault)
		}
	}
}

// compilePlaces returns the arguments of a kernel by their names; without names, all of them. It is an
// error if one reads the index of a loop that does not hold the kernel.
func (p compiler) compilePlaces(field string, names, indices []string) (places []int) {
	switch {
	case names == nil:
		for _, a := range p.arguments {
			if a.Kind != definition.SymbolArgument {
				names = append(names, a.Name)
			}
		}
	case len(names) == 0:
		p.addf(field, "the list is empty; without a list, the kernel takes all arguments")
	}
	for _, name := range names {
		i := p.place(name)
		if i < 0 {
			p.add(field, p.unknownArgument(name))
			continue
		}
		if p.arguments[i].Kind == definition.SymbolArgument {
			p.addf(field, "%s is a symbol of the source, which no kernel takes as an argument", name)
		}
		places = append(places, i)
		for _, index := range p.indices {
			reads := func(e *expression.Expression) bool { return e.Reads(index) }
			if !slices.Contains(indices, index) && slices.ContainsFunc(p.arguments[i].Values(), reads) {
				p.addf(field, "the value of %s reads %s, which no loop around this kernel counts", name, index)
			}
		}
	}
	for k, i := range places {
		if a := p.arguments[i]; p.language == source.CUDA && a.Kind == definition.LocalArgument && k < len(places)-1 {
			p.addf(field, "%s is dynamic shared memory, which a kernel in CUDA C has once: it comes after the other arguments", a.Name)
		}
	}
	return places
}

func (p *Problem) readsIndex(e *expression.Expression) bool {
	return e != nil && len(p.indices) > 0 && e.Reads(p.indices...)
}

// withIndices returns the compiler with the indices of all loops, for the values of scalars and the sizes of local
// memory.
func (p compiler) withIndices() compiler {
	p.scope = maps.Clone(p.scope)
	for _, name := range p.indices {
		if _, taken := p.scope[name]; !taken {
			p.scope[name] = 0
		}
	}
	return p
}

// shapesOf returns the index spaces of all kernels of some stages.
func shapesOf(list []Step) (all []Shape) {
	for _, s := range list {
		if s.Kernel != "" {
			all = append(all, s.Shape)
		}
		all = append(all, shapesOf(s.Steps)...)
	}
	return all
}

// IsPipeline reports whether the problem launches a list of kernels.
func (p *Problem) IsPipeline() bool { return len(p.definition.Stages) > 0 }

// KernelName returns the name of the kernel function. A pipeline has the name that it was given, or those of its
// kernels.
func (p *Problem) KernelName() string {
	if name := p.definition.Kernel.Name; name != "" {
		return name
	}
	return strings.Join(definition.KernelNames(p.definition.Stages), "+")
}

// KernelNames returns the names of the kernel functions, each once.
func (p *Problem) KernelNames() []string {
	if p.IsPipeline() {
		return definition.KernelNames(p.definition.Stages)
	}
	return []string{p.definition.Kernel.Name}
}

// compileShape compiles an index space, whose fields begin with a prefix.
func (p compiler) compileShape(prefix string, given definition.Shape) (s Shape) {
	if n := len(given.ProblemSize); n < 1 || n > 3 {
		p.addf(prefix+"problem_size", "has %d dimensions; want one to three", n)
	}
	for i, text := range given.ProblemSize {
		s.ProblemSize = append(s.ProblemSize, p.compileSize(fmt.Sprintf("%sproblem_size[%d]", prefix, i), text))
	}
	for i, dim := range definition.Dimensions {
		text, field := given.BlockSize[i], prefix+"block_size."+dim
		if name := "block_size_" + dim; text == "" {
			if _, ok := p.scope[name]; !ok {
				continue
			}
			text = name
		}
		number := p.compileSize
		if i == 0 { // 0 leaves the choice to the driver
			number = p.compileCount
		}
		s.BlockSize[i] = number(field, text)
	}
	isDivisor := func(e *expression.Expression) error {
		_, _, err := divisor("the divisor", e, p.constants)
		return err
	}
	for i, dim := range definition.Dimensions {
		for j, text := range given.GridDiv[i] {
			field := fmt.Sprintf("%sgrid_div.%s[%d]", prefix, dim, j)
			s.GridDiv[i] = append(s.GridDiv[i], p.compile(field, text, isDivisor))
		}
		if given.GridDiv[i] == nil && s.BlockSize[i] != nil {
			s.GridDiv[i] = []*expression.Expression{s.BlockSize[i]}
		}
	}
	if len(given.GlobalOffset) > len(given.ProblemSize) {
		p.addf(prefix+"global_offset", "has %d dimensions, problem_size %d", len(given.GlobalOffset), len(given.ProblemSize))
	}
	for i, text := range given.GlobalOffset {
		s.GlobalOffset = append(s.GlobalOffset, p.compileCount(fmt.Sprintf("%sglobal_offset[%d]", prefix, i), text))
	}
	if slices.Contains(p.Languages(), source.CUDA) {
		if given.GlobalOffset != nil {
			p.addf(prefix+"global_offset", "global ids of CUDA C begin with 0")
		}
		if e := s.BlockSize[0]; e != nil && p.fixed(e) {
			if n, err := e.Int(p.constants); err == nil && n == 0 {
				p.addf(prefix+"block_size.x", "%s", noBlockSize)
			}
		}
	}
	return s
}
