package problem

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// verification is a compiled Verification.
type verification struct {
	reference     *Problem            // another kernel, or nil
	configuration space.Configuration // of reference
	launches      *expression.Expression
	swap          [2]int                  // arguments of the reference; equal: no swap
	shared        []int                   // by argument: that of the reference with the same content, or -1
	expected      map[string]*array.Array // by output; nil: neither files nor data are given
	aTol, rTol    *expression.Expression
	rows          map[string]*expression.Expression // of the outputs that are reduced; nil: one row
}

func (p compiler) compileVerification() {
	given := p.definition.Verify
	if given == nil {
		return
	}
	v := &verification{}
	p.verify = v
	ways := count(
		given.Problem != nil, given.Files != nil, given.Expected != nil, given.Reference != nil, given.Check != nil, given.Command != nil)
	switch {
	case ways == 0:
		p.addf("verify", "the reference is missing: name a spec, .npy files or a command")
		return
	case ways > 1:
		p.addf("verify", "give one reference: a spec, .npy files, a command or a function")
		return
	case !slices.ContainsFunc(p.arguments, func(a Argument) bool { return a.Output }):
		p.addf("verify", "no argument is marked as output: there is nothing to verify")
		return
	}
	p.compileComparisons(v)
	p.compileCommand(given)
	v.aTol = p.compileAmount("verify.atol", theTolerance, given.ATol)
	v.rTol = p.compileAmount("verify.rtol", theTolerance, given.RTol)
	if given.Problem != nil {
		p.compileReference(given, v)
	} else {
		p.refuseReferenceKeys(given)
	}
	switch {
	case given.Files != nil:
		v.expected = compileExpected(p, "verify.npy", "file", given.Files, readFile)
	case given.Expected != nil:
		v.expected = compileExpected(p, "verify.expected", "content", given.Expected, array.From)
	}
}

// refuseReferenceKeys adds errors for what is given of a reference kernel if there is none.
func (p compiler) refuseReferenceKeys(v *definition.Verification) {
	for _, key := range []struct {
		name  string
		given bool
	}{{"parameters", len(v.Configuration) > 0}, {"launches", v.Launches != ""}, {"swap", v.Swap != [2]string{}}} {
		if key.given {
			p.addf("verify."+key.name, "belongs to spec, the reference kernel")
		}
	}
}

func (p compiler) compileComparisons(v *verification) {
	given := p.definition.Verify
	if !p.Compared() && len(given.Compare) > 0 {
		p.addf("verify.compare", "nothing is compared: a function or a command judges the outputs")
	}
	v.rows = map[string]*expression.Expression{}
	for _, name := range slices.Sorted(maps.Keys(given.Compare)) {
		field, c := "verify.compare."+name, given.Compare[name]
		switch a, ok := p.argument(name); {
		case !ok || !a.Output:
			p.addf(field, "no output is named so")
			continue
		case a.Element.Struct != nil:
			p.addf(field, "the output holds structs, which have no order and no sum; compare them element by element or by a command")
			continue
		}
		_, err := array.ParseReduction(string(c.As))
		p.add(field, err)
		v.rows[name] = nil
		if c.Rows != "" {
			v.rows[name] = p.compileSize(field+".rows", c.Rows)
		}
	}
}

func (p compiler) compileCommand(given *definition.Verification) {
	if given.Command == nil {
		return
	}
	p.checkCommand("verify", given.Command)
	for _, tolerance := range []struct{ name, source string }{{"atol", given.ATol}, {"rtol", given.RTol}} {
		if tolerance.source != "" {
			p.addf("verify."+tolerance.name, "the command judges the outputs without a tolerance")
		}
	}
	for _, a := range p.arguments {
		if a.Kind.HasContent() && !space.IsIdentifier(a.Name) {
			p.addf("verify.command", "%q cannot be the name of a file for the command; rename the argument", a.Name)
		}
	}
}

func (p compiler) compileReference(given *definition.Verification, v *verification) {
	d := *given.Problem
	d.Verify = nil // a reference is not itself verified
	d.Seed = p.definition.Seed
	if p.language == source.CUDA {
		d = inCUDA(d)
	}
	reference, err := New(d)
	if err != nil {
		p.add("verify.spec", err)
		return
	}
	if v.reference = reference; p.language == source.OpenCL && reference.language == source.CUDA {
		p.addf("verify.spec", "the reference is written in CUDA C, and the kernel in OpenCL C: no device takes both")
	}
	if v.configuration, err = reference.evaluate(given.Configuration, p.constants); err != nil {
		p.errs = append(p.errs, err)
		return
	}
	for i := range p.arguments {
		v.shared = append(v.shared, p.compileShared(&p.arguments[i], reference))
	}
	if given.Launches != "" {
		v.launches = p.compileSize("verify.launches", given.Launches)
	}
	if given.Swap != [2]string{} {
		v.swap = compiler{Problem: reference, fieldErrors: p.fieldErrors}.compileSwap("verify.swap", given.Swap)
	}
}

// compileShared returns the place of the reference's argument that has the name and the initial content of argument a, or -1. Outputs
// share their content, unless they are reduced, and so do buffers that either of the two fills. All others are scratch.
func (p compiler) compileShared(a *Argument, reference *Problem) int {
	j := reference.place(a.Name)
	if j < 0 {
		if a.Output {
			p.addf("verify.spec", "the reference has no argument %s to compare the output with", a.Name)
		}
		return -1
	}
	b := &reference.arguments[j]
	same := b.Element.Equal(a.Element) || p.Reduction(a.Name) == "" && b.Element.SameScalars(a.Element)
	env := maps.Clone(reference.constants)
	p.verify.configuration.Assign(env)
	switch n, m := p.fixedLen(a), b.lenIn(env); {
	case !a.Output && !(a.Kind.HasContent() && b.Kind.HasContent() && (a.Filled() || b.Filled())):
		return -1
	case !b.Kind.HasContent() || !same:
		p.addf("verify.spec", "%s holds %v here and is %s of %v in the reference", a.Name, a.Element, b.Kind, b.Element)
	case !p.Reduction(a.Name).KeepsLength():
		return -1
	case n > 0 && m > 0 && n*a.Element.Size() != m*b.Element.Size():
		p.addf("verify.spec", "%s has %d elements of %v here and %d of %v in the reference", a.Name, n, a.Element, m, b.Element)
	}
	return j
}

// ReferenceVaries reports whether configurations or devices can have different correct outputs.
func (p *Problem) ReferenceVaries() bool {
	return !p.fixed(p.verify.launches) || slices.ContainsFunc(p.arguments, func(a Argument) bool { return a.Varies })
}

// Shared returns the place of the reference kernel's argument that has the initial content of argument i, or -1.
func (p *Problem) Shared(i int) int { return p.verify.shared[i] }

// compileSwap returns the two buffers that change places between launches.
func (p compiler) compileSwap(field string, names [2]string) (swap [2]int) {
	for i, name := range names {
		if swap[i] = p.place(name); swap[i] < 0 {
			p.add(field, p.unknownArgument(name))
		}
	}
	if swap[0] < 0 || swap[1] < 0 {
		return [2]int{}
	}
	a, b := &p.arguments[swap[0]], &p.arguments[swap[1]]
	switch n, m := p.fixedLen(a), p.fixedLen(b); {
	case a == b || !a.Kind.HasContent() || a.Symbol || a.Kind != b.Kind || !a.Element.Equal(b.Element):
		p.addf(field, "want two different buffers of one type")
	case slices.ContainsFunc(p.arguments, func(o Argument) bool { return o.Alias != "" && (o.Alias == a.Name || o.Alias == b.Name) }):
		p.addf(field, "a buffer with an alias cannot change places")
	case n > 0 && m > 0 && n != m:
		p.addf(field, "%s has %d elements, %s has %d", a.Name, n, b.Name, m)
	}
	return swap
}

// evaluate returns the configuration of some values. A text that is given for a parameter of numbers is an
// expression over the constants of this and of the other problem, and over the parameters of this one.
func (p *Problem) evaluate(given map[string]space.Value, other map[string]any) (space.Configuration, error) {
	env := maps.Clone(other)
	maps.Copy(env, p.constants)
	scope := expression.Scope(maps.Clone(env))
	p.parameters.Describe(scope)
	values, pending := maps.Clone(given), map[string]*expression.Expression{}
	var errs fieldErrors
	for _, q := range p.parameters.List() {
		value, ok := given[q.Name]
		text, isText := value.(string)
		switch {
		case isText && !slices.ContainsFunc(q.Values, isString):
			e, err := expression.Compile(text, scope)
			errs.add("verify.parameters."+q.Name, err)
			pending[q.Name] = e
		case ok:
			env[q.Name] = value
		case len(q.Values) == 1:
			env[q.Name] = q.Values[0]
		}
	}
	for errs.err() == nil && len(pending) > 0 {
		names := slices.Sorted(maps.Keys(pending))
		i := slices.IndexFunc(names, func(name string) bool { return !pending[name].Reads(names...) })
		if i < 0 {
			errs.addf("verify.parameters", "the values of %s depend on each other", strings.Join(names, ", "))
			break
		}
		value, err := pending[names[i]].Eval(env)
		errs.add("verify.parameters."+names[i], err)
		delete(pending, names[i])
		values[names[i]], env[names[i]] = p.like(names[i], value), value
	}
	c, err := p.complete(values)
	if errs.err() == nil {
		errs.add("verify.parameters", err)
	}
	return c, errs.err()
}

func isString(v space.Value) bool { _, ok := v.(string); return ok }

// like returns a whole number as an integer if the parameter has integers, since a quotient is a float.
func (p *Problem) like(parameter string, v any) any {
	i, _ := p.parameters.Index(parameter)
	f, ok := v.(float64)
	isNoInt := func(v space.Value) bool { _, isInt := v.(int); return !isInt }
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 || slices.ContainsFunc(p.parameters.At(i).Values, isNoInt) {
		return v
	}
	return int(f)
}

// complete returns the configuration with the given values. Parameters with a single value need not be
// given.
func (p *Problem) complete(given map[string]space.Value) (space.Configuration, error) {
	values := map[string]space.Value{}
	for _, q := range p.definition.Parameters {
		if len(q.Values) == 1 {
			values[q.Name] = q.Values[0]
		}
	}
	maps.Copy(values, given)
	return p.parameters.Configure(values)
}

const theTolerance = "the tolerance " // in messages

// fillVerification fills the parts of a variant that verify.* depends on.
func (p *Problem) fillVerification(v *Variant, env map[string]any) error {
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
	if v.Tolerance.Absolute, err = amount(theTolerance, p.verify.aTol, env); err != nil {
		return err
	}
	if v.Tolerance.Relative, err = amount(theTolerance, p.verify.rTol, env); err != nil {
		return err
	}
	return p.fillRows(v, env)
}

// fillRows fills the rows of the outputs that are reduced.
func (p *Problem) fillRows(v *Variant, env map[string]any) error {
	v.Rows = make([]int, len(p.arguments))
	for i, a := range p.arguments {
		e, reduced := p.verify.rows[a.Name]
		switch {
		case !reduced:
			continue
		case e == nil:
			v.Rows[i] = 1
			continue
		}
		var err error
		if v.Rows[i], err = positive("rows of "+a.Name, e, env); err != nil {
			return err
		}
		if v.Elements[i]%v.Rows[i] != 0 {
			return fmt.Errorf("the %d elements of %s are not %d rows of one length", v.Elements[i], a.Name, v.Rows[i])
		}
	}
	return nil
}

// Reduction returns the reduction of an output before it is compared, or "" if there is none.
func (p *Problem) Reduction(name string) array.Reduction {
	if p.verify == nil {
		return ""
	}
	return p.definition.Verify.Compare[name].As
}

// Compared reports whether outputs are compared with a reference, and not judged by a function or a command.
func (p *Problem) Compared() bool {
	return p.verify != nil && p.definition.Verify.Check == nil && p.definition.Verify.Command == nil
}

// VerifyCommand returns the command that judges outputs, with its time limit, or nil.
func (p *Problem) VerifyCommand() *definition.Command {
	if p.verify == nil {
		return nil
	}
	return p.definition.Verify.Command.WithTimeout()
}

// Values returns what every program of the user's is told of a configuration, to be encoded as JSON.
func (p *Problem) Values(c space.Configuration) map[string]any {
	return map[string]any{"kernel": p.KernelName(), "configuration": c, "constants": p.constants}
}

// Verified reports whether outputs are verified at all.
func (p *Problem) Verified() bool { return p.verify != nil }

// Reference returns the kernel whose output is right, or nil if there is none, with its configuration
// and the two arguments that change places between launches. If these are equal, none do.
func (p *Problem) Reference() (reference *Problem, c space.Configuration, swap [2]int) {
	if p.verify == nil {
		return nil, space.Configuration{}, swap
	}
	return p.verify.reference, p.verify.configuration, p.verify.swap
}

// ExpectedOutputs returns the right outputs by argument name if they come from files, from data or from
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
			case !a.Element.Equal(Element{Type: output.Type, Struct: output.Struct}):
				return nil, fmt.Errorf("the reference function gave %v for the output %s, which is of %v",
					Element{Type: output.Type, Struct: output.Struct}, a.Name, a.Element)
			}
		}
		return outputs, nil
	}
	return p.verify.expected, nil
}

// Check returns the function of the definition that judges outputs, or nil.
func (p *Problem) Check() func(space.Configuration, map[string]*array.Array) error {
	if p.verify == nil {
		return nil
	}
	return p.definition.Verify.Check
}

// compileExpected returns the right content of the outputs, as read makes it from what is given by name.
func compileExpected[T any](p compiler, field, noun string, given map[string]T, read func(T) (*array.Array, error)) map[string]*array.Array {
	expected := map[string]*array.Array{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		a, ok := p.argument(name)
		if !ok || !a.Output {
			p.addf(field+"."+name, "no output is named so")
			continue
		}
		data, err := read(given[name])
		if err == nil {
			data, err = a.Element.View(data)
		}
		if n := p.fixedLen(a); err == nil && n > 0 && n != data.Len() && p.Reduction(name).KeepsLength() {
			source := "the content"
			if path, ok := any(given[name]).(string); ok {
				source = path
			}
			err = fmt.Errorf("%s has %d elements, the output has %d", source, data.Len(), n)
		}
		if err == nil {
			if text := score.NaNs(name, data); text != "" {
				err = errors.New(text)
			}
		}
		p.add(field+"."+name, err)
		expected[name] = data
	}
	for _, a := range p.arguments {
		if _, ok := given[a.Name]; a.Output && !ok {
			p.addf(field, "no %s for the output %s", noun, a.Name)
		}
	}
	return expected
}
