package export

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// A Language is one in which a kernel is exported.
type Language struct {
	isC       bool // else Python
	bools     map[bool]string
	evaluator string // the fixed part of files
	tables    *template.Template
	file      *template.Template
	suffix    string   // of the name of a file
	reserved  []string // words that no field and no local variable can have as a name
	keywords  []string // words that no file can have as a name
}

//go:embed evaluate.h
var evaluatorC string

//go:embed evaluate.py
var evaluatorPython string

//go:embed tables.h.tmpl
var tablesC string

//go:embed tables.py.tmpl
var tablesPython string

//go:embed header.h.tmpl
var headerC string

//go:embed module.py.tmpl
var modulePython string

const keywordsC = `alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
	const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
	goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
	register reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this
	thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq`

const keywordsPython = `False None True and as assert async await break class continue def del elif else except finally for from
	global if import in is lambda nonlocal not or pass raise return try while with yield`

// The languages.
var (
	C = newLanguage(tablesC, headerC, Language{ // C99 and C++
		isC: true, bools: map[bool]string{false: "0", true: "1"}, evaluator: evaluatorC, suffix: ".h",
		reserved: strings.Fields("device choice record level matched same_driver options " + keywordsC),
	})
	Python = newLanguage(tablesPython, modulePython, Language{
		bools: map[bool]string{false: "False", true: "True"}, evaluator: evaluatorPython, suffix: ".py",
		reserved: strings.Fields("device _fill " + keywordsPython), keywords: strings.Fields(keywordsPython),
	})
)

func newLanguage(tables, file string, l Language) *Language {
	functions := template.FuncMap{
		"literal": l.literal, "comment": comment, "row": l.row, "bytes": l.bytes, "words": words, "is_identifier": space.IsIdentifier,
		"long":        func(format string) string { return strings.Replace(format, "%", "%ll", 1) },
		"type":        func(k expression.Kind) string { return typesC[k] },
		"member":      func(k expression.Kind) string { return membersC[k] },
		"device_type": func(name string) string { return cmp.Or(deviceTypesC[name], "0") },
	}
	l.tables = template.Must(template.New("tables").Funcs(functions).Parse(tables))
	l.file = template.Must(template.New("file").Funcs(functions).Parse(file))
	return &l
}

// The types and the members of nd_value that C has for kinds, and its types of devices.
var (
	typesC = map[expression.Kind]string{
		expression.Int: "int64_t", expression.Float: "double", expression.Bool: "int", expression.String: "const char *",
	}
	membersC     = map[expression.Kind]string{expression.Int: "i", expression.Float: "f", expression.Bool: "i", expression.String: "text"}
	deviceTypesC = map[string]string{
		"cpu": "CL_DEVICE_TYPE_CPU", "gpu": "CL_DEVICE_TYPE_GPU", "accelerator": "CL_DEVICE_TYPE_ACCELERATOR",
	}
)

// word matches an option, or its value, in a line. Quotation marks stay: PyOpenCL joins a list with spaces.
var word = regexp.MustCompile(`(?:"(?:[^"\\]|\\.)*"|\\.|[^\s"\\])+|\S`)

func words(options string) []string { return word.FindAllString(options, -1) }

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

// Export returns a file with the wisdom about a problem: a header for C99 and C++, or a module for PyOpenCL. The sizes are the
// whole-number constants that the problem size, the size of a buffer or a repeat reads. The problem size is that of the
// problem, or other expressions over its constants; nil: none are given. The error names what cannot be exported: a source
// that is made for each configuration, a launch that reads the device, or wisdom about another kernel or another source.
func (l *Language) Export(p *problem.Problem, f *wisdom.File, size []definition.Expr) (File, error) {
	t, err := newTable(p, f, size)
	if err != nil {
		return File{}, err
	}
	if slices.Contains(l.keywords, t.Key) {
		return File{}, fmt.Errorf("no module of Python can be named %s, a keyword; give another one with --key, "+
			"or leave python out of --lang", t.Key)
	}
	if t.CUDA() && !l.isC {
		return File{}, errors.New("a kernel in CUDA C is exported for C and C++ only: --lang c")
	}
	shown, err := t.in(l)
	if err != nil {
		return File{}, err
	}
	var b bytes.Buffer
	err = l.file.Execute(&b, shown)
	return File{t.Key + l.suffix, b.Bytes()}, err
}

// CUDA reports whether the kernel is written in CUDA C.
func (t *table) CUDA() bool { return t.problem.Language() == source.CUDA }

// Device returns the type of a device in C.
func (t *table) Device() string { return t.api("cl_device_id", "CUdevice") }

// DeviceType returns the type of the kind of a device in C.
func (t *table) DeviceType() string { return t.api("cl_device_type", "int") }

// Buffer returns the type of a buffer in C.
func (t *table) Buffer() string { return t.api("cl_mem", "CUdeviceptr") }

func (t *table) api(openCL, cuda string) string {
	if t.CUDA() {
		return cuda
	}
	return openCL
}

// OptionBytes returns the length of the longest options with all sizes, for a char array.
func (f *form) OptionBytes() int {
	longest := 1
	for _, r := range f.Records {
		longest = max(longest, len(r.Options)+1)
	}
	for _, s := range f.Sizes {
		longest += len(" -D =") + len(s.Macro+s.Format) + len("-9223372036854775808")
	}
	return longest
}
