package export

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// row returns a code.
func (l *Language) row(k code) (string, error) {
	operand, err := l.literal(k.Operand)
	switch push := pushesC[k.Operation]; {
	case !l.isC:
		return fmt.Sprintf("(%q, %s)", k.Operation, operand), err
	case push != "":
		return push + "(" + operand + ")", err
	}
	return fmt.Sprintf("ND_DO(%s, %s)", strings.ToUpper(k.Operation), operand), err
}

// pushesC are the macros of evaluate.h for codes that put a value on the stack.
var pushesC = map[string]string{"int": "ND_INT", "bool": "ND_INT", "float": "ND_FLOAT", "text": "ND_TEXT", "name": "ND_NAME"}

// literal returns a value.
func (l *Language) literal(v any) (string, error) {
	switch v := v.(type) {
	case int:
		if v == math.MinInt64 && l.isC {
			return "INT64_MIN", nil
		}
		return strconv.Itoa(v), nil
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text, nil
	case bool:
		return l.bools[v], nil
	case string:
		return l.quoted(v)
	}
	return "", fmt.Errorf("%v, a %T, is no value of an expression", v, v)
}

// quoted returns a text as a literal. Escapes of three octal digits are those of C, of eight hexadecimal ones those of Python.
func (l *Language) quoted(text string) (string, error) {
	if err := checkText(text); err != nil {
		return "", fmt.Errorf("%q: %w", text, err)
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r >= ' ' && r <= '~' && (r != '?' || !l.isC): // ?? begins a trigraph of C
			b.WriteRune(r)
		case l.isC:
			b.WriteString(octal([]byte(string(r))))
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return `"` + b.String() + `"`, nil
}

// checkText returns an error for a text that has no literal.
func checkText(text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return errors.New("a text in UTF-8 without a zero is wanted")
	}
	return nil
}

// bytes returns bytes as a literal.
func (l *Language) bytes(all []byte) string {
	if l.isC {
		return `"` + octal(all) + `"`
	}
	return `b"` + octal(all) + `"`
}

func octal(all []byte) string {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}

// comment returns a text in one line that ends no comment of C and begins none.
func comment(text string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *").Replace(strings.Join(strings.Fields(text), " "))
}
