package python

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/ndtune/ndtune/tune/expression"
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
		value, err := valueOf(v)
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

func domainOf(v any) Domain {
	d := Domain{kind: kindOf(v), zero: true}
	if i, ok := v.(int); ok {
		d.span = span{float64(i), float64(i)}
	}
	if d.kind.isNumber() {
		d.zero = !truth(v)
	}
	return d
}

func kindOf(v any) kind {
	switch v.(type) {
	case int:
		return wholeKind
	case float64:
		return realKind
	case bool:
		return truthKind
	case string:
		return textKind
	}
	return listKind
}

// A span is where an integer lies, both ends included. Beyond 2⁵³ its ends are rounded.
type span struct{ lo, hi float64 }

var (
	all64     = span{math.MinInt64, math.MaxInt64}
	bothTruth = span{0, 1}
)

// fits64 reports whether 64 bits hold the integers for certain, though the ends of the span may
// have been rounded a few times.
func (s span) fits64() bool { return s.lo > -0.999*(1<<63) && s.hi < 0.999*(1<<63) }

// isExact reports whether floats hold the integers.
func (s span) isExact() bool { return s.lo > -(1<<53) && s.hi < 1<<53 }

// in64 is the part of a span that 64 bits hold. Where it is empty, nothing is known: what is
// computed fails.
func (s span) in64() span {
	t := span{max(s.lo, all64.lo), min(s.hi, all64.hi)}
	if t.lo > t.hi {
		return all64
	}
	return t
}

func (s span) union(t span) span { return span{min(s.lo, t.lo), max(s.hi, t.hi)} }

func (s span) hasZero() bool { return s.lo <= 0 && s.hi >= 0 }

// spanOf is where the result of an operator lies, which may be beyond 64 bits.
func spanOf(operator string, a, b span) span {
	code, ok := map[string]expression.Code{"+": expression.Add, "-": expression.Subtract, "*": expression.Multiply}[operator]
	if ok {
		lo, hi := (&expression.Operation{Code: code}).Extent([]expression.Bounds{{a.lo, a.hi}, {b.lo, b.hi}})
		return span{lo, hi}
	}
	positive := a.lo >= 0 && b.lo >= 0
	switch operator {
	case "//": // no quotient is larger than the dividend, or one below its negative
		m := max(math.Abs(a.lo), math.Abs(a.hi))
		if positive {
			return span{0, a.hi}
		}
		return span{-m - 1, m}
	case "%":
		return span{min(b.lo+1, 0), max(b.hi-1, 0)}
	case "&":
		if a.lo >= 0 || b.lo >= 0 {
			return span{0, max(a.hi, b.hi, 0)}
		}
	case "|", "^":
		if most := max(a.hi, b.hi); positive && most < 1<<62 {
			return span{0, float64(uint64(1)<<bits.Len64(uint64(most)) - 1)}
		}
		if positive {
			return span{0, all64.hi}
		}
	case ">>":
		return span{min(a.lo, 0), max(a.hi, 0)}
	case "<<", "**":
		if a.lo >= 0 {
			return span{0, all64.hi}
		}
	}
	return all64
}
