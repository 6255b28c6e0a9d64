package export

import (
	"bytes"
	_ "embed"
	"strings"
	"text/template"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

//go:embed header.h.tmpl
var headerText string

var headerTemplate = template.Must(template.New("header").Funcs(C.functions).Funcs(template.FuncMap{
	"is_identifier": space.IsIdentifier,
	"long":          func(format string) string { return strings.Replace(format, "%", "%ll", 1) },
	"type":          func(k expression.Kind) string { return typesC[k] },
	"member":        func(k expression.Kind) string { return membersC[k] },
	"device_type": func(name string) string {
		switch name {
		case "cpu":
			return "CL_DEVICE_TYPE_CPU"
		case "gpu":
			return "CL_DEVICE_TYPE_GPU"
		case "accelerator":
			return "CL_DEVICE_TYPE_ACCELERATOR"
		}
		return "0"
	},
}).Parse(headerText))

var typesC = map[expression.Kind]string{expression.Int: "int64_t", expression.Float: "double", expression.Bool: "int", expression.String: "const char *"}

// membersC are the members of nd_value that have a value.
var membersC = map[expression.Kind]string{expression.Int: "i", expression.Float: "f", expression.Bool: "i", expression.String: "text"}

// Header returns a header for C99 and C++ with the wisdom about a problem. The sizes are the whole-number constants that the
// problem size, the size of a buffer or a repeat reads. The problem size is that of the problem, or other expressions over
// its constants; nil: none are given. The error names what cannot be exported: a source that is made for each
// configuration, a launch that reads the device, or wisdom about another kernel or another source.
func Header(p *problem.Problem, f *wisdom.File, size []problem.Expr) (File, error) {
	t, err := newTable(p, f, size)
	if err != nil {
		return File{}, err
	}
	x, err := t.in(C)
	if err != nil {
		return File{}, err
	}
	var b bytes.Buffer
	err = headerTemplate.Execute(&b, x)
	return File{t.Key + ".h", b.Bytes()}, err
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
