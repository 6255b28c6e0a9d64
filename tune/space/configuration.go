package space

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
)

// A Configuration assigns one value to every parameter, in the order of the
// specification. It is immutable and can be copied.
type Configuration struct {
	parameters *Parameters
	values     []Value
}

// Parameters are the parameters that the configuration assigns values to.
func (c Configuration) Parameters() *Parameters { return c.parameters }

// Len is the number of parameters.
func (c Configuration) Len() int { return len(c.values) }

// At is the value of parameter i in the order of the specification.
func (c Configuration) At(i int) Value { return c.values[i] }

// Get is the value of the named parameter.
func (c Configuration) Get(name string) (Value, bool) {
	if c.parameters == nil {
		return nil, false
	}
	i, ok := c.parameters.index[name]
	if !ok {
		return nil, false
	}
	return c.values[i], true
}

// Int is the value of the named parameter where it is an int, else 0.
func (c Configuration) Int(name string) int {
	v, _ := c.Get(name)
	i, _ := v.(int)
	return i
}

// Float is the value of the named parameter as a number, else 0.
func (c Configuration) Float(name string) float64 {
	v, _ := c.Get(name)
	f, _ := Number(v)
	return f
}

// String is the form of the tutorials: «block_size_x=16, block_size_y=32».
func (c Configuration) String() string {
	texts := make([]string, len(c.values))
	for i, v := range c.values {
		texts[i] = c.parameters.names[i] + "=" + FormatValue(v)
	}
	return strings.Join(texts, ", ")
}

// Key is the values alone, «16,32»: unique within a space, and the key of Kernel Tuner's
// cache files.
func (c Configuration) Key() string { return strings.Join(each.Of(c.values, FormatValue), ",") }

// Assign writes every parameter into an environment for expressions.
func (c Configuration) Assign(environment map[string]any) {
	for i, v := range c.values {
		environment[c.parameters.names[i]] = v
	}
}

// MarshalJSON is an object with the parameters in order.
func (c Configuration) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range c.values {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(c.parameters.names[i])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		value, err := MarshalValue(v)
		if err != nil {
			return nil, err
		}
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
