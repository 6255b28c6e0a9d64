package launch

import (
	"fmt"
	"math"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/judge"
)

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
