package problem

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

var (
	cInteger = regexp.MustCompile(`^([+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+))([uU]?[lL]?|[lL][uU])$`)
	cFloat   = regexp.MustCompile(`^([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?)([fFlLhH]?)$`)
)

// normalized returns the value of a constant of a checked definition as an int, a float64, a bool or a
// string.
func (c Constant) normalized() space.Value {
	v, err := space.NormalizeValue(c.Value)
	if err != nil {
		panic(fmt.Sprintf("tune: constant %s of a checked definition: %v", c.Name, err))
	}
	return v
}

// With returns the constant with another value. A number takes the suffix of the C number that it replaces, so that the kernel computes
// with the same type: 4096u takes the place of 100000u for 4096, and 1.0f that of 0.225f for 1.
func (c Constant) With(v space.Value) Constant {
	old, _ := c.Value.(string)
	old = strings.TrimSpace(old)
	c.Value = v
	n, whole := v.(int)
	f, real := v.(float64)
	if m := cInteger.FindStringSubmatch(old); m != nil {
		if whole && m[2] != "" {
			c.Value = fmt.Sprint(n) + m[2]
		}
	} else if m := cFloat.FindStringSubmatch(old); m != nil && (whole || real) && m[2] != "" {
		c.Value = space.FormatValue(f+float64(n)) + m[2] // one of the two is 0
	}
	return c
}

// Expression returns the expression by which a host constant is computed from the constants before it: a text that is neither a
// number of C nor a word, or the name of one of them. It returns "" for other constants.
func (c Constant) Expression(before map[string]any) Expr {
	text, _ := c.Value.(string)
	trimmed := strings.TrimSpace(text)
	_, named := before[trimmed]
	if !c.Host || cInteger.MatchString(trimmed) || cFloat.MatchString(trimmed) || space.IsIdentifier(trimmed) && !named {
		return ""
	}
	return trimmed
}

// compileConstant compiles the expression of a host constant. It returns nil for other constants.
func compileConstant(c Constant, before map[string]any) (*expression.Expression, error) {
	source := c.Expression(before)
	if source == "" {
		return nil, nil
	}
	e, err := expression.Compile(source, before)
	if err != nil {
		err = fmt.Errorf("the value of a host constant is computed from the constants before it, and a text has quotes of its own: %w", err)
	}
	return e, err
}

// Computed returns constants with the values of those that are computed from others. One that cannot be computed is as it was.
func Computed(constants []Constant) []Constant {
	p := Problem{definition: Definition{Constants: constants}, constants: map[string]any{}, computed: map[string]*expression.Expression{}}
	p.compileConstants(&fieldErrors{})
	return p.Constants()
}

// Constants returns the constants of the definition with the values of those that are computed from others.
func (p *Problem) Constants() []Constant {
	all := slices.Clone(p.definition.Constants)
	for i := range all {
		if p.computed[all[i].Name] != nil {
			all[i].Value = p.constants[all[i].Name]
		}
	}
	return all
}

// Reads reports whether an expression depends on a constant: it reads it, or a constant that is computed from it.
func (p *Problem) Reads(e *expression.Expression, constant string) bool {
	return slices.ContainsFunc(e.Names(), func(name string) bool { return p.Depends(name, constant) })
}

// Depends reports whether a constant is another one, or is computed from it.
func (p *Problem) Depends(name, on string) bool {
	e := p.computed[name]
	return name == on || e != nil && p.Reads(e, on)
}

// text returns the replacement text of the #define.
func (c Constant) text() string { return space.FormatValue(c.normalized()) }

// Format returns the format of printf for another integer in the form of the constant: %du for 100000u, 0x%xu for 0x10u. A
// suffix decides the type that the kernel computes with.
func (c Constant) Format() string {
	text, _ := c.Value.(string)
	m := cInteger.FindStringSubmatch(strings.TrimSpace(text))
	switch {
	case m == nil:
		return "%d"
	case strings.ContainsAny(m[1], "xX"):
		return "0x%x" + m[2]
	}
	return "%d" + m[2]
}

// largeInteger returns the value of a C literal that only an unsigned 64-bit integer holds.
func largeInteger(text string) (uint64, bool) {
	m := cInteger.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	u, err := strconv.ParseUint(m[1], 0, 64)
	return u, err == nil && u > math.MaxInt
}

// Number returns the value of the constant in expressions: the number of a C literal, or else the value
// itself.
func (c Constant) Number() space.Value {
	text, ok := c.Value.(string)
	if !ok {
		return c.Value
	}
	text = strings.TrimSpace(text)
	if m := cInteger.FindStringSubmatch(text); m != nil {
		if i, err := strconv.ParseInt(m[1], 0, 0); err == nil {
			return int(i)
		}
	}
	if m := cFloat.FindStringSubmatch(text); m != nil {
		if f, err := strconv.ParseFloat(m[1], 64); err == nil {
			return f
		}
	}
	return c.Value
}
