package problem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// compileSettings compiles the settings, in the order in which they are applied.
func (p compiler) compileSettings() {
	given, names := p.definition.Measure.Settings, hardware.SettingNames()
	for _, s := range given {
		if field := "measure.settings." + s.Name; !slices.Contains(names, s.Name) {
			p.addf(field, "%q is no setting%s; the settings are %s", s.Name, nearest.Hint(s.Name, names), strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		for i, s := range given {
			if s.Name != name {
				continue
			}
			field := "measure.settings." + name
			if slices.ContainsFunc(given[:i], func(before definition.Setting) bool { return before.Name == name }) {
				p.addf(field, "the setting stands twice")
			}
			e := p.compile(field, s.Expression, func(e *expression.Expression) error {
				_, err := settingValue(name, e, p.constants)
				return err
			})
			if e != nil {
				p.settings = append(p.settings, setting{name, e})
			}
		}
	}
	p.hostOnly = p.findHostOnly()
}

// A setting is a compiled Setting.
type setting struct {
	name  string
	value *expression.Expression
}

// findHostOnly returns the parameters that settings read and the kernel's source does not name, and those that are parameters of a
// template, whose head does not compile with values in place of their names. Of a source that a function or a command makes,
// nothing is known.
func (p *Problem) findHostOnly() map[string]bool {
	isCUDA := p.language == source.CUDA
	if len(p.settings) == 0 && !isCUDA || p.generated() || source.IsSPIRV(p.source) {
		return nil
	}
	words, found := source.Identifiers(p.source), map[string]bool{}
	if isCUDA {
		for _, k := range source.Kernels(p.source) {
			for _, v := range k.Template {
				found[v.Name] = true
			}
		}
	}
	for _, name := range p.parameters.Names() {
		if !words[name] && slices.ContainsFunc(p.settings, func(s setting) bool { return s.value.Reads(name) }) {
			found[name] = true
		}
	}
	return found
}

// settingValue returns the value of a setting in an environment.
func settingValue(name string, e *expression.Expression, env map[string]any) (float64, error) {
	v, err := e.Float(env)
	switch {
	case err != nil:
		return 0, err
	case !(score.Finite(v) && v >= 0):
		return 0, fmt.Errorf("%g: want a number of %s, or 0 for no change", v, hardware.SettingUnit(name))
	case name != hardware.PowerLimit && v != math.Trunc(v):
		return 0, fmt.Errorf("%g: want a whole number of MHz, or 0 for no change", v)
	}
	return v, nil
}

// SettingNames returns the names of the settings that configurations have, in the order in which they are applied.
func (p *Problem) SettingNames() []string {
	return each.Of(p.settings, func(s setting) string { return s.name })
}

// Settings returns the settings of a configuration, in the order of SettingNames.
func (p *Problem) Settings(c space.Configuration, d hardware.Device) ([]hardware.Setting, error) {
	if len(p.settings) == 0 {
		return nil, nil
	}
	env := p.environmentOf(c, d)
	return p.settingsIn(env)
}

// settingsIn returns the settings in an environment.
func (p *Problem) settingsIn(env map[string]any) (all []hardware.Setting, err error) {
	for _, s := range p.settings {
		v, err := settingValue(s.name, s.value, env)
		if err != nil {
			return nil, fmt.Errorf("measure.settings.%s: %w", s.name, err)
		}
		all = append(all, hardware.Setting{Name: s.name, Value: v})
	}
	return all, nil
}

// maxSettings is the number of combinations of settings that are checked before a search.
const maxSettings = 10_000

// CheckSettings calls check with the settings of the configurations of a space on a device, until there is an error. The error is a
// [definition.FieldError] that names the values of parameters.
func (p *Problem) CheckSettings(ctx context.Context, s *space.Space, d hardware.Device, check func([]hardware.Setting) error) error {
	if len(p.settings) == 0 {
		return nil
	}
	var places []int // of the parameters that settings read
	all := 1
	for i, name := range p.parameters.Names() {
		if !slices.ContainsFunc(p.settings, func(s setting) bool { return s.value.Reads(name) }) {
			continue
		}
		places = append(places, i)
		if all *= len(s.Survivors(i)); all > maxSettings {
			err := fmt.Errorf("they depend on more than %d combinations of parameters: give the settings parameters of their own", maxSettings)
			return &definition.FieldError{Field: "measure.settings", Err: err}
		}
	}
	env := p.environment(d)
	for n := range all {
		var chosen []space.Parameter
		var texts []string
		for _, i := range places {
			values := s.Survivors(i)
			q := space.Parameter{Name: p.parameters.At(i).Name, Values: []space.Value{values[n%len(values)]}}
			n /= len(values)
			env[q.Name] = q.Values[0]
			chosen, texts = append(chosen, q), append(texts, q.Name+"="+space.FormatValue(q.Values[0]))
		}
		settings, err := p.settingsIn(env)
		if err == nil {
			err = check(settings)
		}
		if err == nil {
			continue
		}
		if holds, failed := p.spaceHolds(ctx, chosen, d); failed != nil {
			return failed
		} else if !holds {
			continue
		}
		if len(texts) > 0 {
			err = fmt.Errorf("%s: %w", strings.Join(texts, ", "), err)
		}
		return &definition.FieldError{Field: "measure.settings", Err: err}
	}
	return nil
}

// spaceHolds reports whether the space on a device has a configuration with some values.
func (p *Problem) spaceHolds(ctx context.Context, chosen []space.Parameter, d hardware.Device) (bool, error) {
	if len(chosen) < 2 {
		return true, nil // they survive
	}
	list := make([]space.Parameter, p.parameters.Len())
	for i := range list {
		list[i] = p.parameters.At(i)
		for _, q := range chosen {
			if q.Name == list[i].Name {
				list[i] = q
			}
		}
	}
	parameters, err := space.NewParameters(list)
	if err != nil {
		return false, err
	}
	_, err = space.New(ctx, parameters, p.definition.Restrictions, p.environment(d))
	if _, is := errors.AsType[*space.EmptyError](err); is {
		return false, nil
	}
	return err == nil, err
}
