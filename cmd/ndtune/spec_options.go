package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/spec"
)

// specOptions name a specification and change it.
type specOptions struct {
	set, parameters, observe cli.StringSlice
	takesInput               bool // the command reads the specification «-» from standard input

	path    string
	changes spec.Options
}

// flags change the specification. Those of a search have --observe, too.
func (o *specOptions) flags() []cli.Flag {
	return []cli.Flag{
		listFlag(&o.set, "set", categorySpec,
			"give a constant another value, `NAME=VALUE`, or any key of the specification by its path, "+
				"such as spec.measure.cache=cold or spec.objective=energy; may be repeated; "+
				"tune and compare take several numbers, n=1024,2048, as sizes"),
		listFlag(&o.parameters, "parameter p", categorySpec, "give a parameter only these values, `PARAMETER=VALUE[,VALUE…]`; may be repeated"),
	}
}

// read reads the changes of the specification.
func (o *specOptions) read() (err error) {
	o.changes.Set = map[string]string{}
	for _, text := range o.set.Value() {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return wrong("--set %s: want NAME=VALUE", text)
		}
		o.changes.Set[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if o.changes.Parameters, err = spec.ParseAssignments(o.parameters.Value()); err != nil {
		return wrong("-p: %w", err)
	}
	for _, text := range o.observe.Value() {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return wrong("--observe %s: want names of quantities with commas between them, such as energy,clock", text)
			}
			o.changes.Observe = append(o.changes.Observe, name)
		}
	}
	return nil
}

// readArgument reads the specification that the only argument names, and its changes.
func (o *specOptions) readArgument(c *cli.Context) error {
	paths, err := pathArguments(c, "a specification")
	if err != nil {
		return err
	}
	if len(paths) > 1 {
		return wrong("one specification at a time, not %s", strings.Join(paths, " "))
	}
	o.path = paths[0]
	return o.read()
}

// isInput reports whether the specification is on standard input.
func (o *specOptions) isInput() bool { return o.takesInput && o.path == standardInput }

// load loads the specification with its changes. The caller checks its space.
func (o *specOptions) load(ctx context.Context, t *console) (*spec.Spec, error) {
	if !o.isInput() {
		return spec.Load(o.path, o.changes)
	}
	changes := o.changes
	var err error
	switch changes.Text, err = t.in.next(ctx); {
	case err == io.EOF:
		return nil, errNoSpecification
	case err != nil:
		return nil, err
	}
	return spec.Load("standard input", changes)
}

// loadSizes loads the specification for a command that takes several sizes.
func (o *specOptions) loadSizes(ctx context.Context, t *console) (*spec.Spec, error) {
	several := *o
	several.changes.Sizes = true
	return several.load(ctx, t)
}

// loadChecked loads the specification and checks its space.
func (o *specOptions) loadChecked(ctx context.Context, t *console) (*spec.Spec, error) {
	s, err := o.load(ctx, t)
	if err != nil {
		return nil, err
	}
	return s, s.CheckSpace(ctx)
}

// A sizedSpec is a specification at one of its sizes.
type sizedSpec struct {
	*spec.Spec
	size definition.Size // nil: there is one
}

// sizedSpecs loads a specification at each of its sizes.
func sizedSpecs(s *spec.Spec, o spec.Options) ([]sizedSpec, error) {
	if len(s.Sizes) == 0 {
		return []sizedSpec{{Spec: s}}, nil
	}
	var all []sizedSpec
	for _, size := range s.Sizes {
		at, err := spec.Load(s.Path, o.At(size))
		if err != nil {
			return nil, fmt.Errorf("at %s: %w", size, err)
		}
		all = append(all, sizedSpec{at, size})
	}
	return all, nil
}

// check checks the search space.
func (s sizedSpec) check(ctx context.Context) error {
	err := s.CheckSpace(ctx)
	if err != nil && s.size != nil {
		return fmt.Errorf("at %s: %w", s.size, err)
	}
	return err
}

// checkOneObjective refuses several objectives where configurations are compared by one number. The flag is that which names one.
func checkOneObjective(o score.Objective, by, path, flag string) error {
	if o.Several() {
		return wrong("%s compares configurations by one objective, and %s has several: %s; name one with %s", by, path, o, flag)
	}
	return nil
}

// without returns flags without those of some names.
func without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}
