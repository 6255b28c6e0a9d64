package problem

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// The sizes of a pipeline are limited.
const (
	maxStages     = 1000
	maxStageDepth = 8
)

// maxLaunches is the largest number of launches of one run.
const maxLaunches = 1 << 16

// A stage is a compiled [Stage]. A problem that is no pipeline has one, of its kernel with all arguments.
type stage struct {
	kernel    string
	shape     *shape
	arguments []int // by place in the kernel
	repeated  bool  // every launch has the same sizes and scalars

	stages []stage
	repeat *expression.Expression // nil: once
	index  string
	swap   [2]int // equal: none
}

// compileStages compiles the launches of the definition. The scope has no names of indices.
func (p *Problem) compileStages(errs *fieldErrors, scope expression.Scope) {
	d := p.definition
	if len(d.Stages) == 0 {
		s := stage{kernel: d.Kernel.Name, shape: p.compileShape(errs, "", d.shape(), scope), repeated: true}
		for i := range p.arguments {
			s.arguments = append(s.arguments, i)
		}
		p.stages, p.problemSize = []stage{s}, s.shape.problemSize
		return
	}
	for i, source := range d.ProblemSize {
		p.problemSize = append(p.problemSize, p.compileSize(errs, fmt.Sprintf("problem_size[%d]", i), source, scope))
	}
	if n := len(slices.Collect(every(d.Stages))); n > maxStages {
		errs.addf("kernels", "%d kernels and loops are more than the %d that are taken", n, maxStages)
		return
	}
	if _, taken := p.constants[partTimes]; taken {
		errs.addf("constants."+partTimes, "metrics of a pipeline use this name for the times of its kernels")
	} else if _, taken := scope[partTimes]; taken {
		errs.addf("parameters."+partTimes, "metrics of a pipeline use this name for the times of its kernels")
	}
	p.stages = p.compileList(errs, "kernels", d.Stages, nil, scope)
	if len(kernelNames(d.Stages)) == 0 {
		errs.addf("kernels", "no kernel is named")
	}
}

// compileList compiles stages within loops with some indices.
func (p *Problem) compileList(errs *fieldErrors, field string, list []Stage, indices []string, scope expression.Scope) (all []stage) {
	if len(indices) > maxStageDepth {
		errs.addf(field, "loops are nested deeper than %d", maxStageDepth)
		return nil
	}
	for i, given := range list {
		all = append(all, p.compileStage(errs, fmt.Sprintf("%s[%d]", field, i), given, indices, scope))
	}
	return all
}

func (p *Problem) compileStage(errs *fieldErrors, field string, given Stage, indices []string, scope expression.Scope) stage {
	s := stage{kernel: given.Kernel, index: given.Index}
	if given.Repeat != "" {
		s.repeat = p.compile(errs, field+".repeat", given.Repeat, scope, func(e *expression.Expression) error {
			_, err := repetitions(e, p.constants)
			return err
		})
	}
	if given.Swap != [2]string{} {
		s.swap = p.compileSwap(errs, field+".swap", given.Swap)
	}
	if (given.Index != "" || given.Swap != [2]string{}) && given.Repeat == "" {
		errs.addf(field, "index and swap belong to a repeat")
	}
	inner := scope
	if given.Index != "" {
		_, taken := scope[given.Index]
		if !space.IsIdentifier(given.Index) || taken || Reserved(given.Index) {
			errs.addf(field+".index", "%q is no new name", given.Index)
			return s
		}
		inner = maps.Clone(scope)
		inner[given.Index] = 0
	}
	indices = append(indices[:len(indices):len(indices)], given.Index) // "" keeps the depth
	switch {
	case given.Kernel == "" && len(given.Stages) == 0:
		errs.addf(field, "give the name of a kernel, or a list of kernels")
	case given.Kernel != "" && len(given.Stages) > 0:
		errs.addf(field, "is a kernel or a list of kernels, not both")
	case given.Kernel == "":
		if given.Arguments != nil || !given.shape().isZero() {
			errs.addf(field, "sizes and arguments belong to the kernels of the list")
		}
		s.stages = p.compileList(errs, field+".kernels", given.Stages, indices, inner)
		return s
	case !space.IsIdentifier(given.Kernel):
		errs.addf(field+".name", "%q is not the name of a kernel function", given.Kernel)
	}
	var faults fieldErrors
	s.shape = p.compileShape(&faults, field+".", given.shape().or(p.definition.shape()), inner)
	p.addShapeFaults(errs, &faults, field+".", given)
	s.arguments = p.compilePlaces(errs, field+".arguments", given.Arguments, indices)
	s.repeated = !slices.ContainsFunc(s.shape.expressions(), p.readsIndex) && !slices.ContainsFunc(s.arguments, func(i int) bool {
		return slices.ContainsFunc(p.arguments[i].Values(), p.readsIndex)
	})
	return s
}

// addShapeFaults adds the faults of the index space of a stage. Those of keys that it takes from the definition are
// faults of the definition's keys, and are added once for all stages.
func (p *Problem) addShapeFaults(errs, faults *fieldErrors, prefix string, s Stage) {
	own := s.shape().has()
	own["problem_size"] = own["problem_size"] || p.definition.ProblemSize == nil
	for _, err := range faults.errs {
		fault := err.(*FieldError)
		field := strings.TrimPrefix(fault.Field, prefix)
		if end := strings.IndexAny(field, ".["); !own[field[:max(end, 0)]] && end > 0 {
			fault = &FieldError{field, fault.Err}
		}
		if !slices.ContainsFunc(errs.errs, func(e error) bool { return e.Error() == fault.Error() }) {
			errs.errs = append(errs.errs, fault)
		}
	}
}

// compilePlaces returns the arguments of a kernel by their names; without names, all of them. It is an
// error if one reads the index of a loop that does not hold the kernel.
func (p *Problem) compilePlaces(errs *fieldErrors, field string, names, indices []string) (places []int) {
	switch {
	case names == nil:
		for i := range p.arguments {
			names = append(names, p.arguments[i].Name)
		}
	case len(names) == 0:
		errs.addf(field, "the list is empty; without a list, the kernel takes all arguments")
	}
	for _, name := range names {
		i := p.place(name)
		if i < 0 {
			errs.add(field, p.unknownArgument(name))
			continue
		}
		places = append(places, i)
		for _, index := range p.indices {
			if !slices.Contains(indices, index) && slices.ContainsFunc(p.arguments[i].Values(), func(e *expression.Expression) bool { return e.Reads(index) }) {
				errs.addf(field, "the value of %s reads %s, which no loop around this kernel counts", name, index)
			}
		}
	}
	return places
}

func (p *Problem) readsIndex(e *expression.Expression) bool {
	return e != nil && len(p.indices) > 0 && e.Reads(p.indices...)
}

// withIndices returns a scope with the indices of all loops, for the values of scalars and the sizes of local
// memory.
func (p *Problem) withIndices(scope expression.Scope) expression.Scope {
	if len(p.indices) == 0 {
		return scope
	}
	scope = maps.Clone(scope)
	for _, name := range p.indices {
		if _, taken := scope[name]; !taken {
			scope[name] = 0
		}
	}
	return scope
}

// shapesOf returns the index spaces of all kernels of some stages.
func shapesOf(list []stage) (all []*shape) {
	for _, s := range list {
		if s.shape != nil {
			all = append(all, s.shape)
		}
		all = append(all, shapesOf(s.stages)...)
	}
	return all
}

// every yields stages and those within them, in the order of the definition.
func every(list []Stage) iter.Seq[Stage] {
	return func(yield func(Stage) bool) {
		for _, s := range list {
			if !yield(s) {
				return
			}
			for inner := range every(s.Stages) {
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// namesIn returns the names that stages have by a field, each once.
func namesIn(list []Stage, field func(Stage) string) (names []string) {
	for s := range every(list) {
		if name := field(s); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func indexNames(list []Stage) []string { return namesIn(list, func(s Stage) string { return s.Index }) }

func kernelNames(list []Stage) []string {
	return namesIn(list, func(s Stage) string { return s.Kernel })
}

// IsPipeline reports whether the problem launches a list of kernels.
func (p *Problem) IsPipeline() bool { return len(p.definition.Stages) > 0 }

// KernelName returns the name of the kernel function. A pipeline has the name that it was given, or those of its
// kernels.
func (p *Problem) KernelName() string {
	if name := p.definition.Kernel.Name; name != "" {
		return name
	}
	return strings.Join(kernelNames(p.definition.Stages), "+")
}

// KernelNames returns the names of the kernel functions, each once.
func (p *Problem) KernelNames() []string {
	if p.IsPipeline() {
		return kernelNames(p.definition.Stages)
	}
	return []string{p.definition.Kernel.Name}
}

// repetitions returns the value of repeat. A condition is 0 or 1.
func repetitions(e *expression.Expression, env map[string]any) (int, error) {
	v, err := e.Eval(env)
	if holds, ok := v.(bool); err == nil && ok {
		if holds {
			return 1, nil
		}
		return 0, nil
	}
	return natural("repeat", e, env)
}

// A derivation derives the launches of a configuration.
type derivation struct {
	arguments []ArgumentInfo
	env       map[string]any
	launches  []Launch
	holders   []int              // by argument: the argument in whose buffer its content is
	swapped   bool               // holders were changed
	same      map[*stage]*Launch // the launches of stages that are always the same, but for their buffers; nil: no loop yet
}

// derive derives the launches of stages in an environment. The holders are, by argument, those in whose buffers the contents are
// after the launches.
func derive(stages []stage, arguments []ArgumentInfo, env map[string]any) (launches []Launch, holders []int, err error) {
	d := derivation{arguments: arguments, env: env, holders: make([]int, len(arguments)), launches: make([]Launch, 0, 1)}
	for i := range d.holders {
		d.holders[i] = i
	}
	if err := d.run(stages); err != nil {
		return nil, nil, err
	}
	if len(d.launches) == 0 {
		return nil, nil, fmt.Errorf("no kernel is launched: every repeat is 0")
	}
	return d.launches, d.holders, nil
}

func (d *derivation) run(stages []stage) error {
	for i := range stages {
		s, n := &stages[i], 1
		if s.repeat != nil {
			var err error
			if n, err = repetitions(s.repeat, d.env); err != nil {
				return err
			}
		}
		for k := range n {
			if k == 1 && d.same == nil {
				d.same = map[*stage]*Launch{}
			}
			if a, b := s.swap[0], s.swap[1]; k > 0 && a != b {
				d.holders[a], d.holders[b] = d.holders[b], d.holders[a]
				d.swapped = true
			}
			if s.index != "" {
				d.env[s.index] = k
			}
			if err := d.once(s); err != nil {
				return err
			}
		}
		if s.index != "" {
			delete(d.env, s.index)
		}
	}
	return nil
}

// once adds the launches of one repetition.
func (d *derivation) once(s *stage) error {
	if s.kernel == "" {
		return d.run(s.stages)
	}
	if len(d.launches) == maxLaunches {
		return fmt.Errorf("the pipeline has more than %d launches", maxLaunches)
	}
	l := d.same[s]
	if l == nil {
		var err error
		if l, err = d.launch(s); err != nil {
			return err
		}
		if s.repeated && d.same != nil {
			d.same[s] = l
		}
	}
	next := *l
	if next.Arguments = s.arguments; d.swapped {
		next.Arguments = make([]int, len(s.arguments))
		for place, i := range s.arguments {
			next.Arguments[place] = d.holders[i]
		}
	}
	d.launches = append(d.launches, next)
	return nil
}

// launch derives a launch without its buffers.
func (d *derivation) launch(s *stage) (*Launch, error) {
	r, err := s.shape.ndrange(d.env)
	if err != nil {
		return nil, err
	}
	l := &Launch{Kernel: s.kernel, NDRange: r, Scalars: make([][]byte, len(s.arguments)), LocalBytes: make([]int, len(s.arguments))}
	for place, i := range s.arguments {
		a := &d.arguments[i]
		switch a.Kind {
		case ScalarArgument:
			l.Scalars[place], err = a.ScalarBytes(d.env)
		case LocalArgument:
			var elements int
			if elements, err = positive("local memory", a.Elements, d.env); err == nil {
				l.LocalBytes[place], err = multiply(elements, a.Element.Size())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", a.Name, err)
		}
	}
	return l, nil
}
