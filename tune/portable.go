package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

// A FunctionError says that a problem cannot leave its process. Fields are the paths of the
// Go functions that it holds, in the words of a specification file: «kernel.func»,
// «verify.check».
type FunctionError struct {
	Fields []string
}

func (e *FunctionError) Error() string {
	return fmt.Sprintf("the problem holds Go functions (%s), which cannot cross to another process", strings.Join(e.Fields, ", "))
}

// Portable is a definition that makes the same problem in another process: it has the same
// digest and the same variants, and [NewProblem] reads no file for it. Sources are resolved,
// and what files hold stands in Data and in Verify.Expected as *array.Array. It survives
// encoding/gob. The arrays are the problem's own and must not be changed. A problem that
// holds Go functions has a [FunctionError] instead.
func (p *Problem) Portable() (Definition, error) {
	if fields := p.functions(); len(fields) > 0 {
		return Definition{}, &FunctionError{fields}
	}
	return p.portable(), nil
}

// functions are the paths of the Go functions of the definition.
func (p *Problem) functions() []string {
	var fields []string
	if p.definition.Kernel.Func != nil {
		fields = append(fields, "kernel.func")
	}
	for i, r := range p.definition.Restrictions {
		if r.Func != nil {
			fields = append(fields, restrictionField(i)+".func")
		}
	}
	given := p.definition.Verify
	if given == nil {
		return fields
	}
	if p.verify.reference != nil {
		for _, field := range p.verify.reference.functions() {
			fields = append(fields, "verify.spec."+field)
		}
	}
	if given.Reference != nil {
		fields = append(fields, "verify.reference")
	}
	if given.Check != nil {
		fields = append(fields, "verify.check")
	}
	return fields
}

// portable is Portable for a problem without functions.
func (p *Problem) portable() Definition {
	d := p.definition
	d.Kernel = Kernel{Name: d.Kernel.Name, Source: p.source, BuildOptions: d.Kernel.BuildOptions}
	d.Constants = slices.Clone(d.Constants)
	for i := range d.Constants {
		d.Constants[i].Value = d.Constants[i].normalized()
	}
	d.GridDiv = divisors(d.GridDiv)
	d.Arguments = nil
	for _, a := range p.arguments {
		d.Arguments = append(d.Arguments, a.portable())
	}
	d.Parameters = nil
	for i := range p.parameters.Len() {
		d.Parameters = append(d.Parameters, p.parameters.At(i))
	}
	if d.Roofline != nil {
		roofline := *d.Roofline
		d.Roofline = &roofline
	}
	if d.Verify != nil {
		d.Verify = p.verify.portable(*d.Verify)
	}
	return d
}

// portable is the argument with its content instead of the name of a file.
func (a *argument) portable() Argument {
	given := a.Argument
	given.Type, given.Fill.File = a.typ.String(), ""
	if a.data != nil {
		given.Data = a.data
	}
	return given
}

// portable is the verification with a portable reference.
func (v *verification) portable(given Verification) *Verification {
	if v.reference != nil {
		reference := v.reference.portable()
		given.Problem, given.Configuration = &reference, map[string]space.Value{}
		for i, name := range v.reference.parameters.Names() {
			given.Configuration[name] = v.configuration.At(i)
		}
	}
	if v.expected != nil {
		given.Files, given.Expected = nil, map[string]any{}
		for name, data := range v.expected {
			given.Expected[name] = data
		}
	}
	return &given
}

// divisors writes «divided by nothing» as a divisor of 1, which is the same: in many
// encodings an empty list is none, and none stands for the local size.
func divisors(given [3][]Expr) [3][]Expr {
	for i, list := range given {
		if list != nil && len(list) == 0 {
			given[i] = []Expr{"1"}
		}
	}
	return given
}
