package problem

import (
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/score"
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
	for i, dim := range definition.Dimensions {
		r.Grid[i], r.Local[i] = 1, 1
		if e := s.BlockSize[i]; e != nil && !free {
			number := positive
			if i == 0 { // 0 leaves the choice to the driver
				number = natural
			}
			if r.Local[i], err = number("block size "+dim, e, env); err != nil {
				return r, err
			}
			if free = r.Local[i] == 0; !free {
				r.Dimensions = max(r.Dimensions, i+1)
				if items, err = multiply(items, r.Local[i]); err != nil {
					return r, fmt.Errorf("work-group of %s work-items: %w", figure.Sizes(r.Local[:r.Dimensions]), err)
				}
			}
		}
		if i >= len(s.ProblemSize) {
			continue
		}
		size, err := positive("problem size "+dim, s.ProblemSize[i], env)
		if err != nil {
			return r, err
		}
		whole, fraction := 1, 1.0 // the products of the divisors that are whole numbers, and of the others
		for _, e := range s.GridDiv[i] {
			if free && e == s.BlockSize[i] {
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
			return r, fmt.Errorf("grid of %s work-groups: %w", figure.Sizes(r.Grid[:i+1]), err)
		}
	}
	if _, err := multiply(groups, items); err != nil {
		return r, fmt.Errorf("NDRange of %s work-groups of %s work-items: %w",
			figure.Sizes(r.Grid[:r.Dimensions]), figure.Sizes(r.Local[:r.Dimensions]), err)
	}
	for i, e := range s.GlobalOffset {
		if r.Offset[i], err = natural("global offset "+definition.Dimensions[i], e, env); err != nil {
			return r, err
		}
	}
	return r, nil
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

// divisor returns a positive number as a whole number or, if it is none, as a fraction; the other one is 1.
func divisor(what string, e *expression.Expression, env map[string]any) (whole int, fraction float64, err error) {
	f, err := e.Float(env)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", what, err)
	}
	if f == math.Trunc(f) || !score.Finite(f) || f < 0 {
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

// positive returns the value of an expression that must be positive.
func positive(what string, e *expression.Expression, env map[string]any) (int, error) {
	return atLeast(1, "it must be positive", what, e, env)
}

// natural returns the value of an expression that must not be negative.
func natural(what string, e *expression.Expression, env map[string]any) (int, error) {
	return atLeast(0, "it must not be negative", what, e, env)
}

func atLeast(least int, rule string, what string, e *expression.Expression, env map[string]any) (int, error) {
	n, err := e.Int(env)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if n < least {
		return 0, fmt.Errorf("%s: %s is %d; %s", what, e, n, rule)
	}
	return n, nil
}

// amount returns the value of an expression that must not be negative, 0 for nil. The noun begins the error message; it may be empty.
func amount(noun string, e *expression.Expression, env map[string]any) (float64, error) {
	if e == nil {
		return 0, nil
	}
	n, err := e.Float(env)
	if err == nil && !(score.Finite(n) && n >= 0) {
		err = fmt.Errorf("%s%s is %v; want a number that is not negative", noun, e, n)
	}
	return n, err
}
