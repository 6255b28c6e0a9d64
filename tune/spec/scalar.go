package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/space"
)

var (
	wholeNumber   = regexp.MustCompile(`^[-+]?(0[xX][0-9a-fA-F][0-9a-fA-F_]*|0o[0-7][0-7_]*|0b[01][01_]*|[0-9][0-9_]*)$`)
	leadingZero   = regexp.MustCompile(`^[-+]?0[0-9_]`)
	decimalNumber = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	notFinite     = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

var (
	nullWords  = []string{"", "~", "null", "Null", "NULL"}
	trueWords  = []string{"true", "True", "TRUE"}
	falseWords = []string{"false", "False", "FALSE"}
)

// scalar returns the value of a scalar: an int, a float64, a bool, a string, or nil for null. Quoted
// scalars are strings. Plain ones are read as by YAML 1.2: yes, no, on, off, y and n are strings. A
// number that YAML 1.1 reads as another one, such as 010, is an error.
func scalar(n *yaml.Node) (space.Value, error) {
	if n.Style&yaml.TaggedStyle != 0 {
		return tagged(n)
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value, nil
	}
	return plain(n.Value)
}

// Undecided stands for a value that a specification needs and that only its user knows. [Load] refuses it.
const Undecided = "DECIDE"

var errUndecided = errors.New("DECIDE stands for a value that ndtune init could not know; write the value in its place")

// plain reads a text without quotes.
func plain(text string) (space.Value, error) {
	switch {
	case slices.Contains(nullWords, text):
		return nil, nil
	case text == Undecided:
		return nil, errUndecided
	case slices.Contains(trueWords, text):
		return true, nil
	case slices.Contains(falseWords, text):
		return false, nil
	case leadingZero.MatchString(text) && wholeNumber.MatchString(text):
		return nil, fmt.Errorf("%s has a leading zero, which makes it octal for YAML 1.1 and C but decimal for YAML 1.2; "+
			"write it without, or as 0o…", text)
	case wholeNumber.MatchString(text):
		return space.ParseInteger(strings.ReplaceAll(text, "_", ""))
	case decimalNumber.MatchString(text):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s is beyond the range of a float64", excerpt.Of(text))
		}
		return f, nil
	case notFinite.MatchString(text):
		return nil, fmt.Errorf("%s is not a finite number", text)
	}
	return text, nil
}

// tagged reads a scalar with a tag.
func tagged(n *yaml.Node) (space.Value, error) {
	if n.Tag == "!!str" {
		return n.Value, nil
	}
	v, err := plain(n.Value)
	if err != nil {
		return nil, err
	}
	if i, ok := v.(int); ok && n.Tag == "!!float" {
		return float64(i), nil
	}
	if fmt.Sprintf("%T", v) == map[string]string{"!!int": "int", "!!float": "float64", "!!bool": "bool"}[n.Tag] {
		return v, nil
	}
	return nil, fmt.Errorf("the tag %s does not fit %q", n.Tag, excerpt.Of(n.Value))
}

// value reads a number, a bool or a text. It returns nil if the field is something else.
func (f field) value() space.Value {
	v, ok := f.scalar("a number, a text, true or false")
	if ok && v == nil {
		f.failf("expected a value, found nothing")
	}
	return v
}

// scalar reads a scalar, or adds the error that says what is expected.
func (f field) scalar(what string) (v space.Value, ok bool) {
	if f.node.Kind != yaml.ScalarNode {
		f.expected(what)
		return nil, false
	}
	v, err := scalar(f.node)
	if err != nil {
		f.fail(err)
	}
	return v, err == nil
}

// text reads a text as written, even if it looks like a number.
func (f field) text() string {
	if f.node.Kind != yaml.ScalarNode {
		f.expected("a text")
		return ""
	}
	if v, err := scalar(f.node); err == nil && (v == nil || v == "") {
		f.failf("expected a text, found nothing")
		return ""
	}
	return f.node.Value
}

// commaHint explains an expression that YAML has split.
const commaHint = "; within {…} and […] an expression with a comma must be in quotes"

// colonHint explains an expression that YAML has read as a key and a value.
const colonHint = `; an expression with ": " must be in quotes`

// maxExpression bounds the length of expressions, for the sake of their compiler.
const maxExpression = 200_000

// expression reads an expression or a plain number.
func (f field) expression() string {
	if f.node.Kind == yaml.MappingNode && f.node.Style&yaml.FlowStyle == 0 {
		f.failf("expected an expression, found a mapping%s", colonHint)
		return ""
	}
	if f.node.Kind != yaml.ScalarNode {
		f.expected("an expression")
		return ""
	}
	switch v := f.value().(type) {
	case nil:
		return ""
	case string:
		if len(v) > maxExpression {
			f.failf("the expression has %d characters, more than the %d that are taken", len(v), maxExpression)
			return ""
		}
		if strings.TrimSpace(v) == "" {
			f.failf("expected an expression, found nothing")
			return ""
		}
		if f.node.Style == 0 && !strings.ContainsAny(v, "\"'`") && strings.Count(v, "(") != strings.Count(v, ")") {
			f.failf("the parentheses of %q do not match%s", excerpt.Of(v), commaHint)
			return ""
		}
		return v
	case bool:
		return strconv.FormatBool(v)
	default:
		return space.FormatValue(v)
	}
}

// number reads an integer or a float.
func (f field) number() float64 {
	v, ok := f.scalar("a number")
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	if ok {
		f.expected("a number")
	}
	return 0
}

// boolean reads true or false.
func (f field) boolean() bool {
	if f.node.Kind == yaml.ScalarNode {
		v, _ := scalar(f.node) // nil is no bool
		if b, ok := v.(bool); ok {
			return b
		}
	}
	f.expected("true or false")
	return false
}

// choice reads one of the given words.
func (f field) choice(words ...string) string {
	if f.node.Kind == yaml.ScalarNode && slices.Contains(words, f.node.Value) {
		return f.node.Value
	}
	f.expected(strings.Join(words, " or "))
	return ""
}
