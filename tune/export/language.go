package export

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"
)

// A Language is one in which a kernel is exported.
type Language struct {
	isC       bool   // else Python
	evaluator string // the fixed part of exported files
	tables    *template.Template
	functions template.FuncMap // of templates
	reserved  []string         // words that no field and no local variable can have as a name
}

//go:embed evaluate.h
var evaluatorC string

//go:embed evaluate.py
var evaluatorPython string

//go:embed tables.h.tmpl
var tablesC string

//go:embed tables.py.tmpl
var tablesPython string

const reservedC = `device choice record level matched same_driver options
	alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
	const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
	goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
	register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this
	thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq`

const keywordsPython = `False None True and as assert async await break class continue def del elif else except finally for from
	global if import in is lambda nonlocal not or pass raise return try while with yield`

const reservedPython = "device _fill " + keywordsPython

// The languages.
var (
	C      = newLanguage(tablesC, Language{isC: true, evaluator: evaluatorC, reserved: strings.Fields(reservedC)}) // C99 and C++
	Python = newLanguage(tablesPython, Language{evaluator: evaluatorPython, reserved: strings.Fields(reservedPython)})
)

func newLanguage(tables string, l Language) *Language {
	l.functions = template.FuncMap{"literal": l.literal, "comment": comment, "row": l.row, "bytes": l.bytes}
	l.tables = template.Must(template.New("tables").Funcs(l.functions).Parse(tables))
	return &l
}

// Evaluator returns the fixed part of exported files, which computes rules. That of C needs the type cl_mem.
func (l *Language) Evaluator() string { return l.evaluator }

// Tables returns rules as tables of data, whose names begin with a key.
func (l *Language) Tables(r *Rules, key string) (string, error) {
	var b bytes.Buffer
	err := l.tables.Execute(&b, struct {
		*Rules
		Key string
	}{r, key})
	return b.String(), err
}

// row returns a code.
func (l *Language) row(k code) (string, error) {
	operand, err := l.literal(k.Operand)
	if l.isC {
		format := map[string]string{"int": "ND_INT(%s)", "bool": "ND_INT(%s)", "float": "ND_FLOAT(%s)", "text": "ND_TEXT(%s)", "name": "ND_NAME(%s)"}[k.Operation]
		if format == "" {
			format = "ND_DO(" + strings.ToUpper(k.Operation) + ", %s)"
		}
		return fmt.Sprintf(format, operand), err
	}
	return fmt.Sprintf("(%q, %s)", k.Operation, operand), err
}

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
		switch {
		case l.isC && v:
			return "1", nil
		case l.isC:
			return "0", nil
		case v:
			return "True", nil
		}
		return "False", nil
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
