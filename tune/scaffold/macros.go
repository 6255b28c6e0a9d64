package scaffold

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// A role is what a macro can be as a parameter, as its name tells it.
type role int

const (
	otherRole   role = iota
	blockRole        // a size of the work-group
	perItemRole      // the elements of a work-item
	unrollRole       // the steps of a loop
)

var (
	unrollName  = regexp.MustCompile(`(?i)unroll`)
	perItemName = regexp.MustCompile(`(?i)per_?(item|thread|wi$)|^(wpt|vw)|^tile_?(size|dim)?_?[xyz]$`)
	blockName   = regexp.MustCompile(`(?i)(block|group|local|tile)_?(size|dim|width)|group_?[xyz]$|^(block|tile|wgs?|lws|threads)(_?[xyz])?$`)
	axisName    = regexp.MustCompile(`(?i:_[xyz])$|[a-z][XYZ]$`)
)

// roleOf guesses the role of a name, and its dimension: 0 to 2, or -1 if the name says none.
func roleOf(name string) (r role, axis int) {
	axis = -1
	if axisName.MatchString(name) {
		axis = strings.Index("xyz", strings.ToLower(name[len(name)-1:]))
	}
	switch {
	case unrollName.MatchString(name):
		return unrollRole, axis
	case perItemName.MatchString(name):
		return perItemRole, axis
	case blockName.MatchString(name):
		return blockRole, axis
	}
	return otherRole, axis
}

// missingMacro returns a macro for an identifier that a source does not define.
func (u *Untuned) missingMacro(name string, isType bool) source.Macro {
	r, _ := roleOf(name)
	required := regexp.MustCompile(`\breqd_work_group_size\b[^){;]*\b` + name + `\b`)
	value := "1"
	switch {
	case isType:
		value = "float"
	case r == blockRole || required.MatchString(u.Text):
		value = "16"
	}
	return source.Macro{Name: name, Text: value, Guarded: true}
}

// literal returns the value of a macro for the kernel, and the one in expressions. A number that a specification would write
// in another way, such as 0.1f or 0xff, is a text for the kernel, which thus gets what its source says.
func literal(text string) (value, number space.Value) {
	if m := bracketed.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	number = definition.Constant{Value: text}.Number()
	if space.FormatValue(number) == text {
		return number, number
	}
	return text, number
}

var bracketed = regexp.MustCompile(`^\(\s*([0-9.][\w.]*)\s*\)$`)

// readMacros makes parameters and constants of macros.
func (p *proposer) readMacros() {
	needed := slices.Concat(p.Given, p.Missing) // by the source, which does not define them
	tested := source.Tested(p.Text, p.Given)
	for i, m := range slices.Concat(needed, source.Macros(p.Text)) {
		own, missing := i >= len(needed), i >= len(p.Given) && i < len(needed)
		if p.isKnown(m.Name) || definition.Reserved(m.Name) || own && p.function.Reach != nil && !p.function.Reach[m.Name] {
			continue
		}
		r, axis := p.roleOfMacro(m.Name, !own)
		value, number := literal(m.Text)
		n, isInt := number.(int)
		tunes := isInt && r.tunes(n)
		switch {
		case !missing || !isInt || slices.Contains(tested, m):
		case r == blockRole && p.dimensions == 1:
			value, number, n = 64, 64, 64
		case r == otherRole && slices.Contains(slices.Concat(p.function.Bounds[:]...), m.Name):
			value = firstSizes[p.dimensions-1]
		case r == otherRole:
			value = spec.Undecided
		}
		switch {
		case tunes && value == number:
			p.addParameter(m.Name, n, around(n))
		case tunes && r == blockRole || !own:
			p.Definition.Constants = append(p.Definition.Constants, definition.Constant{Name: m.Name, Value: value, Host: p.ofTemplate(m.Name)})
		default:
			p.others = append(p.others, m)
			continue
		}
		switch {
		case tunes && r == blockRole:
			p.addBlock(m.Name, axis)
		case tunes && r == perItemRole:
			p.perItem = append(p.perItem, m.Name)
		}
		switch {
		case p.ofTemplate(m.Name) && p.Defaults[m.Name] != nil:
			p.Remark("parameters."+m.Name, "A parameter of the template.")
		case p.ofTemplate(m.Name) && missing:
			p.Remark("constants."+m.Name, "DECIDE: the parameter %s of the template.%s", m.Name, p.lines(p.Text, m.Name))
		case missing && p.Defaults[m.Name] != nil:
			p.Remark("parameters."+m.Name, "DECIDE: the source does not define %s.", m.Name)
		case missing:
			p.Remark("constants."+m.Name, "DECIDE: the source does not define %s.%s", m.Name, p.lines(p.Text, m.Name))
		}
	}
}

// roleOfMacro guesses the role of a macro, and its dimension. One that the source needs for other kernels only has none. The work-group
// has no other macros than those in reqd_work_group_size.
func (p *proposer) roleOfMacro(name string, needed bool) (r role, axis int) {
	r, axis = roleOf(name)
	group := p.function.WorkGroup
	switch i := slices.Index(group, name); {
	case i >= 0 && slices.Contains(group[i+1:], name):
		return blockRole, -1
	case i >= 0:
		return blockRole, i
	case needed && p.reach != nil && !p.reach[name]:
		r = otherRole
	case r == blockRole && group != nil:
		r = perItemRole
	}
	return r, axis
}

// tunes reports whether a macro with a role and a value can be a parameter.
func (r role) tunes(n int) bool { return r != otherRole && n > 0 && n <= 1024 }

// around returns values of a parameter, around the one that the source has.
func around(n int) (values []space.Value) {
	for _, v := range []int{n / 2, n, 2 * n, 4 * n} {
		if v > 0 && v <= 1024 {
			values = append(values, v)
		}
	}
	return values
}

func (p *proposer) addParameter(name string, value space.Value, values []space.Value) {
	p.Definition.Parameters = append(p.Definition.Parameters, space.Parameter{Name: name, Values: values})
	p.Defaults[name] = value
}

// addBlock makes a parameter the local size in its dimension, or in all that have none.
func (p *proposer) addBlock(name string, axis int) {
	feeds := false
	for i := range p.dimensions {
		if (axis < 0 || axis == i) && p.blocks[i] == "" {
			p.blocks[i] = name
			feeds = true
		}
	}
	if !feeds {
		p.Remark("parameters."+name, "DECIDE: does %s belong to the local size, block_size, or to grid_div?", name)
	}
}

// remarkOthers names the macros that are neither parameters nor constants.
func (p *proposer) remarkOthers() {
	var others []string
	for _, m := range p.others {
		if _, number := literal(m.Text); !p.isKnown(m.Name) && (m.Guarded || number != space.Value(m.Text)) {
			others = append(others, m.Name+": "+m.Text)
		}
	}
	if len(others) > 0 {
		p.Remark("parameters", "Other macros of the source, which can be parameters, too: %s.", excerpt.Of(strings.Join(others, ", ")))
	}
}
