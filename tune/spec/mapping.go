package spec

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/nearest"
)

// An entry is a key of a mapping with its value.
type entry struct {
	key   string
	at    position // of the key
	value field
}

// entries are the keys and values of a mapping in order; those merged in with «<<» stand
// where the merge key does, unless the mapping has the key itself.
func (f field) entries() []entry {
	if f.node.Kind != yaml.MappingNode {
		f.expected("a mapping")
		return nil
	}
	f.checkKeys()
	var entries []entry
	for _, p := range f.pairs(f.node) {
		entries = append(entries, entry{p.key.Value, place(p.key), f.field(f.pathOf(p.key.Value), p.value)})
	}
	return entries
}

// checkKeys refuses keys that are no scalars and those that stand twice.
func (f field) checkKeys() {
	lines := map[string]int{}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		k := resolved(f.node.Content[i])
		if k.Kind != yaml.ScalarNode {
			f.failAt(f.name, place(k), errors.New("a key must be a plain name"))
			continue
		}
		if line, twice := lines[k.Value]; twice {
			f.failAt(f.pathOf(k.Value), place(k), fmt.Errorf("the key stands twice, first on line %d", line))
			continue
		}
		lines[k.Value] = k.Line
	}
}

// pathOf is the path of a key of this mapping.
func (f field) pathOf(key string) string {
	if f.name == "" {
		return key
	}
	return f.name + "." + key
}

// resolved is the node that an alias stands for, or the node itself.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func place(n *yaml.Node) position { return position{n.Line, n.Column} }

type pair struct{ key, value *yaml.Node }

// pairs are the keys of a mapping and of those merged into it. A key of the mapping itself
// goes before one that is merged, and of the mappings that are merged an earlier one before
// a later.
func (f field) pairs(n *yaml.Node) (pairs []pair) {
	own, seen := map[string]bool{}, map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		own[resolved(n.Content[i]).Value] = true
	}
	add := func(p pair) {
		if !seen[p.key.Value] {
			seen[p.key.Value] = true
			pairs = append(pairs, p)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := resolved(n.Content[i]), n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode: // reported by checkKeys
		case k.Tag != "!!merge":
			add(pair{k, v})
		default:
			for _, p := range f.merged(k, v) {
				if !own[p.key.Value] {
					add(p)
				}
			}
		}
	}
	return pairs
}

// maxMerges bounds the work that merge keys can ask for, and ends those that merge a
// mapping into itself.
const maxMerges = 1000

// merged are the keys of the mapping, or the list of mappings, behind a merge key.
func (f field) merged(key, value *yaml.Node) (pairs []pair) {
	from := []*yaml.Node{value}
	if list := resolved(value); list.Kind == yaml.SequenceNode {
		from = list.Content
	}
	for _, n := range from {
		if f.merges++; f.merges > maxMerges {
			if f.merges == maxMerges+1 {
				f.failAt(f.name, place(key), errors.New("too many merge keys (<<), or one that merges a mapping into itself"))
			}
			return nil
		}
		if n = resolved(n); n.Kind != yaml.MappingNode {
			f.failAt(f.name, place(key), fmt.Errorf("<< merges mappings; found %s", found(n)))
			continue
		}
		pairs = append(pairs, f.pairs(n)...)
	}
	return pairs
}

// A reader takes the value of a known key.
type reader struct {
	key  string
	read func(field)
}

// keys gives every known key of a mapping to its reader. Any other is an error.
func (f field) keys(readers ...reader) {
	known := make([]string, len(readers))
	for i, r := range readers {
		known[i] = r.key
	}
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
				f.meant[f.pathOf(name)] = true
			}
		}
		if strings.Contains(e.key, ")") {
			hint = commaHint
		}
		f.failAt(e.value.name, e.at, fmt.Errorf("unknown key%s", hint))
	}
}

// has reports whether a mapping has a key, misspelt perhaps.
func (f field) has(key string) bool {
	_, ok := f.at[f.pathOf(key)]
	return ok || f.meant[f.pathOf(key)]
}

// require notes that keys are missing.
func (f field) require(keys ...string) {
	if f.node.Kind != yaml.MappingNode {
		return
	}
	for _, key := range keys {
		if !f.has(key) {
			f.failAt(f.pathOf(key), f.locate(f.name), errors.New("the key is missing"))
		}
	}
}
