package scaffold

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/score"
)

// addCaptured adds an argument of the kernel with its captured content.
func (p *captured) addCaptured(i int, a cl.ArgInfo) (err error) {
	argument := definition.Argument{Name: a.Name}
	if !macroName.MatchString(a.Name) { // it becomes a part of the names of files
		argument.Name = "argument_" + strconv.Itoa(i+1)
	}
	given := &p.launch.Arguments[i]
	m, s := given.Memory, given.Sampler
	shape, isImage := imageShape(a.Type)
	isPointer := a.Address == cl.AddressGlobal || a.Address == cl.AddressConstant
	switch {
	case isImage && m != nil && m.Image != nil:
		err = p.addCapturedImage(i, &argument, shape)
	case typeName(a.Type) == "sampler_t" && s != nil:
		argument.Sampler = s
	case a.Address == cl.AddressLocal && given.Local > 0:
		name, _, size := p.element(a, given.Local)
		argument.Type, argument.LocalSize = name, strconv.Itoa(given.Local/size)
	case isPointer && m != nil && m.Image == nil:
		name, numbers, _ := p.element(a, m.Bytes)
		argument.Type = name
		if first := p.first(i); first < i {
			argument.Alias = p.Definition.Arguments[first].Name
		} else {
			err = p.addContent(i, &argument, numbers)
		}
	case isPointer && strings.Trim(string(given.Value), "\x00") == "":
		err = faultf("%s: argument %d (%s) is NULL; a specification has no buffer that is missing", p.launch.Folder, i, argument.Name)
	case a.Address == cl.AddressPrivate && given.Value != nil && m == nil && s == nil && !isImage:
		err = p.addValue(&argument, a, given.Value)
	default:
		err = faultf("%s: argument %d (%s %s) was captured as something else than the kernel declares: is it shared virtual memory or a pipe?",
			p.launch.Folder, i, a.Type, argument.Name)
	}
	p.Definition.Arguments = append(p.Definition.Arguments, argument)
	return err
}

// element returns the type of the elements of some memory, that of their numbers in files, and the bytes of an element. Elements
// that cannot be described, or that do not fill the memory, are bytes.
func (p *captured) element(a cl.ArgInfo, size int) (name string, numbers array.Type, bytes int) {
	t, isNumber := p.typeOf(a.Type)
	switch {
	case isNumber && size%t.Size() == 0:
		return typeText(t), t.Scalar(), t.Size()
	case !isNumber:
		if s, why := p.describe(typeName(a.Type)); why == "" && size%s.Size == 0 {
			return s.Name, array.Uint8, s.Size
		}
	}
	return "bytes", array.Uint8, 1
}

// first returns the first argument that has the memory of an argument.
func (p *captured) first(i int) int {
	number := p.launch.Arguments[i].Memory.Number
	return slices.IndexFunc(p.launch.Arguments, func(a capture.Argument) bool { return a.Memory != nil && a.Memory.Number == number })
}

// addContent adds the content of a buffer or an image before the launch, and that after it, if the kernel may and does change it. An output
// with NaNs, which equal nothing, becomes one of bytes.
func (p *captured) addContent(i int, argument *definition.Argument, numbers array.Type) error {
	before, after, err := p.launch.Content(i)
	if err != nil {
		return err
	}
	if argument.Image == nil && score.NaNs("", &array.Array{Type: numbers, Bytes: after}) != "" {
		argument.Type, numbers = "bytes", array.Uint8
		p.Remark(fmt.Sprintf("arguments[%d]", i), "Some of its numbers are NaN, which equals nothing, so they are bytes here.")
	}
	if argument.Fill.File, err = p.save(argument.Name, before, numbers); err != nil {
		return err
	}
	writes, aliases := false, 0
	for j, a := range p.Kernel.Arguments {
		if p.launch.Arguments[j].Memory != nil && p.first(j) == i {
			writes = writes || a.Qualifier&cl.TypeConst == 0 && a.Address != cl.AddressConstant && a.Access != cl.AccessReadOnly
			aliases++
		}
	}
	if !writes || bytes.Equal(before, after) {
		return nil
	}
	use := p.function.Use(argument.Name)
	argument.Output = true
	argument.RestoreEachLaunch = use.Read || !use.Written || aliases > 1
	if argument.Image != nil {
		argument.RestoreEachLaunch = p.Kernel.Arguments[i].Access != cl.AccessWriteOnly
	}
	p.Definition.Verify.Files[argument.Name], err = p.save(argument.Name+".expected", after, numbers)
	return err
}

// save writes numbers to a file beside the specification that only its owner may read, and returns its name.
func (p *captured) save(name string, content []byte, numbers array.Type) (string, error) {
	path := p.stem + "." + name + ".npy"
	if err := p.write(path, nil); err != nil {
		return "", err
	}
	return filepath.Base(path), array.WriteNPY(path, &array.Array{Type: numbers, Bytes: content}, nil)
}

func (p *captured) addCapturedImage(i int, argument *definition.Argument, shape string) error {
	x, axes := p.launch.Arguments[i].Memory.Image, len(imageAxes[shape])
	format := device.FormatOf(cl.ImageFormat{Order: cl.ChannelOrder(x.Order), Type: cl.ChannelType(x.Type)})
	_, channel, _ := strings.Cut(format, "/")
	numbers, err := array.ParseType(strings.NewReplacer("unorm_", "u", "snorm_", "").Replace(channel))
	switch {
	case err != nil:
		return faultf("%s: argument %d (%s): images of the channels %#x and %#x have no name in a specification",
			p.launch.Folder, i, argument.Name, x.Order, x.Type)
	case p.first(i) < i:
		return faultf("%s: argument %d (%s) is an image that the kernel has as argument %d, too; only buffers can be that",
			p.launch.Folder, i, argument.Name, p.first(i))
	}
	argument.Image = &definition.Image{Shape: shape, Format: format, Size: each.Of(x.Size[:axes], strconv.Itoa)}
	return p.addContent(i, argument, numbers)
}

// addValue adds a value as numbers if the specification gives the kernel the same bytes for them, else as bytes.
func (p *captured) addValue(argument *definition.Argument, a cl.ArgInfo, content []byte) error {
	argument.Type, argument.Value = "bytes", hex.EncodeToString(content)
	t, isNumber := p.typeOf(a.Type)
	switch {
	case isNumber && t.Size() != len(content):
		return faultf("%s: the argument %s has %d bytes, but the kernel declares %s", p.launch.Folder, argument.Name, len(content), a.Type)
	case !isNumber:
		if s, why := p.describe(typeName(a.Type)); why == "" {
			argument.Type = s.Name
		}
		return nil
	}
	var lanes []any
	numbers := &array.Array{Type: t.Scalar(), Bytes: content}
	for i := range t.Lanes() {
		f := numbers.Float(i)
		if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 && math.Signbit(f) || t.Scalar() == array.Uint64 && f >= 1<<63 {
			return nil
		}
		_, number := literal(numbers.Text(i))
		lanes = append(lanes, number)
	}
	argument.Type, argument.Value = typeText(t), lanes
	if len(lanes) == 1 {
		argument.Value = lanes[0]
	}
	return nil
}
