package python

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
)

func unaryOf(column int, operator string, v Value) Value {
	if operator == "not" {
		return !truth(v)
	}
	i, whole := integer(v)
	switch f, isFloat := v.(float64); {
	case whole && operator == "+":
		return i
	case whole && operator == "-":
		return new(big.Int).Neg(i)
	case whole && operator == "~":
		return new(big.Int).Not(i)
	case isFloat && operator == "+":
		return f
	case isFloat && operator == "-":
		return -f
	}
	failf(column, "%q does not apply to %s", operator, typeName(v))
	return nil
}

// binaryOf computes an operator of two values.
func (e *evaluator) binaryOf(column int, operator string, a, b Value) Value {
	if x, ok := a.(bool); ok {
		if y, ok := b.(bool); ok && strings.Contains("&|^", operator) {
			return bits(operator, x, y)
		}
	}
	x, xWhole := integer(a)
	y, yWhole := integer(b)
	switch {
	case xWhole && yWhole:
		return bounded(column, integers(column, operator, x, y))
	case isNumber(a) && isNumber(b):
		f, ok := real(a)
		g, also := real(b)
		if !ok || !also {
			failf(column, "an integer is beyond the range of a float")
		}
		return floats(column, operator, f, g)
	case operator == "+":
		if v, ok := e.joined(column, a, b); ok {
			return v
		}
	case operator == "*" && xWhole:
		return e.repeated(column, b, x)
	case operator == "*" && yWhole:
		return e.repeated(column, a, y)
	case operator == "%":
		if _, ok := a.(string); ok {
			failf(column, "formatting a text with %% is not allowed")
		}
	}
	failf(column, "%q does not apply to %s and %s", operator, typeName(a), typeName(b))
	return nil
}

func bits(operator string, a, b bool) bool {
	switch operator {
	case "&":
		return a && b
	case "|":
		return a || b
	}
	return a != b
}

// bounded refuses integers that grow without end.
func bounded(column int, v Value) Value {
	if i, ok := v.(*big.Int); ok && i.BitLen() > maxBits {
		failf(column, "an integer has more than %d bits", maxBits)
	}
	return v
}

func integers(column int, operator string, a, b *big.Int) Value {
	r := new(big.Int)
	switch operator {
	case "+":
		return r.Add(a, b)
	case "-":
		return r.Sub(a, b)
	case "*":
		return r.Mul(a, b)
	case "/":
		refuseZero(column, b.Sign() == 0)
		f, _ := new(big.Rat).SetFrac(a, b).Float64()
		if math.IsInf(f, 0) {
			failf(column, "the quotient is beyond the range of a float")
		}
		return f
	case "//", "%":
		refuseZero(column, b.Sign() == 0)
		q, m := new(big.Int).QuoRem(a, b, r)
		if m.Sign() != 0 && m.Sign() != b.Sign() {
			q.Sub(q, big.NewInt(1))
			m.Add(m, b)
		}
		if operator == "%" {
			return m
		}
		return q
	case "**":
		return integerPower(column, a, b)
	case "&":
		return r.And(a, b)
	case "|":
		return r.Or(a, b)
	case "^":
		return r.Xor(a, b)
	}
	if b.Sign() < 0 {
		failf(column, "the shift by %v is negative", b)
	}
	switch {
	case operator == ">>" && b.Cmp(big.NewInt(maxBits)) > 0:
		return r.Rsh(a, maxBits+1)
	case operator == ">>":
		return r.Rsh(a, uint(b.Int64()))
	case a.Sign() != 0 && b.Cmp(big.NewInt(maxBits)) > 0:
		failf(column, "an integer has more than %d bits", maxBits)
	case a.Sign() == 0:
		return r
	}
	return r.Lsh(a, uint(b.Int64()))
}

func refuseZero(column int, zero bool) {
	if zero {
		failf(column, "division by zero")
	}
}

func integerPower(column int, a, b *big.Int) Value {
	if b.Sign() < 0 {
		f, ok := real(a)
		g, also := real(b)
		if !ok || !also {
			failf(column, "an integer is beyond the range of a float")
		}
		return floats(column, "**", f, g)
	}
	if a.BitLen() > 1 && (!b.IsInt64() || b.Int64() > maxBits || int64(a.BitLen()-1)*b.Int64() > maxBits) {
		failf(column, "an integer has more than %d bits", maxBits)
	}
	if a.BitLen() <= 1 { // -1, 0 and 1, whatever the exponent
		b = big.NewInt(int64(b.Bit(0)) + 2*int64(min(1, b.Sign())))
	}
	return new(big.Int).Exp(a, b, nil)
}

func floats(column int, operator string, a, b float64) Value {
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		refuseZero(column, b == 0)
		return a / b
	case "//":
		refuseZero(column, b == 0)
		return floorQuotient(a, b)
	case "%":
		refuseZero(column, b == 0)
		return floorRemainder(a, b)
	case "**":
		return floatPower(column, a, b)
	}
	failf(column, "%q does not apply to floats", operator)
	return nil
}

// floorRemainder has the sign of the divisor.
func floorRemainder(a, b float64) float64 {
	m := math.Mod(a, b)
	switch {
	case m == 0:
		return math.Copysign(0, b)
	case (m < 0) != (b < 0):
		return m + b
	}
	return m
}

// floorQuotient is the whole number that goes with the remainder, as Python has it: computed
// from that, for a / b may have been rounded up to it.
func floorQuotient(a, b float64) float64 {
	m := math.Mod(a, b)
	q := (a - m) / b
	if m != 0 && (m < 0) != (b < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b)
	}
	floor := math.Floor(q)
	if q-floor > 0.5 {
		floor++
	}
	return floor
}

func floatPower(column int, a, b float64) float64 {
	refuseZero(column, a == 0 && b < 0)
	if a < 0 && b != math.Floor(b) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		failf(column, "%v ** %v is no real number", a, b)
	}
	f := math.Pow(a, b)
	if math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		failf(column, "the power is beyond the range of a float")
	}
	return f
}

// joined are two texts, lists or tuples as one.
func (e *evaluator) joined(column int, a, b Value) (Value, bool) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			boundText(column, len(a)+len(b))
			e.step(column, (len(a)+len(b))/8)
			return a + b, true
		}
	case *List:
		if b, ok := b.(*List); ok && a.Tuple == b.Tuple {
			boundItems(column, len(a.Items)+len(b.Items))
			e.step(column, len(a.Items)+len(b.Items))
			return &List{slices.Concat(a.Items, b.Items), a.Tuple}, true
		}
	}
	return nil, false
}

// repeated is a text, a list or a tuple several times.
func (e *evaluator) repeated(column int, v Value, times *big.Int) Value {
	n := 0
	if times.Sign() > 0 {
		n = maxItems + 1
		if times.Cmp(big.NewInt(maxItems)) <= 0 {
			n = int(times.Int64())
		}
	}
	switch v := v.(type) {
	case string:
		boundText(column, len(v)*n)
		e.step(column, len(v)*n/8)
		return strings.Repeat(v, min(n, maxText*min(1, len(v))))
	case *List:
		boundItems(column, len(v.Items)*n)
		e.step(column, len(v.Items)*n)
		if len(v.Items) == 0 {
			n = 0
		}
		return &List{slices.Repeat(v.Items, n), v.Tuple}
	}
	failf(column, "%q does not apply to an integer and %s", "*", typeName(v))
	return nil
}

func boundText(column, bytes int) {
	if bytes > maxText {
		failf(column, "the text would have %d bytes, more than %d", bytes, maxText)
	}
}

func boundItems(column, items int) {
	if items > maxItems {
		failf(column, "the list would have %d items, more than %d", items, maxItems)
	}
}

// compare is one link of a comparison.
func compare(column int, operator string, a, b Value) bool {
	switch operator {
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	case "in":
		return contains(column, b, a)
	case "not in":
		return !contains(column, b, a)
	}
	order := 0
	x, xText := a.(string)
	y, yText := b.(string)
	switch {
	case isNumber(a) && isNumber(b):
		var ordered bool
		if order, ordered = compareNumbers(a, b); !ordered {
			return false
		}
	case xText && yText:
		order = cmp.Compare(x, y)
	default:
		failf(column, "%q does not apply to %s and %s", operator, typeName(a), typeName(b))
	}
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func contains(column int, in, v Value) bool {
	switch in := in.(type) {
	case *List:
		return slices.ContainsFunc(in.Items, func(item Value) bool { return equal(item, v) })
	case string:
		part, ok := v.(string)
		if !ok {
			failf(column, "%s is not looked for in a text", typeName(v))
		}
		return strings.Contains(in, part)
	}
	failf(column, "%s has no items to look among", typeName(in))
	return false
}
