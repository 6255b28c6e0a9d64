package tune

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

// Admit is nil where a configuration is in the problem's space on a device. Otherwise it says
// which value is not listed, or which restriction refuses the configuration.
func (p *Problem) Admit(c space.Configuration, d Device) error {
	alone := make([]space.Parameter, c.Len())
	for i := range alone {
		q := p.parameters.At(i)
		if !slices.ContainsFunc(q.Values, func(v space.Value) bool { return space.SameValue(v, c.At(i)) }) {
			listed := make([]string, len(q.Values))
			for k, v := range q.Values {
				listed[k] = space.FormatValue(v)
			}
			return fmt.Errorf("%s=%s is not among its values, %s", q.Name, space.FormatValue(c.At(i)), strings.Join(listed, ", "))
		}
		alone[i] = space.Parameter{Name: q.Name, Values: []space.Value{c.At(i)}}
	}
	parameters, err := space.NewParameters(alone)
	if err != nil {
		return err
	}
	_, err = space.New(parameters, p.definition.Restrictions, p.environment(d))
	var empty *space.EmptyError
	if errors.As(err, &empty) {
		return fmt.Errorf("restrictions[%d], %s, refuses it", empty.Index, empty.Restriction)
	}
	return err
}
