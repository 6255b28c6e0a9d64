package job

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
)

// A Spec names a specification and changes it.
type Spec struct {
	set, parameters, observe cli.StringSlice
	TakesInput               bool // the command reads the specification «-» from standard input
	TakesSizes               bool // the command takes several sizes

	Path    string
	Changes spec.Options
}

// Flags change the specification. Those of a search have --observe, too.
func (o *Spec) Flags() []cli.Flag {
	return []cli.Flag{
		flags.List(&o.set, "set", flags.CategorySpec,
			"give a constant another value, `NAME=VALUE`, or any key of the specification by its path, "+
				"such as spec.measure.cache=cold or spec.objective=energy; may be repeated; "+
				"tune and compare take several numbers, n=1024,2048, as sizes"),
		flags.List(&o.parameters, "parameter p", flags.CategorySpec, "give a parameter only these values, `PARAMETER=VALUE[,VALUE…]`; may be repeated"),
	}
}

// Read reads the changes of the specification.
func (o *Spec) Read() (err error) {
	o.Changes.Sizes = o.TakesSizes
	o.Changes.Set = map[string]string{}
	for _, text := range o.set.Value() {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return ui.Wrong("--set %s: want NAME=VALUE", text)
		}
		o.Changes.Set[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if o.Changes.Parameters, err = spec.ParseAssignments(o.parameters.Value()); err != nil {
		return ui.Wrong("-p: %w", err)
	}
	for _, text := range o.observe.Value() {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return ui.Wrong("--observe %s: want names of quantities with commas between them, such as energy,clock", text)
			}
			o.Changes.Observe = append(o.Changes.Observe, name)
		}
	}
	return nil
}

// ReadArgument reads the specification that the only argument names, and its changes.
func (o *Spec) ReadArgument(c *cli.Context) error {
	paths, err := flags.Paths(c, "a specification")
	if err != nil {
		return err
	}
	if len(paths) > 1 {
		return ui.Wrong("one specification at a time, not %s", strings.Join(paths, " "))
	}
	o.Path = paths[0]
	return o.Read()
}

// IsInput reports whether the specification is on standard input.
func (o *Spec) IsInput() bool { return o.TakesInput && o.Path == standardInput }

// Languages returns the languages that a kernel probably has, from the text of its specification before that is loaded; those that it may have
// on standard input.
func (o *Spec) Languages() []source.Language {
	text, err := os.ReadFile(o.Path)
	switch {
	case o.IsInput() || err == nil && cudaToo.Match(text):
		return []source.Language{source.OpenCL, source.CUDA}
	case err == nil && cudaAlone.Match(text):
		return []source.Language{source.CUDA}
	}
	return []source.Language{source.OpenCL}
}

// cudaToo matches a specification that has a file for each language.
var cudaToo = regexp.MustCompile(`\bopencl:`)

// cudaAlone matches a specification that names CUDA C as the language, or no other file than one in CUDA C, or that contains a kernel in it.
var cudaAlone = regexp.MustCompile(`\blanguage:\s*["']?cuda\b|\bfile:\s*\[?\s*["']?[^\s{},\[\]]+\.cuh?\b|\b__global__\b`)

// Load loads the specification with its changes. The caller checks its space.
func (o *Spec) Load(ctx context.Context, t *ui.Console) (*spec.Spec, error) {
	if !o.IsInput() {
		return spec.Load(o.Path, o.Changes)
	}
	changes := o.Changes
	var err error
	switch changes.Text, err = t.In.Next(ctx); {
	case err == io.EOF:
		return nil, ErrNoSpecification
	case err != nil:
		return nil, err
	}
	return spec.Load("standard input", changes)
}

// LoadChecked loads the specification and checks its space.
func (o *Spec) LoadChecked(ctx context.Context, t *ui.Console) (*spec.Spec, error) {
	s, err := o.Load(ctx, t)
	if err != nil {
		return nil, err
	}
	return s, s.CheckSpace(ctx)
}

// A SizedSpec is a specification at one of its sizes.
type SizedSpec struct {
	*spec.Spec
	Size definition.Size // nil: there is one
}

// SizedSpecs loads a specification at each of its sizes.
func SizedSpecs(s *spec.Spec, o spec.Options) ([]SizedSpec, error) {
	if len(s.Sizes) == 0 {
		return []SizedSpec{{Spec: s}}, nil
	}
	var all []SizedSpec
	for _, size := range s.Sizes {
		at, err := spec.Load(s.Path, o.At(size))
		if err != nil {
			return nil, fmt.Errorf("at %s: %w", size, err)
		}
		all = append(all, SizedSpec{at, size})
	}
	return all, nil
}

// Check checks the search space.
func (s SizedSpec) Check(ctx context.Context) error {
	err := s.CheckSpace(ctx)
	if err != nil && s.Size != nil {
		return fmt.Errorf("at %s: %w", s.Size, err)
	}
	return err
}

// CheckOneObjective refuses several objectives where configurations are compared by one number. The flag is that which names one.
func CheckOneObjective(o score.Objective, by, path, flag string) error {
	if o.Several() {
		return ui.Wrong("%s compares configurations by one objective, and %s has several: %s; name one with %s", by, path, o, flag)
	}
	return nil
}

// standardInput is the argument that names standard input in the place of a specification.
const standardInput = "-"

// ErrNoSpecification says that standard input has come to its end.
var ErrNoSpecification = ui.Wrong("standard input holds no specification")
