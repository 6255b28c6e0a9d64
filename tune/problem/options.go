package problem

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// MacroName returns the macro by which an option gives a parameter or a constant its value. A word of OpenCL stands in the headers
// of compilers, which an option would change: it has another name there, and a line before the source defines it.
func MacroName(name string) string {
	if source.IsWord(name) {
		return "ndtune_" + name
	}
	return name
}

// Defines returns constants and a configuration as options; the lines that define the words of OpenCL among their names, which
// are the same for all configurations; and the lines that define the values that an option cannot carry. The parameters that
// only settings read, hostOnly, are left out.
func Defines(constants []definition.Constant, c space.Configuration, hostOnly map[string]bool) (options []string, words, values string) {
	for name, value := range macrosOf(constants, c, hostOnly) {
		value = literal(value)
		safe, macro := safeDefine.MatchString(value), MacroName(name)
		if macro != name {
			words += "#undef " + name + "\n"
		}
		switch {
		case !safe:
			values += "#define " + name + " " + strings.ReplaceAll(value, "\n", "\\\n") + "\n"
		case macro != name:
			words += "#define " + name + " " + macro + "\n"
		}
		if safe {
			options = append(options, DefineOption(macro, value))
		}
	}
	return options, words, values
}

// macrosOf yields the macros of constants and a configuration with their values, without the parameters that only settings read.
func macrosOf(constants []definition.Constant, c space.Configuration, hostOnly map[string]bool) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, constant := range constants {
			if !constant.Host && !yield(constant.Name, constant.Text()) {
				return
			}
		}
		for i := range c.Len() {
			if name := c.Parameters().At(i).Name; !hostOnly[name] && !yield(name, space.FormatValue(c.At(i))) {
				return
			}
		}
	}
}

// BuildOptions returns the -D options of a configuration, without the parameters that only settings read.
func BuildOptions(c space.Configuration, hostOnly map[string]bool) string {
	var options []string
	for name, value := range macrosOf(nil, c, hostOnly) {
		options = append(options, DefineOption(name, value))
	}
	return strings.Join(options, " ")
}

// safeDefine matches the values that the option parser of every driver takes as they are in -D name=value.
var safeDefine = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

// literal returns a value as C has it. The least integer is none of its literals, of which - is no part.
func literal(value string) string {
	if value == "-9223372036854775808" {
		return "(-9223372036854775807L-1)"
	}
	return value
}

func DefineOption(name, value string) string {
	value = literal(value)
	if !safeDefine.MatchString(value) {
		value = strconv.Quote(value)
	}
	return "-D " + name + "=" + value
}

// CutFlag returns the arguments of a flag such as -D among some options, and the other options. An
// argument follows its flag in the same option or is the next one.
func CutFlag(flag string, options []string) (arguments, rest []string) {
	for i := 0; i < len(options); i++ {
		argument, ok := strings.CutPrefix(options[i], flag)
		if !ok {
			rest = append(rest, options[i])
			continue
		}
		if argument == "" && i+1 < len(options) {
			i++
			argument = options[i]
		}
		arguments = append(arguments, strings.TrimSpace(argument))
	}
	return arguments, rest
}

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

// parseOption compiles the expressions between braces. Two braces stand for one.
func parseOption(text string, scope expression.Scope) (option Option, err error) {
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

// OptionsAt returns options as Problem.FixedOptions writes them, with the values for a configuration where
// the constants and the configuration are enough, and otherwise as they are.
func OptionsAt(written string, constants []definition.Constant, c space.Configuration) string {
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
	text, err := option.In(env)
	if err != nil {
		return written
	}
	return strings.Join(strings.Fields(text), " ")
}

// defines is [Defines] for a configuration of the problem.
func (p *Problem) defines(c space.Configuration) (options []string, words, values string) {
	return Defines(p.definition.Constants, c, p.hostOnly)
}

// ProgramOptions returns all options of the compiler for the source of [Variant], which has lines that define words of OpenCL
// before it. It is an error if an option cannot carry a value.
func (p *Problem) ProgramOptions(c space.Configuration, d hardware.Device) (string, error) {
	options, err := p.buildOptions(p.environmentOf(c, d))
	defines, _, values := p.defines(c)
	if err == nil && values != "" {
		line, _, _ := strings.Cut(values, "\n")
		err = fmt.Errorf("a parameter or a constant has a value that no compiler's option can carry: %s", line)
	}
	v := Variant{Options: append(options, defines...)}
	return v.OptionLine(), err
}

// BuildOptions returns all options of the compiler for a configuration on one line, to paste into a build
// elsewhere. It is for one device if options read device.*. The options of a SPIR-V module have no macros.
func (p *Problem) BuildOptions(c space.Configuration, d hardware.Device) string {
	options, err := p.buildOptions(p.environmentOf(c, d))
	if err != nil {
		return err.Error()
	}
	if source.IsSPIRV(p.source) {
		return strings.Join(options, " ")
	}
	return strings.TrimSpace(p.withConstants(options) + " " + BuildOptions(c, p.hostOnly))
}

// HasTarget reports whether configurations have a target.
func (p *Problem) HasTarget() bool { return p.definition.Kernel.Target != "" }

// FixedOptions returns the options of the definition, as they are written, and the constants.
func (p *Problem) FixedOptions() string { return p.withConstants(p.definition.Kernel.BuildOptions) }

// withConstants returns options and those of the constants on one line.
func (p *Problem) withConstants(options []string) string {
	v := Variant{Options: slices.Clone(options)}
	if !source.IsSPIRV(p.source) {
		for name, value := range macrosOf(p.definition.Constants, space.Configuration{}, nil) {
			v.Options = append(v.Options, DefineOption(name, value))
		}
	}
	return v.OptionLine()
}

// compileOptions compiles the options of the compiler and the target.
func (p compiler) compileOptions() {
	for i, text := range p.definition.Kernel.BuildOptions {
		option, err := parseOption(text, p.scope)
		p.add(fmt.Sprintf("kernel.build_options[%d]", i), err)
		p.options = append(p.options, option)
	}
	target, err := parseOption(p.definition.Kernel.Target, p.scope)
	if p.target = target; err == nil && len(target.Values) == 0 {
		_, err = p.targetIn(nil)
	}
	if err == nil && p.HasTarget() && source.IsSPIRV(p.source) {
		err = errors.New("a SPIR-V module has no target")
	}
	p.add("kernel.target", err)
}

// buildOptions returns the options of the definition in an environment, without empty ones.
func (p *Problem) buildOptions(env map[string]any) ([]string, error) {
	var options []string
	for i := range p.options {
		text, err := p.options[i].In(env)
		if err != nil {
			return nil, fmt.Errorf("build option %w", err)
		}
		if text = strings.TrimSpace(text); text != "" {
			options = append(options, text)
		}
	}
	return options, nil
}

// targetName matches the names of targets.
var targetName = regexp.MustCompile(`^\w*$`)

// targetIn returns the target in an environment, "" for the driver's choice.
func (p *Problem) targetIn(env map[string]any) (string, error) {
	target, err := p.target.In(env)
	if target = strings.TrimSpace(target); err == nil && !targetName.MatchString(target) {
		err = fmt.Errorf("%q is no name of a target, such as sm_90a", target)
	}
	return target, err
}
