package tune

import (
	"context"
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/space"
)

// Admit is nil where a configuration is in the problem's space on a device. Otherwise it says
// which value is not listed, or which restriction refuses the configuration.
func (p *Problem) Admit(c space.Configuration, d Device) error {
	if err := p.parameters.CheckValues(c); err != nil {
		return err
	}
	alone := make([]space.Parameter, c.Len())
	for i := range alone {
		alone[i] = space.Parameter{Name: p.parameters.At(i).Name, Values: []space.Value{c.At(i)}}
	}
	parameters, err := space.NewParameters(alone)
	if err != nil {
		return err
	}
	_, err = space.New(context.Background(), parameters, p.definition.Restrictions, p.environment(d))
	var empty *space.EmptyError
	if errors.As(err, &empty) {
		return fmt.Errorf("restrictions[%d], %s, refuses it", empty.Index, excerpt.Of(empty.Restriction.String()))
	}
	return err
}
