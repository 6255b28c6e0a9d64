package problem

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/expression"
)

// An NDRange is the index space of a launch. Dimensions that are not used are 1.
type NDRange struct {
	Dimensions int // 1 to 3
	Grid       [3]int
	Local      [3]int // Local[0] is 0 if the driver chooses the work-groups; then Grid are the work-items
	Offset     [3]int // of the global ids
}

// Global returns the number of work-items in each used dimension.
func (r NDRange) Global() []int {
	global := make([]int, r.Dimensions)
	for i := range global {
		global[i] = r.Grid[i] * max(1, r.Local[i])
	}
	return global
}

// WorkGroup returns the local size in each used dimension, or nil if the driver chooses it.
func (r NDRange) WorkGroup() []int {
	if r.Local[0] == 0 {
		return nil
	}
	return slices.Clone(r.Local[:r.Dimensions])
}

// GlobalOffset returns the first global id in each used dimension, or nil if all are 0.
func (r NDRange) GlobalOffset() []int {
	if r.Offset == [3]int{} {
		return nil
	}
	return slices.Clone(r.Offset[:r.Dimensions])
}

// WorkItems returns the number of work-items in a work-group, or 0 if the driver chooses it.
func (r NDRange) WorkItems() int { return r.Local[0] * r.Local[1] * r.Local[2] }

// A Launch is one launch of a kernel with its arguments.
type Launch struct {
	Kernel  string
	NDRange NDRange

	// By place in the kernel: the index of the problem's argument, whose buffers may have changed places;
	// the bytes of a scalar; and the bytes of local memory.
	Arguments  []int
	Scalars    [][]byte
	LocalBytes []int
}

// A Part is what one kernel of a pipeline does in one run of the pipeline.
type Part struct {
	Kernel                string
	Launches              int
	Global, Local, Offset []int   // of every launch; nil if the launches have different ones
	Time                  float64 // of all its launches in milliseconds; in a result, the mean of the timed runs
}

// String describes the part: «merge, 45 launches: global size 65536, local size 256, 1.210 ms».
func (p Part) String() string {
	text := fmt.Sprintf("%s, %d launches: ", p.Kernel, p.Launches)
	if p.Launches == 1 {
		text = p.Kernel + ": "
	}
	if p.Global == nil {
		text += "sizes that change, "
	} else {
		text += figure.Launch(p.Global, p.Local, p.Offset) + ", "
	}
	return text + figure.Milliseconds(p.Time) + " ms"
}

// Parts returns the parts of launches by kernel, in the order in which the kernels come first. Their times are 0.
func Parts(launches []Launch) []Part {
	var parts []Part
	for _, l := range launches {
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Kernel == l.Kernel })
		if i < 0 {
			parts = append(parts, Part{Kernel: l.Kernel, Launches: 1, Global: l.NDRange.Global(), Local: l.NDRange.WorkGroup(), Offset: l.NDRange.GlobalOffset()})
			continue
		}
		p := &parts[i]
		p.Launches++
		if !slices.Equal(p.Global, l.NDRange.Global()) || !slices.Equal(p.Local, l.NDRange.WorkGroup()) || !slices.Equal(p.Offset, l.NDRange.GlobalOffset()) {
			p.Global, p.Local, p.Offset = nil, nil, nil
		}
	}
	return parts
}

// A shape is the compiled index space of a kernel.
type shape struct {
	problemSize []*expression.Expression
	blockSize   [3]*expression.Expression // nil: 1
	gridDiv     [3][]*expression.Expression
	offset      []*expression.Expression
}

// expressions returns all expressions of the shape.
func (s *shape) expressions() []*expression.Expression {
	return slices.Concat(s.problemSize, s.blockSize[:], s.gridDiv[0], s.gridDiv[1], s.gridDiv[2], s.offset)
}

// compileShape compiles an index space, whose fields begin with a prefix.
func (p *Problem) compileShape(errs *fieldErrors, prefix string, given givenShape, scope expression.Scope) *shape {
	s := &shape{}
	if n := len(given.ProblemSize); n < 1 || n > 3 {
		errs.addf(prefix+"problem_size", "has %d dimensions; want one to three", n)
	}
	for i, source := range given.ProblemSize {
		s.problemSize = append(s.problemSize, p.compileSize(errs, fmt.Sprintf("%sproblem_size[%d]", prefix, i), source, scope))
	}
	for i, dim := range dimensions {
		source, field := given.BlockSize[i], prefix+"block_size."+dim
		if name := "block_size_" + dim; source == "" {
			if _, ok := scope[name]; !ok {
				continue
			}
			source = name
		}
		if i == 0 { // 0 leaves the choice to the driver
			s.blockSize[i] = p.compileCount(errs, field, source, scope)
		} else {
			s.blockSize[i] = p.compileSize(errs, field, source, scope)
		}
	}
	for i, dim := range dimensions {
		for j, source := range given.GridDiv[i] {
			s.gridDiv[i] = append(s.gridDiv[i], p.compile(errs, fmt.Sprintf("%sgrid_div.%s[%d]", prefix, dim, j), source, scope, func(e *expression.Expression) error {
				_, _, err := divisor("the divisor", e, p.constants)
				return err
			}))
		}
		if given.GridDiv[i] == nil && s.blockSize[i] != nil {
			s.gridDiv[i] = []*expression.Expression{s.blockSize[i]}
		}
	}
	if len(given.GlobalOffset) > len(given.ProblemSize) {
		errs.addf(prefix+"global_offset", "has %d dimensions, problem_size %d", len(given.GlobalOffset), len(given.ProblemSize))
	}
	for i, source := range given.GlobalOffset {
		s.offset = append(s.offset, p.compileCount(errs, fmt.Sprintf("%sglobal_offset[%d]", prefix, i), source, scope))
	}
	return s
}

// ndrange derives the launch: in each dimension ceil(problem size / product of divisors)
// work-groups of the local size.
func (s *shape) ndrange(env map[string]any) (r NDRange, err error) {
	r.Dimensions = len(s.problemSize)
	items, groups, free := 1, 1, false
	for i, dim := range dimensions {
		r.Grid[i], r.Local[i] = 1, 1
		if e := s.blockSize[i]; e != nil && !free {
			if r.Local[i], err = s.localSize(i, env); err != nil {
				return r, err
			}
			if free = r.Local[i] == 0; !free {
				r.Dimensions = max(r.Dimensions, i+1)
				if items, err = multiply(items, r.Local[i]); err != nil {
					return r, fmt.Errorf("work-group of %s work-items: %w", product(r.Local[:r.Dimensions]), err)
				}
			}
		}
		if i >= len(s.problemSize) {
			continue
		}
		size, err := positive("problem size "+dim, s.problemSize[i], env)
		if err != nil {
			return r, err
		}
		whole, fraction := 1, 1.0 // the products of the divisors that are whole numbers, and of the others
		for _, e := range s.gridDiv[i] {
			if free && e == s.blockSize[i] {
				continue // the default
			}
			n, f, err := divisor("grid divisor "+dim, e, env)
			if err != nil {
				return r, err
			}
			fraction *= f
			if whole, err = multiply(whole, n); err != nil {
				whole = math.MaxInt // beyond any problem size: one work-group
			}
		}
		r.Grid[i] = (size-1)/whole + 1
		if fraction != 1 {
			count := math.Ceil(float64(size) / (float64(whole) * fraction))
			if count >= 1<<53 {
				return r, fmt.Errorf("grid of %g work-groups in dimension %s", count, dim)
			}
			r.Grid[i] = int(count)
		}
		if groups, err = multiply(groups, r.Grid[i]); err != nil {
			return r, fmt.Errorf("grid of %s work-groups: %w", product(r.Grid[:i+1]), err)
		}
	}
	if _, err := multiply(groups, items); err != nil {
		return r, fmt.Errorf("NDRange of %s work-groups of %s work-items: %w", product(r.Grid[:r.Dimensions]), product(r.Local[:r.Dimensions]), err)
	}
	for i, e := range s.offset {
		if r.Offset[i], err = natural("global offset "+dimensions[i], e, env); err != nil {
			return r, err
		}
	}
	return r, nil
}

// localSize returns the block size in a dimension. Only that in x may be 0.
func (s *shape) localSize(dimension int, env map[string]any) (int, error) {
	what := "block size " + dimensions[dimension]
	if dimension == 0 {
		return natural(what, s.blockSize[0], env)
	}
	return positive(what, s.blockSize[dimension], env)
}

// divisor returns a positive number as a whole number or, if it is none, as a fraction; the other one is 1.
func divisor(what string, e *expression.Expression, env map[string]any) (whole int, fraction float64, err error) {
	f, err := e.Float(env)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", what, err)
	}
	if f == math.Trunc(f) || !Finite(f) || f < 0 {
		whole, err = positive(what, e, env)
		return whole, 1, err
	}
	return 1, f, nil
}

// multiply returns the product of positive numbers, or an error if an int cannot hold it.
func multiply(a, b int) (int, error) {
	if a > math.MaxInt/b {
		return 0, fmt.Errorf("%d × %d is more than the largest integer, %d", a, b, math.MaxInt)
	}
	return a * b, nil
}

func positive(what string, e *expression.Expression, env map[string]any) (int, error) {
	n, err := e.Int(env)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if n <= 0 {
		return 0, fmt.Errorf("%s: %s is %d; it must be positive", what, e, n)
	}
	return n, nil
}

// natural returns the value of an expression that must not be negative.
func natural(what string, e *expression.Expression, env map[string]any) (int, error) {
	n, err := e.Int(env)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("%s: %s is %d; it must not be negative", what, e, n)
	}
	return n, nil
}

func product(sizes []int) string {
	texts := make([]string, len(sizes))
	for i, n := range sizes {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, "×")
}
