package problem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// A FunctionError is the reason why a problem cannot leave its process: Fields are the paths of its Go
// functions, in the words of a specification file: «kernel.func», «verify.check».
type FunctionError struct {
	Fields []string
}

func (e *FunctionError) Error() string {
	return fmt.Sprintf("the problem holds Go functions (%s), which cannot cross to another process", strings.Join(e.Fields, ", "))
}

// Portable returns a definition that makes the same problem in another process: one with the same
// digest and variants, in the language of the problem alone, for which [New] reads no file. Its sources are resolved, and Data and
// Verify.Expected hold the content of files as *array.Array. It can be encoded by encoding/gob. The
// arrays belong to the problem and must not be changed. The error for a problem with Go functions is a
// [FunctionError].
func (p *Problem) Portable() (definition.Definition, error) {
	if fields := p.definition.Functions(); len(fields) > 0 {
		return definition.Definition{}, &FunctionError{fields}
	}
	return p.portable(), nil
}

// Encode returns the problem for another process: see [Problem.Portable].
func (p *Problem) Encode() ([]byte, error) {
	d, err := p.Portable()
	if err != nil {
		return nil, err
	}
	return d.Encode(func(size int) []byte { return make([]byte, size) }, p.contentDigest, false)
}

// EncodeInto is Encode into the memory that a function returns, for a process on this machine: it maps the files that this one has mapped, and
// gets their digests if they are known.
func (p *Problem) EncodeInto(memory func(size int) []byte) ([]byte, error) {
	d, err := p.Portable()
	if err != nil {
		return nil, err
	}
	return d.Encode(memory, p.knownDigest, true)
}

// portable is Portable for a problem without functions.
func (p *Problem) portable() definition.Definition {
	d := p.definition
	k := d.Kernel
	d.Kernel = definition.Kernel{
		Name: k.Name, Language: p.language, Source: p.source, BuildOptions: k.BuildOptions, Target: k.Target, SourceName: p.SourceName(),
	}
	if k.Command != nil {
		d.Kernel.Command, d.Kernel.CommandDigest, d.Kernel.IncludeDirs = k.Command, p.commandDigest(), k.IncludeDirs
	}
	d.Constants = slices.Clone(d.Constants)
	for i := range d.Constants {
		d.Constants[i].Value = d.Constants[i].Normalized()
	}
	d.GridDiv, d.Stages = divisors(d.GridDiv), portableStages(d.Stages)
	d.Arguments = nil
	for _, a := range p.arguments {
		given := a.Argument // with the size of an image
		given.Fill.File = ""
		if a.Element.Struct == nil && a.Image == nil && a.Sampler == nil {
			given.Type = a.Element.Type.String()
		}
		if a.Content != nil {
			given.Data = a.Content
		}
		d.Arguments = append(d.Arguments, given)
	}
	d.Parameters = p.parameters.List()
	if d.Roofline != nil {
		roofline := *d.Roofline
		d.Roofline = &roofline
	}
	if d.Verify != nil {
		d.Verify = p.verify.portable(*d.Verify)
	}
	return d
}

// portable returns the verification with a portable reference.
func (v *verification) portable(given definition.Verification) *definition.Verification {
	if v.reference != nil {
		reference := v.reference.portable()
		given.Problem, given.Configuration = &reference, map[string]space.Value{}
		for i, name := range v.reference.parameters.Names() {
			given.Configuration[name] = v.configuration.At(i)
		}
	}
	if v.expected != nil {
		given.Files, given.Expected = nil, map[string]any{}
		for name, data := range v.expected {
			given.Expected[name] = data
		}
	}
	return &given
}

// divisors replaces empty lists of divisors by a divisor of 1, which is the same: in many encodings an
// empty list becomes nil, which means the local size.
func divisors(given [3][]definition.Expr) [3][]definition.Expr {
	for i, list := range given {
		if list != nil && len(list) == 0 {
			given[i] = []definition.Expr{"1"}
		}
	}
	return given
}

// portableStages returns stages with [divisors].
func portableStages(given []definition.Stage) []definition.Stage {
	stages := slices.Clone(given)
	for i := range stages {
		stages[i].GridDiv, stages[i].Stages = divisors(stages[i].GridDiv), portableStages(stages[i].Stages)
	}
	return stages
}
