package space

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
)

// A Parameter is one tunable #define of a kernel and the values to try, in order.
type Parameter struct {
	Name   string
	Values []Value
}

// Parameters are the tunable parameters of a problem in the order of its specification.
type Parameters struct {
	list  []Parameter
	names []string
	index map[string]int
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsIdentifier reports whether name can be the name of a C macro and of a variable in an
// expression.
func IsIdentifier(name string) bool { return identifier.MatchString(name) }

// maxValues bounds the values of one parameter: their indices are kept in 16 bits.
const maxValues = 1 << 16

// NewParameters checks and keeps the parameters. Names must be C identifiers and unique;
// every parameter has at least one value, and no value twice. Values are normalised with
// [NormalizeValue].
func NewParameters(list []Parameter) (*Parameters, error) {
	p := &Parameters{index: make(map[string]int, len(list))}
	for i, given := range list {
		if !IsIdentifier(given.Name) {
			err := fmt.Errorf("%q is not a name that a #define can have (letters, digits and _, not a digit first)", given.Name)
			return nil, &ParameterError{i, given.Name, err}
		}
		if _, twice := p.index[given.Name]; twice {
			return nil, &ParameterError{i, given.Name, fmt.Errorf("the name stands twice")}
		}
		values, err := normalizeValues(given.Values)
		if err != nil {
			return nil, &ParameterError{i, given.Name, err}
		}
		p.index[given.Name] = i
		p.names = append(p.names, given.Name)
		p.list = append(p.list, Parameter{given.Name, values})
	}
	return p, nil
}

func normalizeValues(given []Value) ([]Value, error) {
	if len(given) == 0 {
		return nil, fmt.Errorf("the list of values is empty; give at least one")
	}
	if len(given) > maxValues {
		return nil, fmt.Errorf("%d values are more than the %d that a parameter can have", len(given), maxValues)
	}
	values := make([]Value, len(given))
	seen := make(map[string]bool, len(given))
	for i, v := range given {
		n, err := NormalizeValue(v)
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i+1, err)
		}
		if text := FormatValue(n); seen[text] {
			return nil, fmt.Errorf("the value %s stands twice", text)
		} else {
			seen[text] = true
		}
		values[i] = n
	}
	return values, nil
}

// A ParameterError says which parameter is wrong, by its index in the list and its name.
type ParameterError struct {
	Index int
	Name  string
	Err   error
}

func (e *ParameterError) Error() string { return fmt.Sprintf("parameter %s: %v", e.Name, e.Err) }
func (e *ParameterError) Unwrap() error { return e.Err }

// Len is the number of parameters.
func (p *Parameters) Len() int { return len(p.list) }

// At is parameter i in the order of the specification. Its values must not be changed.
func (p *Parameters) At(i int) Parameter { return p.list[i] }

// List returns all parameters in order.
func (p *Parameters) List() []Parameter { return slices.Clone(p.list) }

// Names are the names in order. They must not be changed.
func (p *Parameters) Names() []string { return p.names }

// Index is the index of the named parameter.
func (p *Parameters) Index(name string) (int, bool) {
	i, ok := p.index[name]
	return i, ok
}

// CartesianSize is the number of combinations before any restriction.
func (p *Parameters) CartesianSize() *big.Int {
	size := big.NewInt(1)
	for _, q := range p.list {
		size.Mul(size, big.NewInt(int64(len(q.Values))))
	}
	return size
}

// CheckValues refuses a configuration, of as many parameters, with a value that its parameter
// does not list.
func (p *Parameters) CheckValues(c Configuration) error {
	for i, q := range p.list {
		if !slices.ContainsFunc(q.Values, func(v Value) bool { return SameValue(v, c.values[i]) }) {
			listed := each.Of(q.Values, FormatValue)
			return fmt.Errorf("%s=%s is not among its values, %s", q.Name, FormatValue(c.values[i]), excerpt.Of(strings.Join(listed, ", ")))
		}
	}
	return nil
}

// Configure makes a configuration from one value for every parameter, by name. Values
// need not be among those listed. A missing or an unknown name is an error.
func (p *Parameters) Configure(values map[string]Value) (Configuration, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := p.index[name]; !ok {
			return Configuration{}, fmt.Errorf("no parameter is named %s%s", name, nearest.Hint(name, p.names))
		}
	}
	c := Configuration{parameters: p, values: make([]Value, len(p.list))}
	for i, name := range p.names {
		v, ok := values[name]
		if !ok {
			return Configuration{}, fmt.Errorf("no value for the parameter %s", name)
		}
		n, err := NormalizeValue(v)
		if err != nil {
			return Configuration{}, fmt.Errorf("parameter %s: %w", name, err)
		}
		c.values[i] = n
	}
	return c, nil
}

// Combine makes a configuration from the index of a value of every parameter.
func (p *Parameters) Combine(indices []uint16) Configuration { return combine(p, indices) }

func combine[I int | uint16](p *Parameters, indices []I) Configuration {
	c := Configuration{parameters: p, values: make([]Value, len(p.list))}
	for i, index := range indices {
		c.values[i] = p.list[i].Values[index]
	}
	return c
}

// ConfigureFirst returns the configuration of some values and of the first value of each other parameter.
func (p *Parameters) ConfigureFirst(values map[string]Value) (Configuration, error) {
	all := make(map[string]Value, len(p.list))
	for _, q := range p.list {
		all[q.Name] = q.Values[0]
	}
	maps.Copy(all, values)
	return p.Configure(all)
}
