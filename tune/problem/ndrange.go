package problem

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/task"
)

// A Shape is the compiled index space of a kernel.
type Shape struct {
	ProblemSize  []*expression.Expression
	BlockSize    [3]*expression.Expression // nil: 1
	GridDiv      [3][]*expression.Expression
	GlobalOffset []*expression.Expression
}

// Expressions returns all expressions of the shape.
func (s *Shape) Expressions() []*expression.Expression {
	return slices.Concat(s.ProblemSize, s.BlockSize[:], s.GridDiv[0], s.GridDiv[1], s.GridDiv[2], s.GlobalOffset)
}

// NDRange derives the launch: in each dimension ceil(problem size / product of divisors)
// work-groups of the local size.
func (s *Shape) NDRange(env map[string]any) (r NDRange, err error) {
	r.Dimensions = len(s.ProblemSize)
	items, groups, free := 1, 1, false
	for i, dim := range task.Dimensions {
		r.Grid[i], r.Local[i] = 1, 1
		if e := s.BlockSize[i]; e != nil && !free {
			if r.Local[i], err = s.localSize(i, env); err != nil {
				return r, err
			}
			if free = r.Local[i] == 0; !free {
				r.Dimensions = max(r.Dimensions, i+1)
				if items, err = Multiply(items, r.Local[i]); err != nil {
					return r, fmt.Errorf("work-group of %s work-items: %w", product(r.Local[:r.Dimensions]), err)
				}
			}
		}
		if i >= len(s.ProblemSize) {
			continue
		}
		size, err := Positive("problem size "+dim, s.ProblemSize[i], env)
		if err != nil {
			return r, err
		}
		whole, fraction := 1, 1.0 // the products of the divisors that are whole numbers, and of the others
		for _, e := range s.GridDiv[i] {
			if free && e == s.BlockSize[i] {
				continue // the default
			}
			n, f, err := Divisor("grid divisor "+dim, e, env)
			if err != nil {
				return r, err
			}
			fraction *= f
			if whole, err = Multiply(whole, n); err != nil {
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
		if groups, err = Multiply(groups, r.Grid[i]); err != nil {
			return r, fmt.Errorf("grid of %s work-groups: %w", product(r.Grid[:i+1]), err)
		}
	}
	if _, err := Multiply(groups, items); err != nil {
		return r, fmt.Errorf("NDRange of %s work-groups of %s work-items: %w",
			product(r.Grid[:r.Dimensions]), product(r.Local[:r.Dimensions]), err)
	}
	for i, e := range s.GlobalOffset {
		if r.Offset[i], err = Natural("global offset "+task.Dimensions[i], e, env); err != nil {
			return r, err
		}
	}
	return r, nil
}

// localSize returns the block size in a dimension. Only that in x may be 0.
func (s *Shape) localSize(dimension int, env map[string]any) (int, error) {
	what := "block size " + task.Dimensions[dimension]
	if dimension == 0 {
		return Natural(what, s.BlockSize[0], env)
	}
	return Positive(what, s.BlockSize[dimension], env)
}

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

// Divisor returns a positive number as a whole number or, if it is none, as a fraction; the other one is 1.
func Divisor(what string, e *expression.Expression, env map[string]any) (whole int, fraction float64, err error) {
	f, err := e.Float(env)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", what, err)
	}
	if f == math.Trunc(f) || !judge.Finite(f) || f < 0 {
		whole, err = Positive(what, e, env)
		return whole, 1, err
	}
	return 1, f, nil
}

// Multiply returns the product of positive numbers, or an error if an int cannot hold it.
func Multiply(a, b int) (int, error) {
	if a > math.MaxInt/b {
		return 0, fmt.Errorf("%d × %d is more than the largest integer, %d", a, b, math.MaxInt)
	}
	return a * b, nil
}

// Positive returns the value of an expression that must be positive.
func Positive(what string, e *expression.Expression, env map[string]any) (int, error) {
	n, err := e.Int(env)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if n <= 0 {
		return 0, fmt.Errorf("%s: %s is %d; it must be positive", what, e, n)
	}
	return n, nil
}

// Natural returns the value of an expression that must not be negative.
func Natural(what string, e *expression.Expression, env map[string]any) (int, error) {
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
	return strings.Join(each.Of(sizes, func(n int) string { return fmt.Sprint(n) }), "×")
}
