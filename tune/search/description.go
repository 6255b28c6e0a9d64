package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
)

// A Description says what a strategy does, for help texts, documentation and messages.
type Description struct {
	Name    string
	Summary string // one line
	Source  string // in the literature; empty where there is none
	Options []Option
}

// Descriptions are those of all strategies, by name.
func Descriptions() []Description {
	var all []Description
	for _, name := range Names() {
		all = append(all, definitions[name].Description)
	}
	return all
}

// parse reads the values of options; those that are not given have their defaults.
func (d Description) parse(given map[string]string) (values, error) {
	parsed := values{}
	var names []string
	for _, o := range d.Options {
		names = append(names, o.Name)
		text, ok := given[o.Name]
		if !ok {
			text = o.Default
		}
		v, err := o.parse(text)
		if err != nil {
			return nil, fmt.Errorf("the strategy %s: %w", d.Name, err)
		}
		parsed[o.Name] = v
	}
	unknown := make([]string, 0, len(given))
	for name := range given {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return parsed, nil
	}
	name := slices.Min(unknown)
	if len(names) == 0 {
		return nil, fmt.Errorf("the strategy %s has no option %q: it has none", d.Name, name)
	}
	return nil, fmt.Errorf("the strategy %s has no option %q%s (options: %s)", d.Name, name, nearest.Hint(name, names), strings.Join(names, ", "))
}
