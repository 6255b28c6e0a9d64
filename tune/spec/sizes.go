package spec

import "github.com/ndtune/ndtune/tune/problem"

// blockSize reads what gives the local size in x, y and z.
func (f field) blockSize() (sizes [3]problem.Expr) {
	f.keys(
		reader{"x", func(f field) { sizes[0] = f.expression() }},
		reader{"y", func(f field) { sizes[1] = f.expression() }},
		reader{"z", func(f field) { sizes[2] = f.expression() }},
	)
	return sizes
}

// gridDiv reads the divisors of the problem size in x, y and z. An empty list is no
// divisor at all, which differs from a missing one.
func (f field) gridDiv() (divisors [3][]problem.Expr) {
	list := func(f field) []problem.Expr { return append([]problem.Expr{}, f.expressions()...) }
	f.keys(
		reader{"x", func(f field) { divisors[0] = list(f) }},
		reader{"y", func(f field) { divisors[1] = list(f) }},
		reader{"z", func(f field) { divisors[2] = list(f) }},
	)
	return divisors
}
