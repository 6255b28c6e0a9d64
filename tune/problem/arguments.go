package problem

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

func (p *Problem) compileArguments(errs *fieldErrors, scope expression.Scope, typed []int) {
	seen := map[string]bool{}
	for i, given := range p.definition.Arguments {
		field := fmt.Sprintf("arguments[%d]", i)
		if given.Name == "" {
			errs.addf(field+".name", "the argument has no name")
		} else if seen[given.Name] {
			errs.addf(field+".name", "two arguments are named %s", given.Name)
		}
		seen[given.Name] = true
		p.arguments = append(p.arguments, p.compileArgument(errs, field, given, slices.Contains(typed, i), scope))
	}
	for i, a := range p.arguments {
		if a.kind.HasContent() && a.Fill.Copy != "" {
			p.checkCopy(errs, fmt.Sprintf("arguments[%d].fill", i), a)
		}
	}
}

func (p *Problem) compileArgument(errs *fieldErrors, field string, given Argument, typed bool, scope expression.Scope) argument {
	a := argument{Argument: given, kind: BufferArgument, typed: typed}
	switch {
	case count(given.Value != nil, given.LocalSize != "", given.Image != nil, given.Sampler != nil) > 1:
		errs.addf(field, "is a scalar (value), local memory (local_size), an image or a sampler, not both")
		return a
	case given.Image != nil:
		a.kind = ImageArgument
	case given.Sampler != nil:
		a.kind = SamplerArgument
	case given.Value != nil:
		a.kind = ScalarArgument
	case given.LocalSize != "":
		a.kind = LocalArgument
	}
	if !a.kind.HasContent() {
		for _, wrong := range []struct {
			is   bool
			what string
		}{
			{given.Size != "", "size"}, {given.Data != nil, "data"}, {!given.Fill.IsZero(), "fill"},
			{given.Output, "output"}, {given.RestoreEachLaunch, "restore"},
		} {
			if wrong.is {
				errs.addf(field+"."+wrong.what, "only a buffer has it; %s is %s", given.Name, a.kind.WithArticle())
			}
		}
	}
	switch {
	case (a.kind == ImageArgument || a.kind == SamplerArgument) && given.Type != "":
		errs.addf(field+".type", "%s has no type; the format of an image says what its pixels are", a.kind.WithArticle())
		return a
	case a.kind == ImageArgument && given.Size != "":
		errs.addf(field+".size", "the sizes of an image are a list")
		return a
	case a.kind == ImageArgument:
		p.compileImage(errs, field, &a, scope)
		return a
	case a.kind == SamplerArgument:
		compileSampler(errs, field, a.Sampler)
		return a
	}
	if given.Data != nil {
		data, err := array.From(given.Data)
		if err != nil {
			errs.add(field+".data", err)
			return a
		}
		a.data, a.element = data, Element{data.Type, data.Struct}
	}
	if given.Type != "" {
		element, depends, err := p.argumentType(given.Type, scope)
		a.element, a.typed = element, typed || depends
		if err == nil && a.data != nil {
			a.data, err = a.takeData(a.data)
		}
		if err != nil {
			errs.add(field+".type", err)
			return a
		}
	} else if a.data == nil {
		if t := reflect.TypeOf(given.Value); t != nil {
			a.element.Type, _ = array.TypeOf(t)
		}
		if a.element.Type == 0 {
			errs.addf(field+".type", "the type is missing; give one such as float32, int32, float4")
			return a
		}
	}
	switch a.kind {
	case BufferArgument:
		p.compileBuffer(errs, field, &a, scope)
	case ScalarArgument:
		p.compileScalar(errs, field, &a, p.withIndices(scope))
	case LocalArgument:
		a.size = p.compileSize(errs, field+".local_size", given.LocalSize, p.withIndices(scope))
	}
	return a
}

func (p *Problem) compileBuffer(errs *fieldErrors, field string, a *argument, scope expression.Scope) {
	if a.Size != "" {
		a.size = p.compileSize(errs, field+".size", a.Size, scope)
	} else if a.data == nil && a.Fill.File == "" {
		errs.addf(field+".size", "the size is missing: give the number of elements")
	}
	p.compileContent(errs, field, a, scope)
}

// compileContent reads the content that is given, and checks it.
func (p *Problem) compileContent(errs *fieldErrors, field string, a *argument, scope expression.Scope) {
	if given := a.Fill.ways(); given > 1 || given > 0 && a.Data != nil {
		errs.addf(field+".fill", "the content is given more than once")
		return
	}
	p.compileFills(errs, field+".fill", a, scope)
	if a.Fill.File != "" {
		data, err := readFile(a.Fill.File)
		if err == nil {
			a.data, err = a.takeData(data)
		}
		if err != nil {
			errs.add(field+".fill", err)
			return
		}
	}
	if a.data != nil && (a.size != nil || a.sizes != nil) {
		if n := p.fixedLen(a); n > 0 && n != a.data.Len() {
			errs.addf(field+".size", "%s is %d, but the content has %d elements", a.sizeText(), n, a.data.Len())
		}
	}
	if a.data != nil && a.data.Len() == 0 {
		given := ".fill"
		if a.Data != nil {
			given = ".data"
		}
		errs.addf(field+given, "the buffer is empty; OpenCL has no buffers without a byte")
	}
}

// filled reports whether a buffer has another initial content than zeros.
func (a *argument) filled() bool {
	return a.data != nil || a.Fill.ways() > 0 && a.Fill.Kind != array.Zeros
}

// sizeText returns the size as given.
func (a *argument) sizeText() string {
	if a.Image != nil {
		return strings.Join(a.Image.Size, " × ")
	}
	return a.Size
}

// readFile reads a .npy file.
func readFile(path string) (*array.Array, error) {
	data, _, err := array.ReadNPY(path)
	return data, err
}

// fixedLen returns the number of elements of a buffer, or 0 if it depends on the configuration or the
// device.
func (p *Problem) fixedLen(a *argument) int {
	switch {
	case slices.ContainsFunc(a.sizes, func(e *expression.Expression) bool { return !p.fixed(e) }):
	case a.sizes != nil:
		if n, err := a.elements(p.constants); err == nil {
			return n
		}
	case a.size != nil && p.fixed(a.size):
		if n, err := a.size.Int(p.constants); err == nil {
			return n
		}
	case a.size == nil && a.data != nil:
		return a.data.Len()
	}
	return 0
}

// lenAt returns the number of elements of a buffer in a configuration, or 0 if it depends on the device or is no buffer.
func (p *Problem) lenAt(a *argument, c space.Configuration) int {
	env := maps.Clone(p.constants)
	c.Assign(env)
	n, err := 0, error(nil)
	if a.kind.HasContent() && c.Len() == p.parameters.Len() {
		n, err = a.elements(env)
	}
	if err != nil {
		return 0
	}
	return n
}

// checkCopy checks that the buffer of which a is a copy exists, is no copy itself and has the type.
func (p *Problem) checkCopy(errs *fieldErrors, field string, a argument) {
	from, ok := p.argument(a.Fill.Copy)
	switch {
	case !ok:
		errs.add(field, p.unknownArgument(a.Fill.Copy))
	case !from.kind.HasContent():
		errs.addf(field, "%s is %s, not a buffer", from.Name, from.kind.WithArticle())
	case from.Fill.Copy != "":
		errs.addf(field, "%s is itself a copy; name the buffer that is copied", from.Name)
	case !from.element.Equal(a.element):
		errs.addf(field, "%s is of %v, %s of %v", from.Name, from.element, a.Name, a.element)
	default:
		if n, m := p.fixedLen(from), p.fixedLen(&a); n > 0 && m > 0 && n != m {
			errs.addf(field, "%s has %d elements, %s has %d", from.Name, n, a.Name, m)
		}
	}
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
	Type              array.Type    // array.Uint8 for a struct
	Struct            *array.Struct // nil: the argument has no struct
	Output            bool
	RestoreEachLaunch bool
	Image             *Image   // of an image
	Sampler           *Sampler // of a sampler
	Varies            bool     // its size depends on the configuration or the device
	Typed             bool     // its type depends on the configuration, and is that of [Problem.At]
}

// Arguments returns descriptions of the arguments in the kernel's order.
func (p *Problem) Arguments() []ArgumentInfo {
	infos := make([]ArgumentInfo, len(p.arguments))
	for i, a := range p.arguments {
		varies := func(e *expression.Expression) bool { return e != nil && !p.fixed(e) }
		infos[i] = ArgumentInfo{a.Name, a.kind, a.element.Type, a.element.Struct, a.Output, a.RestoreEachLaunch, a.Image, a.Sampler, varies(a.size) || slices.ContainsFunc(a.sizes, varies), a.typed}
	}
	return infos
}

// Element returns the type of the elements.
func (a ArgumentInfo) Element() Element { return Element{a.Type, a.Struct} }

// Content returns the initial content of buffer argument i with n elements. It depends only on the
// problem and n. The array may be shared and must not be changed.
func (p *Problem) Content(i, n int) (*array.Array, error) {
	a := &p.arguments[i]
	if !a.kind.HasContent() {
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
	content, err := p.fill(a, 0, n)
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", a.Name, err)
	}
	return content, nil
}
