package problem

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

var (
	cInteger = regexp.MustCompile(`^([+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+))([uU]?[lL]?|[lL][uU])$`)
	cFloat   = regexp.MustCompile(`^([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFlLhH]?$`)
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
