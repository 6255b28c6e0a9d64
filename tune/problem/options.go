package problem

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/launch"
)

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

// buildOptions returns the options of the definition in an environment.
func (p *Problem) buildOptions(env map[string]any) (options []string, err error) {
	for i := range p.options {
		option, err := p.options[i].In(env)
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
	target, err := p.target.In(env)
	if target = strings.TrimSpace(target); err == nil && !targetName.MatchString(target) {
		err = fmt.Errorf("%q is no name of a target, such as sm_90a", target)
	}
	return target, err
}

// commandIn returns the command that makes the source in an environment.
func (p *Problem) commandIn(env map[string]any) (args []string, err error) {
	for i := range p.command {
		argument, err := p.command[i].In(env)
		if err != nil {
			return nil, fmt.Errorf("kernel.command: %w", err)
		}
		args = append(args, argument)
	}
	return args, nil
}
