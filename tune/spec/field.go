package spec

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// A document is a specification file while it is read.
type document struct {
	files
	path   string
	text   []byte // of the specification; nil: it is in the file
	errs   Errors
	at     map[string]position // the positions of the fields that were read
	faulty map[string]bool     // the fields that have an error, or whose keys are misspelt

	options map[string]string // the options that give values to fields, by field

	sizes      []definition.Size
	checked    map[string]space.Value // of check.set
	unverified bool                   // verify is not read
	sourcePath string                 // of the kernel, where it is a file
	cudaPath   string                 // of the kernel in CUDA C beside OpenCL C
	reference  string                 // the specification that verify names

	note func(path, typ, meaning string) // gets the keys that readers know, for the reference of the format; then no value is read
}

// A field is a value in a document, with its path, such as arguments[0].size.
type field struct {
	*document
	name string
	node *yaml.Node
}

func (d *document) field(name string, node *yaml.Node) field {
	d.at[name] = place(node)
	return field{d, name, resolved(node)}
}

// failf adds an error about the field.
func (f field) failf(format string, args ...any) { f.fail(fmt.Errorf(format, args...)) }

func (f field) fail(err error) { f.failAt(f.name, f.locate(f.name), err) }

// failKey adds an error about a key of the mapping.
func (f field) failKey(key, message string) {
	name := f.pathOf(key)
	f.failAt(name, f.locate(name), errors.New(message))
}

// failAt adds an error about a field at a position. It names the option that the field comes from instead, if it is not
// in the file.
func (d *document) failAt(field string, at position, err error) {
	name := field
	if option, ok := d.option(field); ok && at == (position{}) {
		if name = option; d.options[field] != option {
			err = fmt.Errorf("%s: %w", field, err)
		}
	}
	d.errs = append(d.errs, d.errorAt(name, at, err))
	d.faulty[field] = true
}

func (d *document) errorAt(field string, at position, err error) *Error {
	return &Error{d.path, at.line, at.column, field, err}
}

// failed reports whether a field or a part of it has an error of form.
func (d *document) failed(field string) bool {
	for faulty := range d.faulty {
		if rest, ok := strings.CutPrefix(faulty, field); ok && (rest == "" || field == "" || strings.ContainsRune(".[", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// expected adds the error of a field of the wrong kind.
func (f field) expected(what string) { f.failf("expected %s, found %s", what, found(f.node)) }

func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch v, err := scalar(n); {
	case err != nil:
		return excerpt.Of(n.Value)
	case v == nil:
		return "nothing"
	default:
		if text, ok := v.(string); ok && n.Style == 0 && wholeNumber.MatchString(text) {
			return text + ", which only fills, values, constants and parameters can be"
		} else if ok {
			return fmt.Sprintf("the text %q", excerpt.Of(text))
		}
		return n.Value
	}
}

// list returns the items of a list.
func (f field) list() []field {
	if f.note != nil {
		return []field{f}
	}
	if f.node.Kind != yaml.SequenceNode {
		f.expected("a list")
		return nil
	}
	return f.items()
}

func (f field) items() []field {
	items := make([]field, len(f.node.Content))
	for i, n := range f.node.Content {
		items[i] = f.field(fmt.Sprintf("%s[%d]", f.name, i), n)
	}
	return items
}

// listOrOne returns the items of a list, or the field itself if it is no list.
func (f field) listOrOne() []field {
	if f.node.Kind == yaml.SequenceNode {
		return f.items()
	}
	return []field{f}
}

// several returns the items of a list with least to most of them, as form shows it.
func (f field) several(form string, least, most int) []field {
	items := f.list()
	if n := len(items); n >= least && n <= most {
		return items
	}
	if f.node.Kind == yaml.SequenceNode {
		f.failf("expected %s, found a list of %d", form, len(items))
	}
	return nil
}

// A position is a line and a column of a file, from 1.
type position struct{ line, column int }

// locate returns the position of a field, or of the innermost present field that holds it.
func (d *document) locate(field string) position {
	for field != "" {
		if at, ok := d.at[field]; ok {
			return at
		}
		field = outer(field)
	}
	return d.at[""]
}

// outer returns the field that holds a field: arguments[0] for arguments[0].size, then arguments,
// then "".
func outer(field string) string { return field[:max(0, strings.LastIndexAny(field, ".["))] }

// An entry is a key of a mapping with its value.
type entry struct {
	key   string
	at    position // of the key
	value field
}

// entries returns the keys and values of a mapping in order, and adds errors for keys that are no scalars, that are repeated, and that
// merge another mapping.
func (f field) entries() []entry {
	if f.node.Kind != yaml.MappingNode {
		f.expected("a mapping")
		return nil
	}
	if f.note != nil {
		if strings.Count(f.name, anyName) > 1 { // the values of arguments are mappings of mappings
			return nil
		}
		return []entry{{key: anyName, value: f.field(f.pathOf(anyName), f.node)}}
	}
	lines := map[string]int{}
	var entries []entry
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		k := resolved(f.node.Content[i])
		line, twice := lines[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode:
			f.failAt(f.name, place(k), errors.New("a key must be a plain name"))
		case k.Tag == "!!merge":
			f.failAt(f.name, place(k), errors.New("merge keys (<<) are not read: write the keys of the other mapping out"))
		case twice:
			f.failAt(f.pathOf(k.Value), place(k), fmt.Errorf("the key stands twice, first on line %d", line))
		default:
			lines[k.Value] = k.Line
			entries = append(entries, entry{k.Value, place(k), f.field(f.pathOf(k.Value), f.node.Content[i+1])})
		}
	}
	return entries
}

// pathOf returns the path of a key of the mapping.
func (f field) pathOf(key string) string {
	if f.name == "" {
		return key
	}
	return f.name + "." + key
}

// resolved returns the node that an alias refers to, or the node itself.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func place(n *yaml.Node) position { return position{n.Line, n.Column} }
