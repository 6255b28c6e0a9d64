package scaffold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// A captured proposer makes the specification of a captured launch, and the files that it names beside it.
type captured struct {
	*proposer
	launch *capture.Launch
	stem   string // of the names of files, with their folder

	written []string // files
}

// FromCapture writes the specification of a captured launch to the file out, and its source and its data beside it. Sizes and data
// are those of the application, and the content of its buffers after the launch is the reference. The launch is repeated, to find out
// whether its outputs are always the same. The error about a launch that has no specification is a [SourceError].
func FromCapture(ctx context.Context, l *capture.Launch, out string, c Compiler) (*Proposal, error) {
	p := &captured{launch: l, stem: strings.TrimSuffix(out, filepath.Ext(out))}
	if err := p.propose(ctx, out, c); err != nil {
		for _, path := range p.written {
			_ = os.Remove(path)
		}
		return nil, err
	}
	return p.Proposal, nil
}

func (p *captured) propose(ctx context.Context, out string, c Compiler) error {
	if err := p.read(ctx, out, c); err != nil {
		return err
	}
	p.readConstants()
	p.chooseLocalSize()
	p.Definition.Verify = &definition.Verification{Files: map[string]string{}, Compare: map[string]definition.Comparison{}}
	for i, a := range p.Kernel.Arguments {
		if err := p.addCaptured(i, a); err != nil {
			return err
		}
	}
	p.remarkOthers()
	p.Definition.Baseline = p.Defaults
	p.Remark("baseline", "What the application launches.")
	p.Remark("measure", "measure: {cache: cold} times launches that find their data in memory instead of the caches.")
	if err := p.verify(ctx, c, out); err != nil {
		return err
	}
	return p.Write(out)
}

// write writes a file that only its owner may read.
func (p *captured) write(path string, content []byte) error {
	p.written = append(p.written, path)
	return files.WritePrivate(path, content)
}

// read writes the source beside the specification, builds it as the application does, and finds the kernel.
func (p *captured) read(ctx context.Context, out string, c Compiler) (err error) {
	l := p.launch
	for i, local := range l.Local {
		if l.Global[i]%local != 0 {
			return faultf("%s: the global size %v is no multiple of the local size %v; work-groups of several sizes have no specification",
				l.Folder, l.Global, l.Local)
		}
	}
	o, missing, unsafe := splitOptions(l.Options)
	if !source.HasIncludes(l.Source) {
		o.Includes, missing = nil, nil
	}
	u := &Untuned{Sources: []string{p.stem + ".spv"}, Options: o.Build, Kernel: device.Signature{Name: l.Kernel}}
	if l.SPIRV == nil {
		o.Sources = []string{p.stem + ".cl"}
		if err = p.write(o.Sources[0], []byte(l.Source)); err != nil {
			return err
		}
		if u, err = Read(o); err != nil {
			return &SourceError{err}
		}
		u.Missing = nil // the source builds without them
		err = u.findCaptured(ctx, c, l)
	} else if err = p.write(u.Sources[0], l.SPIRV); err == nil {
		u.Kernel.Arguments = modelArguments(l)
	}
	if err != nil {
		return err
	}
	p.proposer = newProposer(*u, out)
	p.dimensions = len(l.Global)
	p.Definition.Kernel.BuildOptions = nil
	for _, option := range u.Options { // where braces hold expressions; folders stay absolute, for a capture that is moved
		option = strings.NewReplacer("{", "{{", "}", "}}").Replace(option)
		p.Definition.Kernel.BuildOptions = append(p.Definition.Kernel.BuildOptions, option)
	}
	p.Head[0] = fmt.Sprintf("A launch of the kernel %s that an application made. The comments say what to check.", l.Kernel)
	for _, folder := range missing {
		p.Remark("kernel", "The application also has -I %q, which is no folder here.", folder)
	}
	for _, option := range unsafe {
		p.Remark("kernel", "DECIDE: the application also gives the option %q. Add it to build_options if it names no file of others.", option)
	}
	return nil
}

// findCaptured builds the source, and finds the captured kernel. Macros that the source defines anyway, and names that
// expressions have, stay options.
func (u *Untuned) findCaptured(ctx context.Context, c Compiler, l *capture.Launch) error {
	_, again := source.Override(u.Text, each.Of(u.Given, func(m source.Macro) string { return m.Name }), nil)
	u.Given = slices.DeleteFunc(u.Given, func(m source.Macro) bool {
		without := definition.Reserved(m.Name) || slices.ContainsFunc(again, func(r source.Redefinition) bool { return r.Macro == m.Name })
		if without {
			u.Options = append(u.Options, problem.DefineOption(m.Name, m.Text))
		}
		return without
	})
	kernels, err := u.signatures(ctx, c)
	var failed *device.SourceError
	if errors.As(err, &failed) {
		why := ""
		if source.HasIncludes(u.Text) {
			why = "; it includes files that are not here, and a capture does not have"
		}
		return faultf("%s: the captured source does not build here with the options of the application (%s)%s: %w",
			u.Sources[0], l.Options, why, failed)
	} else if err != nil {
		return err
	}
	if u.Kernel, err = chooseKernel(l.Kernel, kernels); err != nil {
		return err
	}
	if n := len(u.Kernel.Arguments); n != len(l.Arguments) {
		return faultf("%s: the kernel %s has %d arguments, but the capture has %d: it is not whole", l.Folder, l.Kernel, n, len(l.Arguments))
	}
	return nil
}

// modelArguments returns the arguments of a kernel whose text is not known, as far as the capture tells.
func modelArguments(l *capture.Launch) (arguments []cl.ArgInfo) {
	for _, a := range l.Arguments {
		info := cl.ArgInfo{Type: a.Type, Address: cl.AddressPrivate}
		switch {
		case a.Memory != nil && a.Memory.Image == nil:
			info.Address = cl.AddressGlobal
		case a.Local > 0:
			info.Address = cl.AddressLocal
		}
		arguments = append(arguments, info)
	}
	return arguments
}

var (
	word  = regexp.MustCompile(`(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+`)
	quote = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'([^']*)'`)
	// harmless are options that name no files, and load nothing into a compiler.
	harmless = regexp.MustCompile(`^-(cl-[\w=.+-]+|w|Werror|g|O[0-3s]?|f[\w-]*math[\w-]*)$`)
)

// splitOptions returns the options of an application: those that are taken, folders of included files that are not here, and options
// that are not taken, since they could name files or libraries.
func splitOptions(text string) (o Options, missing, unsafe []string) {
	words := word.FindAllString(text, -1)
	for i, w := range words {
		words[i] = strings.ReplaceAll(quote.ReplaceAllString(w, "$1$2"), `\"`, `"`)
	}
	defines, rest := problem.CutFlag("-D", words)
	folders, rest := problem.CutFlag("-I", rest)
	for i, define := range defines {
		name, _, _ := strings.Cut(define, "=")
		if !slices.ContainsFunc(defines[i+1:], func(later string) bool { return later == name || strings.HasPrefix(later, name+"=") }) {
			o.Defines = append(o.Defines, define)
		}
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			o.Includes = append(o.Includes, folder)
		} else {
			missing = append(missing, folder)
		}
	}
	for _, option := range rest {
		if harmless.MatchString(option) {
			o.Build = append(o.Build, option)
		} else {
			unsafe = append(unsafe, option)
		}
	}
	return o, missing, unsafe
}

// readConstants makes constants of the macros of the application's options, and parameters of those macros that can be some.
func (p *captured) readConstants() {
	offer := func(m source.Macro) bool {
		value, number := literal(m.Text)
		n, isInt := number.(int)
		r, _ := p.roleOfMacro(m.Name, true)
		if !isInt || value != number || !r.tunes(n) || definition.Reserved(m.Name) {
			return false
		}
		values := around(n)
		if r != unrollRole {
			p.Remark("parameters."+m.Name, "DECIDE: how does the global size depend on %s? grid_div or block_size can say it; then add values,\n"+
				"such as those of %v.", m.Name, values)
			values = []space.Value{n}
		}
		p.addParameter(m.Name, n, values)
		return true
	}
	for _, m := range p.Given {
		if !offer(m) {
			value, _ := literal(m.Text)
			p.Definition.Constants = append(p.Definition.Constants, definition.Constant{Name: m.Name, Value: value})
		}
	}
	for _, m := range source.Macros(p.Text) {
		if (p.reach == nil || p.reach[m.Name]) && !p.isKnown(m.Name) && !offer(m) && m.Guarded {
			p.others = append(p.others, m)
		}
	}
}

// relies says why the kernel may rely on the local size that it was launched with; "": its text shows no reason, or the application
// leaves the size to the driver.
func (p *captured) relies() string {
	f := &p.function
	switch {
	case p.launch.Local == nil:
		return ""
	case p.launch.SPIRV != nil || p.reach == nil:
		return "the text of the kernel is not there to show whether it relies on it"
	case slices.ContainsFunc(p.launch.Arguments, func(a capture.Argument) bool { return a.Local > 0 }):
		return "the size of its local memory may depend on it"
	}
	for name := range p.reach {
		if shared.MatchString(name) {
			return "its work-items share local memory, or wait for each other"
		}
	}
	for _, place := range []string{"get_local_id", "get_group_id"} {
		calls := false
		for i := range p.dimensions {
			if calls = calls || f.Reads(place, i); f.Reads(place, i) && !f.Reads("get_local_size", i) {
				return "the kernel reads the place in the work-group, but not its size"
			}
		}
		if p.reach[place] && !calls {
			return "a function that the kernel calls reads the place in the work-group"
		}
	}
	return ""
}

var shared = regexp.MustCompile(`^(__local|local|barrier|async_work_group\w+|\w*work_group_\w+|\w*sub_group\w*|get_\w+_linear_id)$`)

// chooseLocalSize keeps the global size, and makes parameters of the local size, with values that divide it.
func (p *captured) chooseLocalSize() {
	d, l, why := &p.Definition, p.launch, p.relies()
	names, first := source.Identifiers(l.Source), ""
	for i, global := range l.Global {
		axis := "xyz"[i : i+1]
		size, block, value := "global_size_"+axis, "block_size_"+axis, 1
		d.Constants = append(d.Constants, definition.Constant{Name: size, Value: global, Host: true})
		d.ProblemSize = append(d.ProblemSize, size)
		if slices.Max(l.Offset) > 0 {
			d.GlobalOffset = append(d.GlobalOffset, strconv.Itoa(l.Offset[i]))
		}
		for names[block] || p.isKnown(block) {
			block = "local_" + block
		}
		divides := fmt.Sprintf("%s %% %s == 0", size, block)
		switch {
		case p.Kernel.WorkGroup != [3]int{}:
			if d.BlockSize[i] = p.required(i); identifier.MatchString(d.BlockSize[i]) {
				d.Restrictions = append(d.Restrictions, space.Restriction{Expression: fmt.Sprintf("%s %% (%s) == 0", size, d.BlockSize[i])})
			} else {
				p.remarkEqual("block_size", p.Kernel.WorkGroup[i])
			}
			continue
		case l.Local != nil:
			value = l.Local[i]
		case i == 0:
			value, divides = 0, fmt.Sprintf("%s == 0 or %s", block, divides)
		default:
			divides = fmt.Sprintf("(%s) and (%s or %s == 1)", divides, first+" > 0", block)
		}
		first = cmp.Or(first, block)
		if block != "block_size_"+axis {
			d.BlockSize[i] = block
		}
		values := p.dividing(global, value, i)
		if why != "" {
			p.Remark("parameters."+block, "DECIDE: the local size is that of the application alone, since %s.\n"+
				"Add others, such as those of %v, once all that depends on it is written so.", why, values)
			p.remarkEqual("parameters."+block, value)
			values = []space.Value{value}
		} else if l.Local == nil && i == 0 {
			p.Remark("parameters."+block, "0: the driver chooses the local size, as the application lets it do.")
		}
		p.addParameter(block, value, values)
		d.Restrictions = append(d.Restrictions, space.Restriction{Expression: divides})
	}
	if p.Kernel.WorkGroup != [3]int{} {
		p.Remark("block_size", "reqd_work_group_size of the kernel.")
	}
	p.Remark("problem_size", "The global size is that of the application.")
}

// remarkEqual names the macros that have the value of a local size, and may be it.
func (p *captured) remarkEqual(field string, value int) {
	var equal []string
	for _, m := range slices.Concat(p.Given, source.Macros(p.Text)) {
		if _, number := literal(m.Text); value > 1 && number == space.Value(value) {
			equal = append(equal, m.Name)
		}
	}
	if len(equal) > 0 {
		p.Remark(field, "Macros with its value: %s. If one of them is the local size, name it in block_size, and give it values.",
			excerpt.Of(strings.Join(slices.Compact(equal), ", ")))
	}
}

// maxSizes is how many local sizes are proposed in a dimension.
const maxSizes = 8

// dividing returns local sizes that divide a global size, with that of the application: those that powers of two divide first.
func (p *captured) dividing(global, value, axis int) (values []space.Value) {
	least, most := [...]int{8, 1, 1}[axis], [...]int{64, 16, 4}[axis]
	if p.dimensions == 1 {
		least, most = 32, 1024
	}
	var sizes []int
	for n := least; n <= most; n++ {
		if global%n == 0 && n != value {
			sizes = append(sizes, n)
		}
	}
	slices.SortStableFunc(sizes, func(a, b int) int { return bits.TrailingZeros(uint(b)) - bits.TrailingZeros(uint(a)) })
	sizes = append(sizes[:min(len(sizes), maxSizes-1)], value)
	slices.Sort(sizes)
	return each.Of(sizes, func(n int) space.Value { return n })
}
