package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// instance returns the name of the kernel. Of a template, it has arguments: a type is float, a bool is a parameter, and another number is
// like a macro that the source needs.
func (p *proposer) instance() string {
	if len(p.Kernel.Template) == 0 {
		return p.Kernel.Name
	}
	var values []string
	p.types = map[string]string{}
	for _, t := range p.Kernel.Template {
		value, m := "{"+t.Name+"}", p.missingMacro(t.Name, false)
		switch _, err := strconv.Atoi(t.Default); {
		case t.Type == "typename" || t.Type == "class":
			value = cmp.Or(t.Default, "float")
			p.types[t.Name] = value
			p.Remark("kernel.name", "DECIDE: the type %s of the template.", t.Name)
		case t.Type == "bool":
			p.addParameter(t.Name, 0, []space.Value{0, 1})
		case err == nil:
			p.Given = append(slices.Clip(p.Given), source.Macro{Name: t.Name, Text: t.Default, Guarded: true})
		default:
			p.Missing = append(slices.Clip(p.Missing), m)
		}
		values = append(values, value)
	}
	return fmt.Sprintf("%s<%s>", p.Kernel.Name, strings.Join(values, ", "))
}

// ofTemplate reports whether a name is that of a parameter of the template, which can be no macro.
func (p *proposer) ofTemplate(name string) bool {
	return slices.ContainsFunc(p.Kernel.Template, func(t source.Variable) bool { return t.Name == name })
}

// cudaType returns the type for which a name stands in CUDA C: as the type of a template, by a typedef or as a macro; "" if there is none.
func (p *proposer) cudaType(name string) string {
	if p.language != source.CUDA {
		return ""
	}
	of := cmp.Or(p.types[name], source.Typedef(p.active, name))
	for _, m := range slices.Concat(p.Given, p.Missing, source.Macros(p.active)) {
		if m.Name == name {
			of = cmp.Or(of, m.Text)
		}
	}
	return of
}

// addSymbols adds the variables in constant memory that the kernel reads.
func (p *proposer) addSymbols() {
	for _, v := range p.Kernel.Symbols {
		i := len(p.Definition.Arguments)
		p.addArgument(i, cl.ArgInfo{Name: v.Name, Type: cmp.Or(source.OpenCLType(v.Type), v.Type) + "*", Address: cl.AddressGlobal})
		a := &p.Definition.Arguments[i]
		a.Symbol = true
		length := "(" + cmp.Or(strings.Join(v.Counts, ") * ("), "1") + ")"
		if n, known := source.Value(length, slices.Concat(p.Given, p.Missing, source.Macros(p.active))); known && a.Type != "bytes" {
			a.Size = strconv.FormatInt(n, 10)
			delete(p.Remarks, fmt.Sprintf("arguments[%d]", i))
		}
	}
}
