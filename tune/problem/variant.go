package problem

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// A Variant is the kernel of one configuration, with all that depends on the configuration.
type Variant struct {
	Configuration space.Configuration
	Source        string   // OpenCL C or a SPIR-V module; "": [Problem.Generate] makes it
	Prologue      int      // number of lines before the kernel's own in Source; the last is #line 1
	Options       []string // for the compiler, one option each
	Target        string   // of the assembler; "": the driver's choice
	Launches      []Launch // in order; one, except in a pipeline

	// By argument: the elements of a buffer or an image; the pixels of an image in each dimension; and the
	// argument whose buffer has the content after the launches, another one if buffers changed places.
	Elements []int
	Pixels   [][]int
	Holders  []int
	Types    string // of the arguments whose types depend on parameters

	Tolerance         Tolerance
	ReferenceLaunches int
	Rows              []int // by argument: of an output that is reduced before it is compared; else 0

	Settings []hardware.Setting // of the device, at which the launches are measured

	Hint string // about a build that fails; "": none

	command []string // that makes the source
}

// A Tolerance bounds the difference of an output from its reference: |out − ref| ≤ Absolute +
// Relative·|ref|. Default means that the problem has none.
type Tolerance struct {
	Absolute, Relative float64
	Default            bool
}

// Variant derives the kernel of a configuration on a device. Its error is the reason why the
// configuration cannot be launched there.
func (p *Problem) Variant(c space.Configuration, d hardware.Device) (*Variant, error) {
	p = p.At(c)
	v := &Variant{Configuration: c, Hint: p.hint, Types: p.types}
	defines, words, values := p.defines(c)
	if !p.generated() {
		v.setSource(p.source, words+values)
	}
	env := p.environmentOf(c, d)
	options, err := p.buildOptions(env)
	if err != nil {
		return nil, err
	}
	v.Options = append(options, defines...)
	if v.Target, err = p.targetIn(env); err != nil {
		return nil, fmt.Errorf("kernel.target: %w", err)
	}
	if v.command, err = p.commandIn(env); err != nil {
		return nil, err
	}
	if v.Settings, err = p.settingsIn(env); err != nil {
		return nil, err
	}
	if err := p.fillLaunch(v, env); err != nil {
		return nil, err
	}
	if err := p.fillVerification(v, env); err != nil {
		return nil, err
	}
	return v, nil
}

// fillLaunch derives the index space and the arguments.
func (p *Problem) fillLaunch(v *Variant, env map[string]any) (err error) {
	if v.Launches, v.Holders, err = derive(p.stages, p.arguments, env); err != nil {
		return err
	}
	return p.fillArguments(v, env)
}

// OptionLine returns the options joined, as a compiler takes them: without macros for a SPIR-V module. A
// folder with a space is quoted in the only way that some drivers accept.
func (v *Variant) OptionLine() string {
	options := v.Options
	if v.SPIRV() {
		_, options = argumentsOf("-D", options)
	}
	line := make([]string, len(options))
	for i, o := range options {
		if strings.HasPrefix(o, "-I") && strings.Contains(o, " ") && !strings.HasPrefix(o, "-I ") {
			o = `-I"` + o[len("-I"):] + `"`
		}
		line[i] = o
	}
	return strings.Join(line, " ")
}

// safeDefine matches the values that the option parser of every driver takes as they are in -D name=value.
var safeDefine = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

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
func Defines(constants []Constant, c space.Configuration, hostOnly map[string]bool) (options []string, words, values string) {
	define := func(name, value string) {
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
			options = append(options, defineOption(macro, value))
		}
	}
	for _, constant := range constants {
		if !constant.Host {
			define(constant.Name, constant.text())
		}
	}
	for i, name := range c.Parameters().Names() {
		if !hostOnly[name] {
			define(name, space.FormatValue(c.At(i)))
		}
	}
	return options, words, values
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
	env := p.environmentOf(c, d)
	options, err := p.buildOptions(env)
	if err != nil {
		return err.Error()
	}
	if clc.IsSPIRV(p.source) {
		return strings.Join(options, " ")
	}
	return strings.TrimSpace(p.withConstants(options) + " " + BuildOptions(c, p.hostOnly))
}

// TargetAt returns the target of the assembler for a configuration, "" for the driver's choice.
func (p *Problem) TargetAt(c space.Configuration, d hardware.Device) string {
	env := p.environmentOf(c, d)
	target, err := p.targetIn(env)
	if err != nil {
		return err.Error()
	}
	return target
}

// HasTarget reports whether configurations have a target.
func (p *Problem) HasTarget() bool { return p.definition.Kernel.Target != "" }

// FixedOptions returns the options of the definition, as they are written, and the constants.
func (p *Problem) FixedOptions() string { return p.withConstants(p.definition.Kernel.BuildOptions) }

// withConstants returns options and those of the constants on one line.
func (p *Problem) withConstants(options []string) string {
	v := Variant{Options: slices.Clone(options)}
	for _, c := range p.definition.Constants {
		if !c.Host && !clc.IsSPIRV(p.source) {
			v.Options = append(v.Options, defineOption(c.Name, c.text()))
		}
	}
	return v.OptionLine()
}

// BuildOptions returns the -D options of a configuration, without the parameters that only settings read.
func BuildOptions(c space.Configuration, hostOnly map[string]bool) string {
	var options []string
	for i, name := range c.Parameters().Names() {
		if !hostOnly[name] {
			options = append(options, defineOption(name, space.FormatValue(c.At(i))))
		}
	}
	return strings.Join(options, " ")
}

func defineOption(name, value string) string {
	if !safeDefine.MatchString(value) {
		value = strconv.Quote(value)
	}
	return "-D " + name + "=" + value
}

// Launches returns the launches of a configuration on a device.
func (p *Problem) Launches(c space.Configuration, d hardware.Device) ([]Launch, error) {
	p = p.At(c)
	launches, _, err := derive(p.stages, p.arguments, p.environmentOf(c, d))
	return launches, err
}

func (p *Problem) fillArguments(v *Variant, env map[string]any) error {
	n := len(p.arguments)
	v.Elements, v.Pixels = make([]int, n), make([][]int, n)
	for i := range p.arguments {
		a := &p.arguments[i]
		if !a.Kind.HasContent() {
			continue
		}
		var err error
		if a.Kind == ImageArgument {
			v.Pixels[i], err = a.PixelsIn(env)
		}
		if err == nil {
			v.Elements[i], err = a.ElementsIn(env)
		}
		if err == nil {
			_, err = multiply(v.Elements[i], a.Element.Size())
		}
		if err != nil {
			return fmt.Errorf("argument %s: %w", a.Name, err)
		}
	}
	return p.checkCopies(v)
}

// elements returns the number of elements of a buffer or an image.
func (a *ArgumentInfo) ElementsIn(env map[string]any) (int, error) {
	if a.Kind == ImageArgument {
		pixels, err := a.PixelsIn(env)
		n := 1
		for _, size := range pixels {
			if n, err = multiply(n, size); err != nil {
				break
			}
		}
		return n, err
	}
	if a.Elements == nil {
		return a.Content.Len(), nil
	}
	return positive("size", a.Elements, env)
}

// checkCopies checks that each copied buffer is as long as its copy, and that buffers that change places are
// equally long.
func (p *Problem) checkCopies(v *Variant) error {
	for i, a := range p.arguments {
		if a.Fill.Copy == "" {
			continue
		}
		if j := p.place(a.Fill.Copy); v.Elements[i] != v.Elements[j] {
			return fmt.Errorf("argument %s: has %d elements, %s, of which it is a copy, has %d", a.Name, v.Elements[i], a.Fill.Copy, v.Elements[j])
		}
	}
	for i, j := range v.Holders {
		if v.Elements[i] != v.Elements[j] {
			return fmt.Errorf("argument %s: has %d elements, %s, with which it changes places, has %d", p.arguments[i].Name, v.Elements[i], p.arguments[j].Name, v.Elements[j])
		}
	}
	return nil
}

// Refusal returns the reason of [Variant.Refusal] without making the kernel's source. It returns "" if
// the launch cannot be derived.
func (p *Problem) Refusal(c space.Configuration, d hardware.Device) string {
	p = p.At(c)
	v := &Variant{Configuration: c}
	env := p.environmentOf(c, d)
	if p.fillLaunch(v, env) != nil {
		return ""
	}
	return v.Refusal(d)
}

// Refusal returns the reason why a device cannot launch the variant, by the limits that are known
// before it is built, or "".
func (v *Variant) Refusal(d hardware.Device) string {
	for i := range v.Launches {
		if reason := v.Launches[i].refusal(d); reason != "" && len(v.Launches) > 1 {
			return v.Launches[i].Kernel + ": " + reason
		} else if reason != "" {
			return reason
		}
	}
	return ""
}

func (l *Launch) refusal(d hardware.Device) string {
	r := l.NDRange
	if n := r.WorkItems(); d.MaxWorkGroupSize > 0 && n > d.MaxWorkGroupSize {
		return fmt.Sprintf("work-group of %s = %d work-items > device limit %d", product(r.WorkGroup()), n, d.MaxWorkGroupSize)
	}
	for i, n := range r.WorkGroup() {
		if i < len(d.MaxWorkItemSizes) && n > d.MaxWorkItemSizes[i] {
			return fmt.Sprintf("%d work-items in dimension %s > device limit %d", n, dimensions[i], d.MaxWorkItemSizes[i])
		}
	}
	local := 0.0 // cannot overflow, and is exact where it matters
	for _, n := range l.LocalBytes {
		local += float64(n)
	}
	if d.LocalMemory > 0 && local > float64(d.LocalMemory) {
		return fmt.Sprintf("local memory %.0f B > device limit %d B", local, d.LocalMemory)
	}
	return ""
}
