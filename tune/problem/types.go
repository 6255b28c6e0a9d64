package problem

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// rawBytes is the name of the type of arguments that are given byte by byte.
const rawBytes = "bytes"

// compileTypes lays out the structs of the definition.
func (p *Problem) compileTypes(errs *fieldErrors, scope expression.Scope) {
	for _, t := range p.definition.Types {
		field := "types." + t.Name
		_, plain := array.ParseType(t.Name)
		switch {
		case !space.IsIdentifier(t.Name):
			errs.addf(field, "%q is not a name that a type can have", t.Name)
			continue
		case plain == nil || t.Name == rawBytes:
			errs.addf(field, "%s is the name of another type", t.Name)
			continue
		case p.structs[t.Name] != nil:
			errs.addf(field, "two types have this name")
			continue
		}
		s, err := array.NewStruct(t.Name, p.compileFields(errs, field, t, scope))
		if errs.add(field, err); err == nil {
			p.structs[t.Name] = s
		}
	}
}

func (p *Problem) compileFields(errs *fieldErrors, field string, t task.StructType, scope expression.Scope) []array.Field {
	var fields []array.Field
	for _, given := range t.Fields {
		at := field + "." + given.Name
		f := array.Field{Name: given.Name}
		switch {
		case !space.IsIdentifier(given.Name):
			errs.addf(at, "%q is not a name that a field can have", given.Name)
		case slices.ContainsFunc(fields, func(o array.Field) bool { return o.Name == given.Name }):
			errs.addf(at, "two fields have this name")
		}
		e, err := p.elementType(given.Type)
		if err != nil {
			errs.add(at, err)
			e.Type = array.Uint8 // only to go on
		}
		f.Type, f.Struct = e.Type, e.Struct
		if given.Count != "" {
			count := p.compileSize(errs, at+".count", given.Count, scope)
			switch {
			case count == nil:
			case !p.fixed(count):
				errs.addf(at+".count", "%s depends on the configuration or the device; a struct is the same for all", given.Count)
			default:
				f.Count, _ = count.Int(p.constants) // compileSize has checked the value
				f.Count = max(0, f.Count)
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// elementType returns the named type. The name may be that of a constant whose text names the type.
func (p *Problem) elementType(name string) (launch.Element, error) {
	if text, ok := p.constants[name].(string); ok {
		e, err := p.namedType(text)
		if err != nil {
			err = fmt.Errorf("the constant %s: %w", name, err)
		}
		return e, err
	}
	return p.namedType(name)
}

// argumentType returns the type of the next argument: a named one, or the value of an expression. If that depends on parameters, it is the
// type at their first values, and typed is set.
func (p *Problem) argumentType(text string, scope expression.Scope) (e launch.Element, typed bool, err error) {
	if e, err = p.elementType(text); err == nil || p.constants[text] != nil {
		return e, false, err
	}
	rule, unreadable := expression.Compile(text, scope)
	switch {
	case unreadable != nil && strings.ContainsAny(text, `?+"'`): // no name
		return e, false, unreadable
	case unreadable != nil:
		return e, false, err
	}
	if rule.Reads("device") {
		return e, false, fmt.Errorf("%s depends on the device; the type of an argument depends on constants and parameters", rule)
	}
	env := maps.Clone(p.constants)
	for i := range p.parameters.Len() {
		env[p.parameters.At(i).Name] = p.parameters.At(i).Values[0]
	}
	name, err := typeIn(rule, env)
	if err == nil {
		e, err = p.namedType(name)
	}
	if typed = !p.fixed(rule); typed {
		p.typeRules[len(p.arguments)] = rule
	}
	return e, typed, err
}

// typeIn returns the name of a type in an environment.
func typeIn(rule *expression.Expression, env map[string]any) (string, error) {
	v, err := rule.Eval(env)
	name, isText := v.(string)
	if err == nil && !isText {
		err = fmt.Errorf("%s is %v, not the name of a type", rule, v)
	}
	return name, err
}

// The types of arguments are limited: the combinations of parameters that they read, and those of types.
const (
	maxTypeRules = 4096
	maxTyped     = 16
)

// compileTyped makes the problems with the types of configurations.
func (p *Problem) compileTyped(errs *fieldErrors) {
	if len(p.typeRules) == 0 {
		return
	}
	envs := []map[string]any{maps.Clone(p.constants)}
	for i := range p.parameters.Len() {
		q := p.parameters.At(i)
		if !slices.ContainsFunc(slices.Collect(maps.Values(p.typeRules)), func(e *expression.Expression) bool { return e.Reads(q.Name) }) {
			continue
		}
		var next []map[string]any
		for _, env := range envs {
			for _, v := range q.Values {
				at := maps.Clone(env)
				at[q.Name] = v
				next = append(next, at)
			}
		}
		if envs = next; len(envs) > maxTypeRules {
			errs.addf("arguments", "the types depend on more than %d combinations of parameters", maxTypeRules)
			return
		}
	}
	p.typed = map[string]*Problem{}
	for _, env := range envs {
		d := p.definition
		d.Arguments = slices.Clone(d.Arguments)
		types := ""
		for _, i := range slices.Sorted(maps.Keys(p.typeRules)) {
			name, err := typeIn(p.typeRules[i], env)
			if err != nil {
				errs.add(fmt.Sprintf("arguments[%d].type", i), err)
				return
			}
			d.Arguments[i].Type = name
			types += name + " "
		}
		if p.typed[types] != nil {
			continue
		}
		at, err := compileTask(d, slices.Sorted(maps.Keys(p.typeRules)))
		if err == nil && len(p.typed) == maxTyped {
			err = &task.FieldError{Field: "arguments", Err: fmt.Errorf("there are more than %d combinations of types", maxTyped)}
		}
		if err != nil {
			errs.errs = append(errs.errs, err)
			return
		}
		at.types, p.typed[types] = types, at
	}
	scope := p.scope()
	for i := range p.typeRules {
		a := &p.arguments[i]
		for _, types := range slices.Sorted(maps.Keys(p.typed)) {
			own := &p.typed[types].arguments[i]
			if slices.ContainsFunc(a.Alternatives, func(known launch.Alternative) bool { return known.Argument.Type == own.Type }) {
				continue
			}
			condition, err := expression.Compile(fmt.Sprintf("(%s) == %q", a.Type, own.Type), scope)
			errs.add(fmt.Sprintf("arguments[%d].type", i), err)
			a.Alternatives = append(a.Alternatives, launch.Alternative{Condition: condition, Argument: own})
		}
	}
}

// At returns the problem with the types that its arguments have in a configuration: the problem itself if no type depends on parameters.
func (p *Problem) At(c space.Configuration) *Problem {
	if len(p.typed) == 0 {
		return p
	}
	env := maps.Clone(p.constants)
	c.Assign(env)
	return p.in(env)
}

// in is At for an environment.
func (p *Problem) in(env map[string]any) *Problem {
	types := ""
	for _, i := range slices.Sorted(maps.Keys(p.typeRules)) {
		name, _ := typeIn(p.typeRules[i], env) // which was computed before
		types += name + " "
	}
	return cmp.Or(p.typed[types], p)
}

func (p *Problem) namedType(name string) (launch.Element, error) {
	if s := p.structs[name]; s != nil {
		return launch.Element{Type: array.Uint8, Struct: s}, nil
	}
	if name == rawBytes {
		return launch.Element{Type: array.Uint8}, nil
	}
	typ, err := array.ParseType(name)
	if hint := nearest.Hint(name, slices.Sorted(maps.Keys(p.structs))); err != nil && hint != "" {
		err = fmt.Errorf("unknown type %q%s", name, hint)
	}
	return launch.Element{Type: typ}, err
}
