package spec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A Spec is a specification that was read and checked.
type Spec struct {
	Path       string // of the specification
	SourcePath string // of the kernel's source; empty where the specification holds it
	Definition problem.Definition
	Problem    *problem.Problem

	place placer
}

// SearchSpace is the search space of the specification.
func (s *Spec) SearchSpace() *SearchSpace {
	return &SearchSpace{Path: s.Path, Problem: s.Problem, place: s.place}
}

// Space is [SearchSpace.Space] on a device.
func (s *Spec) Space(ctx context.Context, d hardware.Device) (*space.Space, error) {
	all, _, err := s.SearchSpace().Space(ctx, &d)
	return all, err
}

// CheckSpace constructs the search space where it is the same on all devices, so that what is
// wrong with it is known before a device is opened. The problem keeps the space.
func (s *Spec) CheckSpace(ctx context.Context) error {
	if s.Problem.SpaceNeedsDevice() {
		return nil
	}
	_, err := s.Space(ctx, hardware.Device{})
	return err
}

// Load reads a specification, YAML or a T1 file, and checks it. It does not construct the search space. What is wrong with it, or with the
// reference specification that it names, comes as [Errors].
func Load(path string, o Options) (*Spec, error) {
	return load(files{}, path, o)
}

// LoadFS reads a specification and all that it names from a file system.
func LoadFS(fsys fs.FS, path string, o Options) (*Spec, error) {
	return load(files{fsys}, path, o)
}

func load(f files, path string, o Options) (*Spec, error) {
	doc := &document{files: f, path: path}
	root, err := doc.begin()
	if err != nil {
		return nil, err
	}
	return doc.load(root, o)
}

// load reads the specification from its document.
func (d *document) load(root *yaml.Node, o Options) (*Spec, error) {
	if isT1(root) {
		return d.loadT1(root, o)
	}
	definition := d.field("", root).definition()
	o.apply(d, &definition)
	var reference Errors
	if d.reference != "" {
		reference = d.loadReference(&definition)
	}
	problem := d.check(definition)
	sortErrors(d.errs)
	errs := d.errs
	own := map[string]bool{}
	for _, e := range d.errs {
		own[e.Error()] = true
	}
	for _, e := range reference {
		if !own[e.Error()] { // a specification may be its own reference
			errs = append(errs, e)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return &Spec{d.path, d.sourcePath, definition, problem, d.placed}, nil
}

// begin reads and parses the file.
func (d *document) begin() (*yaml.Node, error) {
	d.at, d.meant, d.given = map[string]position{}, map[string]bool{}, map[string]string{}
	d.wrong, d.within = map[string]bool{}, map[string]bool{}
	root, err := d.root()
	if err != nil {
		at := &Error{Err: err}
		errors.As(err, &at)
		at.File = d.path
		return nil, Errors{at}
	}
	return root, nil
}

// root reads and parses the file, once it looks like a specification at all.
func (d *document) root() (*yaml.Node, error) {
	extension := strings.ToLower(filepath.Ext(d.path))
	if extension == ".jsonl" {
		return nil, errRunLog
	}
	text, err := d.read(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, d.explain(d.path, err)
	} else if err != nil {
		return nil, fmt.Errorf("read the specification: %w", err)
	}
	if slices.Contains(sourceExtensions, extension) {
		return nil, errKernelSource
	}
	if bytes.HasPrefix(text, gzipMagic) {
		return nil, errCompressed
	}
	root, err := parse(text)
	switch {
	case (err != nil || root.Kind == yaml.ScalarNode) && kernelQualifier.Match(text):
		return nil, errKernelSource
	case err != nil:
		return nil, err
	case hasKey(root, "results") && hasKey(root, "schema_version"):
		return nil, errRecord
	}
	return root, nil
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}
