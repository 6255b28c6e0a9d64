package initial

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
)

// missingMacro returns a macro for an identifier that a source does not define.
func (u *Untuned) missingMacro(name string, isType bool) clc.Macro {
	r, _ := roleOf(name)
	required := regexp.MustCompile(`\breqd_work_group_size\b[^){;]*\b` + name + `\b`)
	value := "1"
	switch {
	case isType:
		value = "float"
	case r == blockRole || r == sizeRole || r == strideRole || required.MatchString(u.Text):
		value = "16"
	}
	return clc.Macro{Name: name, Text: value, Guarded: true}
}

// A Proposal is a specification that was guessed.
type Proposal struct {
	spec.Draft
	Defaults map[string]space.Value // the values of the parameters that the source has
	// GuessedGrid: no comparison of the kernel bounds its index, or grid_div has the factors that names of macros tell.
	GuessedGrid bool
}

// A proposer guesses a specification.
type proposer struct {
	Untuned
	*Proposal
	active     string // the source without the code that its conditions leave out
	function   clc.Function
	reach      map[string]bool // as in the function, but without the code that conditions leave out
	dimensions int
	blocks     [3]string   // parameters or constants that are the local size
	perItem    [3][]string // parameters that are the elements of a work-item
	own        []string    // constants that the source defines itself
	others     []clc.Macro // other macros that can be parameters
	describing []string    // structs whose fields are being described
	sizes      []size
	rank       int // the dimensions of the buffers
}

// A size is a constant that is a size of the problem.
type size struct {
	name string
	axis int
}

// newProposer returns a proposer of a specification for the file out, which knows the text of the kernel, and has its sources.
func newProposer(u Untuned, out string) *proposer {
	p := &proposer{Untuned: u, Proposal: &Proposal{Defaults: map[string]space.Value{}}}
	p.active = u.active()
	var names []string
	for _, a := range u.Kernel.Arguments {
		names = append(names, a.Name)
	}
	unconditional := clc.FindKernel(u.Text, u.Kernel.Name, names...)
	if f := cmp.Or(clc.FindKernel(p.active, u.Kernel.Name, names...), unconditional); f != nil {
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
	d.Kernel.Name = u.Kernel.Name
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
	p.choose(out)
	return p.Proposal
}

// active returns the source without the code that its conditions leave out. The dimensions in calls such as
// get_global_id(X) are numbers if X is a macro.
func (u *Untuned) active() string {
	text := clc.Active(u.Text, slices.Concat(u.Given, u.Missing))
	macros := slices.Concat(u.Given, clc.Macros(text))
	return dimensionCall.ReplaceAllStringFunc(text, func(call string) string {
		parts := dimensionCall.FindStringSubmatch(call)
		i := slices.IndexFunc(macros, func(m clc.Macro) bool { return m.Name == parts[2] })
		if i < 0 || !slices.Contains([]string{"0", "1", "2"}, macros[i].Text) {
			return call
		}
		return parts[1] + macros[i].Text + ")"
	})
}

var dimensionCall = regexp.MustCompile(`(\bget_\w+\s*\(\s*)([A-Za-z_]\w*)\s*\)`)

// literal returns the value of a macro for the kernel, and the one in expressions. A number that a specification would write
// in another way, such as 0.1f or 0xff, is a text for the kernel, which thus gets what its source says.
func literal(text string) (value, number space.Value) {
	if m := bracketed.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	number = task.Constant{Value: text}.Number()
	if space.FormatValue(number) == text {
		return number, number
	}
	return text, number
}

var bracketed = regexp.MustCompile(`^\(\s*([0-9.][\w.]*)\s*\)$`)

// readMacros makes parameters and constants of macros.
func (p *proposer) readMacros() {
	all := slices.Concat(p.Given, p.Missing)
	needed := len(all) // by the source, which does not define them
	for _, m := range clc.Macros(p.Text) {
		if p.function.Reach == nil || p.function.Reach[m.Name] {
			all = append(all, m)
		}
	}
	hasBlock := slices.ContainsFunc(all, func(m clc.Macro) bool {
		r, _ := roleOf(m.Name)
		return r == blockRole && !isTile(m.Name)
	})
	missingSizes := 0
	for _, m := range p.Missing {
		if r, _ := roleOf(m.Name); r == sizeRole {
			missingSizes++
		}
	}
	tested := clc.Tested(p.Text, p.Given)
	seen := map[string]bool{}
	for i, m := range all {
		if seen[m.Name] || task.Reserved(m.Name) {
			continue
		}
		seen[m.Name] = true
		missing := i >= len(p.Given) && i < needed
		r, axis := p.roleOfMacro(m.Name, i < needed, hasBlock)
		value, number := literal(m.Text)
		n, isInt := number.(int)
		_, text := number.(string)
		switch {
		case !missing || text || slices.Contains(tested, m):
		case r == blockRole && p.dimensions == 1:
			value, number, n = 64, 64, 64
		case r == perItemRole:
			value, number, n = 1, 1, 1
		case r == sizeRole:
			value = firstSizes[min(3, max(p.dimensions, missingSizes))-1]
		case r == otherRole || r == strideRole:
			value = spec.Undecided
		}
		tunes := isInt && r.tunes(n)
		isSize := isInt && r == sizeRole && n > 1
		field := "constants." + m.Name
		switch {
		case tunes && value == number:
			p.addParameter(m.Name, n, p.valuesAround(n, r, axis))
			field = "parameters." + m.Name
		case tunes || isSize || i < needed:
			p.Definition.Constants = append(p.Definition.Constants, task.Constant{Name: m.Name, Value: value})
			if isSize {
				p.sizes = append(p.sizes, size{m.Name, axis})
			}
			if i >= needed {
				p.own, p.others = append(p.own, m.Name), append(p.others, m)
			}
		case !text || m.Guarded:
			p.others = append(p.others, m)
		}
		switch {
		case tunes && r == blockRole:
			p.addBlock(m.Name, axis)
		case tunes && r == perItemRole:
			p.perItem[max(axis, 0)] = append(p.perItem[max(axis, 0)], m.Name)
		}
		if missing {
			p.Remark(field, "DECIDE: the source does not define %s.", m.Name)
		}
	}
}

func isTile(name string) bool { return strings.Contains(strings.ToLower(name), "tile") }

// roleOfMacro guesses the meaning of a macro, and its dimension. One that the source needs for other kernels only has none. A
// tile beside a block is the elements of a work-item.
func (p *proposer) roleOfMacro(name string, needed, hasBlock bool) (r role, axis int) {
	r, axis = roleOf(name)
	for i, names := range p.function.Indices.PerItem {
		if slices.Contains(names, name) {
			return perItemRole, i
		}
	}
	group := p.function.WorkGroup
	switch i := slices.Index(group, name); {
	case i >= 0 && slices.Contains(group[i+1:], name):
		return blockRole, -1
	case i >= 0:
		return blockRole, i
	case needed && p.reach != nil && !p.reach[name]:
		r = otherRole
	case r == blockRole && isTile(name) && hasBlock:
		r = perItemRole
	}
	return r, axis
}

// firstSizes are small sizes of a problem by its dimensions: for a first try, also on a slow device. They are multiples of
// the local sizes, for kernels that do not guard their ends.
var firstSizes = [...]int{1 << 16, 256, 64}

// pruneConstants leaves out the constants that the source defines itself and that no expression reads.
func (p *proposer) pruneConstants() {
	d := &p.Definition
	texts := fmt.Sprint(d.ProblemSize, d.BlockSize, d.GridDiv)
	for _, a := range d.Arguments {
		texts += fmt.Sprint(" ", a.Size, " ", a.LocalSize, " ", a.Value, " ", a.Fill.Low, " ", a.Fill.High)
		if a.Image != nil {
			texts += fmt.Sprint(a.Image.Size)
		}
	}
	read := identifier.FindAllString(texts, -1)
	d.Constants = slices.DeleteFunc(d.Constants, func(c task.Constant) bool {
		return slices.Contains(p.own, c.Name) && !slices.Contains(read, c.Name)
	})
	var others []string
	for _, m := range p.others {
		if !p.isKnown(m.Name) {
			others = append(others, m.Name+": "+m.Text)
		}
	}
	if len(others) > 0 {
		p.Remark("parameters", "Other macros of the source, which can be parameters, too: %s.", excerpt.Of(strings.Join(others, ", ")))
	}
}

// tunes reports whether a macro with a role and a value can be a parameter.
func (r role) tunes(n int) bool {
	return r == blockRole && n > 1 && n <= 1024 || (r == perItemRole || r == unrollRole) && n > 0 && n <= 64
}

// valuesAround returns values of a parameter with a role, around the one that the source has.
func (p *proposer) valuesAround(n int, r role, axis int) []space.Value {
	most := 64
	if r == blockRole && axis >= 0 {
		most = 1024
	} else if r == blockRole {
		most = [...]int{1024, 32, 8}[p.dimensions-1] // in each dimension
	}
	return around(n, most)
}

// around returns powers of two around a value, up to a limit; the value itself is among them.
func around(n, most int) (values []space.Value) {
	for v := max(1, n/2); v <= max(n, min(most, 4*n)); v *= 2 {
		values = append(values, v)
	}
	if !slices.Contains(values, space.Value(n)) {
		values = append(values, n)
		slices.SortFunc(values, func(a, b space.Value) int { return a.(int) - b.(int) })
	}
	return values
}

func (p *proposer) addParameter(name string, value space.Value, values []space.Value) {
	p.Definition.Parameters = append(p.Definition.Parameters, space.Parameter{Name: name, Values: values})
	p.Defaults[name] = value
}

// addBlock makes a parameter the local size in its dimension, or in all that have none.
func (p *proposer) addBlock(name string, axis int) {
	feeds := false
	for i := range p.dimensions {
		if (axis < 0 || axis == i) && p.blocks[i] == "" {
			p.blocks[i] = name
			feeds = true
		}
	}
	if !feeds {
		p.Remark("parameters."+name, "DECIDE: does %s belong to the local size, block_size, or to grid_div?", name)
	}
}

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
		case p.blocks[i] != "" || f.ReadsSize[i]:
		case f.ReadsLocal[i] || f.Shares && i == 0 && !f.ReadsGroup[i]:
			p.blocks[i] = spec.Undecided
			p.Remark("block_size",
				"DECIDE: the local size for which the kernel is written: it does not read it, and its work-items depend on it.")
		case f.Shares || f.ReadsGroup[i]:
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
	}
	for i, names := range p.perItem {
		if len(names) > 0 && i < p.dimensions {
			d.GridDiv[i] = append([]task.Expr{p.blocks[i]}, names...)
		}
	}
	for i := range p.dimensions {
		factors := p.perGroup(i)
		if p.GuessedGrid = p.GuessedGrid || factors == nil && d.GridDiv[i] != nil && p.function.Indices.PerItem[i] == nil; factors != nil {
			if d.GridDiv[i] = factors; slices.Equal(factors, []string{p.blocks[i]}) {
				d.GridDiv[i] = nil
			}
		}
	}
	if slices.ContainsFunc(d.GridDiv[:], func(divisors []task.Expr) bool { return divisors != nil }) {
		p.Remark("grid_div", "DECIDE: the elements that a work-group computes in each dimension. Without grid_div there is one\n"+
			"work-item for each element of problem_size.")
	}
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

// choose completes the specification: the measurement, and verification by the kernel itself.
func (p *proposer) choose(out string) {
	p.pruneConstants()
	p.Remark("measure", "measure: {cache: cold} times launches that find their data in memory instead of the caches.")
	d := &p.Definition
	if !slices.ContainsFunc(d.Arguments, func(a task.Argument) bool { return a.Output }) {
		return
	}
	p.Reference = filepath.Base(out)
	d.Verify = &task.Verification{Configuration: p.Defaults}
	p.Remark("verify",
		"DECIDE: the reference of the output. This is the kernel itself with these values, the weakest reference: it shows only\n"+
			"that configurations agree. A simpler kernel with a specification of its own, .npy files, or a command are better ones.\n"+
			"atol and rtol are the tolerances.")
}
