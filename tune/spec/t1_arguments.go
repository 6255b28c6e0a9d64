package spec

import (
	"fmt"
	"io"
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A t1Argument has the fields of an argument.
type t1Argument struct {
	memory, fill           string
	size, value, data, typ field
	fillAt                 field
}

func (t *t1) readArguments(k t1Kernel) {
	if k.arguments.node == nil {
		return
	}
	env := t.environment()
	for i, item := range k.arguments.list() {
		t.definition.Arguments = append(t.definition.Arguments, t.readArgument(i, item, env))
	}
}

func (t *t1) readArgument(i int, f field, env map[string]any) (a problem.Argument) {
	var r t1Argument
	a.Name = fmt.Sprintf("argument %d", i+1)
	f.keys(append(ignored("AccessType", "MemType", "TypeSize", "RandomSeed"),
		reader{"Name", func(f field) { a.Name = f.text() }},
		reader{"Type", func(f field) { r.typ = f; a.Type = f.t1Type() }},
		reader{"MemoryType", func(f field) { r.memory = f.choice("Scalar", "Vector", "Local") }},
		reader{"Size", func(f field) { r.size = f }},
		reader{"FillType", func(f field) { r.fillAt, r.fill = f, f.choice("Constant", "Random", "BinaryRaw", "Uninitialized") }},
		reader{"FillValue", func(f field) { r.value = f }},
		reader{"DataSource", func(f field) { r.data = f }},
		reader{"Output", func(f field) { a.Output = f.t1Boolean() }},
	)...)
	f.require("Type", "MemoryType")
	name := fmt.Sprintf("arguments[%d]", i)
	t.comesFrom(name, f)
	for key, from := range map[string]field{"type": r.typ, "size": r.size, "local_size": r.size, "value": r.value, "fill": r.fillAt, "data": r.data} {
		if from.node != nil {
			t.comesFrom(name+"."+key, from)
		}
	}
	if f.failed(f.name) {
		return a
	}
	switch r.memory {
	case "Scalar":
		if r.fill != "" && r.fill != "Constant" {
			r.fillAt.failf("a scalar is constant; the fill %s is one of vectors", r.fill)
		} else if r.value.node == nil {
			f.failf("the scalar has no FillValue")
		} else {
			a.Value = r.value.pythonValue(nil)
		}
	case "Local":
		a.LocalSize = t.argumentSize(f, r.size, env)
	default:
		t.readVector(f, &a, r, env)
	}
	return a
}

// t1Type is the type of an argument, in which float16 is a vector of sixteen floats.
func (f field) t1Type() string {
	switch name := f.text(); name {
	case "float16":
		return "float32x16"
	case "custom":
		f.failf("a custom type is not supported; give the type of its numbers, and as many of them")
	case "bool":
		f.failf("an OpenCL kernel has no arguments of bools; give uint8")
	default:
		return name
	}
	return ""
}

// t1Boolean is true or false, or a number that stands for one of them.
func (f field) t1Boolean() bool {
	if f.node.Kind == yaml.ScalarNode && (f.node.Value == "0" || f.node.Value == "1") {
		return f.node.Value == "1"
	}
	return f.boolean()
}

func (t *t1) readVector(f field, a *problem.Argument, r t1Argument, env map[string]any) {
	if r.fill != "BinaryRaw" || r.size.node != nil {
		a.Size = t.argumentSize(f, r.size, env)
	}
	value := func() (v float64) {
		if r.value.node == nil {
			return 0
		}
		switch x := r.value.pythonValue(nil).(type) {
		case int:
			v = float64(x)
		case float64:
			v = x
		case nil:
		default:
			r.value.expected("a number")
		}
		return v
	}
	switch r.fill {
	case "BinaryRaw":
		if r.data.node == nil {
			f.failf("the file is missing; give DataSource")
			return
		}
		if data := r.data.rawFile(a.Type); data != nil { // not a nil pointer in an interface
			a.Data = data
		}
	case "Random":
		a.Fill.Kind = array.Random
		a.Fill.High = value()
		if a.Fill.High < 0 {
			a.Fill.Low, a.Fill.High = a.Fill.High, 0
		}
	case "Constant":
		a.Fill.Kind, a.Fill.Value = array.Constant, value()
	}
}

// argumentSize is the number of elements of an argument, the same for all configurations.
func (t *t1) argumentSize(f, size field, env map[string]any) problem.Expr {
	if size.node == nil {
		f.failf("the size is missing; give Size, the number of elements")
		return ""
	}
	switch v := size.pythonValue(env).(type) {
	case nil:
		return ""
	case int:
		return space.FormatValue(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return space.FormatValue(int(v))
		}
		size.failf("%v is not a whole number", v)
	default:
		size.failf("a size is a number; in it a parameter is the list of its values, as in max(filter_width)")
	}
	return ""
}

// rawFile is a file of numbers, little-endian, one behind the other.
func (f field) rawFile(typeName string) *array.Array {
	typ, err := array.ParseType(typeName)
	if err != nil {
		return nil // it is found when the definition is checked
	}
	name := f.text()
	if name == "" {
		return nil
	}
	path := f.beside(f.path, name)
	file, err := f.open(path)
	if err != nil {
		f.fail(f.explain(path, err))
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		f.fail(f.explain(path, withoutPath(err)))
		return nil
	}
	size := int64(typ.Size())
	if info.Size()%size != 0 {
		f.failf("%s has %d bytes, which are no whole number of elements of %v", path, info.Size(), typ)
		return nil
	}
	a := array.New(typ, int(info.Size()/size))
	if _, err := io.ReadFull(file, a.Bytes); err != nil {
		f.fail(f.explain(path, withoutPath(err)))
		return nil
	}
	return a
}
