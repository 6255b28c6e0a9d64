package launch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// An Option is an option of the compiler, or an argument of a command, in which the values of
// expressions replace {…}.
type Option struct {
	texts  []string // around the values: one more than these
	Values []*expression.Expression
}

// In returns the option in an environment.
func (o *Option) In(env map[string]any) (string, error) {
	text := o.texts[0]
	for i, e := range o.Values {
		value, err := e.Eval(env)
		if err == nil {
			value, err = space.NormalizeValue(value)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", e, err)
		}
		text += space.FormatValue(value) + o.texts[i+1]
	}
	return text, nil
}

// ParseOption compiles the expressions between braces. Two braces stand for one.
func ParseOption(text string, scope expression.Scope) (option Option, err error) {
	option.texts = []string{""}
	last := func(s string) { option.texts[len(option.texts)-1] += s }
	for {
		before, rest, found := strings.Cut(text, "{")
		last(strings.ReplaceAll(before, "}}", "}"))
		if !found {
			return option, nil
		}
		if text, found = strings.CutPrefix(rest, "{"); found {
			last("{")
			continue
		}
		source, after, closed := strings.Cut(rest, "}")
		if !closed {
			return option, errors.New(`an expression begins with {, and no } ends it; write {{ and }} for braces of the text itself`)
		}
		e, err := expression.Compile(source, scope)
		if err != nil {
			return option, err
		}
		option.texts, option.Values, text = append(option.texts, ""), append(option.Values, e), after
	}
}

// OptionsAt returns options as problem.Problem.FixedOptions writes them, with the values for a configuration where
// the constants and the configuration are enough, and otherwise as they are.
func OptionsAt(written string, constants []task.Constant, c space.Configuration) string {
	if !strings.Contains(written, "{") {
		return written
	}
	env := map[string]any{}
	for _, constant := range constants {
		env[constant.Name] = constant.Number()
	}
	scope := expression.Scope(env)
	c.Parameters().Describe(scope)
	option, err := ParseOption(written, scope)
	if err != nil {
		return written
	}
	c.Assign(env)
	text, err := option.In(env)
	if err != nil {
		return written
	}
	return strings.Join(strings.Fields(text), " ")
}
