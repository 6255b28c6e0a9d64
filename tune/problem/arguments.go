package problem

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

func (p *Problem) compileArguments(errs *fieldErrors, scope expression.Scope) {
	seen := map[string]bool{}
	for i, given := range p.definition.Arguments {
		field := fmt.Sprintf("arguments[%d]", i)
		if given.Name == "" {
			errs.addf(field+".name", "the argument has no name")
		} else if seen[given.Name] {
			errs.addf(field+".name", "two arguments are named %s", given.Name)
		}
		seen[given.Name] = true
		p.arguments = append(p.arguments, p.compileArgument(errs, field, given, scope))
	}
	for i, a := range p.arguments {
		if a.kind == BufferArgument && a.Fill.Copy != "" {
			p.checkCopy(errs, fmt.Sprintf("arguments[%d].fill", i), a)
		}
	}
}

func (p *Problem) compileArgument(errs *fieldErrors, field string, given Argument, scope expression.Scope) argument {
	a := argument{Argument: given, kind: BufferArgument}
	switch {
	case given.Value != nil && given.LocalSize != "":
		errs.addf(field, "is a scalar (value) or local memory (local_size), not both")
		return a
	case given.Value != nil:
		a.kind = ScalarArgument
	case given.LocalSize != "":
		a.kind = LocalArgument
	}
	if a.kind != BufferArgument {
		for _, wrong := range []struct {
			is   bool
			what string
		}{
			{given.Size != "", "size"}, {given.Data != nil, "data"}, {given.Fill != Fill{}, "fill"},
			{given.Output, "output"}, {given.RestoreEachLaunch, "restore"},
		} {
			if wrong.is {
				errs.addf(field+"."+wrong.what, "only a buffer has it; %s is %s", given.Name, a.kind.WithArticle())
			}
		}
	}
	if given.Data != nil {
		data, err := array.From(given.Data)
		if err != nil {
			errs.add(field+".data", err)
			return a
		}
		a.data, a.typ = data, data.Type
	}
	if given.Type != "" {
		typ, err := p.argumentType(given.Type)
		if err == nil && a.data != nil {
			a.data, err = a.data.As(typ)
		}
		if err != nil {
			errs.add(field+".type", err)
			return a
		}
		a.typ = typ
	} else if a.data == nil {
		if t := reflect.TypeOf(given.Value); t != nil {
			a.typ, _ = array.TypeOf(t)
		}
		if a.typ == 0 {
			errs.addf(field+".type", "the type is missing; give one such as float32, int32, float4")
			return a
		}
	}
	switch a.kind {
	case BufferArgument:
		p.compileBuffer(errs, field, &a, scope)
	case ScalarArgument:
		p.compileScalar(errs, field, &a, scope)
	case LocalArgument:
		a.size = p.compileSize(errs, field+".local_size", given.LocalSize, scope)
	}
	return a
}

// argumentType returns the named type. The name may be that of a constant whose text names the type.
func (p *Problem) argumentType(name string) (array.Type, error) {
	for _, c := range p.definition.Constants {
		if text, ok := c.Value.(string); ok && c.Name == name {
			typ, err := array.ParseType(text)
			if err != nil {
				return 0, fmt.Errorf("the constant %s: %w", name, err)
			}
			return typ, nil
		}
	}
	return array.ParseType(name)
}

func (p *Problem) compileBuffer(errs *fieldErrors, field string, a *argument, scope expression.Scope) {
	if count(a.data != nil, a.Fill.Kind != "", a.Fill.Copy != "", a.Fill.File != "") > 1 {
		errs.addf(field+".fill", "the content is given more than once")
		return
	}
	if a.Fill.Kind != "" {
		if _, err := a.Fill.Fill.Make(a.typ, 1, 0); err != nil {
			errs.add(field+".fill", err)
		}
	}
	if a.Fill.File != "" {
		data, err := readFile(a.Fill.File, a.typ)
		if err != nil {
			errs.add(field+".fill", err)
			return
		}
		a.data = data
	}
	switch {
	case a.Size != "":
		a.size = p.compileSize(errs, field+".size", a.Size, scope)
	case a.data == nil:
		errs.addf(field+".size", "the size is missing: give the number of elements")
	}
	if a.size != nil && a.data != nil && p.fixed(a.size) {
		if n, err := a.size.Int(p.constants); err == nil && n != a.data.Len() {
			errs.addf(field+".size", "%s is %d, but the content has %d elements", a.Size, n, a.data.Len())
		}
	}
	if a.data != nil && a.data.Len() == 0 {
		given := ".data"
		if a.Fill.File != "" {
			given = ".fill"
		}
		errs.addf(field+given, "the buffer is empty; OpenCL has no buffers without a byte")
	}
}

// readFile reads a .npy file as elements of a type.
func readFile(path string, typ array.Type) (*array.Array, error) {
	data, _, err := array.ReadNPY(path)
	if err != nil {
		return nil, err
	}
	return data.As(typ)
}

// fixedLen returns the number of elements of a buffer, or 0 if it depends on the configuration or the
// device.
func (p *Problem) fixedLen(a *argument) int {
	switch {
	case a.size != nil && p.fixed(a.size):
		if n, err := a.size.Int(p.constants); err == nil {
			return n
		}
	case a.size == nil && a.data != nil:
		return a.data.Len()
	}
	return 0
}

// checkCopy checks that the buffer of which a is a copy exists, is no copy itself and has the type.
func (p *Problem) checkCopy(errs *fieldErrors, field string, a argument) {
	from, ok := p.argument(a.Fill.Copy)
	switch {
	case !ok:
		errs.add(field, p.unknownArgument(a.Fill.Copy))
	case from.kind != BufferArgument:
		errs.addf(field, "%s is %s, not a buffer", from.Name, from.kind.WithArticle())
	case from.Fill.Copy != "":
		errs.addf(field, "%s is itself a copy; name the buffer that is copied", from.Name)
	case from.typ != a.typ:
		errs.addf(field, "%s is of %v, %s of %v", from.Name, from.typ, a.Name, a.typ)
	default:
		if n, m := p.fixedLen(from), p.fixedLen(&a); n > 0 && m > 0 && n != m {
			errs.addf(field, "%s has %d elements, %s has %d", from.Name, n, a.Name, m)
		}
	}
}

func (p *Problem) compileScalar(errs *fieldErrors, field string, a *argument, scope expression.Scope) {
	a.Value = plainScalar(a.Value)
	if text, ok := a.Value.(string); ok {
		if u, ok := largeInteger(text); ok {
			a.Value = u
		}
	}
	lanes, vector := a.Value.([]any)
	if !vector {
		lanes = []any{a.Value}
	}
	expressions := slices.ContainsFunc(lanes, func(v any) bool { _, ok := v.(string); return ok })
	if !expressions {
		if _, err := array.ScalarBytes(a.typ, a.Value); err != nil {
			errs.add(field+".value", err)
		}
		return
	}
	for _, lane := range lanes {
		source, ok := lane.(string)
		if !ok {
			source = space.FormatValue(lane)
		}
		if number := (Constant{Value: source}).Number(); number != source {
			source = space.FormatValue(number) // a C literal such as 0.225f
		}
		e, err := expression.Compile(source, scope)
		if err != nil {
			errs.add(field+".value", err)
			return
		}
		a.value = append(a.value, e)
	}
	if !slices.ContainsFunc(a.value, func(e *expression.Expression) bool { return !p.fixed(e) }) {
		if _, err := a.scalarBytes(p.constants); err != nil {
			errs.add(field+".value", err)
		}
	}
}

// scalarBytes returns the bytes of the scalar that the kernel gets.
func (a *argument) scalarBytes(environment map[string]any) ([]byte, error) {
	if a.value == nil {
		return array.ScalarBytes(a.typ, a.Value)
	}
	lanes := make([]any, len(a.value))
	for i, e := range a.value {
		v, err := e.Eval(environment)
		if err != nil {
			return nil, err
		}
		lanes[i] = v
	}
	if _, vector := a.Value.([]any); !vector {
		return array.ScalarBytes(a.typ, lanes[0])
	}
	return array.ScalarBytes(a.typ, lanes)
}

// place returns the index of the named argument, or -1.
func (p *Problem) place(name string) int {
	return slices.IndexFunc(p.arguments, func(a argument) bool { return a.Name == name })
}

// argument returns the named argument.
func (p *Problem) argument(name string) (*argument, bool) {
	if i := p.place(name); i >= 0 {
		return &p.arguments[i], true
	}
	return nil, false
}

// An ArgumentInfo describes an argument of a compiled problem.
type ArgumentInfo struct {
	Name              string
	Kind              ArgumentKind
	Type              array.Type
	Output            bool
	RestoreEachLaunch bool
	Varies            bool // its size depends on the configuration or the device
}

// Arguments returns descriptions of the arguments in the kernel's order.
func (p *Problem) Arguments() []ArgumentInfo {
	infos := make([]ArgumentInfo, len(p.arguments))
	for i, a := range p.arguments {
		infos[i] = ArgumentInfo{a.Name, a.kind, a.typ, a.Output, a.RestoreEachLaunch, a.size != nil && !p.fixed(a.size)}
	}
	return infos
}

// Content returns the initial content of buffer argument i with n elements. It depends only on the
// problem and n. The array may be shared and must not be changed.
func (p *Problem) Content(i, n int) (*array.Array, error) {
	a := &p.arguments[i]
	if a.kind != BufferArgument {
		return nil, fmt.Errorf("argument %s is %s and has no content", a.Name, a.kind.WithArticle())
	}
	if a.Fill.Copy != "" {
		a, _ = p.argument(a.Fill.Copy)
	}
	if a.data != nil {
		if a.data.Len() != n {
			return nil, fmt.Errorf("argument %s: the content has %d elements, not %d", a.Name, a.data.Len(), n)
		}
		return a.data, nil
	}
	content, err := a.Fill.Fill.Make(a.typ, n, array.Seed(p.definition.Seed, a.Name))
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", a.Name, err)
	}
	return content, nil
}
