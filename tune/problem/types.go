package problem

import (
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

// argumentType returns the type of an argument: a named one, or the value of an expression over constants.
func (p *Problem) argumentType(text string, scope expression.Scope) (e launch.Element, err error) {
	if e, err = p.elementType(text); err == nil || p.constants[text] != nil {
		return e, err
	}
	rule, unreadable := expression.Compile(text, scope)
	switch {
	case unreadable != nil && strings.ContainsAny(text, `?+"'`): // no name
		return e, unreadable
	case unreadable != nil:
		return e, err
	case !p.fixed(rule):
		return e, fmt.Errorf("%s depends on the configuration or the device, and the type of an argument is the same for all: "+
			"make it a constant, and search once for each type with --set", rule)
	}
	v, err := rule.Eval(p.constants)
	name, isText := v.(string)
	if err == nil && !isText {
		err = fmt.Errorf("%s is %v, not the name of a type", rule, v)
	}
	if err == nil {
		e, err = p.namedType(name)
	}
	return e, err
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
