package spec

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// An Untuned is a kernel for which a specification is proposed.
type Untuned struct {
	Sources []string // the paths of its source, one after the other
	Text    string   // the source, with its includes
	Options []string // of the compiler
	Kernel  device.Signature
	Given   []clc.Macro // macros that the user defines
	Missing []clc.Macro // macros that the source needs and nobody defines
}

// MissingMacro returns a macro for an identifier that a source does not define.
func MissingMacro(name string, isType bool) clc.Macro {
	r, _ := roleOf(name)
	value := "1"
	switch {
	case isType:
		value = "float"
	case r == blockRole:
		value = "16"
	case r == sizeRole || r == strideRole:
		value = "1024"
	}
	return clc.Macro{Name: name, Text: value, Guarded: true}
}

// A proposal is a specification while it is guessed.
type proposal struct {
	Untuned
	*Draft
	active     string // the source without the code that its conditions leave out
	function   clc.Function
	dimensions int
	blocks     [3]string   // parameters or constants that are the local size
	perItem    [3][]string // parameters that are the elements of a work-item
	sizes      []size
	rank       int // the dimensions of the buffers
}

// A size is a constant that is a size of the problem.
type size struct {
	name string
	axis int
}

// Propose guesses a specification, for the file out, that runs if the guesses are right. It says above each field
// what the user must decide. The output is verified by that of the kernel itself, with the values that the source has.
func Propose(u Untuned, out string) *Draft {
	p := &proposal{Untuned: u, Draft: &Draft{Defaults: map[string]space.Value{}}}
	p.active = clc.Active(u.Text, slices.Concat(u.Given, u.Missing))
	whole := clc.FindKernel(u.Text, u.Kernel.Name)
	if f := cmp.Or(clc.FindKernel(p.active, u.Kernel.Name), whole); f != nil {
		p.function = *f
	}
	if whole != nil {
		p.function.Reach = whole.Reach // other values of macros reach other code
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
		file, options := relocated(out, source, u.Options)
		p.Files, d.Kernel.BuildOptions = append(p.Files, file), options
	}
	p.Head = []string{
		fmt.Sprintf("The kernel %s, as ndtune init understands it. The comments say what to check.", u.Kernel.Name),
		"docs/spec.md of ndtune describes every key.",
	}
	p.readMacros()
	p.chooseBlock()
	p.chooseSizes()
	for i, a := range p.Kernel.Arguments {
		p.addArgument(i, a)
	}
	p.markOutputs()
	p.choose(out)
	return p.Draft
}

// number returns the value of a macro: an int, a float64 or another text.
func number(m clc.Macro) space.Value {
	text := strings.Trim(m.Text, "() ")
	if v, err := strconv.ParseInt(strings.TrimRight(text, "uUlL"), 0, 64); err == nil {
		return int(v)
	}
	if v, err := strconv.ParseFloat(strings.TrimRight(text, "fF"), 64); err == nil {
		return v
	}
	return text
}

// readMacros makes parameters and constants of macros.
func (p *proposal) readMacros() {
	var others []string
	seen := map[string]bool{}
	all := slices.Concat(p.Given, p.Missing)
	for _, m := range clc.Macros(p.Text) {
		if p.function.Reach == nil || p.function.Reach[m.Name] {
			all = append(all, m)
		}
	}
	isTile := func(name string) bool { return strings.Contains(strings.ToLower(name), "tile") }
	hasBlock := slices.ContainsFunc(all, func(m clc.Macro) bool {
		r, _ := roleOf(m.Name)
		return r == blockRole && !isTile(m.Name)
	})
	for _, m := range all {
		if seen[m.Name] || problem.Reserved(m.Name) {
			continue
		}
		seen[m.Name] = true
		r, axis := roleOf(m.Name)
		v := number(m)
		n, whole := v.(int)
		_, text := v.(string)
		missing := slices.Contains(p.Missing, m)
		if r == blockRole && isTile(m.Name) && hasBlock { // a tile beside a block
			if r = perItemRole; missing {
				n = 1
			}
		}
		for i, names := range p.function.Indices.PerItem {
			if slices.Contains(names, m.Name) {
				r, axis = perItemRole, i
			}
		}
		if missing && r == blockRole && p.dimensions == 1 {
			n = 64
		}
		field := "constants." + m.Name
		switch {
		case whole && r == blockRole && n > 1 && n <= 1024:
			most := 1024
			if axis < 0 {
				most = [...]int{1024, 32, 8}[p.dimensions-1] // in each dimension
			}
			p.addParameter(m.Name, n, around(n, most))
			p.addBlock(m.Name, axis)
			field = "parameters." + m.Name
		case whole && (r == perItemRole || r == unrollRole) && n > 0 && n <= 64:
			p.addParameter(m.Name, n, around(n, 64))
			if r == perItemRole {
				p.perItem[max(axis, 0)] = append(p.perItem[max(axis, 0)], m.Name)
			}
			field = "parameters." + m.Name
		case whole && r == sizeRole && n > 1, m.Guarded:
			p.Definition.Constants = append(p.Definition.Constants, problem.Constant{Name: m.Name, Value: v})
			if whole && r == sizeRole {
				p.sizes = append(p.sizes, size{m.Name, axis})
			}
			if m.Guarded && !missing {
				p.remark(field, "A default of the source. To tune %s, move it to the parameters, with a list of values.", m.Name)
			}
		case !text:
			others = append(others, fmt.Sprintf("%s: %v", m.Name, v))
		}
		if missing {
			p.remark(field, "DECIDE: the source does not define %s.", m.Name)
		}
	}
	if len(others) > 0 {
		p.remark("parameters", "Other macros with numbers, which can be parameters, too: %s.", strings.Join(others, ", "))
	}
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

func (p *proposal) addParameter(name string, value space.Value, values []space.Value) {
	p.Definition.Parameters = append(p.Definition.Parameters, space.Parameter{Name: name, Values: values})
	p.Defaults[name] = value
}

// addBlock makes a parameter the local size in its dimension, or in all that have none.
func (p *proposal) addBlock(name string, axis int) {
	feeds := false
	for i := range p.dimensions {
		if (axis < 0 || axis == i) && p.blocks[i] == "" {
			p.blocks[i] = name
			feeds = true
		}
	}
	if !feeds {
		p.remark("parameters."+name, "DECIDE: does %s belong to the local size, block_size, or to grid_div?", name)
	}
}

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

// chooseBlock chooses the local size: that of reqd_work_group_size, of macros, or new parameters.
func (p *proposal) chooseBlock() {
	d := &p.Definition
	if p.Kernel.WorkGroup != [3]int{} {
		for i := range p.dimensions {
			p.blocks[i] = strconv.Itoa(p.Kernel.WorkGroup[i])
			if i < len(p.function.WorkGroup) {
				names := identifier.FindAllString(p.function.WorkGroup[i], -1)
				if len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !p.isKnown(n) }) && !strings.Contains(p.function.WorkGroup[i], "/") {
					p.blocks[i] = p.function.WorkGroup[i]
				}
			}
		}
		p.remark("block_size", "reqd_work_group_size of the kernel.")
	}
	values := [3][]space.Value{{8, 16, 32, 64}, {1, 2, 4, 8, 16}, {1, 2, 4}}
	values[0] = map[bool][]space.Value{true: {32, 64, 128, 256}, false: values[0]}[p.dimensions == 1]
	first := [3]int{16, 8, 2}
	first[0] = map[bool]int{true: 64, false: 16}[p.dimensions == 1]
	known := len(d.Parameters)
	for i := range p.dimensions {
		if p.blocks[i] == "" {
			p.blocks[i] = "block_size_" + "xyz"[i:i+1]
			p.addParameter(p.blocks[i], first[i], values[i])
		}
	}
	if known < len(d.Parameters) {
		p.remark("parameters."+d.Parameters[known].Name, "DECIDE: the local size. A kernel that relies on a certain one computes a wrong output with\nothers: then keep that one only.")
	}
	for i := range p.dimensions {
		if p.blocks[i] != "block_size_"+"xyz"[i:i+1] {
			d.BlockSize[i] = p.blocks[i]
		}
	}
	for i, names := range p.perItem {
		if len(names) > 0 && i < p.dimensions {
			d.GridDiv[i] = append([]problem.Expr{p.blocks[i]}, names...)
		}
	}
	for i := range p.dimensions {
		if factors := p.perGroup(i); factors != nil {
			if d.GridDiv[i] = factors; slices.Equal(factors, []string{p.blocks[i]}) {
				d.GridDiv[i] = nil
			}
		}
	}
	p.remark("grid_div", "DECIDE: the elements that a work-group computes in each dimension. Without grid_div there is one\nwork-item for each element of problem_size.")
}

// choose completes the specification: the measurement, and verification by the kernel itself.
func (p *proposal) choose(out string) {
	p.remark("measure", "measure: {cache: cold} times launches that find their data in memory instead of the caches.")
	d := &p.Definition
	if !slices.ContainsFunc(d.Arguments, func(a problem.Argument) bool { return a.Output }) {
		return
	}
	p.Reference = filepath.Base(out)
	d.Verify = &problem.Verification{Configuration: p.Defaults}
	p.remark("verify", "DECIDE: the reference of the output. This is the kernel itself with these values. A simpler kernel with a\nspecification of its own, or .npy files, are a better reference. atol and rtol are the tolerances.")
}
