package problem

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/space"
)

// A buildOption is an option of the compiler, or an argument of a command, in which the values of
// expressions replace {…}.
type buildOption struct {
	texts  []string // around the values: one more than these
	values []*expression.Expression
}

func (p *Problem) compileOptions(errs *fieldErrors, scope expression.Scope) {
	for i, text := range p.definition.Kernel.BuildOptions {
		option, err := parseOption(text, scope)
		errs.add(fmt.Sprintf("kernel.build_options[%d]", i), err)
		p.options = append(p.options, option)
	}
	target, err := parseOption(p.definition.Kernel.Target, scope)
	if p.target = target; err == nil && len(target.values) == 0 {
		_, err = p.targetIn(nil)
	}
	if err == nil && p.HasTarget() && clc.IsSPIRV(p.source) {
		err = errors.New("a SPIR-V module has no target")
	}
	errs.add("kernel.target", err)
}

// parseOption compiles the expressions between braces. Two braces stand for one.
func parseOption(text string, scope expression.Scope) (option buildOption, err error) {
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
		option.texts, option.values, text = append(option.texts, ""), append(option.values, e), after
	}
}

// in returns the option in an environment.
func (o *buildOption) in(env map[string]any) (string, error) {
	text := o.texts[0]
	for i, e := range o.values {
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

// reads reports whether an expression of the option depends on a name.
func (o *buildOption) reads(name string) bool {
	return slices.ContainsFunc(o.values, func(e *expression.Expression) bool { return e.Reads(name) })
}

// buildOptions returns the options of the definition in an environment.
func (p *Problem) buildOptions(env map[string]any) (options []string, err error) {
	for i := range p.options {
		option, err := p.options[i].in(env)
		if err != nil {
			return nil, fmt.Errorf("build option %w", err)
		}
		if option = strings.TrimSpace(option); option != "" {
			options = append(options, option)
		}
	}
	return options, nil
}

// targetName matches the names of targets.
var targetName = regexp.MustCompile(`^\w*$`)

// targetIn returns the target in an environment, "" for the driver's choice.
func (p *Problem) targetIn(env map[string]any) (string, error) {
	target, err := p.target.in(env)
	if target = strings.TrimSpace(target); err == nil && !targetName.MatchString(target) {
		err = fmt.Errorf("%q is no name of a target, such as sm_90a", target)
	}
	return target, err
}

// commandIn returns the command that makes the source in an environment.
func (p *Problem) commandIn(env map[string]any) (args []string, err error) {
	for i := range p.command {
		argument, err := p.command[i].in(env)
		if err != nil {
			return nil, fmt.Errorf("kernel.command: %w", err)
		}
		args = append(args, argument)
	}
	return args, nil
}

// OptionsAt returns options as [Problem.FixedOptions] writes them, with the values for a configuration where
// the constants and the configuration are enough, and otherwise as they are.
func OptionsAt(written string, constants []Constant, c space.Configuration) string {
	if !strings.Contains(written, "{") {
		return written
	}
	env := map[string]any{}
	for _, constant := range constants {
		env[constant.Name] = constant.Number()
	}
	scope := expression.Scope(env)
	c.Parameters().Describe(scope)
	option, err := parseOption(written, scope)
	if err != nil {
		return written
	}
	c.Assign(env)
	text, err := option.in(env)
	if err != nil {
		return written
	}
	return strings.Join(strings.Fields(text), " ")
}
