package problem

import (
	"context"
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

func (p *Problem) compileRestrictions(errs *fieldErrors) {
	for _, bad := range space.Check(p.parameters, p.definition.Restrictions, p.environment(hardware.Device{})) {
		errs.add(restrictionField(bad.Index), bad.Err)
	}
}

func restrictionField(i int) string { return fmt.Sprintf("restrictions[%d]", i) }

// withoutDevice parts the restrictions into those that any device leaves the same, with
// their places in the definition, and those that read device.*.
func (p *Problem) withoutDevice() (applied []space.Restriction, places []int, skipped []space.Restriction) {
	scope := p.scope()
	for i, r := range p.definition.Restrictions {
		if r.Func == nil {
			if e, err := expression.Compile(r.Expression, scope); err == nil && e.Reads("device") {
				skipped = append(skipped, r)
				continue
			}
		}
		applied, places = append(applied, r), append(places, i)
	}
	return applied, places, skipped
}

// Space is the valid configurations on a device. It is constructed at the first call, and at
// each call where restrictions read device.*. An error of a restriction, such as an
// [space.EmptyError], comes in a [FieldError]. See [space.New] for the context.
func (p *Problem) Space(ctx context.Context, d hardware.Device) (*space.Space, error) {
	if s := p.space.Load(); s != nil {
		return s, nil
	}
	s, err := p.construct(ctx, p.definition.Restrictions, nil, d)
	if err == nil && !p.SpaceNeedsDevice() {
		p.space.Store(s)
	}
	return s, err
}

// SpaceNeedsDevice reports whether restrictions read device.*.
func (p *Problem) SpaceNeedsDevice() bool {
	_, _, skipped := p.withoutDevice()
	return len(skipped) > 0
}

// construct constructs the space of some restrictions, which stand at these places of the
// definition; nil: they are all of it.
func (p *Problem) construct(ctx context.Context, restrictions []space.Restriction, places []int, d hardware.Device) (*space.Space, error) {
	s, err := space.New(ctx, p.parameters, restrictions, p.environment(d))
	i, cause, ok := space.Fault(err)
	if !ok {
		return s, err
	}
	if places != nil {
		i = places[i]
	}
	var empty *space.EmptyError
	if errors.As(cause, &empty) {
		empty.Index = i
	}
	return nil, &FieldError{restrictionField(i), cause}
}

// SpaceWithoutDevice is the space without the restrictions that read device.*, which it
// returns as well.
func (p *Problem) SpaceWithoutDevice(ctx context.Context) (s *space.Space, skipped []space.Restriction, err error) {
	applied, places, skipped := p.withoutDevice()
	if len(skipped) == 0 {
		s, err = p.Space(ctx, hardware.Device{})
		return s, nil, err
	}
	s, err = p.construct(ctx, applied, places, hardware.Device{})
	return s, skipped, err
}

// Admit is nil where a configuration is in the problem's space on a device. Otherwise it says
// which value is not listed, or which restriction refuses the configuration.
func (p *Problem) Admit(c space.Configuration, d hardware.Device) error {
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
