package spec

import (
	"errors"
	"slices"

	"github.com/ndtune/ndtune/tune/problem"
)

var errOfReference = errors.New("belongs to a reference kernel (spec), not to files")

// loadReference reads the specification that verify.spec names, with the values that this
// one gives to constants of the same name, and makes it the definition's reference. What is
// wrong with it has its own file and lines. Its own verification is not looked at: a
// reference is right by definition, and a kernel may be verified by itself.
func (d *document) loadReference(definition *problem.Definition) Errors {
	path := d.beside(d.path, d.reference)
	if err := d.checkRegular(path); err != nil {
		d.failAt("verify.spec", d.locate("verify.spec"), d.explain(path, err))
		definition.Verify = nil
		return nil
	}
	doc := &document{files: d.files, path: path, unverified: true}
	root, err := doc.begin()
	if err == nil && isT1(root) {
		err = Errors{{File: path, Err: errT1}}
	}
	if err != nil {
		definition.Verify = nil
		return err.(Errors)
	}
	reference := doc.field("", root).definition()
	for i, c := range reference.Constants {
		j := slices.IndexFunc(definition.Constants, func(o problem.Constant) bool { return o.Name == c.Name })
		if j >= 0 {
			reference.Constants[i].Value = definition.Constants[j].Value
		}
	}
	reference.Seed = definition.Seed
	doc.check(reference)
	if len(doc.errs) > 0 {
		sortErrors(doc.errs)
		definition.Verify = nil
		return doc.errs
	}
	definition.Verify.Problem = &reference
	return nil
}
