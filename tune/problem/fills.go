package problem

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// A Fill is a compiled [definition.Fill] of the scalars and vectors of one type.
type Fill struct {
	array.Fill
	Rule   *expression.Expression // nil: Fill makes the data
	Source definition.Expr        // of the rule
	Item   int                    // the place of the member within the arrays of its struct
}

// The names that the expression of a fill may read besides constants.
var fillNames = []string{"index", "lane", "item"}

// ways returns the number of ways in which a fill gives the content.
func ways(f definition.Fill) int {
	return count(f.Kind != "", f.Expression != "", f.Fields != nil, f.Copy != "", f.File != "", f.Shared != "")
}

// maxChecked bounds the bytes at the beginning and at the end of a content that are computed to check a fill.
const maxChecked = 1 << 24

// compileFills compiles the fill of an argument, and checks its data where their number is known. Very large
// data are checked as a whole only when they are made.
func (p compiler) compileFills(field string, a *Argument) {
	before := len(p.errs)
	a.Fills = p.compileFill(field, a.Fill, a.Element, 0)
	if ways(a.Fill) == 0 || len(p.errs) > before {
		return
	}
	n, checked := max(1, p.fixedLen(a)), 1
	if slices.ContainsFunc(a.Fills, func(f Fill) bool { return f.Rule != nil }) {
		checked = max(1, maxChecked/a.Element.Size())
	}
	_, err := p.fill(a, 0, min(n, checked))
	if err == nil && n > checked && checked > 1 {
		_, err = p.fill(a, n-checked, checked)
	}
	p.add(field, err)
}

// compileFill returns the fills of the members of an element. The item is the place of the element within the
// arrays around it.
func (p compiler) compileFill(field string, given definition.Fill, e Element, item int) []Fill {
	if e.Struct == nil {
		if given.Fields != nil {
			p.addf(field+".fields", "%s has no fields", e)
		}
		f := p.compilePlainFill(field, given)
		f.Item = item
		return []Fill{f}
	}
	names := each.Of(e.Struct.Fields, func(f array.Field) string { return f.Name })
	for _, name := range slices.Sorted(maps.Keys(given.Fields)) {
		at, f := field+".fields."+name, given.Fields[name]
		switch {
		case !slices.Contains(names, name):
			p.addf(at, "%s has no field %s%s; its fields are %s", e, name, nearest.Hint(name, names), strings.Join(names, ", "))
		case f.Copy != "" || f.File != "" || f.Shared != "":
			p.addf(at, "a field cannot be filled by copy, file or shared; the whole struct can")
		case ways(f) > 1:
			p.addf(at, "the content is given more than once")
		}
	}
	var fills []Fill
	for _, f := range e.Struct.Fields {
		part, at := given, field
		if given.Fields != nil {
			part, at = given.Fields[f.Name], field+".fields."+f.Name
		}
		for j := range max(1, f.Count) {
			before := len(p.errs)
			fills = append(fills, p.compileFill(at, part, Element{Type: f.Type, Struct: f.Struct}, item*max(1, f.Count)+j)...)
			if len(p.errs) > before {
				break // the other items have the same errors
			}
		}
	}
	return fills
}

// compilePlainFill compiles a fill of numbers.
func (p compiler) compilePlainFill(field string, given definition.Fill) (f Fill) {
	f.Kind, f.Source = given.Kind, given.Expression
	before := len(p.errs)
	f.Value, f.Low, f.High = 0.0, 0.0, 0.0
	exact := func(name string, source definition.Expr) any {
		if source == "" {
			return 0.0
		}
		e, err := p.compileFixed(source, p.scope)
		var v any
		if err == nil {
			v, err = e.Exact(p.constants)
		}
		p.add(field+"."+string(given.Kind)+name, err)
		return v
	}
	switch given.Kind {
	case array.Constant:
		f.Value = exact("", given.Value)
	case array.Random:
		f.Low, f.High = exact("[0]", given.Low), exact("[1]", given.High)
		if len(p.errs) == before && given.High != "" && f.Low == f.High {
			p.addf(field+".random", "the interval [%v, %v) is empty", f.Low, f.High)
		}
	case array.Normal:
		f.Mean, _ = space.Number(exact(".mean", given.Mean))
		f.Std, _ = space.Number(exact(".std", given.Std))
		if len(p.errs) == before && given.Std != "" && f.Std <= 0 {
			p.addf(field+".normal.std", "a standard deviation is positive")
		}
	}
	if given.Expression == "" {
		return f
	}
	all := maps.Clone(p.scope)
	for _, name := range fillNames {
		all[name] = 0
	}
	var err error
	f.Rule, err = p.compileFixed(given.Expression, all)
	if err == nil {
		for _, name := range fillNames {
			if _, taken := p.scope[name]; taken && f.Rule.Reads(name) {
				err = fmt.Errorf("in %q: %s is the name of a constant or a parameter, too; rename that one", given.Expression, name)
			}
		}
	}
	p.add(field+".expression", err)
	return f
}

// compileFixed compiles an expression over constants.
func (p *Problem) compileFixed(source definition.Expr, scope expression.Scope) (*expression.Expression, error) {
	e, err := expression.Compile(source, scope)
	if err == nil && !p.fixed(e) {
		err = fmt.Errorf("%s depends on the configuration or the device; a fill is the same for all", e)
	}
	return e, err
}

// fill makes n elements of the content of an argument, from the one with the index first. Only expressions
// take another first than 0.
func (p *Problem) fill(a *Argument, first, n int) (*array.Array, error) {
	seed := array.Seed(p.definition.Seed, a.Name)
	if a.Element.Struct == nil {
		return p.fillMember(a.Fills[0], a.Element.Type, first, n, seed)
	}
	return array.MakeStructs(a.Element.Struct, n, func(i int) (*array.Array, error) {
		m := a.Element.Struct.Members[i]
		return p.fillMember(a.Fills[i], m.Type, first, n, array.Seed(seed, m.Path))
	})
}

func (p *Problem) fillMember(f Fill, t array.Type, first, n int, seed uint64) (*array.Array, error) {
	if f.Rule == nil {
		return f.Make(t, n, seed)
	}
	return array.Compute(t, first, n, func() array.Rule {
		series, values := f.Rule.Series(p.constants, fillNames...), make([]int, len(fillNames))
		return func(element, lane int) (uint64, bool, error) {
			values[0], values[1], values[2] = element, lane, f.Item
			return series(values)
		}
	})
}
