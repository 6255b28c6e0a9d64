package problem

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// An Element is the type of the elements of an argument.
type Element struct {
	Type   array.Type    // array.Uint8 for a struct
	Struct *array.Struct // nil: the elements are of Type
}

// Size returns the size in bytes.
func (e Element) Size() int {
	if e.Struct != nil {
		return e.Struct.Size
	}
	return e.Type.Size()
}

// String returns the name of the type.
func (e Element) String() string {
	if e.Struct != nil {
		return "struct " + e.Struct.Name
	}
	return e.Type.String()
}

// Equal reports whether two types are the same. The names of structs do not matter.
func (e Element) Equal(o Element) bool { return e.Type == o.Type && e.Struct.Equal(o.Struct) }

// SameScalars reports whether arrays of both types have the same scalars one after the other, as float4 and float. A 3-vector has
// gaps between them.
func (e Element) SameScalars(o Element) bool {
	return e.Struct == nil && o.Struct == nil && e.Type.Scalar() == o.Type.Scalar() && e.Type.Lanes() != 3 && o.Type.Lanes() != 3
}

// Array returns an array of n elements, all bytes of which are zero.
func (e Element) Array(n int) *array.Array {
	if e.Struct != nil {
		return array.NewStructs(e.Struct, n)
	}
	return array.New(e.Type, n)
}

// View returns the memory of an array as elements of the type. A struct takes any bytes.
func (e Element) View(a *array.Array) (*array.Array, error) {
	if e.Struct != nil {
		return a.AsStructs(e.Struct)
	}
	return a.As(e.Type)
}

// rawBytes is the name of the type of arguments that are given byte by byte.
const rawBytes = "bytes"

// compileTypes lays out the structs of the definition.
func (p compiler) compileTypes() {
	for _, t := range p.definition.Types {
		field := "types." + t.Name
		_, plain := array.ParseType(t.Name)
		switch {
		case !space.IsIdentifier(t.Name):
			p.addf(field, "%q is not a name that a type can have", t.Name)
			continue
		case plain == nil || t.Name == rawBytes:
			p.addf(field, "%s is the name of another type", t.Name)
			continue
		case p.structs[t.Name] != nil:
			p.addf(field, "two types have this name")
			continue
		}
		s, err := array.NewStruct(t.Name, p.compileFields(field, t))
		if p.add(field, err); err == nil {
			p.structs[t.Name] = s
		}
	}
}

func (p compiler) compileFields(field string, t definition.StructType) []array.Field {
	var fields []array.Field
	for _, given := range t.Fields {
		at := field + "." + given.Name
		f := array.Field{Name: given.Name}
		switch {
		case !space.IsIdentifier(given.Name):
			p.addf(at, "%q is not a name that a field can have", given.Name)
		case slices.ContainsFunc(fields, func(o array.Field) bool { return o.Name == given.Name }):
			p.addf(at, "two fields have this name")
		}
		e, err := p.elementType(given.Type)
		if err != nil {
			p.add(at, err)
			e.Type = array.Uint8 // only to go on
		}
		f.Type, f.Struct = e.Type, e.Struct
		if given.Count != "" {
			count := p.compileSize(at+".count", given.Count)
			switch {
			case count == nil:
			case !p.fixed(count):
				p.addf(at+".count", "%s depends on the configuration or the device; a struct is the same for all", given.Count)
			default:
				f.Count, _ = count.Int(p.constants) // compileSize has checked the value
				f.Count = max(0, f.Count)
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// elementType returns a type by its name, or by a constant or an expression over constants that has the name.
func (p compiler) elementType(text string) (Element, error) {
	e, unknown := p.namedType(text)
	if _, constant := p.constants[text].(string); unknown == nil && !constant {
		return e, nil
	}
	rule, err := expression.Compile(text, p.scope)
	switch {
	case err != nil && strings.ContainsAny(text, `?+"'`): // no name
		return e, err
	case err != nil:
		return e, unknown
	case !p.fixed(rule):
		return e, fmt.Errorf("%s depends on the configuration or the device, and a type is the same for all: "+
			"make it a constant, and search once for each type with --set", rule)
	}
	v, err := rule.Eval(p.constants)
	if name, isText := v.(string); isText {
		e, err = p.namedType(name)
	} else if err == nil {
		err = errors.New("that is not the name of a type")
	}
	if err != nil {
		err = fmt.Errorf("%s is %v: %w", rule, v, err)
	}
	return e, err
}

func (p *Problem) namedType(name string) (Element, error) {
	if s := p.structs[name]; s != nil {
		return Element{Type: array.Uint8, Struct: s}, nil
	}
	if name == rawBytes {
		return Element{Type: array.Uint8}, nil
	}
	typ, err := array.ParseType(name)
	if hint := nearest.Hint(name, slices.Sorted(maps.Keys(p.structs))); err != nil && hint != "" {
		err = fmt.Errorf("unknown type %q%s", name, hint)
	}
	return Element{Type: typ}, err
}
