package spec

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/definition"
)

// anyName is a key that stands for names of the user's own in the paths of keys that are noted.
const anyName = "NAME"

// noteKeys notes the keys of a mapping, and those of their values unless they are noted already.
func (f field) noteKeys(readers []reader) {
	for _, r := range readers {
		inner := f.field(f.pathOf(r.key), f.node)
		f.note(inner.name, r.typ, r.meaning)
		if !slices.Contains(strings.Split(f.name, "."), r.key) {
			r.read(inner)
		}
	}
}

// A reader reads the value of a known key.
type reader struct {
	key          string
	typ, meaning string // for the reference of the format
	read         func(field)

	needed bool
	unless []string // keys of the mapping with which the key is not needed
}

// key returns the reader that stores what read returns.
func key[T any](name string, to *T, read func(field) T) reader {
	return reader{key: name, read: func(f field) { *to = read(f) }}
}

// means describes the key.
func (r reader) means(typ, meaning string) reader {
	r.typ, r.meaning = typ, meaning
	return r
}

// required makes the key required, unless the mapping has one of some others.
func (r reader) required(unless ...string) reader {
	r.needed, r.unless = true, unless
	r.meaning += "; required"
	if len(unless) > 0 {
		r.meaning += ", except with " + strings.Join(unless, " or ")
	}
	return r
}

// itself returns the field, for values that are read later.
func (f field) itself() field { return f }

// keys passes the values of a mapping to the readers of their keys. An unknown key is an error.
func (f field) keys(readers ...reader) {
	if f.note != nil {
		f.noteKeys(readers)
		return
	}
	known := each.Of(readers, func(r reader) string { return r.key })
next:
	for _, e := range f.entries() {
		for _, r := range readers {
			if r.key == e.key {
				r.read(e.value)
				continue next
			}
		}
		hint := "; known here: " + strings.Join(known, ", ")
		if name := nearest.Name(e.key, known); name != "" {
			hint = nearest.Hint(e.key, known)
			if !f.has(name) {
				f.faulty[f.pathOf(name)] = true
			}
		}
		if strings.Contains(e.key, ")") {
			hint = commaHint
		}
		f.failAt(e.value.name, e.at, fmt.Errorf("unknown key%s", hint))
	}
	for _, r := range readers {
		if r.needed && !slices.ContainsFunc(r.unless, f.has) {
			f.require(r.key)
		}
	}
}

// keysOrFirst is keys for a mapping. Any other value is that of the first key.
func (f field) keysOrFirst(readers ...reader) {
	if f.node.Kind == yaml.MappingNode {
		f.keys(readers...)
	} else {
		readers[0].read(f)
	}
}

// has reports whether a mapping has a key, perhaps misspelt.
func (f field) has(key string) bool {
	_, ok := f.at[f.pathOf(key)]
	return ok || f.faulty[f.pathOf(key)]
}

// require adds an error for a missing key.
func (f field) require(key string) {
	if f.node.Kind == yaml.MappingNode && !f.has(key) {
		f.failKey(key, "the key is missing")
	}
}

// one reports whether a mapping has a single key. Else it adds the error that says what is expected.
func (f field) one(what string) bool {
	n := len(f.entries())
	if n != 1 {
		f.failf("expected one %s, found %d", what, n)
	}
	return n == 1
}

// listOf returns the reader of a list.
func listOf[T any](read func(field) T) func(field) []T {
	return func(f field) []T { return each.Of(f.list(), read) }
}

// oneOrMore returns the reader of a list, or of one item without brackets.
func oneOrMore[T any](read func(field) T) func(field) []T {
	return func(f field) []T { return each.Of(f.listOrOne(), read) }
}

// mapOf returns the reader of a mapping with any keys. It leaves out values that have an error.
func mapOf[T comparable](read func(field) T) func(field) map[string]T {
	return func(f field) map[string]T {
		values := map[string]T{}
		for _, e := range f.entries() {
			var none T
			if v := read(e.value); v != none {
				values[e.key] = v
			}
		}
		return values
	}
}

// dimensions returns the reader of a mapping of up to three dimensions, or of one value for x.
func dimensions[T any](read func(field) T) func(field) [3]T {
	return func(f field) (values [3]T) {
		if f.node.Kind == yaml.ScalarNode {
			return [3]T{read(f)}
		}
		var readers []reader
		for i, name := range definition.Dimensions {
			readers = append(readers, key(name, &values[i], read).means("expression or list", "that of the dimension "+name))
		}
		f.keys(readers...)
		return values
	}
}
