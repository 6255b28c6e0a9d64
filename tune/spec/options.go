package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// Options change a specification before it is checked, as flags of the command line do.
// The zero value takes the file as it stands.
type Options struct {
	// Set gives constants of the specification, by name, other values (--set nx=1024).
	// Those of the reference that have the same name get them too.
	Set map[string]string

	// Parameters gives parameters of the specification, by name, other values
	// (-p block_size_x=16,32), in their order. They need not be among those listed.
	Parameters map[string][]string
}

// ParseAssignments reads name=value[,value…], once for each name.
func ParseAssignments(texts []string) (map[string][]string, error) {
	assignments := map[string][]string{}
	for _, text := range texts {
		name, values, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("%q is not of the form name=value", text)
		}
		if _, twice := assignments[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		assignments[name] = strings.Split(values, ",")
	}
	return assignments, nil
}

// apply changes the definition. An unknown name or a value that cannot be read is an error
// of the document.
func (o Options) apply(doc *document, d *problem.Definition) {
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		option := "--set " + name + "=" + o.Set[name]
		if err := setConstant(d, name, o.Set[name]); err != nil {
			doc.failAt(option, position{}, err)
		}
		doc.given["constants."+name] = option
	}
	for _, name := range slices.Sorted(maps.Keys(o.Parameters)) {
		option := "-p " + name + "=" + strings.Join(o.Parameters[name], ",")
		if err := setParameter(d, name, o.Parameters[name]); err != nil {
			doc.failAt(option, position{}, err)
		}
		doc.given["parameters."+name] = option
	}
}

func setConstant(d *problem.Definition, name, text string) error {
	names := make([]string, len(d.Constants))
	for i, c := range d.Constants {
		names[i] = c.Name
		if c.Name == name {
			v, err := argumentValue(text)
			d.Constants[i].Value = v
			return err
		}
	}
	return unknownName("constant", name, names)
}

func setParameter(d *problem.Definition, name string, texts []string) error {
	names := make([]string, len(d.Parameters))
	for i, p := range d.Parameters {
		names[i] = p.Name
		if p.Name != name {
			continue
		}
		var values []space.Value
		for _, text := range texts {
			v, err := argumentValue(text)
			if err != nil {
				return err
			}
			values = append(values, listed(p.Values, text, v))
		}
		if len(values) == 0 {
			return errors.New("no value is given")
		}
		d.Parameters[i].Values = values
		return nil
	}
	return unknownName("parameter", name, names)
}

func unknownName(what, name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("the specification has no %ss", what)
	}
	hint := nearest.Hint(name, known)
	if hint == "" {
		hint = "; the specification has " + strings.Join(known, ", ")
	}
	return fmt.Errorf("no %s is named %s%s", what, name, hint)
}

// argumentValue reads a value as the file would, unquoted.
func argumentValue(text string) (space.Value, error) {
	v, err := plain(strings.TrimSpace(text))
	if err == nil && v == nil {
		return nil, errors.New("no value is given")
	}
	return v, err
}

// listed is the value of the list that is meant: 1 is 1.0 or true where that is listed,
// and the text "16" where 16 stands there in quotes. Any other value is itself.
func listed(list []space.Value, text string, v space.Value) space.Value {
	for _, l := range list {
		if space.SameValue(l, v) || space.FormatValue(l) == strings.TrimSpace(text) {
			return l
		}
	}
	return v
}
