package space

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// Integer values, products of them and counts of configurations are int. Systems of 32 bits are
// not supported: this does not compile there.
const _ int = 1 << 62

// A Value is what a parameter or a constant can be: an int, a float64, a bool or a
// string. The digits of an integer above the largest int are a string, which kernels, values and fills take.
type Value = any

// NormalizeValue turns any Go integer, float, bool or string into a [Value]. It refuses
// other types, infinities and NaN.
func NormalizeValue(v any) (Value, error) {
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return nil, fmt.Errorf("no value given; want a number, a bool or a string")
	case r.CanInt():
		return int(r.Int()), nil
	case r.CanUint():
		return ParseInteger(fmt.Sprint(r.Uint()))
	case r.CanFloat():
		if math.IsNaN(r.Float()) || math.IsInf(r.Float(), 0) {
			return nil, fmt.Errorf("%v is not a finite number", v)
		}
		return r.Float(), nil
	case r.Kind() == reflect.Bool:
		return r.Bool(), nil
	case r.Kind() == reflect.String:
		return r.String(), nil
	}
	return nil, fmt.Errorf("a %T is not a number, a bool or a string", v)
}

// ParseValue reads a number, a bool or a string as JSON has it: a number without a point or an exponent is an int.
func ParseValue(raw []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return v.Float64()
		}
		return ParseInteger(v.String())
	case string, bool:
		return v, nil
	}
	return nil, fmt.Errorf("%s is not a number, a bool or a text", raw)
}

// ParseInteger returns an integer of 64 bits, which may be written as in Go, as a [Value].
func ParseInteger(text string) (Value, error) {
	if i, err := strconv.ParseInt(text, 0, 0); err == nil {
		return int(i), nil
	}
	if u, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 0, 64); err == nil {
		return strconv.FormatUint(u, 10), nil
	}
	return nil, fmt.Errorf("%s is beyond the integers of 64 bits, %d to %d", excerpt.Of(text), math.MinInt, uint64(math.MaxUint64))
}

// MarshalValue is a value as JSON. It keeps a float that is a whole number a float (2.0, not 2), so that it comes
// back as one.
func MarshalValue(v Value) ([]byte, error) {
	v, err := NormalizeValue(v)
	if _, ok := v.(float64); ok {
		return []byte(FormatValue(v)), nil
	}
	if err != nil {
		return nil, err
	}
	return marshal(v)
}

// FormatValue is the text of a value as it is printed and handed to a kernel: decimal
// integers, the shortest text that gives the same float64 back and is told apart from an
// integer, 1 and 0 for true and false, strings as they are.
func FormatValue(v Value) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if isInteger(text) {
			text += ".0"
		}
		return text
	case bool:
		if v {
			return "1"
		}
		return "0"
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func isInteger(text string) bool {
	for i, c := range text {
		if (c < '0' || c > '9') && !(i == 0 && c == '-') {
			return false
		}
	}
	return true
}

// SameValue reports whether two values are the same for a kernel: numbers by their value,
// whether they are held as an int, a float64 or a bool; all else by type and value.
func SameValue(a, b Value) bool { return Plain(a) == Plain(b) }

// Plain returns what all values have in common that are the same for a kernel: a bool, and a float64 that is an integer, as an int.
func Plain(v Value) Value {
	switch v := v.(type) {
	case float64:
		if math.Abs(v) < 1<<63 && v == math.Trunc(v) {
			return int(v)
		}
	case bool:
		if v {
			return 1
		}
		return 0
	}
	return v
}

// Number is a value as a number, as a kernel has it: true is 1 and false is 0. It reports whether the
// value is a number or a bool.
func Number(v Value) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
