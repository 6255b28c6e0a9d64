package spec

import (
	"cmp"
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

// typeOf returns the type of the numbers or vectors of an argument, and whether it has such.
func (p *proposal) typeOf(text string) (array.Type, bool) {
	name := strings.Replace(typeName(text), "unsigned ", "u", 1)
	for range 8 {
		base := strings.TrimRight(name, "0123456789")
		t, err := array.ParseType(map[bool]string{true: "uchar", false: base}[base == "bool"])
		if lanes, e := strconv.Atoi(name[len(base):]); err == nil && (e == nil || base == name) {
			if e == nil {
				t = t.Vector(lanes)
			}
			return t, true
		}
		name = clc.Typedef(p.active, name)
	}
	return 0, false
}

// perGroup returns the factors by which the kernel multiplies the index of a work-group, if all their names are known. An
// argument among them becomes a constant.
func (p *proposal) perGroup(axis int) (factors []problem.Expr) {
	var arguments []string
	for _, factor := range p.function.Indices.PerGroup[axis] {
		if factor == "get_local_size" {
			factor = p.blocks[axis]
		}
		for _, name := range identifier.FindAllString(factor, -1) {
			i := slices.IndexFunc(p.Kernel.Arguments, func(a cl.ArgInfo) bool { return a.Name == name })
			switch {
			case p.isKnown(name):
			case i < 0 || p.Kernel.Arguments[i].Address != cl.AddressPrivate || problem.Reserved(name):
				return nil
			default:
				if t, ok := p.typeOf(p.Kernel.Arguments[i].Type); !ok || !isWhole(t) || t.Lanes() > 1 {
					return nil
				}
				arguments = append(arguments, name)
			}
		}
		factors = append(factors, factor)
	}
	for _, name := range arguments {
		if !p.isKnown(name) {
			p.Definition.Constants = append(p.Definition.Constants, problem.Constant{Name: name, Value: 1, Host: true})
			p.remark("constants."+name, "DECIDE: the value of an argument that changes the elements of a work-group.")
		}
	}
	return factors
}

// isKnown reports whether a name is that of a parameter or a constant.
func (p *proposal) isKnown(name string) bool {
	return p.Defaults[name] != nil || slices.ContainsFunc(p.Definition.Constants, func(c problem.Constant) bool { return c.Name == name })
}

func isWhole(t array.Type) bool { return t.Scalar() < array.Float16 }

// isSize returns whether a scalar argument is a size of the problem: its name says so, or it bounds an index.
func (p *proposal) isSize(a cl.ArgInfo) (size, bool) {
	t, ok := p.typeOf(a.Type)
	r, axis := roleOf(a.Name)
	x := p.function.Indices
	bounds := slices.Contains(slices.Concat(x.Limits[:]...), a.Name)
	for _, names := range x.Elements {
		bounds = bounds || slices.ContainsFunc(names, func(of []string) bool { return slices.Contains(of, a.Name) })
	}
	known := r == sizeRole || bounds && r == otherRole
	return size{a.Name, axis}, ok && a.Address == cl.AddressPrivate && isWhole(t) && t.Lanes() == 1 && known && !problem.Reserved(a.Name)
}

// chooseSizes chooses the size of the problem: arguments that are sizes become constants of the host.
func (p *proposal) chooseSizes() {
	d := &p.Definition
	var scalars []size
	images := 0 // the most dimensions of an image
	for _, a := range p.Kernel.Arguments {
		if s, ok := p.isSize(a); ok && !p.isKnown(a.Name) {
			scalars = append(scalars, s)
		}
		if shape, ok := imageShape(a.Type); ok {
			images = max(images, len(imageAxes[shape]))
		}
	}
	p.rank = p.dimensions
	if p.dimensions == 1 {
		p.rank = min(2, max(1, len(scalars)))
	}
	p.rank = max(p.rank, images)
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
	if p.function.Loops["get_global_size"] || slices.ContainsFunc(p.sizes, inLoop) || images > 0 {
		value = [...]int{1 << 13, 256, 64}[p.rank-1] // each work-item loops over a size, or an image has it
	}
	for _, s := range scalars {
		d.Constants = append(d.Constants, problem.Constant{Name: s.name, Value: value, Host: true})
	}
	if len(p.Remarks["constants"]) == 0 {
		p.remark("constants", "DECIDE: the sizes of the problem. --set %s=… changes one for a run. A constant with host: true is\nno macro of the kernel.", p.sizes[0].name)
	}
	used := map[string]bool{}
	for i := range p.dimensions {
		name := p.limit(i)
		for _, fits := range []func(size) bool{
			func(s size) bool { return s.axis == i && !used[s.name] },
			func(s size) bool { return s.axis < 0 && !used[s.name] && !inLoop(s) },
			func(s size) bool { return p.dimensions > 1 && !used[s.name] && !inLoop(s) },
			func(s size) bool { return !inLoop(s) },
			func(s size) bool { return !used[s.name] },
			func(size) bool { return true },
		} {
			if at := slices.IndexFunc(p.sizes, fits); name == "" && at >= 0 {
				name = p.sizes[at].name
			}
		}
		used[name] = true
		d.ProblemSize = append(d.ProblemSize, name)
	}
	p.remark("problem_size", "DECIDE: the work-items that the kernel needs in each dimension (before grid_div).")
}

// limit returns the size with which the kernel compares the global index of a dimension, or by which it multiplies the
// rest of an index; "" if the text shows none.
func (p *proposal) limit(axis int) string {
	for _, name := range p.function.Indices.Limits[axis] {
		if p.hasSize(name) {
			return name
		}
	}
	return ""
}

func (p *proposal) hasSize(name string) bool {
	return slices.ContainsFunc(p.sizes, func(s size) bool { return s.name == name })
}

// elements is the number of elements of a buffer, as factors: the bounds of the variables in its index, else a number
// that is enough for most buffers.
func (p *proposal) elements(buffer string) (factors []problem.Expr) {
	for _, bound := range p.function.Indices.Elements[buffer] {
		for _, name := range bound {
			if axis := strings.Index("012", name); axis >= 0 && axis < p.dimensions {
				name = p.Definition.ProblemSize[axis]
			}
			if p.hasSize(name) {
				factors = append(factors, name)
				break
			}
		}
	}
	if len(factors) > 0 { // in the order of the sizes
		place := func(name string) int { return slices.IndexFunc(p.sizes, func(s size) bool { return s.name == name }) }
		slices.SortStableFunc(factors, func(a, b problem.Expr) int { return place(a) - place(b) })
		return factors
	}
	for _, s := range p.sizes {
		factors = append(factors, s.name)
	}
	if len(factors) > p.rank {
		factors = []string{"max(" + strings.Join(factors, ", ") + ")"}
	}
	for len(factors) < p.rank {
		factors = append(factors, factors[0])
	}
	return factors
}

// addArgument adds an argument of the kernel.
func (p *proposal) addArgument(i int, a cl.ArgInfo) {
	d := &p.Definition
	field := fmt.Sprintf("arguments[%d]", len(d.Arguments))
	argument := problem.Argument{Name: cmp.Or(a.Name, fmt.Sprintf("argument_%d", i+1))}
	defer func() { d.Arguments = append(d.Arguments, argument) }()
	if shape, ok := imageShape(a.Type); ok {
		p.addImage(&argument, a, shape, field)
		return
	} else if typeName(a.Type) == "sampler_t" {
		argument.Sampler = &problem.Sampler{Coordinates: "pixels", Addressing: "clamp_to_edge", Filter: "nearest"}
		p.remark(field, "DECIDE: coordinates are pixels or normalized; addressing is none, clamp, clamp_to_edge, repeat or\nmirrored_repeat; filter is nearest or linear.")
		return
	}
	t, ok := p.typeOf(a.Type)
	var bytes int // of an element of the type bytes
	switch {
	case ok:
		argument.Type = t.OpenCL()
		if same, err := array.ParseType(argument.Type); err != nil || same != t {
			argument.Type = t.String()
		}
	case strings.Count(a.Type, "*") > 1:
		p.remark(field, "DECIDE: %s is %s: a pointer to pointers has no description. Without one the kernel does not run.", argument.Name, a.Type)
		argument.Type, t, bytes = "bytes", array.Uint8, 8
	default:
		argument.Type, bytes = p.structType(a.Type, field)
		t = array.Uint8
	}
	of := p.elements(a.Name)
	switch {
	case a.Address == cl.AddressLocal:
		argument.LocalSize = "2 * " + strings.Join(p.blocks[:p.dimensions], " * ")
		if bytes > 1 {
			argument.LocalSize += fmt.Sprintf(" * %d", bytes)
		}
		p.remark(field, "DECIDE: the elements of local memory that a work-group needs.")
	case a.Address == cl.AddressPrivate && bytes > 0:
		argument.Value = strings.Repeat("00", bytes)
	case a.Address == cl.AddressPrivate && !ok:
		argument.Value = p.structValue(argument.Type)
		p.remark(field, "DECIDE: the values of the fields.")
	case a.Address == cl.AddressPrivate:
		argument.Value = p.scalarValue(a, t, field)
	default:
		argument.Size, argument.Fill = strings.Join(of, " * "), problem.Fill{Kind: array.Random}
		if a.Address == cl.AddressConstant && len(p.function.Indices.Elements[a.Name]) == 0 {
			argument.Size = strconv.Itoa(16384 / t.Size()) // every device has 16 KiB
			p.remark(field, "DECIDE: the size of constant memory.")
		} else if bytes > 1 {
			argument.Size += fmt.Sprintf(" * %d", bytes)
		}
		p.limitIndices(&argument, a, t, field)
	}
}

// limitIndices fills a buffer whose elements are an index of other buffers with indices that these have.
func (p *proposal) limitIndices(argument *problem.Argument, a cl.ArgInfo, t array.Type, field string) {
	if !isWhole(t) || argument.Type == "bytes" {
		return
	}
	for _, target := range p.function.Indices.Targets[a.Name] {
		if !slices.ContainsFunc(p.Kernel.Arguments, func(o cl.ArgInfo) bool { return o.Name == target && strings.Contains(o.Type, "*") }) {
			continue
		}
		limit := 1
		for _, factor := range p.elements(target) {
			i := slices.IndexFunc(p.Definition.Constants, func(c problem.Constant) bool { return c.Name == factor })
			if n, ok := 0, false; i >= 0 {
				if n, ok = p.Definition.Constants[i].Value.(int); ok {
					limit *= n
				}
			}
		}
		argument.Fill.Low, argument.Fill.High = "0", fmt.Sprint(limit)
		p.remark(field, "DECIDE: its elements are indices of %s, so they must be below the size of that buffer. The limit is a\nnumber: change it with the sizes.", target)
		return
	}
}

// typeName returns the name of a type without qualifiers and asterisks.
func typeName(text string) string {
	var words []string
	for _, word := range strings.Fields(strings.ReplaceAll(text, "*", " ")) {
		if !slices.Contains(strings.Fields("const volatile restrict struct union __global __constant __local __private global constant local private read_only write_only read_write __read_only __write_only __read_write"), word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// scalarValue returns the value of a scalar argument.
func (p *proposal) scalarValue(a cl.ArgInfo, t array.Type, field string) any {
	r, _ := roleOf(a.Name)
	var v any = 1
	switch {
	case p.isKnown(a.Name):
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
	return valueOf(t, v)
}

// markOutputs marks the buffers that the kernel writes: those to which its text assigns, else the first that is not
// constant.
func (p *proposal) markOutputs() {
	var writable, written []int
	for i, a := range p.Kernel.Arguments {
		image := p.Definition.Arguments[i].Image != nil
		switch {
		case image && (a.Access == cl.AccessWriteOnly || p.function.Uses[a.Name].Written):
			written = append(written, i)
		case !image && a.Address == cl.AddressGlobal && a.Qualifier&cl.TypeConst == 0:
			if writable = append(writable, i); p.function.Uses[a.Name].Written {
				written = append(written, i)
			}
		}
	}
	why := "the kernel assigns to it"
	if len(written) == 0 {
		written = writable[:min(1, len(writable))]
		why = "it is the first that is not const"
	}
	for _, i := range written {
		a := &p.Definition.Arguments[i]
		a.Output = true
		switch u := p.function.Uses[a.Name]; {
		case a.Image != nil && a.Fill.Kind == "":
		case u.Read || !u.Written:
			a.RestoreEachLaunch = true
		default:
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
