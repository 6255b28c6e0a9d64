// Package spec reads specification files. A YAML file names a kernel, its parameters and restrictions,
// and the verification of its output; docs/spec.md is the reference of the format.
//
// Its types: a [Spec] was loaded, [Errors] say what is wrong in it, a [Draft] is written.
//
// The package checks the form: keys, types, positions, and the files that a specification names.
// [problem.New] checks the meaning. Errors of both kinds are reported alike and all at once,
// each with its file, line, column and field.
//
// Loading does not guess: it refuses unknown keys, numbers that two versions of YAML read differently, and missing files,
// before any device is used. A [Draft] is a specification to be written.
package spec

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// A Spec is a specification that was read and checked.
type Spec struct {
	Path       string // of the specification
	SourcePath string // of the kernel's source; empty if the specification contains the source
	Definition definition.Definition
	Problem    *problem.Problem  // at the first of the sizes, if there are several
	Sizes      []definition.Size // in ascending order; nil: there is one, that of the constants

	// CheckConstants are constants that have other values than in the definition if [check.Run] simulates.
	CheckConstants map[string]space.Value

	cudaPath string                               // of the source in CUDA C beside OpenCL C
	place    func(field string, err error) *Error // gives an error of a field of the definition its position
}

// In returns the specification with the problem in one of its languages: see [problem.Problem.In].
func (s *Spec) In(l source.Language) (*Spec, error) {
	p, err := s.Problem.In(l)
	if err != nil || p == s.Problem {
		return s, err
	}
	in := *s
	in.Problem, in.Definition, in.SourcePath = p, p.Definition(), s.cudaPath
	return &in, nil
}

// Space constructs the search space on a device. Errors of restrictions are [Errors].
func (s *Spec) Space(ctx context.Context, d hardware.Device) (*space.Space, error) {
	all, err := s.Problem.Space(ctx, d)
	return all, s.placed(err)
}

// SpaceWithoutDevice constructs the search space without the restrictions that read device.*, and returns these.
func (s *Spec) SpaceWithoutDevice(ctx context.Context) (all *space.Space, skipped []space.Restriction, err error) {
	all, skipped, err = s.Problem.SpaceWithoutDevice(ctx)
	return all, skipped, s.placed(err)
}

// placed returns the error of a field with its position in the file. It returns other errors as they are.
func (s *Spec) placed(err error) error {
	if at, is := errors.AsType[*definition.FieldError](err); is {
		return Errors{s.place(at.Field, at.Err)}
	}
	return err
}

// CheckSettings calls check with the settings of the device that the configurations of a space have, until there is an error:
// see [problem.Problem.CheckSettings].
func (s *Spec) CheckSettings(ctx context.Context, all *space.Space, d hardware.Device, check func([]hardware.Setting) error) error {
	return s.placed(s.Problem.CheckSettings(ctx, all, d, check))
}

// CheckSpace constructs the search space if it is the same on all devices, so that its errors are
// reported before a device is opened. The problem keeps the space.
func (s *Spec) CheckSpace(ctx context.Context) error {
	if s.Problem.SpaceNeedsDevice() {
		return nil
	}
	_, err := s.Space(ctx, hardware.Device{})
	return err
}

// Load reads and checks a specification. It does not construct the search space.
// Errors of the specification, and of the reference specification that it names, are [Errors].
func Load(path string, o Options) (*Spec, error) { return LoadFS(osFiles{}, path, o) }

// LoadFS is Load for a specification in a file system, which must also contain the files that the
// specification names.
func LoadFS(fsys fs.FS, path string, o Options) (*Spec, error) {
	if fsys != (osFiles{}) {
		fsys = bundle{fsys}
	}
	d := newDocument(files{fsys}, path)
	d.text = o.Text
	root, errs := d.parse()
	if errs != nil {
		return nil, errs
	}
	return d.load(root, o)
}

// load reads the specification from its document.
func (d *document) load(root *yaml.Node, o Options) (*Spec, error) {
	root = o.setKeys(d, root)
	given := d.field("", root).definition()
	o.apply(d, &given)
	var reference Errors
	if d.reference != "" {
		reference = d.loadReference(&given)
	}
	problem := d.check(given)
	sortErrors(d.errs)
	own := map[string]bool{}
	for _, e := range d.errs {
		own[e.Error()] = true
	}
	for _, e := range reference {
		if !own[e.Error()] { // a specification may be its own reference
			d.errs = append(d.errs, e)
		}
	}
	if len(d.errs) > 0 {
		return nil, d.errs
	}
	return &Spec{
		Path: d.path, SourcePath: d.sourcePath, Definition: given, Problem: problem, Sizes: d.sizes, CheckConstants: d.checked, cudaPath: d.cudaPath, place: d.placed,
	}, nil
}

// SourceName returns the file of the kernel's source as the specification names it, or the specification itself if it contains the source.
func (s *Spec) SourceName() string {
	if s.SourcePath == "" {
		return filepath.Base(s.Path)
	}
	if relative, err := filepath.Rel(filepath.Dir(s.Path), s.SourcePath); err == nil {
		return relative
	}
	return s.SourcePath
}
