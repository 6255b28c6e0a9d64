package spec

import (
	"context"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A SearchSpace is what a specification says of its parameters.
type SearchSpace struct {
	Path    string
	Problem *problem.Problem // nil where only the search space was read, as of a T1 file

	parameters   *space.Parameters
	restrictions []space.Restriction
	place        placer
}

// LoadSpace reads a specification for its search space. Of a T1 file it reads nothing else:
// the kernel may be of any language, and need not be there. All others are read and checked
// whole, as by [Load].
func LoadSpace(path string, o Options) (*SearchSpace, error) {
	return loadSpace(files{}, path, o)
}

func loadSpace(f files, path string, o Options) (*SearchSpace, error) {
	doc := &document{files: f, path: path}
	root, err := doc.begin()
	if err != nil {
		return nil, err
	}
	if isT1(root) {
		return doc.loadT1Space(root, o)
	}
	s, err := doc.load(root, o)
	if err != nil {
		return nil, err
	}
	return s.SearchSpace(), nil
}

// Space constructs the search space on a device. Without one it leaves out the restrictions
// that read device.*, and returns them. An error of a restriction comes as [Errors].
func (s *SearchSpace) Space(ctx context.Context, d *hardware.Device) (all *space.Space, skipped []space.Restriction, err error) {
	switch {
	case s.Problem == nil:
		all, err = space.New(ctx, s.parameters, s.restrictions, nil)
		if i, cause, ok := space.Fault(err); ok {
			err = &problem.FieldError{Field: fmt.Sprintf("restrictions[%d]", i), Err: cause}
		}
	case d == nil:
		all, skipped, err = s.Problem.SpaceWithoutDevice(ctx)
	default:
		all, err = s.Problem.Space(ctx, *d)
	}
	var at *problem.FieldError
	if errors.As(err, &at) {
		err = Errors{s.place(at.Field, at.Err)}
	}
	return all, skipped, err
}

// loadT1Space reads the parameters and the conditions of a T1 file.
func (d *document) loadT1Space(root *yaml.Node, o Options) (*SearchSpace, error) {
	t := &t1{document: d, origins: map[string]string{}}
	t.readSpace(d.field("", root), o)
	if err := d.sorted(); err != nil {
		return nil, err
	}
	s := &SearchSpace{Path: d.path, restrictions: t.definition.Restrictions, place: t.placed}
	var err error
	if s.parameters, err = space.NewParameters(t.definition.Parameters); err != nil {
		name := ""
		var bad *space.ParameterError
		if errors.As(err, &bad) {
			name, err = "parameters."+bad.Name, bad.Err
		}
		t.blame(name, err)
		return nil, d.sorted()
	}
	for _, bad := range space.Check(s.parameters, s.restrictions, nil) {
		t.blame(fmt.Sprintf("restrictions[%d]", bad.Index), bad.Err)
	}
	if err := d.sorted(); err != nil {
		return nil, err
	}
	return s, nil
}
