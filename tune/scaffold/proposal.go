package scaffold

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// A Proposal is a specification that was guessed.
type Proposal struct {
	spec.Draft
	Defaults map[string]space.Value // the values of the parameters that the source has
}

// A proposer guesses a specification.
type proposer struct {
	Untuned
	*Proposal
	active     string // the source without the code that its conditions leave out
	function   source.Function
	reach      map[string]bool // as in the function, but without the code that conditions leave out
	dimensions int
	blocks     [3]string                // parameters or constants that are the local size
	perItem    []string                 // parameters that are the elements of a work-item
	others     []source.Macro           // other macros that can be parameters
	structs    map[string]*array.Struct // those described; nil: being described
	language   source.Language
	types      map[string]string // of a template's parameters
}

// newProposer returns a proposer of a specification for the file out, which knows the text of the kernel, and has its sources.
func newProposer(u Untuned, out string) *proposer {
	p := &proposer{Untuned: u, Proposal: &Proposal{Defaults: map[string]space.Value{}}, structs: map[string]*array.Struct{}}
	p.active, p.language = u.active(), u.Language()
	names := each.Of(u.Kernel.Arguments, func(a cl.ArgInfo) string { return a.Name })
	unconditional := source.FindKernel(u.Text, u.Kernel.Name, names...)
	if f := cmp.Or(source.FindKernel(p.active, u.Kernel.Name, names...), unconditional); f != nil {
		p.function = *f
	}
	p.reach = p.function.Reach
	if unconditional != nil {
		p.function.Reach = unconditional.Reach // other values of the source's macros reach other code
	}
	p.Kernel.Arguments = slices.Clone(u.Kernel.Arguments)
	for i, name := range p.function.Arguments { // drivers may rename arguments
		if len(p.function.Arguments) == len(p.Kernel.Arguments) {
			p.Kernel.Arguments[i].Name = name
		}
	}
	p.dimensions = max(1, p.function.Dimensions)
	d := &p.Definition
	d.Kernel.Name = p.instance()
	for _, source := range u.Sources {
		file, options := spec.Relative(out, source, u.Options)
		p.Files, d.Kernel.BuildOptions = append(p.Files, file), options
	}
	if len(u.Defines) > 0 {
		d.Kernel.Source = strings.Join(u.Defines, "\n") + "\n"
		for _, file := range p.Files {
			d.Kernel.Source += fmt.Sprintf("#include \"%s\"\n", file)
		}
		p.Files = nil
	}
	p.Head = []string{
		fmt.Sprintf("The kernel %s, as ndtune init understands it. The comments say what to check.", u.Kernel.Name),
		"docs/spec.md of ndtune describes every key.",
	}
	return p
}

// Propose guesses a specification, for the file out, that runs if the guesses are right. It says above each field
// what the user must decide. The output is verified by that of the kernel itself, with the values that the source has.
func Propose(u Untuned, out string) *Proposal {
	p := newProposer(u, out)
	p.readMacros()
	p.chooseBlock()
	p.chooseSizes()
	for i, a := range p.Kernel.Arguments {
		p.addArgument(i, a)
	}
	p.markOutputs()
	p.addSymbols()
	p.choose(out)
	return p.Proposal
}

// active returns the source without the code that its conditions leave out. The dimensions in calls such as
// get_global_id(X) are numbers if X is a macro.
func (u *Untuned) active() string {
	text := source.Active(u.Text, slices.Concat(u.Given, u.Missing))
	macros := slices.Concat(u.Given, source.Macros(text))
	return dimensionCall.ReplaceAllStringFunc(text, func(call string) string {
		parts := dimensionCall.FindStringSubmatch(call)
		i := slices.IndexFunc(macros, func(m source.Macro) bool { return m.Name == parts[2] })
		if i < 0 || !slices.Contains([]string{"0", "1", "2"}, macros[i].Text) {
			return call
		}
		return parts[1] + macros[i].Text + ")"
	})
}

var dimensionCall = regexp.MustCompile(`(\bget_\w+\s*\(\s*)([A-Za-z_]\w*)\s*\)`)

// firstSizes are small sizes of a problem by its dimensions: for a first try, also on a slow device. They are multiples of
// the local sizes, for kernels that do not guard their ends.
var firstSizes = [...]int{1 << 16, 256, 64}

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

// chooseBlock chooses the local size: that of reqd_work_group_size, of macros, or new parameters.
func (p *proposer) chooseBlock() {
	d := &p.Definition
	if p.Kernel.WorkGroup != [3]int{} {
		for i := range p.dimensions {
			p.blocks[i] = p.required(i)
		}
		p.Remark("block_size", "reqd_work_group_size of the kernel.")
	}
	for i := range p.dimensions {
		switch f := &p.function; {
		case p.blocks[i] != "" || f.Reads("get_local_size", i) || f.Reads("get_enqueued_local_size", i):
		case f.Reads("get_local_id", i) || f.Shares && i == 0 && !f.Reads("get_group_id", i):
			p.blocks[i] = spec.Undecided
			p.Remark("block_size",
				"DECIDE: the local size for which the kernel is written: it does not read it, and its work-items depend on it.")
		case f.Shares || f.Reads("get_group_id", i):
			p.blocks[i] = "1" // more would do the same work, or overwrite each other's local memory
		}
	}
	values := [3][]space.Value{{8, 16, 32, 64}, {1, 2, 4, 8, 16}, {1, 2, 4}}
	first := [3]int{16, 8, 2}
	if p.dimensions == 1 {
		values[0], first[0] = []space.Value{32, 64, 128, 256}, 64
	}
	known := len(d.Parameters)
	for i := range p.dimensions {
		if p.blocks[i] == "" {
			p.blocks[i] = "block_size_" + "xyz"[i:i+1]
			p.addParameter(p.blocks[i], first[i], values[i])
		}
	}
	if known < len(d.Parameters) {
		p.Remark("parameters."+d.Parameters[known].Name,
			"DECIDE: the local size. A kernel that relies on a certain one computes a wrong output with\n"+
				"others: then keep that one only.")
	}
	for i := range p.dimensions {
		if p.blocks[i] != "block_size_"+"xyz"[i:i+1] {
			d.BlockSize[i] = p.blocks[i]
		}
		d.GridDiv[i] = p.gridDiv(i)
	}
	if slices.ContainsFunc(d.GridDiv[:], func(divisors []definition.Expr) bool { return divisors != nil }) {
		p.Remark("grid_div", "DECIDE: the elements that a work-group computes in each dimension. Without grid_div there is one\n"+
			"work-item for each element of problem_size.%s", p.lines(p.active, "get_group_id", "get_global_id", "blockIdx"))
	}
}

// gridDiv returns the factors by which the kernel multiplies the index of the work-group. Where one of them is no parameter or constant, or
// they leave out a parameter that is the elements of a work-item, only the user knows.
func (p *proposer) gridDiv(axis int) (factors []definition.Expr) {
	f := &p.function
	unknown := false
	for _, factor := range f.PerGroup[axis] {
		if strings.HasPrefix(factor, "get_local_size") {
			factor = p.blocks[axis]
		} else {
			unknown = unknown || !p.know(factor)
		}
		factors = append(factors, factor)
	}
	left := func(name string) bool { return !slices.Contains(slices.Concat(f.PerGroup[:]...), name) }
	ofGroup := f.Reads("get_group_id", axis) && !f.Reads("get_global_id", axis) && p.blocks[axis] != "1"
	switch {
	case unknown, axis == 0 && slices.ContainsFunc(p.perItem, left), factors == nil && ofGroup:
		return []definition.Expr{spec.Undecided}
	case slices.Equal(factors, []string{p.blocks[axis]}):
		return nil
	}
	return factors
}

// required returns the size of the work-group in a dimension that reqd_work_group_size asks for, as its text says if all its names are
// known.
func (p *proposer) required(axis int) string {
	if axis < len(p.function.WorkGroup) {
		size := p.function.WorkGroup[axis]
		names := identifier.FindAllString(size, -1)
		unknown := slices.ContainsFunc(names, func(n string) bool { return !p.isKnown(n) })
		if len(names) > 0 && !unknown && !strings.Contains(size, "/") {
			return size
		}
	}
	return strconv.Itoa(p.Kernel.WorkGroup[axis])
}

// chooseSizes chooses the size of the problem: what the kernel compares its indices with. Integers among its arguments become constants of
// the host, which expressions can read.
func (p *proposer) chooseSizes() {
	d := &p.Definition
	for axis := range p.dimensions {
		size := spec.Undecided
		for _, name := range p.function.Bounds[axis] {
			isArgument := slices.ContainsFunc(p.Kernel.Arguments, func(a cl.ArgInfo) bool { return a.Name == name && p.isInteger(a) })
			if p.Defaults[name] == nil && (isArgument || p.know(name)) {
				size = name
				break
			}
		}
		d.ProblemSize = append(d.ProblemSize, size)
	}
	p.Remark("problem_size", "DECIDE: the work-items that the kernel needs in each dimension (before grid_div).%s",
		p.lines(p.active, "get_global_id", "get_group_id", "blockIdx"))
	for _, a := range p.Kernel.Arguments {
		if !p.isInteger(a) || p.isKnown(a.Name) {
			continue
		}
		value := any(spec.Undecided)
		if slices.Contains(d.ProblemSize, a.Name) {
			value = firstSizes[p.dimensions-1]
			p.Remark("constants."+a.Name, "A size of the problem, small for a first try: --set %s=… changes it for a run.", a.Name)
		} else {
			p.Remark("constants."+a.Name, "DECIDE: the value of %s.%s", a.Name, p.lines(p.active, a.Name))
		}
		d.Constants = append(d.Constants, definition.Constant{Name: a.Name, Value: value, Host: true})
	}
	if slices.ContainsFunc(d.Constants, func(c definition.Constant) bool { return c.Host }) {
		p.Remark("constants", "A constant with host: true is no macro of the kernel.")
	}
}

// isInteger reports whether an argument is an integer that a constant of the host can be.
func (p *proposer) isInteger(a cl.ArgInfo) bool {
	t, ok := p.typeOf(a.Type)
	return ok && isInteger(t) && t.Lanes() == 1 && a.Address == cl.AddressPrivate && !definition.Reserved(a.Name)
}

// isKnown reports whether a name is that of a parameter or a constant.
func (p *proposer) isKnown(name string) bool {
	return p.Defaults[name] != nil || slices.ContainsFunc(p.Definition.Constants, func(c definition.Constant) bool { return c.Name == name })
}

// know reports whether a factor is a number or what an expression can read: also an integer that a macro of the source is, which becomes
// a constant.
func (p *proposer) know(factor string) bool {
	for _, m := range source.Macros(p.active) {
		value, number := literal(m.Text)
		if _, isInt := number.(int); isInt && m.Name == factor && !p.isKnown(factor) {
			p.Definition.Constants = append(p.Definition.Constants, definition.Constant{Name: factor, Value: value})
		}
	}
	return p.isKnown(factor) || strings.Trim(factor, "0123456789") == ""
}

func isInteger(t array.Type) bool { return t.Scalar() < array.Float16 }

// maxLines is how many lines of a source a comment shows.
const maxLines = 4

// lines returns the lines of a text that have one of some names, for comments, each after a line break: those of the kernel, or all if it
// has none.
func (p *proposer) lines(text string, names ...string) (shown string) {
	var all []int
	for _, name := range names {
		all = append(all, source.Lines(text, name)...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	inside := slices.DeleteFunc(slices.Clone(all), func(line int) bool {
		return line < p.function.Lines[0] || line > p.function.Lines[1]
	})
	if len(inside) > 0 {
		all = inside
	}
	for i, line := range all {
		if i == maxLines {
			return shown + fmt.Sprintf("\n  and %s more", figure.Count(len(all)-i, "line"))
		}
		at := source.PlaceOf(text, line)
		at.File = at.File[strings.LastIndex(at.File, "/")+1:]
		shown += fmt.Sprintf("\n  %s: %s", at, excerpt.Of(strings.TrimSpace(strings.Split(text, "\n")[line-1])))
	}
	return shown
}

// choose completes the specification: the measurement, and verification by the kernel itself.
func (p *proposer) choose(out string) {
	p.remarkOthers()
	p.Remark("measure", "measure: {cache: cold} times launches that find their data in memory instead of the caches.")
	d := &p.Definition
	if !slices.ContainsFunc(d.Arguments, func(a definition.Argument) bool { return a.Output }) {
		return
	}
	p.Reference = filepath.Base(out)
	d.Verify = &definition.Verification{Configuration: p.Defaults}
	p.Remark("verify",
		"DECIDE: the reference of the output. This is the kernel itself with these values, the weakest reference: it shows only\n"+
			"that configurations agree. A simpler kernel with a specification of its own, .npy files, or a command are better ones.\n"+
			"atol and rtol are the tolerances.")
}

// Decisions is the number of values that only the user knows.
func (p *Proposal) Decisions() (n int) {
	for _, lines := range p.Remarks {
		for _, line := range lines {
			if strings.HasPrefix(line, "DECIDE") {
				n++
			}
		}
	}
	return n
}
