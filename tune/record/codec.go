package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This package has a JSON codec of its own because encoding/json
//   - has no form for numbers that are not finite, and refuses them;
//   - loses the order of members, of parameters and metrics, in a map;
//   - does not name the member in the error of a type's own UnmarshalJSON;
//   - takes four times as long to write a line of a run log, and 1.6 times as long to read it (measured 2026-11-26).
//
// Text that is written or read once for a file, and not for each result, goes through
// encoding/json. The readers here expect valid JSON: the caller has checked it with json.Valid.

// appendFloat writes the shortest text that gives the same float64 back. JSON has no word
// for numbers that are not finite: NaN, which is not known, is null, and infinities are texts.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "null"...)
	case math.IsInf(f, 1):
		return append(b, `"+Inf"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Inf"`...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

func appendFloats(b []byte, fs []float64) []byte {
	b = append(b, '[')
	for _, f := range fs {
		b = appendFloat(separate(b), f)
	}
	return append(b, ']')
}

// separate writes the comma between two members of an object or two elements of a list.
func separate(b []byte) []byte {
	if last := b[len(b)-1]; last != '{' && last != '[' {
		b = append(b, ',')
	}
	return b
}

// appendName writes the beginning of a member. The name needs no escapes.
func appendName(b []byte, name string) []byte {
	return append(append(append(separate(b), '"'), name...), '"', ':')
}

// appendText writes a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendText(b []byte, s string) []byte {
	needsEscape := func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c == 0x7f || c == utf8.RuneError }
	if !strings.ContainsFunc(s, needsEscape) {
		return append(append(append(b, '"'), s...), '"')
	}
	text, _ := marshal(s) // a string cannot fail
	return append(b, text...)
}

// members are the members of a valid JSON object in order, the values as they stand.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		i := skipSpace(object, 1)
		for object[i] != '}' {
			end := valueEnd(object, i)
			key := unquote(object[i:end])
			i = skipSpace(object, skipSpace(object, end)+1) // over the colon
			end = valueEnd(object, i)
			if !yield(key, object[i:end]) {
				return
			}
			i = nextValue(object, end)
		}
	}
}

// elements are the elements of a valid JSON array in order, as they stand.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipSpace(array, 1)
		for array[i] != ']' {
			end := valueEnd(array, i)
			if !yield(array[i:end]) {
				return
			}
			i = nextValue(array, end)
		}
	}
}

// nextValue is the place of the member or element behind the one that ends at i, or of the end of
// the object or array.
func nextValue(data []byte, i int) int {
	if i = skipSpace(data, i); data[i] == ',' {
		i = skipSpace(data, i+1)
	}
	return i
}

func skipSpace(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t' {
		i++
	}
	return i
}

// valueEnd is the place after the value that begins at i.
func valueEnd(data []byte, i int) int {
	depth := 0
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// kindOf names the kind of a value for messages.
func kindOf(raw []byte) string {
	switch {
	case len(raw) == 0:
		return "nothing"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "a list"
	case raw[0] == '"':
		return "a text"
	case raw[0] == 'n':
		return "null"
	case raw[0] == 't' || raw[0] == 'f':
		return "a bool"
	}
	return "a number"
}

// unquote is the text of a valid JSON string.
func unquote(raw []byte) string {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var text string
	_ = json.Unmarshal(raw, &text) // it is valid
	return text
}

func parseText(raw []byte) (string, error) {
	if raw[0] != '"' {
		return "", fmt.Errorf("want a text, not %s", kindOf(raw))
	}
	return unquote(raw), nil
}

// parseNumber reads a number, or one that is not finite: see appendFloat.
func parseNumber(raw []byte) (float64, error) {
	text := string(raw)
	switch text {
	case "null":
		return math.NaN(), nil
	case `"NaN"`, `"+Inf"`, `"-Inf"`: // the first from Python: see quoteNotFinite
		text = text[1 : len(text)-1]
	default:
		if kind := kindOf(raw); kind != "a number" {
			return 0, fmt.Errorf("want a number, not %s", kind)
		}
	}
	return strconv.ParseFloat(text, 64)
}

// parseNumbers reads a list of numbers; null, an empty list and nothing are nil.
func parseNumbers(raw []byte) ([]float64, error) {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, fmt.Errorf("want a list of numbers, not %s", kindOf(raw))
	}
	var numbers []float64
	for element := range elements(raw) {
		if numbers == nil {
			numbers = make([]float64, 0, bytes.Count(raw, []byte{','})+1)
		}
		f, err := parseNumber(element)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, f)
	}
	return numbers, nil
}
