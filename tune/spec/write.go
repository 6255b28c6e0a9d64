package spec

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	disk "github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A Draft is a specification to be written: a definition without functions and data, the files that it names, and
// remarks for its reader.
type Draft struct {
	Definition problem.Definition
	Files      []string            // of the source, as the specification names them
	Reference  string              // verify.spec
	Head       []string            // comment lines at the beginning
	Remarks    map[string][]string // comment lines above fields, such as arguments[0]

	Arrays map[string]*array.Array // the contents of the .npy files that belong to the specification, by name
}

// Write writes the specification, and its .npy files beside it.
func (d *Draft) Write(path string) error {
	for name, data := range d.Arrays {
		if err := array.WriteNPY(filepath.Join(filepath.Dir(path), name), data, nil); err != nil {
			return err
		}
	}
	return disk.Write(path, func(w io.Writer) error {
		_, err := w.Write(d.YAML())
		return err
	})
}

// Remark adds comment lines above a field.
func (d *Draft) Remark(field, format string, args ...any) {
	if d.Remarks == nil {
		d.Remarks = map[string][]string{}
	}
	d.Remarks[field] = append(d.Remarks[field], strings.Split(fmt.Sprintf(format, args...), "\n")...)
}

// Relative returns the path of a source and the options of the compiler as a specification in the file out has them: with
// paths, and folders of -I, that are relative to the folder of that file.
func Relative(out, source string, options []string) (string, []string) {
	relative := func(path string) string {
		from, err1 := filepath.Abs(filepath.Dir(out))
		to, err2 := filepath.Abs(path)
		if short, err := filepath.Rel(from, to); err1 == nil && err2 == nil && err == nil {
			path = short
		}
		return filepath.ToSlash(path)
	}
	options = slices.Clone(options)
	for i, option := range options {
		if folder, ok := strings.CutPrefix(option, "-I"); ok {
			options[i] = "-I" + relative(folder)
		}
	}
	return relative(source), options
}

// YAML returns the text of the specification, one line for each argument, parameter and restriction. [Load] makes the
// same definition of it.
func (d *Draft) YAML() []byte {
	w := &specWriter{draft: d}
	for _, line := range d.Head {
		w.comment("", line)
	}
	x := &d.Definition
	w.kernel(x.Kernel)
	if len(x.Constants) > 0 {
		w.line("constants", "", "constants:")
		for _, c := range x.Constants {
			value := scalarText(c.Value)
			if c.Host {
				value = "{value: " + value + ", host: true}"
			}
			w.line("constants."+c.Name, "  ", scalarText(c.Name)+": "+value)
		}
	}
	w.line("problem_size", "", "problem_size: "+expressionList(x.ProblemSize))
	w.dimensions("block_size", func(i int) (string, bool) { return expressionText(x.BlockSize[i]), x.BlockSize[i] != "" })
	w.dimensions("grid_div", func(i int) (string, bool) { return expressionList(x.GridDiv[i]), x.GridDiv[i] != nil })
	empty := map[bool]string{true: " []"}
	if len(x.Types) > 0 {
		w.line("types", "", "types:")
		for _, t := range x.Types {
			var fields []part
			for _, f := range t.Fields {
				value := textText(f.Type)
				if f.Count != "" {
					value = mapping(part{"type", value}, part{"count", expressionText(f.Count)})
				}
				fields = append(fields, part{textText(f.Name), value})
			}
			w.line("types."+t.Name, "  ", textText(t.Name)+": "+mapping(fields...))
		}
	}
	w.line("arguments", "", "arguments:"+empty[len(x.Arguments) == 0])
	for i, a := range x.Arguments {
		w.line(fmt.Sprintf("arguments[%d]", i), "  ", "- "+argumentText(a))
	}
	w.lineRemarks(fmt.Sprintf("arguments[%d]", len(x.Arguments)), "  ")
	w.line("parameters", "", "parameters:"+strings.ReplaceAll(empty[len(x.Parameters) == 0], "[]", "{}"))
	for _, p := range x.Parameters {
		w.line("parameters."+p.Name, "  ", scalarText(p.Name)+": "+listText(p.Values, scalarText))
	}
	if len(x.Restrictions) > 0 {
		w.line("restrictions", "", "restrictions:")
		for i, r := range x.Restrictions {
			w.line(fmt.Sprintf("restrictions[%d]", i), "  ", "- "+expressionText(r.Expression))
		}
	}
	if len(x.BuildRestrictions) > 0 {
		w.line("build_restrictions", "", "build_restrictions:")
		for i, r := range x.BuildRestrictions {
			w.line(fmt.Sprintf("build_restrictions[%d]", i), "  ", "- "+expressionText(r))
		}
	}
	w.verification(x.Verify)
	if r := x.Roofline; r != nil {
		w.line("roofline", "", "roofline: "+mapping(
			part{"flops", expressionText(r.Flops)}, part{"bytes", expressionText(r.Bytes)}, part{"precision", textText(r.Precision)}))
	}
	if len(x.Metrics) > 0 {
		w.line("metrics", "", "metrics:")
		for _, m := range x.Metrics {
			w.line("metrics."+m.Name, "  ", textText(m.Name)+": "+expressionText(m.Expression))
		}
	}
	if o := x.Objective; o.Name != "" {
		var texts []string
		for _, one := range o.All() {
			direction := map[bool]string{true: "maximize", false: "minimize"}[one.Maximize]
			texts = append(texts, mapping(part{"name", textText(one.Name)}, part{"direction", direction}))
		}
		text := texts[0]
		if o.Several() {
			text = "[" + strings.Join(texts, ", ") + "]"
		}
		w.line("objective", "", "objective: "+text)
		if o.Choose != "" {
			w.line("choose", "", "choose: "+expressionText(o.Choose))
		}
	}
	if len(x.Baseline) > 0 {
		w.line("baseline", "", "baseline: "+sortedMapping(x.Baseline, scalarText))
	}
	if x.MaxEvaluations > 0 {
		w.line("max_evals", "", fmt.Sprintf("max_evals: %d", x.MaxEvaluations))
	}
	w.measure(x.Measure)
	if x.Seed > 0 {
		w.line("seed", "", fmt.Sprintf("seed: %d", x.Seed))
	}
	w.lineRemarks("", "")
	return w.text.Bytes()
}

func (w *specWriter) measure(m problem.Measure) {
	var parts []part
	t := m.Timing
	add := func(given bool, key string, value any) {
		if given {
			parts = append(parts, part{key, fmt.Sprint(value)})
		}
	}
	add(t.Cache != "", "cache", t.Cache)
	add(t.Launches > 0, "launches", t.Launches)
	add(t.Time > 0, "seconds", t.Time.Seconds())
	add(t.Warmup != 0, "warmup", max(0, t.Warmup))
	add(t.EarlyStop != 0, "early_stop", max(0, t.EarlyStop))
	var settings []part
	for _, s := range m.Settings {
		settings = append(settings, part{s.Name, expressionText(s.Expression)})
	}
	add(len(settings) > 0, "settings", mapping(settings...))
	if len(parts) == 0 {
		w.lineRemarks("measure", "")
		return
	}
	w.line("measure", "", "measure: "+mapping(parts...))
}

// A specWriter writes lines, each with the remarks on its field above it.
type specWriter struct {
	draft *Draft
	text  bytes.Buffer
}

func (w *specWriter) comment(indent, line string) {
	w.text.WriteString(strings.TrimRight(indent+"# "+line, " ") + "\n")
}

func (w *specWriter) lineRemarks(field, indent string) {
	for _, line := range w.draft.Remarks[field] {
		w.comment(indent, line)
	}
}

func (w *specWriter) line(field, indent, line string) {
	w.lineRemarks(field, indent)
	w.text.WriteString(indent + line + "\n")
}

func (w *specWriter) kernel(k problem.Kernel) {
	w.line("kernel", "", "kernel:")
	w.line("kernel.name", "  ", "name: "+textText(k.Name))
	if len(w.draft.Files) > 0 {
		w.line("kernel.file", "  ", "file: "+listText(w.draft.Files, textText))
	} else {
		w.line("kernel.source", "  ", "source: |\n    "+strings.ReplaceAll(strings.TrimSuffix(k.Source, "\n"), "\n", "\n    "))
	}
	if len(k.BuildOptions) > 0 {
		w.line("kernel.build_options", "  ", "build_options: ["+joined(k.BuildOptions, textText)+"]")
	}
	if k.Target != "" {
		w.line("kernel.target", "  ", "target: "+textText(k.Target))
	}
}

// dimensions writes a mapping of x, y and z.
func (w *specWriter) dimensions(key string, text func(i int) (string, bool)) {
	var parts []part
	for i, name := range []string{"x", "y", "z"} {
		if value, ok := text(i); ok {
			parts = append(parts, part{name, value})
		}
	}
	if len(parts) > 0 {
		w.line(key, "", key+": "+mapping(parts...))
	}
}

func (w *specWriter) verification(v *problem.Verification) {
	if v == nil {
		w.lineRemarks("verify", "")
		return
	}
	parts := []part{{"spec", textText(w.draft.Reference)}}
	if len(v.Configuration) > 0 {
		parts = append(parts, part{"parameters", sortedMapping(v.Configuration, scalarText)})
	}
	parts = append(parts, part{"launches", expressionText(v.Launches)})
	if v.Swap != [2]string{} {
		parts = append(parts, part{"swap", "[" + joined(v.Swap[:], textText) + "]"})
	}
	if len(v.Files) > 0 {
		parts = append(parts, part{"npy", sortedMapping(v.Files, textText)})
	}
	parts = append(parts, part{"atol", expressionText(v.ATol)}, part{"rtol", expressionText(v.RTol)})
	w.line("verify", "", "verify: "+mapping(parts...))
}

// A part of a mapping is a key with its value as YAML; without a value it is left out.
type part struct{ key, value string }

func mapping(parts ...part) string {
	var texts []string
	for _, p := range parts {
		if p.value != "" {
			texts = append(texts, p.key+": "+p.value)
		}
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

func sortedMapping[V any](m map[string]V, text func(V) string) string {
	var parts []part
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, part{textText(key), text(m[key])})
	}
	return mapping(parts...)
}

func joined[V any](values []V, text func(V) string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = text(v)
	}
	return strings.Join(texts, ", ")
}

// listText writes several values as a list, and one without brackets.
func listText[V any](values []V, text func(V) string) string {
	if len(values) == 1 {
		return text(values[0])
	}
	return "[" + joined(values, text) + "]"
}

func expressionList(list []problem.Expr) string { return listText(list, expressionText) }

func argumentText(a problem.Argument) string {
	parts := []part{{"name", textText(a.Name)}, {"type", textText(a.Type)}}
	switch {
	case a.Value != nil:
		parts = append(parts, part{"value", valueText(a.Value)})
	case a.LocalSize != "":
		parts = append(parts, part{"local_size", expressionText(a.LocalSize)})
	case a.Sampler != nil:
		s := a.Sampler
		return mapping(append(parts, part{"sampler", mapping(part{"coordinates", s.Coordinates}, part{"addressing", s.Addressing}, part{"filter", s.Filter})})...)
	case a.Image != nil:
		parts = append(parts, part{"image", textText(a.Image.Shape)}, part{"format", a.Image.Format}, part{"size", expressionList(a.Image.Size)}, part{"fill", fillText(a.Fill)})
	default:
		parts = append(parts, part{"size", expressionText(a.Size)}, part{"fill", fillText(a.Fill)})
	}
	if a.Output {
		parts = append(parts, part{"output", "true"})
	}
	if a.RestoreEachLaunch {
		parts = append(parts, part{"restore", "iteration"})
	}
	return mapping(parts...)
}

// valueText writes the value of an argument: a number or an expression, a list of a vector or an array, a mapping of a
// struct.
func valueText(v any) string {
	switch v := v.(type) {
	case []any:
		return "[" + joined(v, valueText) + "]"
	case map[string]any:
		return sortedMapping(v, valueText)
	}
	return scalarText(v)
}

func fillText(f problem.Fill) string {
	switch {
	case f.Copy != "":
		return mapping(part{"copy", textText(f.Copy)})
	case f.File != "":
		return mapping(part{"file", textText(f.File)})
	case f.Kind == array.Constant:
		return mapping(part{"constant", expressionText(f.Value)})
	case f.Kind == array.Random && f.High != "":
		return mapping(part{"random", "[" + expressionText(f.Low) + ", " + expressionText(f.High) + "]"})
	case f.Kind == array.Normal && (f.Mean != "" || f.Std != ""):
		return mapping(part{"normal", mapping(part{"mean", expressionText(f.Mean)}, part{"std", expressionText(f.Std)})})
	}
	return string(f.Kind)
}

// expressionText writes an expression, "" for none. One that is a number needs no quotes.
func expressionText(e problem.Expr) string {
	if v, err := plain(e); err == nil && e != "" {
		if _, isText := v.(string); !isText {
			return e
		}
	}
	return textText(e)
}

// textText writes a text that is read as one whatever it looks like, "" for an empty one.
func textText(text string) string {
	if text == "" {
		return ""
	}
	return scalarText(text)
}

// scalarText writes a value so that [scalar] reads the same.
func scalarText(v space.Value) string {
	text, ok := v.(string)
	if !ok {
		if b, ok := v.(bool); ok {
			return strconv.FormatBool(b)
		}
		return space.FormatValue(v)
	}
	if text == Undecided {
		return text
	}
	first := strings.TrimLeft(text, "-") // one hyphen may begin a plain text
	switch read, err := plain(text); {
	case strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }):
		return strconv.Quote(text)
	case read != text, err != nil, len(text)-len(first) > 1, first == "", strings.ContainsRune(" ?:!&*|>%@`=<~", rune(first[0])),
		strings.ContainsAny(text, ",[]{}#\"'\\"), strings.Contains(text, ": "), strings.HasSuffix(text, ":"), strings.HasSuffix(text, " "):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return text
}
