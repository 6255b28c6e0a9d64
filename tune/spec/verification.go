package spec

import (
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// verification reads what a correct output is. The reference specification is only named
// here: it is loaded once the constants of this one are known.
func (f field) verification() *problem.Verification {
	v := &problem.Verification{}
	f.keys(
		reader{"spec", func(f field) { f.reference = f.text() }},
		reader{"parameters", func(f field) { v.Configuration = f.configuration() }},
		reader{"launches", func(f field) { v.Launches = f.expression() }},
		reader{"swap", func(f field) { v.Swap = f.swap() }},
		reader{"npy", func(f field) { v.Files = f.npyFiles() }},
		reader{"atol", func(f field) { v.ATol = f.expression() }},
		reader{"rtol", func(f field) { v.RTol = f.expression() }},
	)
	switch {
	case f.failed(f.name):
	case !f.has("spec") && !f.has("npy"):
		f.failf("the reference is missing: give spec or npy")
	case f.has("spec") && f.has("npy"):
		f.failf("the reference is given twice: spec and npy")
	case f.has("npy"):
		for _, key := range []string{"parameters", "launches", "swap"} {
			if f.has(key) {
				name := f.pathOf(key)
				f.failAt(name, f.locate(name), errOfReference)
			}
		}
	}
	return v
}

func (f field) configuration() map[string]space.Value {
	values := map[string]space.Value{}
	for _, e := range f.entries() {
		if v := e.value.value(); v != nil {
			values[e.key] = v
		}
	}
	return values
}

func (f field) swap() (names [2]string) {
	items := f.list()
	if len(items) != 2 {
		if !f.failed(f.name) {
			f.failf("expected the names of two buffers, found %d", len(items))
		}
		return names
	}
	return [2]string{items[0].text(), items[1].text()}
}

func (f field) npyFiles() map[string]string {
	paths := map[string]string{}
	for _, e := range f.entries() {
		if path := e.value.npyFile(); path != "" {
			paths[e.key] = path
		}
	}
	return paths
}
