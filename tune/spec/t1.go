package spec

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/python"
)

// A t1 is a T1 file while it is read: the JSON format of the auto-tuning hub, which Kernel
// Tuner and KTT read too. Its expressions are Python's; they are translated, not executed.
type t1 struct {
	*document
	definition problem.Definition
	kernel     field             // KernelSpecification, unread
	conditions []field           // of the configuration space
	scope      python.Scope      // the parameters
	origins    map[string]string // from a field of the definition to that of the file
}

// isT1 reports whether a document is a T1 file.
func isT1(root *yaml.Node) bool {
	return hasKey(root, "ConfigurationSpace") || hasKey(root, "KernelSpecification")
}

// loadT1 reads a T1 file whole.
func (d *document) loadT1(root *yaml.Node, o Options) (*Spec, error) {
	t := &t1{document: d, origins: map[string]string{}}
	t.readSpace(d.field("", root), o)
	if t.kernel.node == nil {
		d.failAt("KernelSpecification", d.locate(""), errors.New("the key is missing; ndtune space needs none"))
	} else if !d.failedOptions() {
		t.readKernel(t.kernel)
	}
	if err := d.sorted(); err != nil {
		return nil, err
	}
	problem, err := problem.New(t.definition)
	for _, e := range leaves(err) {
		t.blame(fieldOf(e))
	}
	if err := d.sorted(); err != nil {
		return nil, err
	}
	return &Spec{d.path, d.sourcePath, t.definition, problem, t.placed}, nil
}

// sorted are the errors of the document, or nil.
func (d *document) sorted() error {
	if len(d.errs) == 0 {
		return nil
	}
	sortErrors(d.errs)
	return d.errs
}

// comesFrom notes which field of the file a field of the definition was read from.
func (t *t1) comesFrom(name string, f field) { t.origins[name] = f.name }

// blame notes what is wrong with a field of the definition.
func (t *t1) blame(name string, err error) { t.errs = append(t.errs, t.placed(name, err)) }

// placed is a placer.
func (t *t1) placed(name string, err error) *Error {
	if option, ok := t.option(name); ok {
		return t.errorAt(option, position{}, err)
	}
	for name != "" && t.origins[name] == "" {
		name = outer(name)
	}
	return t.errorAt(t.origins[name], t.locate(t.origins[name]), err)
}

// ignored are the keys that say nothing to this program.
func ignored(keys ...string) (readers []reader) {
	for _, key := range keys {
		readers = append(readers, reader{key, func(field) {}})
	}
	return readers
}

// isNull reports whether a field is null, which in T1 files is as good as missing.
func (f field) isNull() bool {
	if f.node.Kind != yaml.ScalarNode {
		return false
	}
	v, err := scalar(f.node)
	return err == nil && v == nil
}
