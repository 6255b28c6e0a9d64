package record

import (
	"context"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/space"
)

// A layout turns configurations into JSON and back, for one list of parameters. Values
// are found by their index in the parameter's list, so that what comes back has the type
// that the header gives it.
type layout struct {
	parameters *space.Parameters
	members    [][]string            // of each value of each parameter: "name":value
	byValue    []map[space.Value]int // index of a plain value of each parameter
	byJSON     []map[string]int      // index of the JSON of a value
}

func newLayout(list []space.Parameter) (*layout, error) {
	parameters, err := space.NewParameters(list)
	if err != nil {
		return nil, err
	}
	l := &layout{parameters: parameters}
	for _, p := range parameters.List() {
		members := make([]string, len(p.Values))
		byValue := make(map[space.Value]int, len(p.Values))
		byJSON := make(map[string]int, len(p.Values))
		name := string(appendText(nil, p.Name)) + ":"
		for j, v := range p.Values {
			if text, ok := v.(string); ok && !utf8.ValidString(text) {
				return nil, fmt.Errorf("parameter %s: the value %q is not UTF-8", p.Name, text)
			}
			encoded, err := space.MarshalValue(v)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
			members[j], byValue[space.Plain(v)], byJSON[string(encoded)] = name+string(encoded), j, j
		}
		l.members = append(l.members, members)
		l.byValue = append(l.byValue, byValue)
		l.byJSON = append(l.byJSON, byJSON)
	}
	return l, nil
}

// indices are a configuration: the index of each value in the list of its parameter.
type indices []uint16

// key returns indices as a map key.
func (d indices) key() string {
	b := make([]byte, 0, 2*len(d))
	for _, index := range d {
		b = binary.LittleEndian.AppendUint16(b, index)
	}
	return string(b)
}

// indices finds the values of a configuration by the names of the parameters, whatever
// their order in the configuration.
func (l *layout) indices(c space.Configuration) (indices, error) {
	if c.Len() != l.parameters.Len() {
		return nil, fmt.Errorf("the configuration %q has %d parameters, not %d", c, c.Len(), l.parameters.Len())
	}
	d := make(indices, c.Len())
	for i, name := range l.parameters.Names() {
		v, ok := c.Get(name)
		if !ok {
			return nil, fmt.Errorf("the configuration %q has no parameter %s", c, name)
		}
		j, err := l.indexOf(i, v)
		if err != nil {
			return nil, err
		}
		d[i] = uint16(j)
	}
	return d, nil
}

// indexOf is the index of the value of parameter i that is the same for a kernel.
func (l *layout) indexOf(i int, v space.Value) (int, error) {
	if j, ok := l.byValue[i][space.Plain(v)]; ok {
		return j, nil
	}
	return 0, fmt.Errorf("%s=%s is not among the values of the parameter", l.parameters.At(i).Name, space.FormatValue(v))
}

// configuration is the inverse of indices.
func (l *layout) configuration(d indices) space.Configuration {
	return l.parameters.Combine(d)
}

// append writes a configuration as a JSON object.
func (l *layout) append(b []byte, d indices) []byte {
	return append(l.appendMembers(append(b, '{'), d), '}')
}

func (l *layout) appendMembers(b []byte, d indices) []byte {
	for i, index := range d {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, l.members[i][index]...)
	}
	return b
}

// scan reads the configuration out of a valid JSON object. Members that are no parameter
// go to other.
func (l *layout) scan(object []byte, other func(name string, raw []byte) error) (indices, error) {
	if kind := kindOf(object); kind != "an object" {
		return nil, fmt.Errorf("want an object, not %s", kind)
	}
	d := make(indices, l.parameters.Len())
	given := make([]bool, len(d))
	for name, raw := range members(object) {
		i, ok := l.parameters.Index(name)
		if !ok {
			if err := other(name, raw); err != nil {
				return nil, err
			}
			continue
		}
		j, ok := l.byJSON[i][string(raw)]
		if !ok {
			v, err := space.ParseValue(raw)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", name, err)
			}
			if j, err = l.indexOf(i, v); err != nil {
				return nil, err
			}
		}
		d[i], given[i] = uint16(j), true
	}
	for i, ok := range given {
		if !ok {
			return nil, fmt.Errorf("no value for the parameter %s", l.parameters.Names()[i])
		}
	}
	return d, nil
}

// scanOnly is scan for an object of nothing but parameters.
func (l *layout) scanOnly(object []byte) (indices, error) {
	return l.scan(object, func(name string, _ []byte) error {
		return fmt.Errorf("no parameter is named %s", name)
	})
}

// Space is the search space of the configurations in the record. It enumerates no more
// than is recorded, however large the product of all values is.
func (r *Record) Space(ctx context.Context) (*space.Space, error) {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return nil, err
	}
	recorded := &space.Table{Name: "the record", Names: l.parameters.Names()}
	recorded.Values = each.Of(l.parameters.List(), func(p space.Parameter) []space.Value { return p.Values })
	for i := range r.Results {
		d, err := l.indices(r.Results[i].Configuration)
		if err != nil {
			return nil, err
		}
		for _, index := range d {
			recorded.Cells = binary.LittleEndian.AppendUint16(recorded.Cells, index)
		}
	}
	return space.New(ctx, l.parameters, []space.Restriction{{Table: recorded}}, nil)
}
