package python

import (
	"fmt"
	"math"
	"math/big"
)

// A kind is what a part of a translated expression can be.
type kind int

const (
	wholeKind  kind = iota
	realKind        // a float
	numberKind      // an integer or a float: which one is known only when it is computed
	truthKind
	textKind
	listKind
)

func (k kind) String() string {
	return [...]string{"an integer", "a float", "a number", "a bool", "a text", "a list"}[k]
}

func (k kind) isNumber() bool { return k == wholeKind || k == realKind || k == numberKind }

// A Domain is what a name can be: all of its values are of one kind, or numbers.
type Domain struct {
	kind kind
	span span // of integers
	zero bool // whether it can be 0
}

// A Scope gives a translation its names. What a name can be decides how it is translated:
// where an integer cannot leave 64 bits, it is computed without looking.
type Scope map[string]Domain

// DomainOf is what a name with these values can be.
func DomainOf(values []any) (Domain, error) {
	var d Domain
	for i, v := range values {
		value, err := NewValue(v)
		if err != nil {
			return d, err
		}
		of := domainOf(value)
		switch {
		case i == 0:
			d = of
		case d.kind == wholeKind && of.kind == wholeKind:
			d.span, d.zero = d.span.union(of.span), d.zero || of.zero
		case d.kind.isNumber() && of.kind.isNumber():
			if d.kind != of.kind {
				d.kind = numberKind
			}
			d.zero = d.zero || of.zero
		case d.kind != of.kind:
			return d, fmt.Errorf("%v and %v stand in one list; the values of a name are of one kind", d.kind, of.kind)
		}
	}
	return d, nil
}

func domainOf(v Value) Domain {
	switch v := v.(type) {
	case *big.Int:
		return Domain{wholeKind, span{v, v}, v.Sign() == 0}
	case float64:
		return Domain{realKind, span{}, v == 0}
	case bool:
		return Domain{kind: truthKind, zero: true}
	case string:
		return Domain{kind: textKind, zero: true}
	}
	return Domain{kind: listKind, zero: true}
}

// A span is where an integer lies, both ends included.
type span struct{ lo, hi *big.Int }

var (
	all64     = span{big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)}
	all53     = span{big.NewInt(-1 << 53), big.NewInt(1 << 53)}
	bothTruth = span{big.NewInt(0), big.NewInt(1)}
)

func (s span) within(t span) bool { return s.lo.Cmp(t.lo) >= 0 && s.hi.Cmp(t.hi) <= 0 }

// in64 is the part of a span that 64 bits hold. Where it is empty, nothing is known: what is
// computed fails.
func (s span) in64() span {
	t := span{larger(s.lo, all64.lo), smaller(s.hi, all64.hi)}
	if t.lo.Cmp(t.hi) > 0 {
		return all64
	}
	return t
}

func (s span) union(t span) span { return span{smaller(s.lo, t.lo), larger(s.hi, t.hi)} }

func smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// spanOf is where the result of an operator lies, which may be beyond 64 bits.
func spanOf(operator string, a, b span) span {
	two := func(f func(z, x, y *big.Int) *big.Int, x, y *big.Int) *big.Int { return f(new(big.Int), x, y) }
	switch operator {
	case "+":
		return span{two((*big.Int).Add, a.lo, b.lo), two((*big.Int).Add, a.hi, b.hi)}
	case "-":
		return span{two((*big.Int).Sub, a.lo, b.hi), two((*big.Int).Sub, a.hi, b.lo)}
	case "*":
		r := span{two((*big.Int).Mul, a.lo, b.lo), two((*big.Int).Mul, a.lo, b.lo)}
		for _, c := range [][2]*big.Int{{a.lo, b.hi}, {a.hi, b.lo}, {a.hi, b.hi}} {
			product := two((*big.Int).Mul, c[0], c[1])
			r = r.union(span{product, product})
		}
		return r
	case "//": // no quotient is larger than the dividend, or one below its negative
		m := larger(new(big.Int).Abs(a.lo), new(big.Int).Abs(a.hi))
		if a.lo.Sign() >= 0 && b.lo.Sign() >= 0 {
			return span{new(big.Int), a.hi}
		}
		return span{new(big.Int).Sub(new(big.Int).Neg(m), big.NewInt(1)), m}
	case "%":
		lo, hi := new(big.Int).Add(b.lo, big.NewInt(1)), new(big.Int).Sub(b.hi, big.NewInt(1))
		return span{smaller(lo, new(big.Int)), larger(hi, new(big.Int))}
	case "&":
		if a.lo.Sign() >= 0 || b.lo.Sign() >= 0 {
			hi := larger(a.hi, b.hi)
			return span{new(big.Int), larger(hi, new(big.Int))}
		}
	case "|", "^":
		if a.lo.Sign() >= 0 && b.lo.Sign() >= 0 {
			bits := uint(larger(a.hi, b.hi).BitLen())
			hi := new(big.Int).Lsh(big.NewInt(1), bits)
			return span{new(big.Int), hi.Sub(hi, big.NewInt(1))}
		}
	case ">>":
		return span{smaller(a.lo, new(big.Int)), larger(a.hi, big.NewInt(0))}
	case "<<", "**":
		if a.lo.Sign() >= 0 {
			return span{new(big.Int), all64.hi}
		}
	}
	return all64
}
