package problem

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// A Scalar is a value that the kernel gets: an argument, or a member of a struct that is one.
type Scalar struct {
	At    array.Member
	Value any                      // a plain value or a list of lanes
	Lanes []*expression.Expression // of a value with expressions, else nil
}

// named returns an error with the name of the member before it.
func (s *Scalar) named(err error) error {
	if s.At.Path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.At.Path, err)
}

// Bytes returns the bytes of the value.
func (s *Scalar) Bytes(environment map[string]any) ([]byte, error) {
	if s.Lanes == nil {
		return array.ScalarBytes(s.At.Type, s.Value)
	}
	lanes := make([]any, len(s.Lanes))
	for i, e := range s.Lanes {
		v, err := e.Eval(environment)
		if err != nil {
			return nil, err
		}
		lanes[i] = v
	}
	if _, vector := s.Value.([]any); !vector {
		return array.ScalarBytes(s.At.Type, lanes[0])
	}
	return array.ScalarBytes(s.At.Type, lanes)
}

// compileScalar compiles the value of an argument that is no buffer.
func (p compiler) compileScalar(field string, a *Argument) {
	a.Value = plainValue(a.Value)
	field += ".value"
	if text, ok := a.Value.(string); ok && (a.Element.Struct != nil || a.Type == rawBytes) {
		raw, err := decodeHex(text)
		if err == nil && a.Element.Struct == nil {
			a.Element.Struct, err = array.NewStruct(rawBytes, []array.Field{{Name: "byte", Type: array.Uint8, Count: len(raw)}})
		}
		if size := a.Element.Size(); err == nil && len(raw) != size {
			err = fmt.Errorf("the text has %d bytes, %s has %d", len(raw), a.Element, size)
		}
		p.add(field, err)
		a.Raw = raw
		return
	}
	if a.Type == rawBytes {
		p.addf(field, `bytes by value are a text of hexadecimal digits, such as "00 00 80 3f"`)
		return
	}
	scalars, err := flatten(a.Value, a.Element, "", 0)
	if err != nil {
		p.add(field, err)
		return
	}
	for _, s := range scalars {
		if err := p.compileLanes(&s, p.scope); err != nil {
			p.add(field, s.named(err))
			return
		}
		a.Scalars = append(a.Scalars, s)
	}
}

// decodeHex returns the bytes of a text of hexadecimal digits with spaces between any two bytes.
func decodeHex(text string) ([]byte, error) {
	raw, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err == nil && len(raw) == 0 {
		err = fmt.Errorf("the text is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("expected bytes as a text of hexadecimal digits, such as \"00 00 80 3f\": %w", err)
	}
	return raw, nil
}

// flatten returns the members of a value of a type. The value of a struct is a mapping of its fields.
func flatten(value any, e Element, path string, offset int) ([]Scalar, error) {
	if _, fields := value.(map[string]any); e.Struct == nil && fields {
		return nil, fmt.Errorf("%s has no fields; give a number, or a list for a vector", cmp.Or(path, e.String()))
	}
	if e.Struct == nil {
		return []Scalar{{At: array.Member{Path: path, Type: e.Type, Offset: offset}, Value: value}}, nil
	}
	name := e.String()
	if path != "" {
		name = path + ", a " + name + ","
	}
	fields, ok := value.(map[string]any)
	names := each.Of(e.Struct.Fields, func(f array.Field) string { return f.Name })
	if !ok {
		return nil, fmt.Errorf("%s needs a mapping of its fields (%s)", name, strings.Join(names, ", "))
	}
	for _, given := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, given) {
			return nil, fmt.Errorf("%s has no field %s%s; its fields are %s", name, given, nearest.Hint(given, names), strings.Join(names, ", "))
		}
	}
	var all []Scalar
	for _, f := range e.Struct.Fields {
		given, ok := fields[f.Name]
		if !ok {
			return nil, fmt.Errorf("%s: the field %s is missing", name, f.Name)
		}
		at, element := strings.TrimPrefix(path+"."+f.Name, "."), Element{Type: f.Type, Struct: f.Struct}
		items, paths := []any{given}, []string{at}
		if f.Count > 0 {
			items, ok = given.([]any)
			if !ok || len(items) != f.Count {
				return nil, fmt.Errorf("%s needs a list of %d values", at, f.Count)
			}
			paths = make([]string, len(items))
			for i := range paths {
				paths[i] = fmt.Sprintf("%s[%d]", at, i)
			}
		}
		for i, item := range items {
			members, err := flatten(item, element, paths[i], offset+f.Offset+i*element.Size())
			if err != nil {
				return nil, err
			}
			all = append(all, members...)
		}
	}
	return all, nil
}

// compileLanes compiles the expressions of a value, and checks the value if it is fixed.
func (p *Problem) compileLanes(s *Scalar, scope expression.Scope) error {
	if u, ok := definition.LargeInteger(fmt.Sprint(s.Value)); ok {
		s.Value = u
	}
	lanes, vector := s.Value.([]any)
	if !vector {
		lanes = []any{s.Value}
	}
	if slices.ContainsFunc(lanes, func(v any) bool { _, ok := v.(string); return ok }) {
		for _, lane := range lanes {
			source, ok := lane.(string)
			if !ok {
				source = space.FormatValue(lane)
			}
			if number := (definition.Constant{Value: source}).Number(); number != source {
				source = space.FormatValue(number) // a C literal such as 0.225f
			}
			e, err := expression.Compile(source, scope)
			if err != nil {
				return err
			}
			s.Lanes = append(s.Lanes, e)
		}
		if !p.fixed(s.Lanes...) {
			return nil
		}
	}
	_, err := s.Bytes(p.constants)
	return err
}

// plainValue returns a value in types that every process knows: scalars of types that a program defined
// become values of predeclared types, lists a []any, and mappings a map[string]any.
func plainValue(v any) any {
	if _, ok := v.(array.Half); ok {
		return v // not the number that its bits are
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice, reflect.Array:
		items := make([]any, r.Len())
		for i := range items {
			items[i] = plainValue(r.Index(i).Interface())
		}
		return items
	case reflect.Map:
		if r.Type().Key().Kind() != reflect.String {
			return v
		}
		fields := map[string]any{}
		for k, field := range r.Seq2() {
			fields[k.String()] = plainValue(field.Interface())
		}
		return fields
	}
	for _, plain := range []any{
		int(0), int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0), uintptr(0),
		float32(0), float64(0), false, "",
	} {
		if t := reflect.TypeOf(plain); t.Kind() == r.Kind() {
			return r.Convert(t).Interface()
		}
	}
	return v
}
