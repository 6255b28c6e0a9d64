package initial

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
)

// imageAxes are the dimensions that the sizes of images have, by shape. The last size of an array is its images.
var imageAxes = map[string][]int{"1d": {0}, "1d_buffer": {0}, "2d": {0, 1}, "1d_array": {0, 1}, "3d": {0, 1, 2}, "2d_array": {0, 1, 2}}

// imageShape returns the shape of an image, for the type of an argument such as image2d_array_t.
func imageShape(typ string) (shape string, ok bool) {
	shape, ok = strings.CutPrefix(typeName(typ), "image")
	shape, _ = strings.CutSuffix(shape, "_t")
	shape, _ = strings.CutSuffix(shape, "_depth")
	_, known := imageAxes[shape]
	return shape, ok && known
}

// addImage describes an image: its size is that of the problem, and its format follows from the functions that read
// and write it.
func (p *proposer) addImage(argument *task.Argument, a cl.ArgInfo, shape, field string) {
	format := spec.Undecided
	if strings.Contains(a.Type, "_depth") {
		format = "depth/float32"
	}
	image := &task.Image{Shape: shape, Format: format}
	for _, axis := range imageAxes[shape] {
		size := spec.Undecided
		if axis < p.dimensions && p.dimensions > 1 {
			size = p.Definition.ProblemSize[axis]
		}
		image.Size = append(image.Size, size)
	}
	argument.Image = image
	if a.Access == cl.AccessReadOnly {
		argument.Fill = task.Fill{Kind: array.Random}
	}
	p.Remark(field, "DECIDE: the size of the image, and the format of its pixels.%s", p.lines(p.active, a.Name))
}

// structType returns the name of the type of a struct, and declares it. For a struct that cannot be declared it returns bytes
// and their number.
func (p *proposer) structType(typ, field string) (name string, bytes int) {
	name, why := p.describe(typeName(typ))
	if why == "" {
		return name, 0
	}
	bytes, known := p.Sizes[declaredType(typ)]
	if known {
		p.Remark(field, "%s cannot be described: %s. An element has %d bytes.", typeName(typ), why, bytes)
	} else {
		bytes = 64
		p.Remark(field, "DECIDE: %s cannot be described: %s. An element is taken to have %d bytes.", typeName(typ), why, bytes)
	}
	return "bytes", bytes
}

// describe adds a struct, and those of its fields, to the types. It returns the name of the type, or why it has none.
func (p *proposer) describe(name string) (typ, why string) {
	declared := clc.Structs(p.active)
	typ = name
	for range 8 {
		i := slices.IndexFunc(declared, func(s clc.Struct) bool { return slices.Contains(s.Names, typ) })
		if i >= 0 {
			return typ, p.declare(declared[i], typ)
		}
		if typ = clc.Typedef(p.active, typ); typ == "" {
			break
		}
	}
	return "", "the source declares no struct " + name
}

// declare adds a struct to the types, or returns the reason why a specification cannot describe it.
func (p *proposer) declare(s clc.Struct, name string) (why string) {
	switch {
	case slices.ContainsFunc(p.Definition.Types, func(t task.StructType) bool { return t.Name == name }):
		return ""
	case slices.Contains(p.describing, name):
		return "it contains itself"
	case s.Odd != "":
		return s.Odd
	case len(s.Fields) == 0:
		return "it has no fields"
	}
	p.describing = append(p.describing, name)
	t := task.StructType{Name: name}
	for _, f := range s.Fields {
		member := task.StructField{Name: f.Name}
		total := 1
		for _, count := range f.Counts {
			n, known := clc.Value(count, slices.Concat(p.Given, p.Missing, clc.Macros(p.active)))
			if !known || n < 1 {
				return fmt.Sprintf("the length %s of %s is not known", count, f.Name)
			}
			total *= int(n)
		}
		if len(f.Counts) > 0 {
			member.Count = strconv.Itoa(total)
		}
		if number, ok := p.typeOf(f.Type); ok && typeName(f.Type) != "bool" {
			member.Type = typeText(number)
		} else if member.Type, why = p.describe(typeName(f.Type)); why != "" {
			return fmt.Sprintf("its field %s has the type %s: %s", f.Name, f.Type, why)
		}
		t.Fields = append(t.Fields, member)
	}
	p.Definition.Types = append(p.Definition.Types, t)
	p.Remarks["types"] = []string{"The structs of the source."}
	return ""
}

// structValue returns a value for each field of a struct.
func (p *proposer) structValue(name string) map[string]any {
	i := slices.IndexFunc(p.Definition.Types, func(t task.StructType) bool { return t.Name == name })
	values := map[string]any{}
	for _, f := range p.Definition.Types[i].Fields {
		var v any
		if t, err := array.ParseType(f.Type); err == nil {
			v = firstValue(t)
		} else {
			v = p.structValue(f.Type)
		}
		if f.Count != "" {
			n, _ := strconv.Atoi(f.Count)
			v = slices.Repeat([]any{v}, n)
		}
		values[f.Name] = v
	}
	return values
}

// firstValue returns a value of a type for a first try: of integers, only the user knows one.
func firstValue(t array.Type) any {
	v := any(0.5)
	if isInteger(t) {
		v = spec.Undecided
	}
	if t.Lanes() == 1 {
		return v
	}
	return slices.Repeat([]any{v}, t.Lanes())
}
