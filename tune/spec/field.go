package spec

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// A document is a specification file while it is read.
type document struct {
	files
	path   string
	at     map[string]position // the place of every field that was seen
	errs   Errors              // what is wrong
	wrong  map[string]bool     // the fields of errs
	within map[string]bool     // these fields, and all that hold them
	merges int                 // merge keys followed so far
	meant  map[string]bool     // fields whose key is misspelt
	given  map[string]string   // fields whose value an option gives, and the option

	unverified bool   // verify is not looked at
	sourcePath string // of the kernel, where it is a file
	reference  string // the specification that verify names
}

// A field is a value in a document under its path.
type field struct {
	*document
	name string
	node *yaml.Node
}

func (d *document) field(name string, node *yaml.Node) field {
	d.at[name] = place(node)
	return field{d, name, resolved(node)}
}

// failf notes that the field is wrong.
func (f field) failf(format string, args ...any) { f.fail(fmt.Errorf(format, args...)) }

func (f field) fail(err error) { f.failAt(f.name, f.locate(f.name), err) }

func (d *document) failAt(field string, at position, err error) {
	d.errs = append(d.errs, d.errorAt(field, at, err))
	d.wrong[field] = true
	for ; !d.within[field]; field = outer(field) {
		d.within[field] = true
	}
}

func (d *document) errorAt(field string, at position, err error) *Error {
	return &Error{d.path, at.line, at.column, field, err}
}

// failed reports whether anything is wrong with the form of a field or of a part of it.
func (d *document) failed(field string) bool { return d.meant[field] || d.within[field] }

// expected notes that the field is of the wrong kind.
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
		if text, ok := v.(string); ok {
			return fmt.Sprintf("the text %q", excerpt.Of(text))
		}
		return n.Value
	}
}

// list are the items of a list.
func (f field) list() []field {
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

// listOrOne are the items of a list, or the value itself where there is only one.
func (f field) listOrOne() []field {
	if f.node.Kind == yaml.SequenceNode {
		return f.items()
	}
	return []field{f}
}
