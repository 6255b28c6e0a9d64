package definition

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// A Constant is a #define that is the same for every configuration. In expressions, a text that is a
// number of C (4096, 0.225f, 0x10u) is that number. The value of a Host constant can be computed from the constants
// before it: a text that is neither such a number nor a word is an expression.
type Constant struct {
	Name  string
	Value space.Value
	Host  bool // known to expressions only, and no #define of the kernel
}

// Normalized returns the value of a constant of a checked definition as an int, a float64, a bool or a
// string.
func (c Constant) Normalized() space.Value {
	v, err := space.NormalizeValue(c.Value)
	if err != nil {
		panic(fmt.Sprintf("tune: constant %s of a checked definition: %v", c.Name, err))
	}
	return v
}

// With returns the constant with another value of the same type, so that the kernel computes with that: 1000 takes the place of 1.0 as
// 1000.0, and that of 0.225f as 1000.0f. A text, such as 2.5f, stays as it is. It is an error if the type cannot hold the value.
func (c Constant) With(v space.Value) (Constant, error) {
	old, digits := strings.TrimSpace(space.FormatValue(c.Value)), space.FormatValue(v)
	isInt, isFloat := cInteger.FindStringSubmatch(old), cFloat.FindStringSubmatch(old)
	_, isBool := c.Value.(bool)
	_, large := LargeInteger(digits)
	if _, text := v.(string); text && !large || isInt == nil && isFloat == nil {
		c.Value = v
		return c, nil
	}
	f, _ := strconv.ParseFloat(digits, 64)
	_, real := v.(float64)
	fits := true
	switch {
	case isBool:
		c.Value, fits = f == 1, f == 0 || f == 1
	case isInt != nil:
		if real {
			digits = strconv.FormatFloat(f, 'f', -1, 64)
		}
		n, err := space.ParseInteger(digits)
		c.Value, fits = n, err == nil && !(f < 0 && strings.ContainsAny(isInt[2], "uU"))
		if isInt[2] != "" {
			c.Value = digits + isInt[2]
		}
	default:
		held := f
		switch isFloat[2] {
		case "f", "F":
			held = float64(float32(f))
		case "h", "H":
			held = array.HalfOf(f).Float()
		}
		c.Value, fits = f, !math.IsInf(held, 0) && (real || strconv.FormatFloat(held, 'f', 0, 64) == digits)
		if isFloat[2] != "" {
			c.Value = space.FormatValue(f) + isFloat[2]
		}
	}
	if !fits {
		return c, fmt.Errorf("the type of %s holds no %s", old, digits)
	}
	return c, nil
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

// Text returns the replacement text of the #define.
func (c Constant) Text() string { return space.FormatValue(c.Normalized()) }

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

// Number returns the value of the constant in expressions: the number of a C literal, or else the value
// itself.
func (c Constant) Number() space.Value {
	text, ok := c.Value.(string)
	if !ok {
		return c.Value
	}
	text = strings.TrimSpace(text)
	if u, ok := LargeInteger(text); ok {
		return strconv.FormatUint(u, 10)
	}
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

var (
	cInteger = regexp.MustCompile(`^([+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+))([uU]?[lL]?|[lL][uU])$`)
	cFloat   = regexp.MustCompile(`^([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?)([fFlLhH]?)$`)
)

// LargeInteger returns the value of a C literal that only an unsigned 64-bit integer holds.
func LargeInteger(text string) (uint64, bool) {
	m := cInteger.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	u, err := strconv.ParseUint(m[1], 0, 64)
	return u, err == nil && u > math.MaxInt
}

// Reserved reports whether a name cannot be that of a parameter or a constant, because it has another
// meaning in expressions.
func Reserved(name string) bool {
	return slices.Contains(reservedNames, name) || expression.IsFunction(name)
}

// reservedNames cannot be parameters or constants, because they have a meaning in expressions.
var reservedNames = []string{
	"device", "time", "time_min", "time_median", "time_mean",
	"and", "or", "not", "in", "true", "false", "nil", "let", "if", "else",
}
