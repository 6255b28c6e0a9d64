package tune

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ndtune/ndtune/tune/array"
)

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
