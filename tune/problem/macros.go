package problem

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/source"
)

// macros returns the names that the build options or the prologue define: the parameters and the
// constants of the kernel.
func (p *Problem) macros() []string {
	names := slices.Clone(p.parameters.Names())
	for _, c := range p.definition.Constants {
		if !c.Host {
			names = append(names, c.Name)
		}
	}
	return names
}

// overrideMacros removes the directives by which the source defines parameters or constants again. With
// them, all values would compile to the same code.
func (p compiler) overrideMacros() {
	macros := p.macros()
	for _, name := range p.optionMacros() {
		if slices.Contains(macros, name) {
			p.addf("kernel.build_options", "-D %s defines a parameter or a constant; remove the option", name)
		}
	}
	var removed []source.Redefinition
	p.source, removed = p.override(p.source)
	for _, r := range removed {
		if r.Arguments {
			p.addf("kernel", "%s: «%s» defines a macro with arguments; a parameter or a constant cannot have its name", r.At, r.Text)
			continue
		}
		kind := "constant"
		if slices.Contains(p.parameters.Names(), r.Macro) {
			kind = "parameter"
		}
		p.overridden = append(p.overridden, fmt.Sprintf(
			"%s: «%s» is left out, because the %s %s of the specification gives the value.", r.At, r.Text, kind, r.Macro))
	}
}

// override returns a source without the directives that define parameters or constants again.
func (p *Problem) override(text string) (string, []source.Redefinition) {
	if source.IsSPIRV(text) {
		return text, nil
	}
	return source.Override(text, p.macros(), p.optionMacros())
}

// optionMacros returns the macros that the build options of the definition define.
func (p *Problem) optionMacros() []string {
	defined, _ := CutFlag("-D", p.definition.Kernel.BuildOptions)
	for i, define := range defined {
		defined[i], _, _ = strings.Cut(define, "=")
	}
	return defined
}

// Notices returns sentences about parts of the definition that are allowed and may not be meant, for
// people.
func (p *Problem) Notices() []string {
	notices := slices.Concat(p.overridden, p.doubtfulParts())
	if p.VerifiesItself() {
		notices = append(notices, fmt.Sprintf(
			"The reference is this kernel itself (%s): the weakest reference, which shows only that configurations agree.",
			p.verify.configuration))
	}
	if p.verify != nil && p.verify.reference != nil {
		for _, notice := range p.verify.reference.overridden {
			notices = append(notices, "The reference kernel: "+notice)
		}
	}
	return notices
}

// VerifiesItself reports whether the reference is the kernel itself, in one of its configurations.
func (p *Problem) VerifiesItself() bool {
	return p.verify != nil && p.verify.reference != nil && p.verify.reference.KernelDigest() == p.KernelDigest()
}

// macroHint returns a hint about a macro that has the name of an argument, or "". If the kernel's argument
// has the name too, the compiler reads the value of the macro in the declaration.
func (p *Problem) macroHint() string {
	if source.IsSPIRV(p.source) {
		return ""
	}
	for _, name := range p.macros() {
		if _, ok := p.argument(name); ok {
			return fmt.Sprintf("%s is an argument and a macro, so that the compiler reads its value in place of the argument's name; "+
				"give the argument another name in the kernel, or make %s a constant for expressions alone: {value: …, host: true}", name, name)
		}
	}
	return ""
}

// doubtfulParts returns notices about parameters without effect and a local size that nobody gave.
func (p *Problem) doubtfulParts() (notices []string) {
	words := p.wordsOfKernel()
	for _, q := range p.parameters.List() {
		if len(q.Values) > 1 && words != nil && !words.have(q.Name) && !p.sizesRead(q.Name) {
			notices = append(notices, fmt.Sprintf("The parameter %s has no effect: neither the source nor a size, a scalar or a build option "+
				"reads it. All its values make the same kernel.", q.Name))
		}
		for _, v := range q.Values {
			if text, ok := v.(string); ok && ruleLike.MatchString(text) {
				notices = append(notices, fmt.Sprintf("The parameter %s has the text %q as a value. "+
					"A rule that makes values is a mapping, such as {range: [32, 256, 32]}.", q.Name, text))
			}
		}
	}
	hasNone := func(s Shape) bool { return s.BlockSize == [3]*expression.Expression{} }
	if p.parameters.Len() > 0 && slices.ContainsFunc(shapesOf(p.stages), hasNone) {
		notices = append(notices, "The local size is 1, because the specification has neither block_size nor a parameter block_size_x.")
	}
	return notices
}

// ruleLike matches texts such as range(128, 1024, 64) and 32:256:32.
var ruleLike = regexp.MustCompile(`^\s*((range|linspace|arange|list)\s*\(.*\)|-?[0-9]+\s*(:|\.\.\.?)\s*-?[0-9]+(\s*:\s*-?[0-9]+)?)\s*$`)

// sizesRead reports whether the launch or an argument depends on a parameter.
func (p *Problem) sizesRead(parameter string) bool {
	var sizes []*expression.Expression
	for _, s := range p.Steps() {
		sizes = append(sizes, s.Expressions()...)
	}
	for _, a := range p.Arguments() {
		sizes = append(sizes, a.Expressions()...)
	}
	for _, o := range p.options {
		sizes = append(sizes, o.Values...)
	}
	return slices.ContainsFunc(sizes, func(e *expression.Expression) bool { return e != nil && e.Reads(parameter) })
}

// words are the identifiers of a kernel.
type words struct {
	all    map[string]bool
	pasted bool // ## makes further ones
}

// wordsOfKernel returns the identifiers of the source and of all texts that the compiler gets with it;
// nil if the source is not known whole.
func (p *Problem) wordsOfKernel() *words {
	if source.IsSPIRV(p.source) {
		return &words{} // a module reads no macros
	}
	if p.generated() || source.HasIncludes(p.source) {
		return nil
	}
	texts := append([]string{p.source}, p.definition.Kernel.BuildOptions...)
	for _, c := range p.definition.Constants {
		texts = append(texts, c.Text())
	}
	for _, q := range p.definition.Parameters {
		for _, v := range q.Values {
			if text, ok := v.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return &words{source.Identifiers(strings.Join(texts, "\n")), strings.Contains(p.source, "##")}
}

// have reports whether a name is among the words, or may be made of them.
func (w *words) have(name string) bool {
	if w.all[name] || !w.pasted {
		return w.all[name]
	}
	for word := range w.all {
		if strings.HasPrefix(name, word) || strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}
