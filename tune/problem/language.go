package problem

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// Language returns the language of the kernel.
func (p *Problem) Language() source.Language { return p.language }

// Languages returns the languages in which the definition has the kernel, OpenCL C first. The problem is in the first of them.
func (p *Problem) Languages() []source.Language {
	if p.definition.Kernel.CUDA != nil {
		return []source.Language{source.OpenCL, source.CUDA}
	}
	return []source.Language{p.language}
}

// In returns the problem in one of its languages. A reference that has the language, too, is in it then.
func (p *Problem) In(l source.Language) (*Problem, error) {
	switch {
	case l == p.language:
		return p, nil
	case !slices.Contains(p.Languages(), l):
		return nil, fmt.Errorf("the kernel %s is written in %s, not in %s", p.KernelName(), p.language.Name(), l.Name())
	}
	in, err := New(inCUDA(p.definition))
	if err == nil {
		in.inOpenCL = p.Digest()
		in.space.Store(p.space.Load())
	}
	return in, err
}

// OpenCLDigest returns the digest of the same problem in OpenCL C, if the definition has the kernel in both languages and the problem is in
// CUDA C; else "". The results of both can be compared.
func (p *Problem) OpenCLDigest() string { return p.inOpenCL }

// inCUDA returns a definition with the kernel in CUDA C, if it has that, and no other.
func inCUDA(d definition.Definition) definition.Definition {
	if t, k := d.Kernel.CUDA, &d.Kernel; t != nil {
		k.Source, k.File, k.SourceName, k.Language, k.CUDA = t.Source, t.File, t.SourceName, source.CUDA, nil
	}
	return d
}

// findLanguage finds the language of a source, as far as it is known before the search, and checks what the language decides.
func (p compiler) findLanguage() {
	k := p.definition.Kernel
	found := source.OpenCL
	if !source.IsSPIRV(p.source) {
		var err error
		found, err = source.LanguageOf(cmp.Or(k.File, k.SourceName), p.source)
		p.add("kernel", err)
	}
	p.language = cmp.Or(k.Language, found, source.OpenCL)
	switch {
	case p.language != source.OpenCL && p.language != source.CUDA:
		p.addf("kernel.language", "%q is none of the languages of kernels, %s and %s", p.language, source.OpenCL, source.CUDA)
	case k.CUDA != nil && k.Language != "":
		p.addf("kernel.language", "the kernel has a source for each language, and the device chooses")
	case k.CUDA != nil && p.language == source.CUDA:
		p.addf("kernel.file.opencl", "the source is written in CUDA C")
	}
	if k.Name != "" || !p.IsPipeline() {
		p.checkName("kernel.name", k.Name)
	}
}

// kernelName matches the name of a kernel in CUDA C, which may be in a namespace, and an instance of a template.
var kernelName = regexp.MustCompile(`^[A-Za-z_]\w*(::\w+)*\s*(<[^"\\\n]*>)?$`)

func (p compiler) checkName(field, name string) {
	switch {
	case space.IsIdentifier(name):
	case p.language != source.CUDA:
		p.addf(field, "%q is not the name of a kernel function", name)
	case !kernelName.MatchString(name):
		p.addf(field, "%q is neither the name of a kernel function nor an instance of a template, such as add<float, {block_size_x}>", name)
	}
}

// compileName compiles the name of a kernel that is more than that of a function.
func (p compiler) compileName(field, name string) *Option {
	if space.IsIdentifier(name) || p.language != source.CUDA {
		return nil
	}
	option, err := parseOption(name, p.scope)
	p.add(field, err)
	return &option
}

// nameOptions returns the options by which internal/cuda learns which instances of templates the launches need.
func nameOptions(launches []Launch) (options []string) {
	for _, l := range launches {
		if option := `-ndtune-name="` + l.Kernel + `"`; !space.IsIdentifier(l.Kernel) {
			options = each.AppendNew(options, option)
		}
	}
	return options
}
