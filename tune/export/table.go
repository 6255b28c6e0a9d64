// Package export writes what an application needs to run a tuned kernel: its best configurations by device and
// size, its source, and the functions that choose one and compute the launch, in C and Python. It also writes the files of
// Kernel Tuner.
//
// Its types: [Rules] are what the files of a [Language] compute; a [File] is one of them.
package export

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// A File is a file of an exported kernel.
type File struct {
	Name    string
	Content []byte
}

// A table is a tuned kernel in no language: its best configurations by device and size, its source, and the rules
// of its launch.
type table struct {
	Key, Kernel string
	Parameters  []variable
	Sizes       []variable // the whole-number constants that the problem size, the size of a buffer or a repeat reads
	Constants   []value    // that the choice depends on besides the problem size, by name: positive integers, unless the application gives them
	Levels      []string   // in words, from level 1
	Records     []entry    // of one group together
	Source      []string   // lines

	problem     *problem.Problem
	problemSize []*expression.Expression
}

// A variable is a parameter or a size of the problem.
type variable struct {
	Name          string
	Identifier    string // in the language of a form: of a field, and of a parameter of a function
	Kind          expression.Kind
	Macro, Format string // of a size: the macro that gives it to the kernel, "" for none, and its format for printf: %du
}

// An entry is a record with the figures that the lookup needs.
type entry struct {
	wisdom.Record
	Size       [3]int  // of the problem; 1 in further dimensions
	Constants  []int   // in the order of those of the table; 0: unknown
	Group      int     // of records whose costs can be compared
	Values     []value // in the order of the parameters
	Options    string  // for the compiler, without the sizes
	Instance   string  // the name of the kernel, with the values of a template
	Cost       float64 // the objective; less is better
	Date       int64   // seconds since 1970; 0: unknown
	SameSource bool    // it was measured with the present source; false: the source is not recorded
	Overall    bool    // its configuration is the best over all devices and sizes
}

// A value is that of a parameter or a constant.
type value struct {
	Name  string
	Value space.Value
}

// newTable returns the table of a problem. The error names what no language can have: a source that is made for each
// configuration, or wisdom about another kernel or another source.
func newTable(p *problem.Problem, f *wisdom.File, size []definition.Expr) (*table, error) {
	d := p.Definition()
	switch {
	case d.Kernel.Func != nil || d.Kernel.Command != nil:
		return nil, errors.New("the source is made for each configuration, and an exported kernel has one source")
	case !slices.Equal(f.Parameters, p.Parameters().Names()):
		own := strings.Join(p.Parameters().Names(), ", ")
		return nil, fmt.Errorf("the wisdom is about the parameters %s, the specification has %s", strings.Join(f.Parameters, ", "), own)
	case !space.IsIdentifier(f.Key):
		return nil, fmt.Errorf("the key %q is no identifier of C; give another one with --key", f.Key)
	}
	t := &table{Key: f.Key, Kernel: p.KernelName(), problem: p}
	for _, q := range p.Parameters().List() {
		kind, err := kindOf(q)
		if err != nil {
			return nil, err
		}
		t.Parameters = append(t.Parameters, variable{Name: q.Name, Kind: kind})
	}
	if err := t.addSizes(size); err != nil {
		return nil, err
	}
	for level := wisdom.SameSize; level <= wisdom.BestOverall; level++ {
		t.Levels = append(t.Levels, level.String())
	}
	if err := t.addRecords(p, f); err != nil {
		return nil, err
	}
	return t, t.addSource(p)
}

// addSizes adds the problem size, which is that of the problem or of expressions that are given, and the constants
// that the application gives.
func (t *table) addSizes(given []definition.Expr) error {
	d := t.problem.Definition()
	if given == nil {
		given = d.ProblemSize
	}
	if len(given) == 0 {
		return errors.New("the pipeline has no problem_size, which chooses the configuration; " + addSize)
	}
	var err error
	if t.problemSize, _, err = compileSize(given, t.problem.Constants()); err != nil {
		return fmt.Errorf("the size of the problem chooses the configuration, so it reads constants only: %w; %s", err, addSize)
	}
	read := slices.Concat(t.problemSize, bufferSizes(t.problem), repeats(t.problem.Steps()))
	for _, c := range d.Constants {
		n, whole := c.Number().(int)
		isRead := func(e *expression.Expression) bool { return t.problem.Reads(e, c.Name) }
		isSize := whole && slices.ContainsFunc(read, isRead)
		if isSize {
			v := variable{Name: c.Name, Format: c.Format()}
			if !c.Host {
				v.Macro = problem.MacroName(c.Name)
			}
			t.Sizes = append(t.Sizes, v)
		}
		if (isSize || n > 0) && !slices.ContainsFunc(t.problemSize, isRead) {
			t.Constants = append(t.Constants, value{c.Name, n})
		}
	}
	slices.SortFunc(t.Constants, func(a, b value) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// compileSize compiles a problem size. The scope has the values of the constants.
func compileSize(given []definition.Expr, constants []definition.Constant) (all []*expression.Expression, scope expression.Scope, err error) {
	scope = expression.Scope{}
	for _, c := range constants {
		scope[c.Name] = c.Number()
	}
	for i, source := range given {
		e, err := expression.Compile(source, scope)
		if err != nil {
			return nil, nil, fmt.Errorf("problem_size[%d]: %w", i, err)
		}
		all = append(all, e)
	}
	return all, scope, nil
}

const addSize = "give another with --size, such as n or nx,ny"

// bufferSizes returns the expressions of the sizes of buffers and images.
func bufferSizes(p *problem.Problem) (all []*expression.Expression) {
	for _, a := range p.Arguments() {
		if a.Kind.HasContent() {
			all = append(all, a.Expressions()...)
		}
	}
	return all
}

// repeats returns the numbers of repetitions of steps.
func repeats(steps []problem.Step) (all []*expression.Expression) {
	for _, s := range steps {
		all = append(all, repeats(s.Steps)...)
		if s.Repeat != nil {
			all = append(all, s.Repeat)
		}
	}
	return all
}

// kindOf returns the kind of the values of a parameter: a float if some are integers and others floats.
func kindOf(q space.Parameter) (kind expression.Kind, err error) {
	for i, v := range q.Values {
		k, _ := expression.KindOf(v)
		switch {
		case i == 0 || k == kind:
			kind = k
		case max(k, kind) <= expression.Float: // integers and floats
			kind = expression.Float
		default:
			return 0, fmt.Errorf("the parameter %s has values of several types, which no variable can hold", q.Name)
		}
	}
	return kind, nil
}

// addRecords adds the records of the present source, and those whose source is not recorded.
func (t *table) addRecords(p *problem.Problem, f *wisdom.File) error {
	options, err := t.withoutSizes(p)
	if err != nil {
		return err
	}
	digest := p.KernelDigest()
	kept := *f
	kept.Records = slices.DeleteFunc(f.Sorted(), func(r wisdom.Record) bool { return r.SourceDigest != "" && r.SourceDigest != digest })
	if len(kept.Records) == 0 {
		return errors.New("all records are of another source of the kernel: tune it again")
	}
	overall, err := kept.Overall(digest)
	if err != nil {
		return err
	}
	best := kept.Text(&wisdom.Record{Configuration: overall.Configuration})
	for _, r := range kept.Records {
		c, err := p.Parameters().Configure(r.Configuration)
		if err != nil {
			return fmt.Errorf("the configuration %s: %w", kept.Text(&r), err)
		}
		e := entry{Record: r, Size: [3]int{1, 1, 1}, Cost: r.Objective, SameSource: r.SourceDigest == digest, Overall: kept.Text(&r) == best}
		if e.Options, err = options.ProgramOptions(c, r.Device); err != nil {
			return err
		}
		if t.CUDA() {
			launches, err := p.Launches(c, r.Device)
			if err != nil {
				return fmt.Errorf("the launch of %s: %w", kept.Text(&r), err)
			}
			e.Instance = launches[0].Kernel
		}
		copy(e.Size[:], r.ProblemSize)
		for _, of := range t.Constants {
			n, _ := r.Constants[of.Name].(int)
			e.Constants = append(e.Constants, max(0, n))
		}
		if n := len(t.Records); n > 0 {
			last := &t.Records[n-1]
			e.Group = last.Group
			if !wisdom.Comparable(&last.Record, &r) {
				e.Group++
			}
		}
		for i := range c.Len() {
			e.Values = append(e.Values, value{t.Parameters[i].Name, c.At(i)})
		}
		if f.Objective.Maximize {
			e.Cost = -e.Cost
		}
		if !r.Date.IsZero() {
			e.Date = r.Date.Unix()
		}
		t.Records = append(t.Records, e)
	}
	return nil
}

// withoutSizes returns the problem without the macros of its sizes, for the options that do not depend on them.
func (t *table) withoutSizes(p *problem.Problem) (*problem.Problem, error) {
	d := p.Definition()
	d.Verify, d.Baseline = nil, nil
	d.Constants = slices.Clone(d.Constants)
	for _, s := range t.Sizes {
		for i := range d.Constants {
			if c := &d.Constants[i]; c.Name == s.Name {
				c.Host = true
			}
		}
		name := s.Name
		for _, c := range d.Constants {
			if c.Name != s.Name && p.Depends(c.Name, s.Name) {
				name += "|" + c.Name
			}
		}
		reads := regexp.MustCompile(`\{[^}]*\b(?:` + name + `)\b`)
		if reads.MatchString(d.Kernel.Name) {
			return nil, fmt.Errorf("the kernel's name %s reads the size %s, which is known only to the application", d.Kernel.Name, s.Name)
		}
		for _, o := range d.Kernel.BuildOptions {
			if reads.MatchString(o) {
				return nil, fmt.Errorf("the build option %s reads the size %s, which is known only to the application", o, s.Name)
			}
		}
		reads = regexp.MustCompile(`\b(?:` + name + `)\b`)
		for _, typ := range d.Types {
			for _, field := range typ.Fields {
				if reads.MatchString(field.Count) {
					return nil, fmt.Errorf("the length of %s in the type %s reads the size %s, which is known only to the application",
						field.Name, typ.Name, s.Name)
				}
			}
		}
	}
	return problem.New(d)
}

// addSource adds the lines of the source.
func (t *table) addSource(p *problem.Problem) error {
	first, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		return err
	}
	v, err := p.Variant(first, hardware.Device{})
	if err != nil {
		return err
	}
	switch {
	case v.SPIRV():
		return errors.New("a SPIR-V module cannot be exported yet")
	case p.HasTarget():
		return errors.New("a kernel with a target cannot be exported yet: the exported program builds the source without it")
	}
	if _, err := p.ProgramOptions(first, hardware.Device{}); err != nil {
		return err
	}
	for line := range strings.Lines(v.Source) {
		t.Source = append(t.Source, line)
		if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
			return fmt.Errorf("line %d of the source is not text in UTF-8", len(t.Source)-v.Prologue)
		}
	}
	return nil
}

// A form is a table in a language, for a template.
type form struct {
	*table
	*Rules
	Parameters, Sizes []variable // with identifiers
	ProblemSize       []int      // a rule for each dimension
	Asked             []asked    // in the order of the Constants
	Evaluator, Tables string
}

// An asked constant is one that the application gives as a size, or has its value.
type asked struct {
	Size  *variable
	Value space.Value
}

// in returns the table in a language, with the rules of the problem size, of all launches and of the sizes of buffers.
func (t *table) in(l *Language) (*form, error) {
	f := &form{table: t, Parameters: l.identify(t.Parameters), Sizes: l.identify(t.Sizes), Evaluator: strings.ReplaceAll(l.Evaluator(), "cl_mem", t.Buffer())}
	names := each.Of(slices.Concat(t.Parameters, t.Sizes), func(v variable) string { return v.Name })
	f.Rules = NewRules(t.problem, names)
	for i, e := range t.problemSize {
		at, _, err := f.add(fmt.Sprintf("problem_size[%d]", i), e, asInt)
		if err != nil {
			return nil, fmt.Errorf("problem_size[%d]: %w", i, err)
		}
		f.ProblemSize = append(f.ProblemSize, at)
	}
	for _, of := range t.Constants {
		a := asked{Value: of.Value}
		if i := slices.IndexFunc(f.Sizes, func(v variable) bool { return v.Name == of.Name }); i >= 0 {
			a.Size = &f.Sizes[i]
		}
		f.Asked = append(f.Asked, a)
	}
	if err := f.AddBuffers(); err != nil {
		return nil, err
	}
	if err := f.AddSteps(t.problem.Steps()); err != nil {
		return nil, err
	}
	var err error
	f.Tables, err = l.Tables(f.Rules, t.Key)
	return f, err
}

// IsPipeline reports whether the kernel is a pipeline, which has no NDRange of its own.
func (t *table) IsPipeline() bool { return t.problem.IsPipeline() }

// identify gives variables identifiers that are not reserved and differ.
func (l *Language) identify(list []variable) []variable {
	taken := slices.Clone(l.reserved)
	list = slices.Clone(list)
	for i := range list {
		v := &list[i]
		for v.Identifier = v.Name; slices.Contains(taken, v.Identifier); {
			v.Identifier += "_"
		}
		taken = append(taken, v.Identifier)
	}
	return list
}

// GiveSize gives a record the size of its problem; no expressions leave it as it is.
func GiveSize(r *record.Record, expressions []definition.Expr) error {
	if expressions == nil {
		return nil
	}
	size, err := problemSize(expressions, r.Header.Constants)
	switch own := r.Header.ProblemSize; {
	case err != nil:
		return err
	case len(own) > 0 && !slices.Equal(own, size):
		return fmt.Errorf("the record's size is %s, not %s", figure.Sizes(own), figure.Sizes(size))
	}
	r.Header.ProblemSize = size
	return nil
}

// SplitSize splits a text at the commas that are not within parentheses.
func SplitSize(text string) (all []definition.Expr) {
	start, depth := 0, 0
	for i, c := range text + "," {
		switch {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' && depth <= 0 && text != "":
			all = append(all, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return all
}

// problemSize returns the value of a problem size that is given for a record with some constants.
func problemSize(given []definition.Expr, constants []definition.Constant) (size []int, err error) {
	all, scope, err := compileSize(given, constants)
	for _, e := range all {
		n, failed := e.Int(scope)
		size, err = append(size, n), errors.Join(err, failed)
	}
	return size, err
}
