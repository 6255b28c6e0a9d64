package problem

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// An Argument is a compiled [definition.Argument].
type Argument struct {
	definition.Argument
	Kind     definition.ArgumentKind
	Element  Element
	Varies   bool                     // its size depends on the configuration or the device
	Content  *array.Array             // given content of a buffer
	Fills    []Fill                   // of the content that is made: of each member of a struct, else one
	Elements *expression.Expression   // elements of a buffer or of local memory; nil: the length of data
	Pixels   []*expression.Expression // of an image, by dimension
	Scalars  []Scalar                 // the value of a scalar, or of each member of a struct
	Raw      []byte                   // the value byte by byte; nil: scalars
	Buffer   int                      // of an alias: the place of its buffer among the arguments
}

// Filled reports whether a buffer has another initial content than zeros.
func (a *Argument) Filled() bool {
	return a.Content != nil || !a.Fill.IsZero() && a.Fill.Kind != array.Zeros
}

// PixelsIn returns the size of an image in each dimension.
func (a *Argument) PixelsIn(env map[string]any) ([]int, error) {
	var sizes []int
	for _, e := range a.Pixels {
		n, err := positive("size", e, env)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// ScalarBytes returns the bytes of the scalar or the struct that the kernel gets.
func (a *Argument) ScalarBytes(environment map[string]any) ([]byte, error) {
	if a.Raw != nil {
		return a.Raw, nil
	}
	all := make([]byte, a.Element.Size())
	for _, s := range a.Scalars {
		b, err := s.Bytes(environment)
		if err != nil {
			return nil, s.named(err)
		}
		copy(all[s.At.Offset:], b)
	}
	return all, nil
}

// Values returns the expressions of a scalar, and of the size of local memory or a buffer.
func (a *Argument) Values() []*expression.Expression {
	all := []*expression.Expression{a.Elements}
	for _, s := range a.Scalars {
		all = append(all, s.Lanes...)
	}
	return slices.DeleteFunc(all, func(e *expression.Expression) bool { return e == nil })
}

// Expressions returns all expressions of an argument.
func (a *Argument) Expressions() []*expression.Expression { return append(a.Values(), a.Pixels...) }

// ElementsIn returns the number of elements of a buffer or an image.
func (a *Argument) ElementsIn(env map[string]any) (int, error) {
	if a.Kind == definition.ImageArgument {
		pixels, err := a.PixelsIn(env)
		n := 1
		for _, size := range pixels {
			if n, err = multiply(n, size); err != nil {
				break
			}
		}
		return n, err
	}
	if a.Elements == nil {
		return a.Content.Len(), nil
	}
	return positive("size", a.Elements, env)
}

func (p compiler) compileArguments() {
	seen := map[string]bool{}
	for i, given := range p.definition.Arguments {
		field := fmt.Sprintf("arguments[%d]", i)
		if given.Name == "" {
			p.addf(field+".name", "the argument has no name")
		} else if seen[given.Name] {
			p.addf(field+".name", "two arguments are named %s", given.Name)
		}
		seen[given.Name] = true
		p.arguments = append(p.arguments, p.compileArgument(field, given))
	}
	for i := range p.arguments {
		a := &p.arguments[i]
		a.Varies = p.varies(a)
		if a.Kind.HasContent() && a.Fill.Copy != "" {
			p.checkCopy(fmt.Sprintf("arguments[%d].fill", i), a)
		}
		if a.Kind == definition.AliasArgument {
			p.findBuffer(fmt.Sprintf("arguments[%d].alias", i), a)
		}
	}
}

func (p compiler) compileArgument(field string, given definition.Argument) Argument {
	a, kinds := Argument{Argument: given, Kind: definition.BufferArgument}, 0
	for _, only := range []struct { // this kind has the field
		kind  definition.ArgumentKind
		given bool
	}{
		{definition.ImageArgument, given.Image != nil}, {definition.SamplerArgument, given.Sampler != nil},
		{definition.ScalarArgument, given.Value != nil}, {definition.LocalArgument, given.LocalSize != ""},
		{definition.AliasArgument, given.Alias != ""}, {definition.SymbolArgument, given.Symbol},
	} {
		if only.given {
			a.Kind = only.kind
			kinds++
		}
	}
	if kinds > 1 {
		p.addf(field, "is a scalar (value), local memory (local_size), an image, a sampler, an alias or a symbol, not both")
		return a
	}
	if !a.Kind.HasContent() || given.Symbol {
		p.refuseContent(field, given, a.Kind)
	}
	if given.Symbol && p.language != source.CUDA {
		p.addf(field+".symbol", "OpenCL C has no symbols; a kernel takes constant memory as an argument: __constant float *%s", given.Name)
	} else if given.Symbol && !space.IsIdentifier(given.Name) {
		p.addf(field+".name", "%q is not the name of a variable of the source, as that of a symbol is", given.Name)
	}
	switch {
	case a.Kind == definition.ImageArgument || a.Kind == definition.SamplerArgument:
		p.compileUntyped(field, &a)
	case !p.compileElement(field, &a):
	case a.Kind == definition.BufferArgument || a.Kind == definition.SymbolArgument:
		p.compileBuffer(field, &a)
	case a.Kind == definition.ScalarArgument:
		p.withIndices().compileScalar(field, &a)
	case a.Kind == definition.LocalArgument:
		a.Elements = p.withIndices().compileSize(field+".local_size", given.LocalSize)
	}
	return a
}

// refuseContent adds errors for the fields that only an argument with content has.
func (p compiler) refuseContent(field string, given definition.Argument, kind definition.ArgumentKind) {
	for _, wrong := range []struct {
		is   bool
		what string
	}{
		{given.Size != "" && !given.Symbol, "size"}, {given.Data != nil && !given.Symbol, "data"},
		{!given.Fill.IsZero() && !given.Symbol, "fill"}, {given.Output, "output"}, {given.RestoreEachLaunch, "restore"},
	} {
		if wrong.is {
			p.addf(field+"."+wrong.what, "only a buffer has it; %s is %s", given.Name, kind.WithArticle())
		}
	}
}

// compileUntyped compiles an image or a sampler, which have no type.
func (p compiler) compileUntyped(field string, a *Argument) {
	switch {
	case slices.Contains(p.Languages(), source.CUDA):
		p.addf(field, "%s is %s, which a kernel in CUDA C cannot take; give it a buffer", a.Name, a.Kind.WithArticle())
	case a.Type != "":
		p.addf(field+".type", "%s has no type; the format of an image says what its pixels are", a.Kind.WithArticle())
	case a.Kind == definition.SamplerArgument:
		p.compileSampler(field, a.Sampler)
	case a.Size != "":
		p.addf(field+".size", "the sizes of an image are a list")
	default:
		p.compileImage(field, a)
	}
}

// compileElement finds the type of the elements, and takes data that is given as the content. It reports whether there was no error.
func (p compiler) compileElement(field string, a *Argument) bool {
	if a.Data != nil {
		data, err := array.From(a.Data)
		if err != nil {
			p.add(field+".data", err)
			return false
		}
		a.Content = data
		a.Element = Element{Type: data.Type, Struct: data.Struct}
	}
	if a.Type != "" {
		var err error
		if a.Element, err = p.elementType(a.Type); err == nil && a.Content != nil {
			a.Content, err = a.Element.View(a.Content)
		}
		p.add(field+".type", err)
		return err == nil
	}
	if a.Content != nil {
		return true
	}
	if t := reflect.TypeOf(a.Value); t != nil {
		a.Element.Type, _ = array.TypeOf(t)
	}
	if a.Element.Type == 0 {
		p.addf(field+".type", "the type is missing; give one such as float32, int32, float4")
		return false
	}
	return true
}

func (p compiler) compileBuffer(field string, a *Argument) {
	if a.Size != "" {
		a.Elements = p.compileSize(field+".size", a.Size)
	} else if a.Content == nil && a.Fill.File == "" {
		p.addf(field+".size", "the size is missing: give the number of elements")
	}
	p.compileContent(field, a)
}

// compileContent reads the content that is given, and checks it.
func (p compiler) compileContent(field string, a *Argument) {
	if given := ways(a.Fill); given > 1 || given > 0 && a.Data != nil {
		p.addf(field+".fill", "the content is given more than once")
		return
	}
	if a.Fill.Shared != "" {
		if _, _, err := a.Fill.SharedAt(); err != nil {
			p.addf(field+".fill.shared", "%v", err)
		} else if a.Kind != definition.BufferArgument || p.definition.Verify != nil || !slices.Contains(p.Languages(), source.CUDA) {
			p.addf(field+".fill.shared", "memory of another process is for buffers of a kernel in CUDA C that is not verified")
		}
	}
	p.compileFills(field+".fill", a)
	if a.Fill.File != "" {
		data, err := readFile(a.Fill.File)
		if err == nil {
			a.Content, err = a.Element.View(data)
		}
		if err != nil {
			p.add(field+".fill", err)
			return
		}
	}
	if a.Content != nil && (a.Elements != nil || a.Pixels != nil) {
		if n := p.fixedLen(a); n > 0 && n != a.Content.Len() {
			p.addf(field+".size", "%s is %d, but the content has %d elements", sizeText(a), n, a.Content.Len())
		}
	}
	if a.Content != nil && a.Content.Len() == 0 {
		given := ".fill"
		if a.Data != nil {
			given = ".data"
		}
		p.addf(field+given, "the buffer is empty; OpenCL has no buffers without a byte")
	}
}

// sizeText returns the size as given.
func sizeText(a *Argument) string {
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

// lenIn returns the number of elements of a buffer or an image in an environment, or 0 if it depends on more.
func (a *Argument) lenIn(env map[string]any) int {
	if !a.Kind.HasContent() || a.Elements == nil && a.Pixels == nil && a.Content == nil {
		return 0
	}
	n, err := a.ElementsIn(env)
	if err != nil {
		return 0
	}
	return n
}

// fixedLen returns the number of elements of a buffer or an image, or 0 if it depends on the configuration or the device.
func (p *Problem) fixedLen(a *Argument) int {
	if p.varies(a) {
		return 0
	}
	return a.lenIn(p.constants)
}

// varies reports whether the size of a buffer or an image depends on the configuration or the device.
func (p *Problem) varies(a *Argument) bool { return !p.fixed(a.Elements) || !p.fixed(a.Pixels...) }

// checkCopy checks that the buffer of which a is a copy exists, is no copy itself and has the type.
func (p compiler) checkCopy(field string, a *Argument) {
	from, ok := p.argument(a.Fill.Copy)
	switch {
	case !ok:
		p.add(field, p.unknownArgument(a.Fill.Copy))
	case !from.Kind.HasContent():
		p.addf(field, "%s is %s, not a buffer", from.Name, from.Kind.WithArticle())
	case from.Fill.Copy != "":
		p.addf(field, "%s is itself a copy; name the buffer that is copied", from.Name)
	case !from.Element.Equal(a.Element):
		p.addf(field, "%s is of %v, %s of %v", from.Name, from.Element, a.Name, a.Element)
	default:
		if n, m := p.fixedLen(from), p.fixedLen(a); n > 0 && m > 0 && n != m {
			p.addf(field, "%s has %d elements, %s has %d", from.Name, n, a.Name, m)
		}
	}
}

// findBuffer finds the buffer of an alias.
func (p compiler) findBuffer(field string, a *Argument) {
	switch a.Buffer = p.place(a.Alias); {
	case a.Buffer < 0:
		p.add(field, p.unknownArgument(a.Alias))
	case p.arguments[a.Buffer].Kind != definition.BufferArgument:
		p.addf(field, "%s is %s, not a buffer", a.Alias, p.arguments[a.Buffer].Kind.WithArticle())
	}
}

// place returns the index of the named argument, or -1.
func (p *Problem) place(name string) int {
	return slices.IndexFunc(p.arguments, func(a Argument) bool { return a.Name == name })
}

// argument returns the named argument.
func (p *Problem) argument(name string) (*Argument, bool) {
	if i := p.place(name); i >= 0 {
		return &p.arguments[i], true
	}
	return nil, false
}

// Arguments returns the compiled arguments in the order of the definition. They must not be changed.
func (p *Problem) Arguments() []Argument { return p.arguments }

// Content returns the initial content of buffer argument i with n elements. It depends only on the
// problem and n. The array may be shared and must not be changed.
func (p *Problem) Content(i, n int) (*array.Array, error) {
	a := &p.arguments[i]
	if !a.Kind.HasContent() {
		return nil, fmt.Errorf("argument %s is %s and has no content", a.Name, a.Kind.WithArticle())
	}
	if a.Fill.Copy != "" {
		a, _ = p.argument(a.Fill.Copy)
	}
	if a.Fill.Shared != "" {
		return nil, fmt.Errorf("argument %s: its content is in the memory of another process", a.Name)
	}
	if a.Content != nil {
		if a.Content.Len() != n {
			return nil, fmt.Errorf("argument %s: the content has %d elements, not %d", a.Name, a.Content.Len(), n)
		}
		return a.Content, nil
	}
	content, err := p.fill(a, 0, n)
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", a.Name, err)
	}
	return content, nil
}

// imageDimensions are the numbers of sizes that images have, by shape.
var imageDimensions = map[string]int{"1d": 1, "1d_buffer": 1, "2d": 2, "1d_array": 2, "3d": 3, "2d_array": 3}

// channelOrders are the channels of a pixel, by the order's name. A is opacity, and L and I are gray.
var channelOrders = map[string]string{
	"r": "R", "a": "A", "rg": "RG", "ra": "RA", "rgba": "RGBA", "bgra": "BGRA", "argb": "ARGB", "abgr": "ABGR",
	"luminance": "L", "intensity": "I", "depth": "D",
}

// channelTypes are the types of channels in memory, by name.
var channelTypes = map[string]array.Type{
	"snorm_int8": array.Int8, "snorm_int16": array.Int16, "unorm_int8": array.Uint8, "unorm_int16": array.Uint16,
	"int8": array.Int8, "int16": array.Int16, "int32": array.Int32, "uint8": array.Uint8, "uint16": array.Uint16, "uint32": array.Uint32,
	"float16": array.Float16, "float32": array.Float32,
}

// compileImage finds the pixels and the size of an image.
func (p compiler) compileImage(field string, a *Argument) {
	n, known := imageDimensions[a.Image.Shape]
	if !known {
		p.addf(field+".image", "no image is called %q; there are 1d, 2d, 3d, 1d_array, 2d_array and 1d_buffer", a.Image.Shape)
	}
	order, typ, _ := strings.Cut(a.Image.Format, "/")
	channels, channel := channelOrders[order], channelTypes[typ]
	if channels == "" || channel == 0 {
		p.addf(field+".format", "%q is no order and type of channels, such as rgba/float32 or r/unorm_int8", a.Image.Format)
		return
	}
	a.Element.Type = channel.Vector(len(channels))
	if a.Data != nil {
		data, err := array.From(a.Data)
		if err == nil {
			a.Content, err = a.Element.View(data)
		}
		p.add(field+".data", err)
	}
	if known && len(a.Image.Size) != n {
		p.addf(field+".size", "an image of the shape %s has %d sizes, not %d", a.Image.Shape, n, len(a.Image.Size))
	}
	for _, source := range a.Image.Size {
		a.Pixels = append(a.Pixels, p.compileSize(field+".size", source))
	}
	if !slices.Contains(a.Pixels, nil) {
		p.compileContent(field, a)
	}
}

// compileSampler checks the words of a sampler.
func (p compiler) compileSampler(field string, s *definition.Sampler) {
	for _, word := range []struct {
		field, given string
		known        []string
	}{
		{"coordinates", s.Coordinates, []string{"pixels", "normalized"}},
		{"addressing", s.Addressing, []string{"none", "clamp", "clamp_to_edge", "repeat", "mirrored_repeat"}},
		{"filter", s.Filter, []string{"nearest", "linear"}},
	} {
		if word.given != "" && !slices.Contains(word.known, word.given) {
			p.addf(field+".sampler."+word.field, "%q is none of %s", word.given, strings.Join(word.known, ", "))
		}
	}
	if strings.HasSuffix(s.Addressing, "repeat") && s.Coordinates != "normalized" {
		p.addf(field+".sampler.addressing", "%s needs normalized coordinates", s.Addressing)
	}
}
