package export

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/problem"
)

// Rules are the expressions of a problem, its launches and its buffers as tables of data. The files evaluate.h and
// evaluate.py compute them: see there for the meaning of each table. Tables refer to each other by index; -1 is none.
type Rules struct {
	Names       []string // the values that rules read, which the application gives; then those of indices of loops
	Expressions []rule
	Arguments   []argumentRules
	Parts       []part
	Steps       []step // each before those within it
	Lists       [][]int
	Kernels     []string
	Buffers     []string // buffers, images and samplers

	// The most that a launch needs.
	MaxArguments, MaxBytes int // the bytes of its scalars

	given     int              // the names that the application gives
	problem   *problem.Problem // nil: of expressions alone
	arguments []problem.Argument
	rows      map[int]int // of arguments in Arguments
}

// A rule is an expression as code.
type rule struct {
	About string // for people, as the specification has it
	Codes []code
}

// blockSize stands in a list of divisors for the block size, unless the driver chooses it.
const blockSize = -2

// An argumentRules has the rules of an argument.
type argumentRules struct {
	Name   string
	Buffer int // the number of a buffer, an image or a sampler
	Bytes  int // rule; -1: of an image or a sampler
	First  int // of the parts of a scalar
	Parts  int // 0: it is no scalar
}

// A part is a value in the bytes of a scalar.
type part struct {
	Offset  int
	Type    string // a format of Python's struct; "s": Fixed
	Rule    int    // -1: Fixed
	IsFloat bool   // the value of the rule
	Fixed   []byte
}

// A step is the launch of a kernel, or a list of steps that follow it.
type step struct {
	Kernel    int // -1: the steps within it
	Within    int // the number of steps within it, which follow
	Repeat    int // rule; -1: once
	Index     int // the name that has the number of the repetition
	Swap      [2]int
	Size      [3]int // rules
	Block     [3]int // rules
	Divisors  [3]int // lists
	Offset    [3]int // rules
	Arguments int    // list
}

// NewRules returns rules that read names. The problem may be nil; if it is not, rules also read its constants.
func NewRules(p *problem.Problem, names []string) *Rules {
	r := &Rules{Names: slices.Clone(names), given: len(names), problem: p, rows: map[int]int{}}
	if p != nil {
		r.arguments, r.Kernels, r.Buffers = p.Arguments(), p.KernelNames(), buffersOf(p)
	}
	return r
}

// buffersOf returns the names of the buffers, the images and the samplers, in the order of the arguments.
func buffersOf(p *problem.Problem) (names []string) {
	for _, a := range p.Arguments() {
		if a.Kind.HasContent() && !a.Symbol || a.Kind == definition.SamplerArgument {
			names = append(names, a.Name)
		}
	}
	return names
}

// A use of a value has the operation that takes it by its kind, "" for none. Other kinds are an error.
type use map[expression.Kind]string

var (
	asInt     = use{expression.Int: "", expression.Float: "size"}                      // a float must be a whole number
	asRepeat  = use{expression.Int: "", expression.Float: "size", expression.Bool: ""} // a condition is 0 or 1
	asDivisor = use{expression.Int: "divisor", expression.Float: "float_divisor"}
)

// codesOf returns the code of an expression for a use; nil: any kind.
func (r *Rules) codesOf(e *expression.Expression, as use) (codes []code, kind expression.Kind, err error) {
	codes, kind, err = compile(e, r.lookup)
	if err != nil || as == nil {
		return codes, kind, err
	}
	operation, taken := as[kind]
	switch {
	case !taken:
		err = fmt.Errorf("%s cannot be exported: it is %s, not a number", e, kind)
	case operation != "":
		codes = append(codes, code{operation, 1})
	}
	return codes, kind, err
}

// add adds a rule for an expression and a use, and returns its number and the kind of the expression.
func (r *Rules) add(about string, e *expression.Expression, as use) (int, expression.Kind, error) {
	codes, kind, err := r.codesOf(e, as)
	if err != nil {
		return 0, 0, err
	}
	return r.addCodes(about+": "+e.String(), codes), kind, nil
}

// Indices returns the number of the names that are indices of loops.
func (r *Rules) Indices() int { return len(r.Names) - r.given }

// Expression adds a rule for an expression, and returns its number and the kind of its value.
func (r *Rules) Expression(about string, e *expression.Expression) (int, expression.Kind, error) {
	return r.add(about, e, nil)
}

// addCodes adds a rule, unless it is there, and returns its number.
func (r *Rules) addCodes(about string, codes []code) int {
	same := func(known rule) bool { return known.About == about && slices.Equal(known.Codes, codes) }
	if i := slices.IndexFunc(r.Expressions, same); i >= 0 {
		return i
	}
	r.Expressions = append(r.Expressions, rule{about, codes})
	return len(r.Expressions) - 1
}

// lookup returns the code of a name: of a constant without a value of its own its value, or the expression from which
// it is computed.
func (r *Rules) lookup(name string) (code, *expression.Node, error) {
	if i := slices.Index(r.Names, name); i >= 0 {
		return code{"name", i}, nil, nil
	}
	if r.problem != nil {
		constants := r.problem.Constants()
		if i := slices.IndexFunc(constants, func(c definition.Constant) bool { return c.Name == name }); i >= 0 {
			e := r.problem.ConstantExpression(name)
			if e != nil && slices.ContainsFunc(r.Names, func(given string) bool { return r.problem.Depends(name, given) }) {
				n, err := e.Root()
				return code{}, n, err
			}
			k, err := constantCode(constants[i].Number())
			return k, nil, err
		}
	}
	return code{}, nil, errors.New("the exported program does not know it")
}

// AddBuffers adds the rules of the sizes of all buffers.
func (r *Rules) AddBuffers() error {
	for i := range r.arguments {
		if slices.Contains(r.Buffers, r.arguments[i].Name) {
			if _, err := r.argument(i); err != nil {
				return fmt.Errorf("the sizes of the buffers: %w", err)
			}
		}
	}
	return nil
}

// AddSteps adds the rules of launches.
func (r *Rules) AddSteps(steps []problem.Step) error {
	for _, s := range steps {
		if err := r.addStep(&s); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rules) addStep(s *problem.Step) error {
	own := step{
		Kernel: slices.Index(r.Kernels, s.Kernel), Repeat: -1, Index: -1, Arguments: -1,
		Swap: [2]int{-1, -1},
	}
	if s.Swap[0] != s.Swap[1] {
		for i, a := range s.Swap {
			own.Swap[i] = slices.Index(r.Buffers, r.arguments[a].Name)
		}
	}
	if s.Index != "" {
		if own.Index = slices.Index(r.Names, s.Index); own.Index < 0 {
			own.Index, r.Names = len(r.Names), append(r.Names, s.Index)
		}
	}
	if s.Repeat != nil {
		var err error
		if own.Repeat, _, err = r.add("repeat", s.Repeat, asRepeat); err != nil {
			return fmt.Errorf("the launches: %w", err)
		}
	}
	if err := r.addShape(s, &own); err != nil {
		return fmt.Errorf("the NDRange of %s: %w", s.Kernel, err)
	}
	if s.Kernel != "" {
		if err := r.addArguments(s, &own); err != nil {
			return fmt.Errorf("the launches: %w", err)
		}
	}
	at := len(r.Steps)
	r.Steps = append(r.Steps, own)
	err := r.AddSteps(s.Steps)
	r.Steps[at].Within = len(r.Steps) - at - 1
	return err
}

// addShape adds the rules of the index space of a step.
func (r *Rules) addShape(s *problem.Step, own *step) error {
	var errs []error
	add := func(field string, e *expression.Expression, as use) int {
		if e == nil {
			return -1
		}
		i, _, err := r.add(field, e, as)
		errs = append(errs, err)
		return i
	}
	for d, dimension := range []string{"x", "y", "z"} {
		own.Size[d], own.Offset[d], own.Divisors[d] = -1, -1, -1
		own.Block[d] = add("block_size."+dimension, s.BlockSize[d], asInt)
		if d < len(s.ProblemSize) {
			own.Size[d] = add("problem_size."+dimension, s.ProblemSize[d], asInt)
		}
		if d < len(s.GlobalOffset) {
			own.Offset[d] = add("global_offset."+dimension, s.GlobalOffset[d], asInt)
		}
		var divisors []int
		for _, by := range s.GridDiv[d] {
			if by == s.BlockSize[d] {
				divisors = append(divisors, blockSize)
			} else {
				divisors = append(divisors, add("grid_div."+dimension, by, asDivisor))
			}
		}
		if len(divisors) > 0 && d < len(s.ProblemSize) {
			own.Divisors[d] = r.addList(divisors)
		}
	}
	return errors.Join(errs...)
}

func (r *Rules) addList(list []int) int {
	if i := slices.IndexFunc(r.Lists, func(known []int) bool { return slices.Equal(known, list) }); i >= 0 {
		return i
	}
	r.Lists = append(r.Lists, list)
	return len(r.Lists) - 1
}

// addArguments adds the arguments of a launch.
func (r *Rules) addArguments(s *problem.Step, own *step) error {
	list := []int{}
	bytes := 0
	for _, i := range s.Arguments {
		row, err := r.argument(i)
		if err != nil {
			return err
		}
		list = append(list, row)
		bytes += scalarSize(&r.arguments[i])
	}
	own.Arguments = r.addList(list)
	r.MaxArguments = max(r.MaxArguments, len(list))
	r.MaxBytes = max(r.MaxBytes, bytes)
	return nil
}

// scalarSize returns the bytes of a scalar; 0 for other arguments.
func scalarSize(a *problem.Argument) int {
	if a.Kind != definition.ScalarArgument {
		return 0
	}
	return a.Element.Size()
}

// argument returns the row of an argument, which it adds if it is not there.
func (r *Rules) argument(i int) (int, error) {
	if row, known := r.rows[i]; known {
		return row, nil
	}
	a := &r.arguments[i]
	if a.Kind == definition.AliasArgument {
		a = &r.arguments[a.Buffer]
	}
	own := argumentRules{Name: a.Name, Buffer: slices.Index(r.Buffers, a.Name), Bytes: -1, First: len(r.Parts)}
	var err error
	switch a.Kind {
	case definition.BufferArgument, definition.LocalArgument:
		own.Bytes, err = r.size(a)
	case definition.ScalarArgument:
		own.Bytes = r.addCodes(fmt.Sprintf("arguments.%s in bytes: %s", a.Name, a.Element), []code{{"int", scalarSize(a)}})
		err = r.addParts(a)
	}
	if err != nil {
		return 0, err
	}
	own.Parts = len(r.Parts) - own.First
	r.Arguments = append(r.Arguments, own)
	r.rows[i] = len(r.Arguments) - 1
	return r.rows[i], nil
}

// size adds the rule of the size of a buffer or of local memory in bytes.
func (r *Rules) size(a *problem.Argument) (int, error) {
	var codes []code
	var text string
	if a.Elements == nil {
		codes, text = []code{{"int", a.Content.Len()}}, fmt.Sprint(a.Content.Len())
	} else {
		var err error
		if codes, _, err = r.codesOf(a.Elements, asInt); err != nil {
			return 0, err
		}
		text = a.Elements.String()
	}
	codes = append(codes, code{"positive", 1}, code{"int", a.Element.Size()}, code{"mul", 2})
	return r.addCodes(fmt.Sprintf("arguments.%s.size in bytes: %s elements of %s", a.Name, text, a.Element), codes), nil
}

// addParts adds the parts of a scalar.
func (r *Rules) addParts(a *problem.Argument) error {
	if a.Raw != nil {
		r.addFixed(a.Raw)
		return nil
	}
	fixed := make([]byte, a.Element.Size())
	isConstant := false // in some bytes
	computed := 0       // bytes
	var parts []part
	for _, v := range a.Scalars {
		if v.Lanes == nil {
			b, err := array.ScalarBytes(v.At.Type, v.Value)
			if err != nil {
				return err
			}
			copy(fixed[v.At.Offset:], b)
			isConstant = true
		}
		lane := v.At.Type.Scalar()
		for i, e := range v.Lanes {
			at, kind, err := r.Expression("arguments."+a.Name+".value", e)
			if err == nil && kind == expression.String {
				err = fmt.Errorf("%s cannot be exported: it is %s, not a number", e, kind)
			}
			if err != nil {
				return fmt.Errorf("argument %s: %w", a.Name, err)
			}
			computed += lane.Size()
			parts = append(parts, part{
				Offset:  v.At.Offset + i*lane.Size(),
				Type:    formats[lane],
				Rule:    at,
				IsFloat: kind == expression.Float,
			})
		}
	}
	if isConstant || computed < len(fixed) {
		r.addFixed(fixed)
	}
	r.Parts = append(r.Parts, parts...)
	return nil
}

// addFixed adds bytes that are the same for all launches.
func (r *Rules) addFixed(all []byte) {
	r.Parts = append(r.Parts, part{Type: "s", Rule: -1, Fixed: all})
}

// formats are the formats of types in Python's struct.
var formats = map[array.Type]string{
	array.Int8: "b", array.Int16: "h", array.Int32: "i", array.Int64: "q",
	array.Uint8: "B", array.Uint16: "H", array.Uint32: "I", array.Uint64: "Q",
	array.Float16: "e", array.Float32: "f", array.Float64: "d",
}
