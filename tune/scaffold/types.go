package scaffold

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
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
func (p *proposer) addImage(argument *definition.Argument, a cl.ArgInfo, shape, field string) {
	format := spec.Undecided
	if strings.Contains(a.Type, "_depth") {
		format = "depth/float32"
	}
	image := &definition.Image{Shape: shape, Format: format}
	for _, axis := range imageAxes[shape] {
		size := spec.Undecided
		if axis < p.dimensions && p.dimensions > 1 {
			size = p.Definition.ProblemSize[axis]
		}
		image.Size = append(image.Size, size)
	}
	argument.Image = image
	if a.Access == cl.AccessReadOnly {
		argument.Fill = definition.Fill{Kind: array.Random}
	}
	p.Remark(field, "DECIDE: the size of the image, and the format of its pixels.%s", p.lines(p.active, a.Name))
}

// describe adds a struct, and those of its fields, to the types, or returns why it has no description.
func (p *proposer) describe(name string) (s *array.Struct, why string) {
	declared := source.Structs(p.active)
	if number, isVector := strings.CutSuffix(name, "3"); isVector && p.language == source.CUDA && source.OpenCLType(number) != "" {
		fields := each.Of([]string{"x", "y", "z"}, func(axis string) source.Field { return source.Field{Name: axis, Type: number} })
		return p.declare(source.Struct{Fields: fields}, "three_"+number) // OpenCL C's have the size of four
	}
	for typ, depth := name, 0; typ != "" && depth < 8; typ, depth = source.Typedef(p.active, typ), depth+1 {
		i := slices.IndexFunc(declared, func(s source.Struct) bool { return slices.Contains(s.Names, typ) })
		if i >= 0 {
			return p.declare(declared[i], typ)
		}
	}
	return nil, "the source declares no struct " + name
}

// declare adds a struct to the types, or returns the reason why a specification cannot describe it.
func (p *proposer) declare(s source.Struct, name string) (*array.Struct, string) {
	known, again := p.structs[name]
	switch {
	case known != nil:
		return known, ""
	case again:
		return nil, "it contains itself"
	case s.Odd != "":
		return nil, s.Odd
	}
	p.structs[name] = nil
	defer func() {
		if p.structs[name] == nil {
			delete(p.structs, name)
		}
	}()
	t := definition.StructType{Name: name}
	var fields []array.Field
	for _, f := range s.Fields {
		member, field := definition.StructField{Name: f.Name}, array.Field{Name: f.Name}
		for _, count := range f.Counts {
			n, known := source.Value(count, slices.Concat(p.Given, p.Missing, source.Macros(p.active)))
			if !known || n < 1 {
				return nil, fmt.Sprintf("the length %s of %s is not known", count, f.Name)
			}
			field.Count = max(1, field.Count) * int(n)
			member.Count = strconv.Itoa(field.Count)
		}
		if number, ok := p.typeOf(f.Type); ok && typeName(f.Type) != "bool" {
			field.Type, member.Type = number, typeText(number)
		} else {
			inner, why := p.describe(typeName(f.Type))
			if why != "" {
				return nil, fmt.Sprintf("its field %s has the type %s: %s", f.Name, f.Type, why)
			}
			field.Struct, member.Type = inner, inner.Name
		}
		t.Fields, fields = append(t.Fields, member), append(fields, field)
	}
	described, err := array.NewStruct(name, fields)
	if err != nil {
		return nil, err.Error()
	}
	p.structs[name] = described
	p.Definition.Types = append(p.Definition.Types, t)
	p.Remarks["types"] = []string{"The structs of the source."}
	return described, ""
}

// structValue returns a value for each field of a struct.
func structValue(s *array.Struct) map[string]any {
	values := map[string]any{}
	for _, f := range s.Fields {
		var v any
		if f.Struct != nil {
			v = structValue(f.Struct)
		} else {
			v = firstValue(f.Type)
		}
		if f.Count > 0 {
			v = slices.Repeat([]any{v}, f.Count)
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
