package problem

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// Variant derives the kernel of a configuration on a device. Its error is the reason why the
// configuration cannot be launched there.
func (p *Problem) Variant(c space.Configuration, d hardware.Device) (*launch.Variant, error) {
	v := &launch.Variant{Configuration: c, Hint: p.hint}
	defines, words, values := p.defines(c)
	if !p.generated() {
		v.SetSource(p.source, words+values)
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
func (p *Problem) fillLaunch(v *launch.Variant, env map[string]any) (err error) {
	if v.Launches, v.Holders, err = launch.Derive(p.stages, p.arguments, env); err != nil {
		return err
	}
	return p.fillArguments(v, env)
}

// defines is [Defines] for a configuration of the problem.
func (p *Problem) defines(c space.Configuration) (options []string, words, values string) {
	return launch.Defines(p.definition.Constants, c, p.hostOnly)
}

// ProgramOptions returns all options of the compiler for the source of [launch.Variant], which has lines that define words of OpenCL
// before it. It is an error if an option cannot carry a value.
func (p *Problem) ProgramOptions(c space.Configuration, d hardware.Device) (string, error) {
	options, err := p.buildOptions(p.environmentOf(c, d))
	defines, _, values := p.defines(c)
	if err == nil && values != "" {
		line, _, _ := strings.Cut(values, "\n")
		err = fmt.Errorf("a parameter or a constant has a value that no compiler's option can carry: %s", line)
	}
	v := launch.Variant{Options: append(options, defines...)}
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
	return strings.TrimSpace(p.withConstants(options) + " " + launch.BuildOptions(c, p.hostOnly))
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
	v := launch.Variant{Options: slices.Clone(options)}
	for _, c := range p.definition.Constants {
		if !c.Host && !clc.IsSPIRV(p.source) {
			v.Options = append(v.Options, launch.DefineOption(c.Name, c.Text()))
		}
	}
	return v.OptionLine()
}

// Launches returns the launches of a configuration on a device.
func (p *Problem) Launches(c space.Configuration, d hardware.Device) ([]launch.Launch, error) {
	launches, _, err := launch.Derive(p.stages, p.arguments, p.environmentOf(c, d))
	return launches, err
}

func (p *Problem) fillArguments(v *launch.Variant, env map[string]any) error {
	n := len(p.arguments)
	v.Elements, v.Pixels = make([]int, n), make([][]int, n)
	for i := range p.arguments {
		a := &p.arguments[i]
		if !a.Kind.HasContent() {
			continue
		}
		var err error
		if a.Kind == task.ImageArgument {
			v.Pixels[i], err = a.PixelsIn(env)
		}
		if err == nil {
			v.Elements[i], err = a.ElementsIn(env)
		}
		if err == nil {
			_, err = launch.Multiply(v.Elements[i], a.Element.Size())
		}
		if err != nil {
			return fmt.Errorf("argument %s: %w", a.Name, err)
		}
	}
	return p.checkCopies(v)
}

// checkCopies checks that each copied buffer is as long as its copy, and that buffers that change places are
// equally long.
func (p *Problem) checkCopies(v *launch.Variant) error {
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
			return fmt.Errorf("argument %s: has %d elements, %s, with which it changes places, has %d",
				p.arguments[i].Name, v.Elements[i], p.arguments[j].Name, v.Elements[j])
		}
	}
	return nil
}

// ExceededLimit returns the reason of [launch.Variant.ExceededLimit] without making the kernel's source. It returns "" if
// the launch cannot be derived.
func (p *Problem) ExceededLimit(c space.Configuration, d hardware.Device) string {
	v := &launch.Variant{Configuration: c}
	if p.fillLaunch(v, p.environmentOf(c, d)) != nil {
		return ""
	}
	return v.ExceededLimit(d)
}

// compileOptions compiles the options of the compiler and the target.
func (p *Problem) compileOptions(errs *fieldErrors, scope expression.Scope) {
	for i, text := range p.definition.Kernel.BuildOptions {
		option, err := launch.ParseOption(text, scope)
		errs.add(fmt.Sprintf("kernel.build_options[%d]", i), err)
		p.options = append(p.options, option)
	}
	target, err := launch.ParseOption(p.definition.Kernel.Target, scope)
	if p.target = target; err == nil && len(target.Values) == 0 {
		_, err = p.targetIn(nil)
	}
	if err == nil && p.HasTarget() && clc.IsSPIRV(p.source) {
		err = errors.New("a SPIR-V module has no target")
	}
	errs.add("kernel.target", err)
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
