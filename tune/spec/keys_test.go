package spec

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A Key is a key of specifications.
type Key struct {
	Path    string // such as arguments.size; NAME stands for names of the user's own
	Type    string
	Meaning string
}

// Keys returns the keys of specifications, in the order in which they are read. The readers of a specification note them.
func Keys() []Key {
	var all []Key
	d := newDocument(files{osFiles{}}, "")
	d.note = func(path, typ, meaning string) { all = append(all, Key{path, typ, meaning}) }
	d.field("", &yaml.Node{Kind: yaml.MappingNode}).definition()
	return all
}

// TestKeys makes sure that every key of a specification has a description, and that keys of all levels are noted, each once.
func TestKeys(t *testing.T) {
	var paths []string
	for _, k := range Keys() {
		if k.Type == "" || k.Meaning == "" {
			t.Errorf("%s has the type %q and the meaning %q", k.Path, k.Type, k.Meaning)
		}
		if slices.Contains(paths, k.Path) {
			t.Errorf("%s is noted twice", k.Path)
		}
		paths = append(paths, k.Path)
	}
	for _, path := range []string{
		"kernel.build_options", "constants.NAME.host", "kernels.grid_div", "kernels.kernels", "grid_div.x", "types.NAME.NAME.count", "arguments.sampler.filter",
		"arguments.fill.normal.std", "arguments.fill.fields", "parameters.NAME.range", "verify.compare.NAME.rows", "objective.direction",
		"measure.instruments.quantities", "check.set", "seed",
	} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s is missing: %q", path, paths)
		}
	}
}
