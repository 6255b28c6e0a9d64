package python

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
)

// A Value is what an expression computes: a *big.Int, a float64, a bool, a string or a
// [*List].
type Value any

// A List is a list or a tuple.
type List struct {
	Items []Value
	Tuple bool
}

// NewValue is a Go value as one of Python: a number, a bool, a text or a slice of them.
func NewValue(v any) (Value, error) {
	switch v := v.(type) {
	case *big.Int, *List:
		return v, nil
	case []any:
		l := &List{}
		for _, item := range v {
			i, err := NewValue(item)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, i)
		}
		return l, nil
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return big.NewInt(r.Int()), nil
	case r.CanUint():
		return new(big.Int).SetUint64(r.Uint()), nil
	case r.CanFloat():
		return r.Float(), nil
	case r.Kind() == reflect.Bool:
		return r.Bool(), nil
	case r.Kind() == reflect.String:
		return r.String(), nil
	}
	return nil, fmt.Errorf("a %T is no value of an expression", v)
}

// Plain is a value of Go: an int, a float64, a bool, a string or a []any of them. An integer
// beyond 64 bits and a float that is not finite are errors.
func Plain(v Value) (any, error) {
	switch v := v.(type) {
	case *big.Int:
		if !v.IsInt64() || int64(int(v.Int64())) != v.Int64() {
			return nil, fmt.Errorf("%s is beyond the integers of 64 bits", shortInteger(v))
		}
		return int(v.Int64()), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is not a finite number", v)
		}
		return v, nil
	case *List:
		items := make([]any, len(v.Items))
		for i, item := range v.Items {
			plain, err := Plain(item)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i+1, err)
			}
			items[i] = plain
		}
		return items, nil
	}
	return v, nil
}

func shortInteger(i *big.Int) string {
	if i.BitLen() > 256 {
		return fmt.Sprintf("an integer of %d bits", i.BitLen())
	}
	return i.String()
}

// typeName is what a message calls the type of a value.
func typeName(v Value) string {
	switch v := v.(type) {
	case *big.Int:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a bool"
	case string:
		return "a text"
	case *List:
		if v.Tuple {
			return "a tuple"
		}
		return "a list"
	}
	return fmt.Sprintf("a %T", v)
}

// integer is a value as an integer: True is 1.
func integer(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case *big.Int:
		return v, true
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	}
	return nil, false
}

// real is a number as a float; not ok where it is no number, or beyond the floats.
func real(v Value) (f float64, ok bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	i, ok := integer(v)
	if !ok {
		return 0, false
	}
	f, _ = new(big.Float).SetInt(i).Float64()
	return f, !math.IsInf(f, 0)
}

func isNumber(v Value) bool {
	switch v.(type) {
	case *big.Int, float64, bool:
		return true
	}
	return false
}

// truth is a value as a condition: 0, the empty text and the empty list are false.
func truth(v Value) bool {
	switch v := v.(type) {
	case *big.Int:
		return v.Sign() != 0
	case float64:
		return v != 0
	case bool:
		return v
	case string:
		return v != ""
	case *List:
		return len(v.Items) > 0
	}
	return false
}

// compareNumbers orders two numbers exactly, however large; ordered is false with NaN.
func compareNumbers(a, b Value) (order int, ordered bool) {
	x, y := exact(a), exact(b)
	if x == nil || y == nil {
		return 0, false
	}
	return x.Cmp(y), true
}

func exact(v Value) *big.Float {
	if f, ok := v.(float64); ok {
		if math.IsNaN(f) {
			return nil
		}
		return big.NewFloat(f)
	}
	i, _ := integer(v)
	return new(big.Float).SetInt(i)
}

// equal is Python's ==: of numbers by their value, 1 == 1.0 == True; of all else also by type.
func equal(a, b Value) bool {
	if isNumber(a) && isNumber(b) {
		order, ordered := compareNumbers(a, b)
		return ordered && order == 0
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a == b
	case *List:
		b, ok := b.(*List)
		if !ok || a.Tuple != b.Tuple || len(a.Items) != len(b.Items) {
			return false
		}
		for i := range a.Items {
			if !equal(a.Items[i], b.Items[i]) {
				return false
			}
		}
		return true
	}
	return false
}
