package problem

import (
	"context"
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

func (p compiler) compileRestrictions() {
	for _, bad := range space.CheckRestrictions(p.parameters, p.definition.Restrictions, p.environment(hardware.Device{})) {
		p.add(restrictionField(bad.Index), bad.Err)
	}
}

func restrictionField(i int) string { return fmt.Sprintf("restrictions[%d]", i) }

// withoutDevice returns the restrictions of the definition, in which true replaces those that read
// device.*, and the replaced ones.
func (p *Problem) withoutDevice() (applied, skipped []space.Restriction) {
	scope := p.names()
	for _, r := range p.definition.Restrictions {
		if e, err := expression.Compile(r.Expression, scope); err == nil && e.Reads("device") {
			skipped = append(skipped, r)
			r = space.Restriction{Expression: "true"}
		}
		applied = append(applied, r)
	}
	return applied, skipped
}

func (p compiler) compileBaseline() {
	if p.definition.Baseline == nil {
		return
	}
	c, err := p.complete(p.definition.Baseline)
	if err == nil {
		err = p.parameters.CheckValues(c)
	}
	p.add("baseline", err)
	p.baseline = c
}

// Baseline returns the configuration that a search is compared with; false if there is none.
func (p *Problem) Baseline() (space.Configuration, bool) {
	return p.baseline, p.definition.Baseline != nil
}

// Space returns the space of the valid configurations on a device. The first call constructs it, and
// each call does if restrictions read device.*. An error of a restriction, such as a
// [space.EmptyError], is a [definition.FieldError]. See [space.New] for the context.
func (p *Problem) Space(ctx context.Context, d hardware.Device) (*space.Space, error) {
	if s := p.space.Load(); s != nil {
		return s, nil
	}
	s, err := p.construct(ctx, p.definition.Restrictions, d)
	if err == nil && !p.SpaceNeedsDevice() {
		p.space.Store(s)
	}
	return s, err
}

// SpaceNeedsDevice reports whether restrictions read device.*.
func (p *Problem) SpaceNeedsDevice() bool {
	_, skipped := p.withoutDevice()
	return len(skipped) > 0
}

// construct constructs the space of restrictions, which have the places of those in the definition.
func (p *Problem) construct(ctx context.Context, restrictions []space.Restriction, d hardware.Device) (*space.Space, error) {
	s, err := space.New(ctx, p.parameters, restrictions, p.environment(d))
	if i, cause, ok := space.Fault(err); ok {
		return nil, &definition.FieldError{Field: restrictionField(i), Err: cause}
	}
	if c, ok := p.Baseline(); ok && err == nil {
		if _, admitted := s.Index(c); !admitted {
			return nil, &definition.FieldError{Field: "baseline", Err: p.admit(c, restrictions, d)}
		}
	}
	return s, err
}

// SpaceWithoutDevice returns the space without the restrictions that read device.*, and these
// restrictions.
func (p *Problem) SpaceWithoutDevice(ctx context.Context) (s *space.Space, skipped []space.Restriction, err error) {
	applied, skipped := p.withoutDevice()
	if len(skipped) == 0 {
		s, err = p.Space(ctx, hardware.Device{})
		return s, nil, err
	}
	s, err = p.construct(ctx, applied, hardware.Device{})
	return s, skipped, err
}

// Admit returns an error unless a configuration is in the space on a device. The error names the value
// that is not listed or the restriction that refuses the configuration.
func (p *Problem) Admit(c space.Configuration, d hardware.Device) error {
	return p.admit(c, p.definition.Restrictions, d)
}

func (p *Problem) admit(c space.Configuration, restrictions []space.Restriction, d hardware.Device) error {
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
	_, err = space.New(context.Background(), parameters, restrictions, p.environment(d))
	if empty, is := errors.AsType[*space.EmptyError](err); is {
		return fmt.Errorf("restrictions[%d], %s, refuses it", empty.Index, excerpt.Of(empty.Restriction.String()))
	}
	return err
}
