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
	own := f.ownKeys()
	var entries []entry
	seen := map[string]bool{}
	f.walk(f.node, 0, func(key string, k, v *yaml.Node, merged bool) {
		if seen[key] || merged && own[key] {
			return
		}
		seen[key] = true
		entries = append(entries, entry{key, position{k.Line, k.Column}, f.key(key, v)})
	})
	return entries
}

// ownKeys are the keys that stand in the mapping itself. A key that stands there twice is
// an error.
func (f field) ownKeys() map[string]bool {
	lines := map[string]int{}
	own := map[string]bool{}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		k := resolved(f.node.Content[i])
		if k.Kind != yaml.ScalarNode {
			f.failAt(f.name, position{k.Line, k.Column}, errors.New("a key must be a plain name"))
			continue
		}
		if line, twice := lines[k.Value]; twice {
			f.failAt(f.pathOf(k.Value), position{k.Line, k.Column}, fmt.Errorf("the key stands twice, first on line %d", line))
			continue
		}
		lines[k.Value] = k.Line
		own[k.Value] = true
	}
	return own
}

func (f field) pathOf(key string) string {
	if f.name == "" {
		return key
	}
	return f.name + "." + key
}

func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// maxMerges bounds the work that merge keys can ask for, and ends those that merge a
// mapping into itself.
const maxMerges = 1000

// walk visits the keys of a mapping and of those merged into it.
func (f field) walk(n *yaml.Node, depth int, visit func(key string, k, v *yaml.Node, merged bool)) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := resolved(n.Content[i]), n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			continue // reported by ownKeys
		}
		if k.Tag != "!!merge" {
			visit(k.Value, k, v, depth > 0)
			continue
		}
		from := []*yaml.Node{v}
		if w := resolved(v); w.Kind == yaml.SequenceNode {
			from = w.Content
		}
		for _, m := range from {
			m = resolved(m)
			if f.merges++; f.merges > maxMerges {
				f.failAt(f.name, position{k.Line, k.Column}, errors.New("too many merge keys (<<), or one that merges a mapping into itself"))
				return
			}
			if m.Kind != yaml.MappingNode {
				f.failAt(f.name, position{k.Line, k.Column}, fmt.Errorf("<< merges mappings; found %s", found(m)))
				continue
			}
			f.walk(m, depth+1, visit)
		}
	}
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
