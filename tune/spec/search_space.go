package spec

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A SearchSpace is what a specification says of its parameters.
type SearchSpace struct {
	Path    string
	Problem *tune.Problem // nil where only the search space was read, as of a T1 file

	parameters   *space.Parameters
	restrictions []space.Restriction
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
	return &SearchSpace{Path: path, Problem: s.Problem}, nil
}

// Space enumerates the configurations without the restrictions that read device.*, which it
// gives back.
func (s *SearchSpace) Space() (*space.Space, []space.Restriction, error) {
	if s.Problem != nil {
		return s.Problem.SpaceWithoutDevice()
	}
	all, err := space.New(s.parameters, s.restrictions, nil)
	return all, nil, err
}

// loadT1Space reads the parameters and the conditions of a T1 file.
func (d *document) loadT1Space(root *yaml.Node, o Options) (*SearchSpace, error) {
	t := &t1{document: d, origins: map[string]string{}}
	t.readSpace(d.field("", root), o)
	if err := d.sorted(); err != nil {
		return nil, err
	}
	s := &SearchSpace{Path: d.path, restrictions: t.definition.Restrictions}
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
	for i, r := range s.restrictions {
		if err := space.Check(s.parameters, []space.Restriction{r}, nil); err != nil {
			t.blameRestriction(i, err)
		}
	}
	if err := d.sorted(); err != nil {
		return nil, err
	}
	_, err = space.New(s.parameters, s.restrictions, nil)
	switch err := err.(type) {
	case *space.EmptyError:
		t.blameRestriction(err.Index, err)
	case *space.RestrictionError:
		t.blameRestriction(err.Index, err)
	}
	if err := d.sorted(); err != nil {
		return nil, err
	}
	return s, nil
}

func (t *t1) blameRestriction(i int, err error) {
	var bad *space.RestrictionError
	if errors.As(err, &bad) {
		err = bad.Err
	}
	t.blame(fmt.Sprintf("restrictions[%d]", i), err)
}
