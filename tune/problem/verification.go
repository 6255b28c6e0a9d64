package problem

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// verification is a compiled Verification.
type verification struct {
	reference     *Problem // another kernel, or nil
	configuration space.Configuration
	launches      *expression.Expression
	swap          [2]int                  // arguments of the reference; equal: no swap
	expected      map[string]*array.Array // by output; nil: it does not come from files or data
	aTol, rTol    *expression.Expression
}

func (p *Problem) compileVerification(errs *fieldErrors, scope expression.Scope) {
	given := p.definition.Verify
	if given == nil {
		return
	}
	v := &verification{}
	p.verify = v
	kinds := 0
	for _, is := range []bool{given.Problem != nil, given.Files != nil, given.Expected != nil, given.Reference != nil, given.Check != nil} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		errs.addf("verify", "says not against what: name a spec or .npy files")
		return
	case kinds > 1:
		errs.addf("verify", "give one reference: a spec, .npy files or a function")
		return
	case p.outputs() == 0:
		errs.addf("verify", "no argument is marked as output: there is nothing to verify")
		return
	}
	for _, tolerance := range []struct {
		field  string
		source Expr
		into   **expression.Expression
	}{{"verify.atol", given.ATol, &v.aTol}, {"verify.rtol", given.RTol, &v.rTol}} {
		if tolerance.source == "" {
			continue
		}
		e, err := expression.Compile(tolerance.source, scope)
		if err == nil && p.fixed(e) {
			var t float64
			if t, err = e.Float(p.constants); err == nil {
				err = checkTolerance(e, t)
			}
		}
		errs.add(tolerance.field, err)
		*tolerance.into = e
	}
	if given.Problem != nil {
		p.compileReference(errs, given, v, scope)
	} else if given.Launches != "" || given.Swap != [2]string{} {
		errs.addf("verify", "launches and swap belong to a reference kernel")
	}
	switch {
	case given.Files != nil:
		p.readReferences(errs, given.Files, v)
	case given.Expected != nil:
		p.takeReferences(errs, given.Expected, v)
	}
}

func checkTolerance(e *expression.Expression, t float64) error {
	if !(t >= 0) || math.IsInf(t, 1) {
		return fmt.Errorf("the tolerance %s is %v; want a number that is not negative", e, t)
	}
	return nil
}

func (p *Problem) outputs() int {
	n := 0
	for _, a := range p.arguments {
		if a.Output {
			n++
		}
	}
	return n
}

func (p *Problem) compileReference(errs *fieldErrors, given *Verification, v *verification, scope expression.Scope) {
	definition := *given.Problem
	definition.Verify = nil // a reference is not itself verified
	definition.Seed = p.definition.Seed
	reference, err := New(definition)
	if err != nil {
		errs.add("verify.spec", err)
		return
	}
	v.reference = reference
	if v.configuration, err = reference.complete(given.Configuration); err != nil {
		errs.add("verify.parameters", err)
	}
	for _, a := range p.arguments {
		if !a.Output {
			continue
		}
		b, ok := reference.argument(a.Name)
		switch {
		case !ok:
			errs.addf("verify.spec", "the reference has no argument %s to compare the output with", a.Name)
		case b.kind != BufferArgument || b.typ != a.typ:
			errs.addf("verify.spec", "%s is a buffer of %v here and %s of %v in the reference", a.Name, a.typ, b.kind, b.typ)
		default:
			if n, m := p.fixedLen(&a), reference.fixedLen(b); n > 0 && m > 0 && n != m {
				errs.addf("verify.spec", "%s has %d elements here and %d in the reference", a.Name, n, m)
			}
		}
	}
	if given.Launches != "" {
		v.launches = p.compileSize(errs, "verify.launches", given.Launches, scope)
	}
	if given.Swap != [2]string{} {
		v.swap = reference.compileSwap(errs, given.Swap)
	}
}

// compileSwap finds the two buffers that change places between launches.
func (p *Problem) compileSwap(errs *fieldErrors, names [2]string) (swap [2]int) {
	for i, name := range names {
		swap[i] = slices.IndexFunc(p.arguments, func(a argument) bool { return a.Name == name })
		if swap[i] < 0 {
			errs.add("verify.swap", p.unknownArgument(name))
		}
	}
	if swap[0] < 0 || swap[1] < 0 {
		return swap
	}
	a, b := &p.arguments[swap[0]], &p.arguments[swap[1]]
	switch n, m := p.fixedLen(a), p.fixedLen(b); {
	case a == b || a.kind != BufferArgument || b.kind != BufferArgument || a.typ != b.typ:
		errs.addf("verify.swap", "want two different buffers of one type")
	case n > 0 && m > 0 && n != m:
		errs.addf("verify.swap", "%s has %d elements, %s has %d", a.Name, n, b.Name, m)
	}
	return swap
}

// complete makes a configuration from the values given and, for parameters with a single
// value, that value.
func (p *Problem) complete(given map[string]space.Value) (space.Configuration, error) {
	values := map[string]space.Value{}
	for _, q := range p.definition.Parameters {
		if len(q.Values) == 1 {
			values[q.Name] = q.Values[0]
		}
	}
	for name, v := range given {
		values[name] = v
	}
	return p.parameters.Configure(values)
}

// Tolerances of outputs of floats where the definition gives none.
const (
	defaultRTol = 1e-4
	defaultATol = 1e-6
)

func (p *Problem) fillTolerance(v *Variant, env map[string]any) error {
	v.ReferenceLaunches = 1
	if p.verify == nil {
		return nil
	}
	var err error
	if e := p.verify.launches; e != nil {
		if v.ReferenceLaunches, err = positive("launches of the reference", e, env); err != nil {
			return err
		}
	}
	v.Tolerance.Default = p.verify.aTol == nil && p.verify.rTol == nil
	for _, t := range []struct {
		e    *expression.Expression
		into *float64
	}{{p.verify.aTol, &v.Tolerance.Absolute}, {p.verify.rTol, &v.Tolerance.Relative}} {
		if t.e == nil {
			continue
		}
		if *t.into, err = t.e.Float(env); err != nil {
			return err
		}
		if err := checkTolerance(t.e, *t.into); err != nil {
			return err
		}
	}
	return nil
}

// Of is the tolerance for outputs of a type: the defaults apply to floats only.
func (t Tolerance) Of(typ array.Type) (absolute, relative float64) {
	switch typ.Scalar() {
	case array.Float16, array.Float32, array.Float64:
		if t.Default {
			return defaultATol, defaultRTol
		}
	}
	return t.Absolute, t.Relative
}

// Verified reports whether outputs are compared with a reference.
func (p *Problem) Verified() bool { return p.verify != nil }

// Reference is the kernel whose output is right, with the configuration to run and the
// two arguments that change places between launches (equal: none do); nil where there is no
// such kernel.
func (p *Problem) Reference() (reference *Problem, c space.Configuration, swap [2]int) {
	if p.verify == nil {
		return nil, space.Configuration{}, swap
	}
	return p.verify.reference, p.verify.configuration, p.verify.swap
}

// ExpectedOutputs are the right outputs by argument name where they come from files, data or
// a function of the initial content of the buffers, else nil.
func (p *Problem) ExpectedOutputs(initial map[string]*array.Array) (map[string]*array.Array, error) {
	if p.verify == nil {
		return nil, nil
	}
	if f := p.definition.Verify.Reference; f != nil {
		outputs, err := f(initial)
		if err != nil {
			return nil, fmt.Errorf("compute the reference: %w", err)
		}
		for _, a := range p.arguments {
			switch output := outputs[a.Name]; {
			case !a.Output:
			case output == nil:
				return nil, fmt.Errorf("the reference function gave nothing for the output %s", a.Name)
			case output.Type != a.typ:
				return nil, fmt.Errorf("the reference function gave %v for the output %s, which is of %v", output.Type, a.Name, a.typ)
			}
		}
		return outputs, nil
	}
	return p.verify.expected, nil
}

// Check is the problem's own judge of outputs, or nil.
func (p *Problem) Check() func(space.Configuration, map[string]*array.Array) error {
	if p.verify == nil {
		return nil
	}
	return p.definition.Verify.Check
}

// readReferences reads the right content of outputs from .npy files.
func (p *Problem) readReferences(errs *fieldErrors, files map[string]string, v *verification) {
	names := slices.Sorted(maps.Keys(files))
	p.compileExpected(errs, v, "verify.npy", "file", names, func(a *argument) (*array.Array, error) {
		data, err := readFile(files[a.Name], a.typ)
		if err != nil {
			return nil, err
		}
		return data, p.checkExpected(a, files[a.Name], data)
	})
}

// takeReferences takes the right content of outputs that the definition holds.
func (p *Problem) takeReferences(errs *fieldErrors, given map[string]any, v *verification) {
	names := slices.Sorted(maps.Keys(given))
	p.compileExpected(errs, v, "verify.expected", "content", names, func(a *argument) (*array.Array, error) {
		data, err := array.From(given[a.Name])
		if err == nil && data.Type != a.typ {
			data, err = data.As(a.typ)
		}
		if err != nil {
			return nil, err
		}
		return data, p.checkExpected(a, "the content", data)
	})
}

// compileExpected keeps the right content of all outputs; what says in what it is given.
func (p *Problem) compileExpected(errs *fieldErrors, v *verification, field, what string, names []string, content func(*argument) (*array.Array, error)) {
	v.expected = map[string]*array.Array{}
	for _, name := range names {
		a, ok := p.argument(name)
		if !ok || !a.Output {
			errs.addf(field+"."+name, "no output is named so")
			continue
		}
		data, err := content(a)
		errs.add(field+"."+name, err)
		v.expected[name] = data
	}
	for _, a := range p.arguments {
		if a.Output && !slices.Contains(names, a.Name) {
			errs.addf(field, "no %s for the output %s", what, a.Name)
		}
	}
}

// checkExpected makes sure that the content of an output has its length, where that is the
// same for every configuration.
func (p *Problem) checkExpected(a *argument, what string, data *array.Array) error {
	if n := p.fixedLen(a); n > 0 && n != data.Len() {
		return fmt.Errorf("%s has %d elements, the output has %d", what, data.Len(), n)
	}
	return nil
}
