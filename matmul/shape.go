package matmul

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxSize is the largest N: the bundled kernels use int for indices of elements, so the product of two sizes must be
// below 2³¹.
const MaxSize = 46340

// A Shape is that of C (M × N) = A (M × K) · B (K × N).
type Shape struct{ M, N, K int }

// Square returns the shape of square matrices.
func Square(n int) Shape { return Shape{n, n, n} }

// IsSquare reports whether all three matrices are square.
func (s Shape) IsSquare() bool { return s.M == s.N && s.N == s.K }

// Operations returns the number of multiplications and additions.
func (s Shape) Operations() float64 { return 2 * float64(s.M) * float64(s.N) * float64(s.K) }

// Rate returns the rate of a multiplication that takes ms milliseconds, in GFLOP/s.
func (s Shape) Rate(ms float64) float64 {
	if ms <= 0 {
		return 0
	}
	return s.Operations() / ms / 1e6
}

// String returns N of square matrices, and M×N×K of others.
func (s Shape) String() string {
	if s.IsSquare() {
		return strconv.Itoa(s.N)
	}
	return fmt.Sprintf("%d×%d×%d", s.M, s.N, s.K)
}

// ParseShape reads a shape as String returns it, also with x in place of ×.
func ParseShape(text string) (Shape, error) {
	parts := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "×", "x"), "x")
	numbers := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || len(parts) != 1 && len(parts) != 3 {
			return Shape{}, fmt.Errorf("%s: want a size such as 1024, or three, M×N×K, such as 33x65x97", text)
		}
		numbers[i] = n
	}
	s := Square(numbers[0])
	if len(parts) == 3 {
		s = Shape{numbers[0], numbers[1], numbers[2]}
	}
	for _, pair := range [][2]int{{s.M, s.N}, {s.M, s.K}, {s.N, s.K}} {
		if pair[0] > (1<<31-1)/pair[1] {
			return Shape{}, fmt.Errorf("%s: the product of two sizes must be below 2³¹ (N at most %d)", text, MaxSize)
		}
	}
	return s, nil
}
