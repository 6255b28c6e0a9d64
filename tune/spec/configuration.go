package spec

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

// ParseConfiguration reads name=value,name=value,…, one for each parameter. One that has a
// single value may be left out. Values are read as those of a specification are, and those
// that are not listed are no error here. A piece without «=» belongs to the value before it.
func ParseConfiguration(p *space.Parameters, text string) (space.Configuration, error) {
	texts := map[string]string{}
	last := ""
	for _, piece := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(piece, "=")
		name = strings.TrimSpace(name)
		switch {
		case !ok && last != "":
			texts[last] += "," + piece
			continue
		case !ok || name == "":
			return space.Configuration{}, fmt.Errorf("%q is not of the form name=value", piece)
		}
		if _, twice := texts[name]; twice {
			return space.Configuration{}, fmt.Errorf("%s is given twice", name)
		}
		texts[name], last = value, name
	}
	values := map[string]space.Value{}
	for i := range p.Len() {
		if q := p.At(i); len(q.Values) == 1 {
			values[q.Name] = q.Values[0]
		}
	}
	for name, text := range texts {
		v, err := argumentValue(text)
		if err != nil {
			return space.Configuration{}, fmt.Errorf("%s: %w", name, err)
		}
		if i, ok := p.Index(name); ok {
			v = listed(p.At(i).Values, text, v)
		}
		values[name] = v
	}
	return p.Configure(values)
}
