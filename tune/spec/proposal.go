package spec

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// An Untuned is a kernel for which a specification is proposed.
type Untuned struct {
	Source  string   // the path of its source
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
	if f := clc.FindKernel(u.Text, u.Kernel.Name); f != nil {
		p.function = *f
	}
	p.dimensions = max(1, p.function.Dimensions)
	d := &p.Definition
	d.Kernel.Name = u.Kernel.Name
	p.File, d.Kernel.BuildOptions = relocated(out, u.Source, u.Options)
	p.Head = []string{
		fmt.Sprintf("The kernel %s, as ndtune init understands it. The comments say what to check.", u.Kernel.Name),
		"docs/spec.md of ndtune describes every key.",
	}
	p.readMacros()
	p.chooseBlock()
	p.chooseSizes()
	for i, a := range u.Kernel.Arguments {
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
	for _, m := range slices.Concat(p.Given, p.Missing, clc.Macros(p.Text)) {
		given := slices.Contains(p.Given, m) || slices.Contains(p.Missing, m)
		if seen[m.Name] || problem.Reserved(m.Name) || !given && p.function.Reach != nil && !p.function.Reach[m.Name] {
			continue
		}
		seen[m.Name] = true
		r, axis := roleOf(m.Name)
		if axis >= 0 && axis < p.dimensions && p.blocks[axis] != "" && strings.Contains(strings.ToLower(m.Name), "tile") {
			r = perItemRole // a tile beside a block
		}
		v := number(m)
		n, whole := v.(int)
		_, text := v.(string)
		missing := slices.Contains(p.Missing, m)
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
		known := func(name string) bool {
			return p.Defaults[name] != nil || slices.ContainsFunc(d.Constants, func(c problem.Constant) bool { return c.Name == name })
		}
		for i := range p.dimensions {
			p.blocks[i] = strconv.Itoa(p.Kernel.WorkGroup[i])
			if i < len(p.function.WorkGroup) {
				names := identifier.FindAllString(p.function.WorkGroup[i], -1)
				if len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !known(n) }) && !strings.Contains(p.function.WorkGroup[i], "/") {
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
	added := ""
	for i := range p.dimensions {
		if p.blocks[i] == "" {
			p.blocks[i] = "block_size_" + "xyz"[i:i+1]
			p.addParameter(p.blocks[i], first[i], values[i])
			added = p.blocks[i]
		}
	}
	if added != "" {
		p.remark("parameters."+d.Parameters[0].Name, "DECIDE: the local size. A kernel that relies on a certain one computes a wrong output with\nothers: then keep that one only.")
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
	p.remark("grid_div", "DECIDE: the elements that a work-group computes in each dimension. Without grid_div there is one\nwork-item for each element of problem_size.")
}

// scalarType returns the type of an argument that is not a pointer to be bound otherwise, and whether it exists here.
func (p *proposal) typeOf(text string) (array.Type, bool) {
	name := strings.TrimSpace(strings.NewReplacer("*", "", "const", "", "volatile", "", "restrict", "", "__global", "").Replace(text))
	name = strings.TrimSpace(strings.Replace(name, "unsigned ", "u", 1))
	for range 8 {
		base := strings.TrimRight(name, "0123456789")
		t, err := array.ParseType(map[bool]string{true: "uchar", false: base}[base == "bool"])
		if lanes, e := strconv.Atoi(name[len(base):]); err == nil && (e == nil || base == name) {
			if e == nil {
				t = t.Vector(lanes)
			}
			return t, true
		}
		name = clc.Typedef(p.Text, name)
	}
	return 0, false
}

func isWhole(t array.Type) bool { return t.Scalar() < array.Float16 }

// isSize returns whether a scalar argument is a size of the problem.
func (p *proposal) isSize(a cl.ArgInfo) (size, bool) {
	t, ok := p.typeOf(a.Type)
	r, axis := roleOf(a.Name)
	return size{a.Name, axis}, ok && a.Address == cl.AddressPrivate && isWhole(t) && t.Lanes() == 1 && r == sizeRole && !problem.Reserved(a.Name)
}

// chooseSizes chooses the size of the problem: arguments that are sizes become constants of the host.
func (p *proposal) chooseSizes() {
	d := &p.Definition
	var scalars []size
	for _, a := range p.Kernel.Arguments {
		if s, ok := p.isSize(a); ok && p.Defaults[a.Name] == nil && !slices.ContainsFunc(d.Constants, func(c problem.Constant) bool { return c.Name == a.Name }) {
			scalars = append(scalars, s)
		}
	}
	p.rank = p.dimensions
	if p.dimensions == 1 {
		p.rank = min(2, max(1, len(scalars)))
	}
	value := [...]int{1 << 20, 512, 64}[p.rank-1]
	if len(scalars) > 0 {
		p.sizes = scalars
	} else if len(p.sizes) == 0 {
		p.sizes = []size{{"problem_size_n", -1}}
		p.remark("constants.problem_size_n", "DECIDE: no argument and no macro has the name of a size.")
		scalars = p.sizes
	} else {
		p.rank = max(p.rank, min(2, len(p.sizes)))
	}
	inLoop := func(s size) bool { return p.function.Loops[s.name] }
	if p.function.Loops["get_global_size"] || slices.ContainsFunc(p.sizes, inLoop) {
		value = [...]int{1 << 14, 256, 64}[p.rank-1] // each work-item loops over a size
	}
	for _, s := range scalars {
		d.Constants = append(d.Constants, problem.Constant{Name: s.name, Value: value, Host: true})
	}
	if len(p.Remarks["constants"]) == 0 {
		p.remark("constants", "DECIDE: the sizes of the problem. --set %s=… changes one for a run. A constant with host: true is\nno macro of the kernel.", p.sizes[0].name)
	}
	used := map[string]bool{}
	for i := range p.dimensions {
		at := slices.IndexFunc(p.sizes, func(s size) bool { return s.axis == i && !used[s.name] })
		if at < 0 {
			at = slices.IndexFunc(p.sizes, func(s size) bool { return s.axis < 0 && !used[s.name] })
		}
		if at < 0 {
			at = slices.IndexFunc(p.sizes, func(s size) bool { return !used[s.name] && p.dimensions > 1 })
		}
		s := p.sizes[max(at, 0)]
		used[s.name] = true
		d.ProblemSize = append(d.ProblemSize, s.name)
	}
	p.remark("problem_size", "DECIDE: the work-items that the kernel needs in each dimension (before grid_div).")
}

// elements is an expression for a number of elements that is enough for most buffers.
func (p *proposal) elements() problem.Expr {
	var names []string
	for _, s := range p.sizes {
		names = append(names, s.name)
	}
	if len(names) > p.rank {
		names = []string{"max(" + strings.Join(names, ", ") + ")"}
	}
	for len(names) < p.rank {
		names = append(names, names[0])
	}
	return strings.Join(names, " * ")
}

// addArgument adds an argument of the kernel, or a remark in its place.
func (p *proposal) addArgument(i int, a cl.ArgInfo) {
	d := &p.Definition
	t, ok := p.typeOf(a.Type)
	name := a.Name
	if name == "" {
		name = fmt.Sprintf("argument %d", i+1)
	}
	field := fmt.Sprintf("arguments[%d]", len(d.Arguments))
	if !ok || strings.Count(a.Type, "*") > 1 {
		p.remark(field, "DECIDE: argument %d, %s %s: init cannot describe this type. Without a line for it the kernel does\nnot run.", i+1, a.Type, name)
		return
	}
	typeName := t.OpenCL()
	if same, err := array.ParseType(typeName); err != nil || same != t {
		typeName = t.String()
	}
	argument := problem.Argument{Name: name, Type: typeName}
	random := problem.Fill{Fill: array.Fill{Kind: array.Random}}
	switch {
	case a.Address == cl.AddressLocal:
		argument.LocalSize = "2 * " + strings.Join(p.blocks[:p.dimensions], " * ")
		p.remark(field, "DECIDE: the elements of local memory that a work-group needs.")
	case a.Address == cl.AddressPrivate:
		argument.Value = p.scalarValue(a, t, field)
	case a.Address == cl.AddressConstant && !strings.Contains(p.elements(), "*"):
		argument.Size, argument.Fill = p.constantSize(t), random
		p.remark(field, "DECIDE: the size of constant memory.")
	case a.Address == cl.AddressConstant:
		argument.Size, argument.Fill = p.constantSize(t), random
		p.remark(field, "DECIDE: the size of constant memory.")
	default:
		argument.Size, argument.Fill = p.elements(), random
	}
	d.Arguments = append(d.Arguments, argument)
}

// constantSize is the elements of constant memory: 16 KiB, which every device has.
func (p *proposal) constantSize(t array.Type) problem.Expr { return strconv.Itoa(16384 / t.Size()) }

// scalarValue returns the value of a scalar argument.
func (p *proposal) scalarValue(a cl.ArgInfo, t array.Type, field string) any {
	r, _ := roleOf(a.Name)
	var v any = 1
	switch {
	case slices.ContainsFunc(p.Definition.Constants, func(c problem.Constant) bool { return c.Name == a.Name }):
		return a.Name
	case isWhole(t) && r == strideRole:
		v = p.sizes[0].name
		p.remark(field, "DECIDE: the distance of rows.")
	case isWhole(t) && strings.Contains(strings.ToLower(a.Name), "offset"):
		v = 0
		fallthrough
	default:
		if !isWhole(t) {
			v = 0.5
		}
		p.remark(field, "DECIDE: the value of %s.", a.Name)
	}
	if t.Lanes() > 1 {
		lanes := make([]any, t.Lanes())
		for i := range lanes {
			lanes[i] = v
		}
		return lanes
	}
	return v
}

// markOutputs marks the buffers that the kernel writes: those to which its text assigns, else the first that is not
// constant.
func (p *proposal) markOutputs() {
	var writable, written []int
	at := 0
	for _, a := range p.Kernel.Arguments {
		if at == len(p.Definition.Arguments) || p.Definition.Arguments[at].Name != a.Name {
			continue // it is not described
		}
		if a.Address == cl.AddressGlobal && a.Qualifier&cl.TypeConst == 0 {
			writable = append(writable, at)
			if p.function.Uses[a.Name].Written {
				written = append(written, at)
			}
		}
		at++
	}
	why := "the kernel assigns to it"
	if len(written) == 0 {
		written = writable[:min(1, len(writable))]
		why = "it is the first that is not const"
	}
	for _, i := range written {
		a := &p.Definition.Arguments[i]
		a.Output = true
		if u := p.function.Uses[a.Name]; u.Read || !u.Written {
			a.RestoreEachLaunch = true
		} else {
			a.Fill = problem.Fill{}
		}
		p.remark(fmt.Sprintf("arguments[%d]", i), "An output: %s.", why)
	}
	if len(written) == 0 {
		p.remark("verify", "DECIDE: no argument of the kernel is an output that can be verified.")
	}
	p.remark("arguments", "DECIDE: the sizes of buffers, in elements, must be at least what the kernel reads and writes. fill is the\ninitial content. Buffers with output: true are verified; restore: iteration is for kernels that work in place.")
}

// choose completes the specification: verification by the kernel itself.
func (p *proposal) choose(out string) {
	d := &p.Definition
	if !slices.ContainsFunc(d.Arguments, func(a problem.Argument) bool { return a.Output }) {
		return
	}
	p.Reference = filepath.Base(out)
	d.Verify = &problem.Verification{Configuration: p.Defaults}
	p.remark("verify", "DECIDE: the reference of the output. This is the kernel itself with these values. A simpler kernel with a\nspecification of its own, or .npy files, are a better reference. atol and rtol are the tolerances.")
}
