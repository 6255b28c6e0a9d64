package problem

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// A Variant is the kernel of one configuration, with all that depends on the configuration.
type Variant struct {
	Configuration space.Configuration
	Source        string   // OpenCL C, a SPIR-V module or CUDA C; "": Problem.Generate makes it
	Prologue      int      // number of lines before the kernel's own in Source; the last is #line 1
	Options       []string // for the compiler, one option each
	Target        string   // of the assembler; "": the driver's choice, or that of the options
	Launches      []Launch // in order; one, except in a pipeline

	// By argument: the elements of a buffer or an image; the pixels of an image in each dimension; and the
	// argument whose buffer has the content after the launches, another one if buffers changed places.
	Elements []int
	Pixels   [][]int
	Holders  []int

	Tolerance         score.Tolerance
	ReferenceLaunches int
	Rows              []int // by argument: of an output that is reduced before it is compared; else 0

	Settings []hardware.Setting // of the device, at which the launches are measured

	Hint string // about a build that fails; "": none
}

// SetSource gives the variant its source. OpenCL C has a prologue for what options cannot define; SPIR-V has no macros.
func (v *Variant) SetSource(source, prologue string) {
	v.Source = source
	if prologue != "" && !v.SPIRV() {
		prologue += "#line 1\n"
		v.Source, v.Prologue = prologue+source, strings.Count(prologue, "\n")
	}
}

// SPIRV reports whether the source is a SPIR-V module.
func (v *Variant) SPIRV() bool { return source.IsSPIRV(v.Source) }

// OptionLine returns the options joined, as a compiler takes them: without macros for a SPIR-V module. A
// folder with a space is quoted in the only way that some drivers accept.
func (v *Variant) OptionLine() string {
	options := v.Options
	if v.SPIRV() {
		_, options = CutFlag("-D", options)
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

// ExceededLimit returns the reason why a device cannot launch the variant, by the limits that are known
// before it is built, or "".
func (v *Variant) ExceededLimit(d hardware.Device) string {
	for i := range v.Launches {
		if reason := v.Launches[i].exceededLimit(d); reason != "" && len(v.Launches) > 1 {
			return v.Launches[i].Kernel + ": " + reason
		} else if reason != "" {
			return reason
		}
	}
	return ""
}

// Variant derives the kernel of a configuration on a device. Its error is the reason why the
// configuration cannot be launched there.
func (p *Problem) Variant(c space.Configuration, d hardware.Device) (*Variant, error) {
	v := &Variant{Configuration: c, Hint: p.hint}
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
	if p.language == source.CUDA {
		v.Options = append(v.Options, nameOptions(v.Launches)...)
		if v.Target != "" {
			v.Options, v.Target = append(v.Options, "--gpu-architecture="+v.Target), ""
		}
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

// Launches returns the launches of a configuration on a device.
func (p *Problem) Launches(c space.Configuration, d hardware.Device) ([]Launch, error) {
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
		if a.Kind == definition.ImageArgument {
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
			return fmt.Errorf("argument %s: has %d elements, %s, with which it changes places, has %d",
				p.arguments[i].Name, v.Elements[i], p.arguments[j].Name, v.Elements[j])
		}
	}
	return nil
}

// ExceededLimit returns the reason of [Variant.ExceededLimit] without making the kernel's source. It returns "" if
// the launch cannot be derived.
func (p *Problem) ExceededLimit(c space.Configuration, d hardware.Device) string {
	v := &Variant{Configuration: c}
	if p.fillLaunch(v, p.environmentOf(c, d)) != nil {
		return ""
	}
	return v.ExceededLimit(d)
}
