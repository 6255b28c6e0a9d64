// Package problem checks a [definition.Definition] and compiles it. A [Problem] knows the search space and computes the [score.Judgement] of
// times. It makes the [Variant] of a configuration: the kernel with its sizes, arguments and options, and each [Launch] of it.
package problem

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// A Problem is a checked and compiled definition. It is immutable and safe for concurrent use.
type Problem struct {
	definition definition.Definition
	source     string // of the kernel; "": a function or a command makes it
	language   source.Language
	inOpenCL   string // see OpenCLDigest
	parameters *space.Parameters
	constants  map[string]any                    // by name, as in expressions
	computed   map[string]*expression.Expression // of the constants that are computed from others
	space      atomic.Pointer[space.Space]       // constructed by the first call of Space, if it is the same for all devices

	options     []Option
	target      Option
	problemSize []*expression.Expression // of the definition
	stages      []Step
	indices     []string                 // of the loops of stages
	structs     map[string]*array.Struct // by name
	arguments   []Argument
	roofline    roofline
	metrics     []*expression.Expression
	observed    []string // quantities, those of footprints too
	essential   []string // of these: the objective needs them
	settings    []setting
	hostOnly    map[string]bool // the parameters that only settings read
	verify      *verification
	baseline    space.Configuration
	overridden  []string // notices of the directives that were removed from the source
	hint        string   // about a build that fails

	buildRestrictions []*expression.Expression

	commandDigest func() string // of Kernel.Command
	digests       sync.Map      // of arrays, which never change: texts by memory
}

// New checks a definition and compiles it. It joins a [definition.FieldError] for each fault in its error. It
// needs no device and does not construct the search space: see [Problem.Space].
func New(d definition.Definition) (*Problem, error) {
	p := compiler{fieldErrors: &fieldErrors{}, Problem: &Problem{
		definition: d, constants: map[string]any{}, computed: map[string]*expression.Expression{}, structs: map[string]*array.Struct{},
	}}
	if p.checkLengths(); p.err() != nil {
		return nil, p.err()
	}
	p.compileKernel()
	p.compileConstants()
	if !p.compileParameters() {
		return nil, p.err() // nothing else can be understood without the names
	}
	p.overrideMacros()
	if macros := p.optionMacros(); len(macros) > 0 && source.IsSPIRV(p.source) {
		p.addf("kernel.build_options", "-D %s has no effect on a SPIR-V module", macros[0])
	}
	p.scope = p.names()
	p.compileOptions()
	p.indices = definition.IndexNames(d.Stages)
	p.compileTypes()
	p.compileArguments()
	p.compileStages()
	p.compileRestrictions()
	p.compileRoofline()
	p.compileBuildRestrictions()
	p.compileMetrics()
	p.compileVerification()
	p.compileBaseline()
	p.compileTiming()
	p.compileSettings()
	if err := p.err(); err != nil {
		return nil, err
	}
	p.hint = p.macroHint()
	return p.Problem, nil
}

// A compiler compiles the parts of a problem, and collects the faults of the definition.
type compiler struct {
	*Problem
	*fieldErrors
	scope expression.Scope // the names that an expression may use
}

// The lengths of lists are limited, because some checks of an entry take time in proportion to the
// number of entries.
const (
	maxArguments    = 4096
	maxTypes        = 1000
	maxConstants    = 10_000
	maxRestrictions = 10_000
	maxMetrics      = 1000
)

func (p compiler) checkLengths() {
	d := p.definition
	for _, list := range []struct {
		field     string
		len, most int
	}{
		{"arguments", len(d.Arguments), maxArguments},
		{"types", len(d.Types), maxTypes},
		{"constants", len(d.Constants), maxConstants},
		{"restrictions", len(d.Restrictions), maxRestrictions},
		{"build_restrictions", len(d.BuildRestrictions), maxRestrictions},
		{"metrics", len(d.Metrics), maxMetrics},
	} {
		if list.len > list.most {
			p.addf(list.field, "%d %s are more than the %d that are taken", list.len, list.field, list.most)
		}
	}
}

func (p compiler) compileConstants() {
	for _, c := range p.definition.Constants {
		field := "constants." + c.Name
		switch _, twice := p.constants[c.Name]; {
		case !space.IsIdentifier(c.Name):
			p.addf(field, "%q is not a name that a #define can have", c.Name)
		case definition.Reserved(c.Name):
			p.addf(field, "the name %s is taken by expressions", c.Name)
		case twice:
			p.addf(field, "the constant stands twice")
		default:
			value := any(c.Value)
			e, err := compileConstant(c, p.constants)
			if e != nil && err == nil {
				p.computed[c.Name] = e
				value, err = e.Eval(p.constants)
			}
			if err == nil {
				value, err = space.NormalizeValue(value)
			}
			if err != nil {
				p.add(field, err)
				continue
			}
			p.constants[c.Name] = definition.Constant{Name: c.Name, Value: value}.Number()
		}
	}
}

func (p compiler) compileParameters() bool {
	for _, q := range p.definition.Parameters {
		if _, ok := p.constants[q.Name]; ok {
			p.addf("parameters."+q.Name, "a constant has the same name")
		}
		if definition.Reserved(q.Name) {
			p.addf("parameters."+q.Name, "the name is taken by expressions")
		}
	}
	parameters, err := space.NewParameters(p.definition.Parameters)
	if err != nil {
		field := "parameters"
		if bad, ok := err.(*space.ParameterError); ok {
			field, err = field+"."+bad.Name, bad.Err
		}
		p.add(field, err)
		return false
	}
	p.parameters = parameters
	return true
}

// names returns the names that restrictions, sizes and tolerances may use.
func (p *Problem) names() expression.Scope {
	s := expression.Scope(maps.Clone(p.constants))
	s["device"] = hardware.Device{}.Environment()
	p.parameters.Describe(s)
	return s
}

// fixed reports whether expressions have the same values for every configuration, device and repetition of a loop. One that is nil does.
func (p *Problem) fixed(list ...*expression.Expression) bool {
	return !slices.ContainsFunc(list, func(e *expression.Expression) bool {
		return e != nil && (e.Reads("device") || e.Reads(p.parameters.Names()...) || p.readsIndex(e))
	})
}

// compile compiles the expression of a field. If the expression is fixed, check checks its value.
func (p compiler) compile(field string, source definition.Expr, check func(*expression.Expression) error) *expression.Expression {
	e, err := expression.Compile(source, p.scope)
	if err == nil && p.fixed(e) {
		err = check(e)
	}
	p.add(field, err)
	return e
}

// compileSize compiles a number that must be positive.
func (p compiler) compileSize(field string, source definition.Expr) *expression.Expression {
	return p.compile(field, source, func(e *expression.Expression) error {
		n, err := e.Int(p.constants)
		if err != nil || n > 0 {
			return err
		}
		if source != fmt.Sprint(n) {
			source = fmt.Sprintf("%s = %d", excerpt.Of(source), n)
		}
		return fmt.Errorf("%s: it must be positive", source)
	})
}

// compileCount compiles a number that must be a whole one and not negative.
func (p compiler) compileCount(field string, source definition.Expr) *expression.Expression {
	return p.compile(field, source, func(e *expression.Expression) error {
		_, err := natural("the number", e, p.constants)
		return err
	})
}

// compileAmount compiles a number that must not be negative. It returns nil for an empty source.
func (p compiler) compileAmount(field, noun string, source definition.Expr) *expression.Expression {
	if source == "" {
		return nil
	}
	return p.compile(field, source, func(e *expression.Expression) error {
		_, err := amount(noun, e, p.constants)
		return err
	})
}

// count returns how many of the conditions hold.
func count(conditions ...bool) int {
	return each.Count(conditions, func(holds bool) bool { return holds })
}

// environment returns the constants and device.* for expressions. The caller may add to it.
func (p *Problem) environment(d hardware.Device) map[string]any {
	env := make(map[string]any, len(p.constants)+p.parameters.Len()+4)
	maps.Copy(env, p.constants)
	env["device"] = d.Environment()
	return env
}

// environmentOf returns the environment with the values of a configuration.
func (p *Problem) environmentOf(c space.Configuration, d hardware.Device) map[string]any {
	env := p.environment(d)
	c.Assign(env)
	return env
}

// Definition returns the definition of the problem. It must not be changed.
func (p *Problem) Definition() definition.Definition { return p.definition }

// Steps returns what a run of the problem launches. A problem that is no pipeline has one step. They must not be changed.
func (p *Problem) Steps() []Step { return p.stages }

// Parameters returns the tunable parameters in order.
func (p *Problem) Parameters() *space.Parameters { return p.parameters }

// Objective returns the objective, whose name is by default time.
func (p *Problem) Objective() score.Objective {
	o := p.definition.Objective
	o.Name = cmp.Or(o.Name, "time")
	return o
}

// FixedProblemSize returns the problem size, or nil if it depends on the configuration or the device, or if all
// kernels of a pipeline have sizes of their own.
func (p *Problem) FixedProblemSize() []int {
	var size []int
	for _, e := range p.problemSize {
		n, err := e.Int(p.constants)
		if !p.fixed(e) || err != nil {
			return nil
		}
		size = append(size, n)
	}
	return size
}

// unknownArgument returns the error for a name that no argument has.
func (p *Problem) unknownArgument(name string) error {
	names := each.Of(p.definition.Arguments, func(a definition.Argument) string { return a.Name })
	return fmt.Errorf("no argument is named %q%s", name, nearest.Hint(name, names))
}

// fieldErrors collects the faults of a definition.
type fieldErrors struct{ errs []error }

func (f *fieldErrors) add(field string, err error) {
	if err != nil {
		f.errs = append(f.errs, &definition.FieldError{Field: field, Err: err})
	}
}

func (f *fieldErrors) addf(field, format string, args ...any) {
	f.add(field, fmt.Errorf(format, args...))
}

func (f *fieldErrors) err() error { return errors.Join(f.errs...) }

// compileConstant compiles the expression of a host constant. It returns nil for other constants.
func compileConstant(c definition.Constant, before map[string]any) (*expression.Expression, error) {
	source := c.Expression(before)
	if source == "" {
		return nil, nil
	}
	e, err := expression.Compile(source, before)
	if err != nil {
		err = fmt.Errorf("the value of a host constant is computed from the constants before it, and a text has quotes of its own: %w", err)
	}
	return e, err
}

// Computed returns constants with the values of those that are computed from others. One that cannot be computed is as it was.
func Computed(constants []definition.Constant) []definition.Constant {
	p := compiler{fieldErrors: &fieldErrors{}, Problem: &Problem{
		definition: definition.Definition{Constants: constants}, constants: map[string]any{}, computed: map[string]*expression.Expression{},
	}}
	p.compileConstants()
	return p.Constants()
}

// Constants returns the constants of the definition with the values of those that are computed from others.
func (p *Problem) Constants() []definition.Constant {
	all := slices.Clone(p.definition.Constants)
	for i := range all {
		if p.computed[all[i].Name] != nil {
			all[i].Value = p.constants[all[i].Name]
		}
	}
	return all
}

// Reads reports whether an expression depends on a constant: it reads it, or a constant that is computed from it.
func (p *Problem) Reads(e *expression.Expression, constant string) bool {
	return slices.ContainsFunc(e.Names(), func(name string) bool { return p.Depends(name, constant) })
}

// Depends reports whether a constant is another one, or is computed from it.
func (p *Problem) Depends(name, on string) bool {
	e := p.computed[name]
	return name == on || e != nil && p.Reads(e, on)
}

// ConstantExpression returns the expression of a constant that is computed from others, or nil.
func (p *Problem) ConstantExpression(constant string) *expression.Expression {
	return p.computed[constant]
}
