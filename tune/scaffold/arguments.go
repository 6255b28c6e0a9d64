package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
)

// typeOf returns the type of the numbers or vectors of an argument, and whether it has such.
func (p *proposer) typeOf(text string) (array.Type, bool) {
	name := strings.Replace(typeName(text), "unsigned ", "u", 1)
	for range 8 {
		if of := p.cudaType(name); of != "" {
			name = cmp.Or(source.OpenCLType(of), of)
			continue
		}
		base := strings.TrimRight(name, "0123456789")
		scalar := base
		if base == "bool" || base == "void" {
			scalar = "uchar"
		}
		t, err := array.ParseType(scalar)
		if lanes, e := strconv.Atoi(name[len(base):]); err == nil && (e == nil || base == name) && (lanes != 3 || p.language != source.CUDA) {
			if e == nil {
				t = t.Vector(lanes)
			}
			return t, true
		}
		if source.IsEnum(p.active, name) {
			return array.Int32, true
		}
		name = strings.Replace(source.Typedef(p.active, name), "unsigned ", "u", 1)
	}
	return 0, false
}

// typeText returns a type as a specification names it: as OpenCL C does where that is the same type.
func typeText(t array.Type) string {
	if same, err := array.ParseType(t.OpenCL()); err != nil || same != t {
		return t.String()
	}
	return t.OpenCL()
}

// addArgument adds an argument of the kernel.
func (p *proposer) addArgument(i int, a cl.ArgInfo) {
	d := &p.Definition
	field := fmt.Sprintf("arguments[%d]", len(d.Arguments))
	argument := definition.Argument{Name: cmp.Or(a.Name, fmt.Sprintf("argument_%d", i+1))}
	defer func() { d.Arguments = append(d.Arguments, argument) }()
	if shape, ok := imageShape(a.Type); ok {
		p.addImage(&argument, a, shape, field)
		return
	} else if typeName(a.Type) == "sampler_t" {
		argument.Sampler = &definition.Sampler{Coordinates: "pixels", Addressing: "clamp_to_edge", Filter: "nearest"}
		p.Remark(field, "DECIDE: coordinates are pixels or normalized; addressing is none, clamp, clamp_to_edge, repeat or\n"+
			"mirrored_repeat; filter is nearest or linear.")
		return
	}
	t, ok := p.typeOf(a.Type)
	s, why := (*array.Struct)(nil), ""
	switch {
	case ok:
		argument.Type = typeText(t)
	case strings.Count(a.Type, "*") > 1:
		why = "a pointer to pointers has no description, and without one the kernel does not run"
	default:
		s, why = p.describe(typeName(a.Type))
	}
	if s != nil {
		argument.Type = s.Name
	} else if !ok {
		argument.Type = "bytes"
		p.Remark(field, "DECIDE: %s cannot be described: %s.", typeName(a.Type), why)
	}
	uses, unit := p.lines(p.active, a.Name), "elements"
	if argument.Type == "bytes" {
		unit = "bytes"
	}
	switch {
	case a.Address == cl.AddressLocal:
		argument.LocalSize = spec.Undecided
		p.Remark(field, "DECIDE: the elements of local memory that a work-group needs.%s", uses)
	case a.Address == cl.AddressPrivate && argument.Type == "bytes":
		argument.Value = spec.Undecided
		p.Remark(field, "DECIDE: the bytes of the value, as hexadecimal digits.")
	case a.Address == cl.AddressPrivate && s != nil:
		argument.Value = structValue(s)
		p.Remark(field, "DECIDE: the values of the fields.%s", uses)
	case a.Address == cl.AddressPrivate && p.isKnown(a.Name):
		argument.Value = a.Name
	case a.Address == cl.AddressPrivate:
		argument.Value = firstValue(t)
		p.Remark(field, "DECIDE: the value of %s.%s", a.Name, uses)
	default:
		argument.Size, argument.Fill = spec.Undecided, definition.Fill{Kind: array.Random}
		if bound := p.function.Elements[a.Name]; unit == "elements" && slices.Contains(p.Definition.ProblemSize, bound) {
			argument.Size = bound
		} else {
			p.Remark(field, "DECIDE: the %s of %s.%s", unit, a.Name, uses)
		}
	}
}

// qualifiers are the words of a declaration that do not belong to its type.
var qualifiers = strings.Fields(`const volatile restrict __global __constant __local __private global constant local private
	read_only write_only read_write __read_only __write_only __read_write struct union enum`)

// typeName returns the name of a type without qualifiers, asterisks, struct, union and enum.
func typeName(text string) string {
	var words []string
	for _, word := range strings.Fields(strings.ReplaceAll(text, "*", " ")) {
		if !slices.Contains(qualifiers, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// markOutputs marks the buffers that the kernel writes: those to which its text assigns, else the first that is not
// constant.
func (p *proposer) markOutputs() {
	var writable, written []int
	for i, a := range p.Kernel.Arguments {
		image := p.Definition.Arguments[i].Image != nil
		switch {
		case image && (a.Access == cl.AccessWriteOnly || p.function.Use(a.Name).Written):
			written = append(written, i)
		case !image && a.Address == cl.AddressGlobal && a.Qualifier&cl.TypeConst == 0:
			if writable = append(writable, i); p.function.Use(a.Name).Written {
				written = append(written, i)
			}
		}
	}
	why := "the kernel assigns to it"
	if len(written) == 0 {
		written = writable[:min(1, len(writable))]
		why = "it is the first that is not const"
	}
	for _, i := range written {
		a := &p.Definition.Arguments[i]
		a.Output = true
		switch u := p.function.Use(a.Name); {
		case a.Image != nil && a.Fill.Kind == "":
		case u.Read || !u.Written:
			a.RestoreEachLaunch = true
		default:
			a.Fill = definition.Fill{}
		}
		p.Remark(fmt.Sprintf("arguments[%d]", i), "An output: %s.", why)
	}
	if len(written) == 0 {
		p.Remark("verify", "DECIDE: no argument of the kernel is an output that can be verified.")
	}
	p.Remark("arguments", "DECIDE: the sizes of buffers, in elements, must be at least what the kernel reads and writes. fill is the\n"+
		"initial content: of indices of another buffer, {random: [0, its size]}. Buffers with output: true are verified; restore:\n"+
		"iteration is for kernels that work in place.")
}
