package spec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// keyPrefix begins the names in [Options.Set] that are keys of the specification, not constants.
const keyPrefix = "spec."

// pathStep is a step of a path such as arguments[0].size: a key of a mapping, or an index of a list.
var pathStep = regexp.MustCompile(`^(?:\.?([^.\[\]]+)|\[(\d+)\])`)

// setKeys returns the root of a document in which the keys that options set have their new values. It works on
// the parsed YAML, before anything is read, so that a value is read and checked like one in the file.
func (o Options) setKeys(d *document, root *yaml.Node) *yaml.Node {
	for _, name := range slices.SortedFunc(maps.Keys(o.Set), comparePaths) {
		path, ok := strings.CutPrefix(name, keyPrefix)
		if !ok {
			continue
		}
		s := keySetter{document: d, option: "--set " + name + "=" + o.Set[name]}
		value, err := optionNode(o.Set[name])
		var changed *yaml.Node
		if err == nil {
			changed, err = s.at(root, "", path, value)
		}
		if err != nil {
			d.failAt(s.option, position{}, err)
			continue
		}
		d.options[path] = s.option
		root = changed
	}
	return root
}

// anyIndex is an index in a path.
var anyIndex = regexp.MustCompile(`\[\d+\]`)

// comparePaths orders paths such that a key comes before those within it, and item 2 of a list before item 10: an item can only
// be added after the last one.
func comparePaths(a, b string) int {
	padded := func(path string) string {
		return anyIndex.ReplaceAllStringFunc(path, func(index string) string { return fmt.Sprintf("%20s", index) })
	}
	return cmp.Or(strings.Compare(padded(a), padded(b)), strings.Compare(a, b))
}

// A keySetter gives a key of a document the value of an option.
type keySetter struct {
	*document
	option string
}

// optionNode parses the value of an option as YAML. Its nodes have no position in the file.
func optionNode(text string) (*yaml.Node, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("no value is given")
	}
	n, err := parseYAML([]byte(text))
	if at, is := errors.AsType[*Error](err); is {
		err = at.Err
	}
	if err != nil {
		return nil, err
	}
	forgetPositions(n)
	return n, nil
}

func forgetPositions(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, child := range n.Content {
		forgetPositions(child)
	}
}

// at returns a copy of the node of a field with the value at the rest of a path below it. It is a copy because
// aliases may share the node.
func (s keySetter) at(n *yaml.Node, field, rest string, value *yaml.Node) (*yaml.Node, error) {
	if rest == "" {
		return value, nil
	}
	step := pathStep.FindStringSubmatch(rest)
	if step == nil {
		return nil, fmt.Errorf("%q is no path; write one such as measure.cache or arguments[0].size", rest)
	}
	key, index := step[1], step[2]
	rest = rest[len(step[0]):]
	if index != "" {
		return s.atIndex(n, field, index, rest, value)
	}
	return s.atKey(n, field, key, rest, value)
}

// atIndex is at for an item of a list. The index after the last one adds an item.
func (s keySetter) atIndex(n *yaml.Node, field, index, rest string, value *yaml.Node) (*yaml.Node, error) {
	list := copied(n, yaml.SequenceNode)
	i, err := strconv.Atoi(index)
	if err != nil || list.Kind != yaml.SequenceNode || i > len(list.Content) {
		return nil, fmt.Errorf("%s has no item %s", field, index)
	}
	field = fmt.Sprintf("%s[%s]", field, index)
	if i == len(list.Content) {
		s.options[field] = s.option
		list.Content = append(list.Content, &yaml.Node{})
	}
	list.Content[i], err = s.at(list.Content[i], field, rest, value)
	return list, err
}

// atKey is at for a key of a mapping. A key that the mapping does not have is added.
func (s keySetter) atKey(n *yaml.Node, field, key, rest string, value *yaml.Node) (*yaml.Node, error) {
	mapping := copied(n, yaml.MappingNode)
	if mapping.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s has no keys: it is %s", field, found(mapping))
	}
	inner := s.field(field, mapping).pathOf(key)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if resolved(mapping.Content[i]).Value == key {
			changed, err := s.at(mapping.Content[i+1], inner, rest, value)
			mapping.Content[i+1] = changed
			return mapping, err
		}
	}
	s.options[inner] = s.option
	changed, err := s.at(&yaml.Node{}, inner, rest, value)
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, changed)
	return mapping, err
}

// copied returns a shallow copy of a node, or an empty node of a kind in the place of nothing.
func copied(n *yaml.Node, kind yaml.Kind) *yaml.Node {
	n = resolved(n)
	if n.Kind == 0 || n.Tag == "!!null" {
		return &yaml.Node{Kind: kind, Line: n.Line, Column: n.Column}
	}
	c := *n
	c.Content = slices.Clone(n.Content)
	return &c
}
