package space

import (
	"fmt"
	"iter"
	"math/big"
	"slices"
	"sort"
)

// A Space is the set of valid configurations of a problem, each addressed by an index
// from 0 to Len()-1. It is immutable and safe for concurrent use.
//
// The order is that of an odometer: by the first parameter's value, then the second's,
// each in the order of its list.
type Space struct {
	parameters *Parameters
	digits     []uint16 // Len() rows of one value index a parameter
	length     int
}

// New enumerates the configurations that satisfy all restrictions. The environment holds
// the values of constants and of the device by name. An expression that does not compile,
// or that fails for some configuration (a remainder by zero), is a [RestrictionError]. A
// space without a single configuration is an [EmptyError].
func New(parameters *Parameters, restrictions []Restriction, environment map[string]any) (*Space, error) {
	checks, err := compileChecks(parameters, restrictions, environment)
	if err != nil {
		return nil, err
	}
	s := &Space{parameters: parameters}
	err = enumerate(parameters, checks, environment, func(digits []uint16) bool {
		s.digits = append(s.digits, digits...)
		s.length++
		return true
	})
	if err != nil {
		return nil, err
	}
	if s.length == 0 {
		return nil, explainEmpty(parameters, checks, environment)
	}
	return s, nil
}

// Check compiles the restrictions without enumerating anything.
func Check(parameters *Parameters, restrictions []Restriction, environment map[string]any) error {
	_, err := compileChecks(parameters, restrictions, environment)
	return err
}

// Satisfiable makes sure that at least one configuration satisfies all restrictions, and
// looks no further than the first that does. Errors are those of [New].
func Satisfiable(parameters *Parameters, restrictions []Restriction, environment map[string]any) error {
	checks, err := compileChecks(parameters, restrictions, environment)
	if err != nil {
		return err
	}
	found := false
	err = enumerate(parameters, checks, environment, func([]uint16) bool {
		found = true
		return false
	})
	if err == nil && !found {
		err = explainEmpty(parameters, checks, environment)
	}
	return err
}

func compileChecks(parameters *Parameters, restrictions []Restriction, environment map[string]any) ([]check, error) {
	scope := make(Scope, len(environment)+parameters.Len())
	for name, v := range environment {
		scope[name] = v
	}
	parameters.Describe(scope)
	checks := make([]check, len(restrictions))
	for i, r := range restrictions {
		c, err := newCheck(i, r, parameters, scope)
		if err != nil {
			return nil, err
		}
		checks[i] = c
	}
	return checks, nil
}

// Describe adds every parameter to a scope: by its type where all its values have one,
// as a number where ints and floats are mixed, else as any type.
func (p *Parameters) Describe(scope Scope) {
	for _, q := range p.list {
		scope[q.Name] = q.Values[0]
		for _, v := range q.Values[1:] {
			if fmt.Sprintf("%T", v) != fmt.Sprintf("%T", q.Values[0]) {
				scope[q.Name] = nil
			}
		}
	}
}

// enumerate walks the product of all values in odometer order, checking each restriction
// as soon as its parameters are bound, and hands every valid row to yield until that
// returns false. The row is reused.
func enumerate(parameters *Parameters, checks []check, environment map[string]any, yield func([]uint16) bool) error {
	n := parameters.Len()
	byDepth := make([][]*check, n+1)
	for i := range checks {
		byDepth[checks[i].depth] = append(byDepth[checks[i].depth], &checks[i])
	}
	env := make(map[string]any, len(environment)+n)
	for name, v := range environment {
		env[name] = v
	}
	digits, values := make([]uint16, n), make([]Value, n)

	var walk func(depth int) (more bool, err error)
	walk = func(depth int) (bool, error) {
		for _, c := range byDepth[depth] {
			if ok, err := c.ok(parameters, values, env); err != nil || !ok {
				return true, err
			}
		}
		if depth == n {
			return yield(digits), nil
		}
		q := parameters.list[depth]
		for i, v := range q.Values {
			digits[depth], values[depth], env[q.Name] = uint16(i), v, v
			if more, err := walk(depth + 1); err != nil || !more {
				return more, err
			}
		}
		return true, nil
	}
	_, err := walk(0)
	return err
}

// Parameters are the parameters of the space.
func (s *Space) Parameters() *Parameters { return s.parameters }

// Len is the number of valid configurations.
func (s *Space) Len() int { return s.length }

// CartesianSize is the number of combinations before any restriction.
func (s *Space) CartesianSize() *big.Int { return s.parameters.CartesianSize() }

func (s *Space) row(i int) []uint16 {
	n := s.parameters.Len()
	return s.digits[i*n : (i+1)*n]
}

// At is the configuration of index i, which must be in [0, Len()).
func (s *Space) At(i int) Configuration {
	row := s.row(i)
	values := make([]Value, len(row))
	for p, digit := range row {
		values[p] = s.parameters.list[p].Values[digit]
	}
	return Configuration{s.parameters, values}
}

// Index is the index of a configuration, found by its values under its own parameters'
// names; false where the space does not hold it.
func (s *Space) Index(c Configuration) (int, bool) {
	want := make([]uint16, s.parameters.Len())
	for p, q := range s.parameters.list {
		v, ok := c.Get(q.Name)
		digit := slices.IndexFunc(q.Values, func(w Value) bool { return SameValue(v, w) })
		if !ok || digit < 0 {
			return 0, false
		}
		want[p] = uint16(digit)
	}
	i := sort.Search(s.length, func(i int) bool { return slices.Compare(s.row(i), want) >= 0 })
	return i, i < s.length && slices.Equal(s.row(i), want)
}

// All are the configurations with their indices, in order.
func (s *Space) All() iter.Seq2[int, Configuration] {
	return func(yield func(int, Configuration) bool) {
		for i := range s.length {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// Survivors are the values of parameter p that stand in at least one valid configuration.
func (s *Space) Survivors(p int) []Value {
	q := s.parameters.list[p]
	alive := make([]bool, len(q.Values))
	for i := range s.length {
		alive[s.row(i)[p]] = true
	}
	var values []Value
	for i, v := range q.Values {
		if alive[i] {
			values = append(values, v)
		}
	}
	return values
}
