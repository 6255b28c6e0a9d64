package spec

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/each"
	disk "github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// A Draft is a specification to be written: the kernel, the constants, sizes, arguments, parameters, restrictions and baseline of a
// definition, what verifies it (the configuration, files and tolerances), the files that it names, and remarks for its reader. Other parts
// of the definition are not written.
type Draft struct {
	Definition definition.Definition
	Files      []string            // of the source, as the specification names them
	Reference  string              // verify.spec
	Head       []string            // comment lines at the beginning
	Remarks    map[string][]string // comment lines above fields, such as arguments[0]
}

// Write writes the specification.
func (d *Draft) Write(path string) error {
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

// YAML returns the text of the specification, one line for each argument and parameter. [Load] makes the
// same definition of it.
func (d *Draft) YAML() []byte {
	x := &d.Definition
	root := &yaml.Node{Kind: yaml.MappingNode}
	var remarks []string // those on keys that are left out stand above the next key
	for _, p := range []part{
		{"kernel", d.kernelNode()},
		{"constants", d.block("constants", each.Of(x.Constants, constantPart))},
		{"problem_size", listNode(x.ProblemSize, expressionNode)},
		{"block_size", dimensionsNode(x.BlockSize, expressionNode)},
		{"grid_div", dimensionsNode(x.GridDiv, func(d []definition.Expr) *yaml.Node { return listNode(d, expressionNode) })},
		{"global_offset", listNode(x.GlobalOffset, expressionNode)},
		{"types", d.block("types", each.Of(x.Types, typePart))},
		{"arguments", cmp.Or(d.lines("arguments", each.Of(x.Arguments, argumentNode)), sequence(nil))},
		{"parameters", cmp.Or(d.block("parameters", each.Of(x.Parameters, parameterPart)), &yaml.Node{Kind: yaml.MappingNode})},
		{"restrictions", d.lines("restrictions", each.Of(x.Restrictions, func(r space.Restriction) *yaml.Node { return given(r.Expression) }))},
		{"verify", d.verificationNode()},
		{"baseline", sortedNode(x.Baseline, scalarNode)},
		{"measure", nil}, // only a remark
	} {
		remarks = append(remarks, d.Remarks[p.key]...)
		if p.value == nil {
			continue
		}
		key := scalarNode(p.key)
		key.HeadComment = comment(remarks)
		root.Content = append(root.Content, key, p.value)
		remarks = nil
	}
	var text bytes.Buffer
	text.WriteString(comment(d.Head))
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		panic(err) // the nodes are well formed, and a buffer takes everything
	}
	text.WriteString(comment(remarks))
	return text.Bytes()
}

// comment returns lines as comments.
func comment(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		printable := strings.Map(func(c rune) rune { // what YAML may take for the end of a line is not
			if unicode.IsPrint(c) {
				return c
			}
			return ' '
		}, line)
		text.WriteString(strings.TrimRight("# "+printable, " ") + "\n")
	}
	return text.String()
}

// A part of a mapping is a key with its value; nil: it is left out.
type part struct {
	key   string
	value *yaml.Node
}

// mapping returns a mapping on one line, nil if it has no keys.
func mapping(parts ...part) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, p := range parts {
		if p.value != nil {
			n.Content = append(n.Content, scalarNode(p.key), p.value)
		}
	}
	if len(n.Content) == 0 {
		return nil
	}
	return n
}

// block returns a mapping with one line for each part, below the remarks on it.
func (d *Draft) block(field string, parts []part) *yaml.Node {
	n := mapping(parts...)
	if n == nil {
		return nil
	}
	n.Style = 0
	for i := 0; i < len(n.Content); i += 2 {
		n.Content[i].HeadComment = comment(d.Remarks[field+"."+n.Content[i].Value])
	}
	return n
}

// lines returns a list with one line for each item, below the remarks on it.
func (d *Draft) lines(field string, items []*yaml.Node) *yaml.Node {
	if len(items) == 0 {
		return nil
	}
	for i, item := range items {
		item.HeadComment = comment(d.Remarks[fmt.Sprintf("%s[%d]", field, i)])
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

func (d *Draft) kernelNode() *yaml.Node {
	k := d.Definition.Kernel
	parts := []part{{"name", scalarNode(k.Name)}, {"language", given(k.Language)}}
	if len(d.Files) > 0 {
		parts = append(parts, part{"file", listNode(d.Files, scalarNode)})
	} else {
		parts = append(parts, part{"source", &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.LiteralStyle, Value: k.Source}})
	}
	if len(k.BuildOptions) > 0 {
		parts = append(parts, part{"build_options", sequence(each.Of(k.BuildOptions, scalarNode))})
	}
	return d.block("kernel", append(parts, part{"target", given(k.Target)}))
}

func constantPart(c definition.Constant) part {
	if c.Host {
		return part{c.Name, mapping(part{"value", scalarNode(c.Value)}, part{"host", scalarNode(true)})}
	}
	return part{c.Name, scalarNode(c.Value)}
}

func typePart(t definition.StructType) part {
	var fields []part
	for _, f := range t.Fields {
		value := scalarNode(f.Type)
		if f.Count != "" {
			value = mapping(part{"type", value}, part{"count", expressionNode(f.Count)})
		}
		fields = append(fields, part{f.Name, value})
	}
	return part{t.Name, mapping(fields...)}
}

func argumentNode(a definition.Argument) *yaml.Node {
	parts := []part{
		{"name", given(a.Name)}, {"type", given(a.Type)}, {"value", valueNode(a.Value)}, {"local_size", expressionNode(a.LocalSize)},
		{"alias", given(a.Alias)}, {"symbol", given(a.Symbol)},
	}
	if s := a.Sampler; s != nil {
		parts = append(parts, part{"sampler", mapping(
			part{"coordinates", given(s.Coordinates)}, part{"addressing", given(s.Addressing)}, part{"filter", given(s.Filter)})})
	}
	size := expressionNode(a.Size)
	if a.Image != nil {
		parts = append(parts, part{"image", given(a.Image.Shape)}, part{"format", given(a.Image.Format)})
		size = listNode(a.Image.Size, expressionNode)
	}
	restore := ""
	if a.RestoreEachLaunch {
		restore = "iteration"
	}
	parts = append(parts,
		part{"size", size}, part{"fill", fillNode(a.Fill)}, part{"output", given(a.Output)}, part{"restore", given(restore)})
	return mapping(parts...)
}

func fillNode(f definition.Fill) *yaml.Node {
	switch {
	case f.Copy != "":
		return mapping(part{"copy", given(f.Copy)})
	case f.File != "":
		return mapping(part{"file", given(f.File)})
	case f.Shared != "":
		return mapping(part{"shared", given(f.Shared)})
	case f.Kind == array.Constant:
		return mapping(part{"constant", expressionNode(f.Value)})
	case f.Kind == array.Random && f.High != "":
		return mapping(part{"random", sequence([]*yaml.Node{expressionNode(f.Low), expressionNode(f.High)})})
	case f.Kind == array.Normal && (f.Mean != "" || f.Std != ""):
		return mapping(part{"normal", mapping(part{"mean", expressionNode(f.Mean)}, part{"std", expressionNode(f.Std)})})
	}
	return given(string(f.Kind))
}

func parameterPart(p space.Parameter) part { return part{p.Name, listNode(p.Values, scalarNode)} }

func (d *Draft) verificationNode() *yaml.Node {
	v := d.Definition.Verify
	if v == nil {
		return nil
	}
	asText := func(c definition.Comparison) *yaml.Node {
		return mapping(part{"as", given(string(c.As))}, part{"rows", expressionNode(c.Rows)})
	}
	return mapping(part{"spec", given(d.Reference)}, part{"parameters", sortedNode(v.Configuration, scalarNode)},
		part{"npy", sortedNode(v.Files, scalarNode)}, part{"compare", sortedNode(v.Compare, asText)},
		part{"atol", expressionNode(v.ATol)}, part{"rtol", expressionNode(v.RTol)})
}

// sequence returns a list on one line.
func sequence(items []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: items}
}

// listNode returns several values as a list, one value as itself, and nil for none.
func listNode[V any](values []V, node func(V) *yaml.Node) *yaml.Node {
	switch len(values) {
	case 0:
		return nil
	case 1:
		return node(values[0])
	}
	return sequence(each.Of(values, node))
}

// dimensionsNode returns a mapping of x, y and z.
func dimensionsNode[V any](values [3]V, node func(V) *yaml.Node) *yaml.Node {
	var parts []part
	for i, name := range definition.Dimensions {
		parts = append(parts, part{name, node(values[i])})
	}
	return mapping(parts...)
}

func sortedNode[V any](m map[string]V, node func(V) *yaml.Node) *yaml.Node {
	return mapping(each.Of(slices.Sorted(maps.Keys(m)), func(key string) part { return part{key, node(m[key])} })...)
}

// valueNode returns the value of an argument: a number or an expression, a list of a vector or an array, a mapping of a
// struct; nil for nil.
func valueNode(v any) *yaml.Node {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return sequence(each.Of(v, valueNode))
	case map[string]any:
		return sortedNode(v, valueNode)
	}
	return scalarNode(v)
}

// expressionNode returns an expression, nil for "". One that is a number needs no quotes.
func expressionNode(e definition.Expr) *yaml.Node {
	if v, err := plain(e); err == nil && e != "" {
		if _, isText := v.(string); !isText {
			return &yaml.Node{Kind: yaml.ScalarNode, Value: e}
		}
	}
	return given(e)
}

// given returns a value, or nil for 0, "" and false.
func given[V comparable](v V) *yaml.Node {
	if v == *new(V) {
		return nil
	}
	return scalarNode(v)
}

// scalarNode returns a value so that [scalar] reads the same.
func scalarNode[V any](value V) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := any(value).(type) {
	case string:
		n.Value = v
		if read, err := plain(v); v != Undecided && (err != nil || read != v) {
			n.Style = yaml.SingleQuotedStyle
		}
	case bool:
		n.Value = strconv.FormatBool(v)
	default:
		n.Value = space.FormatValue(v)
	}
	return n
}
