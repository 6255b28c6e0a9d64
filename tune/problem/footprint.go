package problem

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// compileBuildRestrictions compiles the conditions that a built kernel must satisfy.
func (p compiler) compileBuildRestrictions() {
	p.scope = maps.Clone(p.scope)
	var names []string
	for _, name := range footprint.Quantities() {
		if p.hides(name) == "" {
			p.scope[name] = 0.0
			names = append(names, name)
		}
	}
	for i, source := range p.definition.BuildRestrictions {
		field := fmt.Sprintf("build_restrictions[%d]", i)
		e, err := expression.Compile(source, p.scope)
		p.add(field, err)
		if err == nil && !e.Reads(names...) {
			p.addf(field, "it reads none of %s, so it is known before the build: make it one of the restrictions", strings.Join(names, ", "))
		}
		p.buildRestrictions = append(p.buildRestrictions, e)
	}
}

// Compiled returns the quantities of footprints that results have, in order: see package footprint. They are metrics.
func (p *Problem) Compiled() []string {
	return slices.DeleteFunc(slices.Clone(p.observed), func(name string) bool { return !footprint.Is(name) })
}

// BrokenRestriction returns the build restriction that a built kernel with some readings breaks, with the readings; "" if it breaks
// none. It is an error if a restriction reads a quantity that is missing, or cannot be evaluated.
func (p *Problem) BrokenRestriction(c space.Configuration, d hardware.Device, readings []hardware.Reading) (reason string, err error) {
	if len(p.buildRestrictions) == 0 {
		return "", nil
	}
	env := p.environmentOf(c, d)
	for _, r := range readings {
		if p.hides(r.Quantity) == "" {
			env[r.Quantity] = r.Value
		}
	}
	for i, e := range p.buildRestrictions {
		field := fmt.Sprintf("build_restrictions[%d], %s,", i, e)
		var has []string
		for _, name := range p.Compiled() {
			if !e.Reads(name) {
				continue
			}
			r, _ := hardware.ReadingOf(readings, name)
			if r.Missing != "" {
				return "", fmt.Errorf("%s needs %s, which is not known of %s: %s; leave the restriction out on this device", field, name, c, r.Missing)
			}
			has = append(has, footprintText(r))
		}
		holds, err := e.Bool(env)
		if err != nil {
			return "", fmt.Errorf("%s at %s: %w", field, c, err)
		}
		if !holds {
			return fmt.Sprintf("%s: %s refuses it", strings.Join(has, ", "), field), nil
		}
	}
	return "", nil
}

// footprintText describes a reading for people: «spills 64 B», «32 registers».
func footprintText(r hardware.Reading) string {
	value := strconv.FormatFloat(r.Value, 'g', 4, 64)
	if r.Value == math.Trunc(r.Value) {
		value = strconv.FormatFloat(r.Value, 'f', 0, 64)
	}
	switch r.Quantity {
	case footprint.SpillBytes:
		return "spills " + value + " B"
	case footprint.PrivateBytes:
		return value + " B of private memory"
	case footprint.LocalBytes:
		return value + " B of local memory"
	}
	return value + " " + r.Quantity
}
