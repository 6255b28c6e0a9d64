package launch

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// MacroName returns the macro by which an option gives a parameter or a constant its value. A word of OpenCL stands in the headers
// of compilers, which an option would change: it has another name there, and a line before the source defines it.
func MacroName(name string) string {
	if clc.IsWord(name) {
		return "ndtune_" + name
	}
	return name
}

// Defines returns constants and a configuration as options; the lines that define the words of OpenCL among their names, which
// are the same for all configurations; and the lines that define the values that an option cannot carry. The parameters that
// only settings read, hostOnly, are left out.
func Defines(constants []task.Constant, c space.Configuration, hostOnly map[string]bool) (options []string, words, values string) {
	define := func(name, value string) {
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
	for _, constant := range constants {
		if !constant.Host {
			define(constant.Name, constant.Text())
		}
	}
	for i, name := range c.Parameters().Names() {
		if !hostOnly[name] {
			define(name, space.FormatValue(c.At(i)))
		}
	}
	return options, words, values
}

// BuildOptions returns the -D options of a configuration, without the parameters that only settings read.
func BuildOptions(c space.Configuration, hostOnly map[string]bool) string {
	var options []string
	for i, name := range c.Parameters().Names() {
		if !hostOnly[name] {
			options = append(options, DefineOption(name, space.FormatValue(c.At(i))))
		}
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
