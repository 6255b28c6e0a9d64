package spec

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
)

// verification reads what a correct output is. It only notes the name of a reference
// specification, which is loaded once the constants of this one are known.
func (f field) verification() *definition.Verification {
	if f.unverified {
		return nil
	}
	v, command, inputs := &definition.Verification{}, definition.Command{}, true
	f.keys(
		key("spec", &f.reference, field.text).means("path", "the specification of the reference; this, npy or command"),
		key("parameters", &v.Configuration, field.configuration).means("mapping", "with spec: the configuration of the reference"),
		key("launches", &v.Launches, field.expression).means("expression", "with spec: the launches of the reference; default: 1"),
		key("swap", &v.Swap, field.swap).means("list", "with spec: the buffers that change places between launches"),
		key("npy", &v.Files, mapOf(field.npyFile)).means("mapping", ".npy files with the expected content"),
		key("command", &command.Args, field.command).means("list", "a program with its arguments that judges the outputs"),
		key("timeout", &command.Timeout, field.duration).means("duration", "the time that an answer may take; default: 1m"),
		key("inputs", &inputs, field.boolean).means("true or false", "with command: whether it gets the initial content; default: true"),
		key("compare", &v.Compare, mapOf(field.comparison)).means("mapping", "outputs that are reduced or sorted before they are compared"),
		key("atol", &v.ATol, field.expression).means("expression", "the absolute tolerance"),
		key("rtol", &v.RTol, field.expression).means("expression", "the relative tolerance"),
	)
	v.Command, v.NoInputs = f.complete(command), !inputs
	return v
}

// command reads a program with its arguments.
func (f field) command() []string {
	if !f.onDisk() {
		f.failf("commands are run from the operating system's files only; the specification is a bundled one")
		return nil
	}
	return each.Of(f.listOrOne(), field.text)
}

// complete returns a command, which runs in the folder of the specification, or nil if the mapping has none.
func (f field) complete(command definition.Command) *definition.Command {
	if !f.has("command") {
		if f.has("timeout") {
			f.failKey("timeout", "belongs to command")
		}
		return nil
	}
	command.Dir = filepath.Dir(f.path)
	if absolute, err := filepath.Abs(command.Dir); err == nil {
		command.Dir = absolute
	}
	return &command
}

// duration reads a time such as 30s.
func (f field) duration() time.Duration {
	text := f.text()
	d, err := time.ParseDuration(text)
	if (err != nil || d <= 0) && !f.failed(f.name) {
		f.failf("%q is no time; write one such as 30s or 5m", text)
	}
	return d
}

// comparison reads the name of a reduction, or {as: …, rows: …}.
func (f field) comparison() (c definition.Comparison) {
	reduction := func(f field) array.Reduction { return array.Reduction(f.text()) }
	f.keysOrFirst(
		key("as", &c.As, reduction).means("text", "sum, min, max, mean, norm or multiset").required(),
		key("rows", &c.Rows, field.expression).means("expression", "the number of rows that are reduced one by one; default: 1"),
	)
	return c
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

// loadReference makes the specification that verify.spec names the reference of the definition,
// which gives its values to constants of the same name. Errors of the reference have its own file
// and lines. Its own verification is not read: a reference is correct by definition, and a
// kernel may be verified by itself.
func (d *document) loadReference(given *definition.Definition) Errors {
	verify := given.Verify
	given.Verify = nil // unless the reference is sound
	path := d.beside(d.path, d.reference)
	if err := d.checkRegular(path); err != nil {
		d.failAt("verify.spec", d.locate("verify.spec"), d.explain(path, err))
		return nil
	}
	doc := newDocument(d.files, path)
	doc.unverified = true
	root, errs := doc.parse()
	if errs != nil {
		return errs
	}
	reference, own := doc.field("", root).definition(), problem.Computed(given.Constants)
	for i, c := range reference.Constants {
		j := slices.IndexFunc(own, func(o definition.Constant) bool { return o.Name == c.Name })
		if j >= 0 {
			var err error
			if reference.Constants[i], err = c.With(own[j].Value); err != nil {
				doc.failAt("constants."+c.Name, doc.locate("constants."+c.Name), fmt.Errorf("the value in %s: %w", d.path, err))
			}
		}
	}
	reference.Seed, reference.Baseline = given.Seed, nil
	doc.check(reference)
	if len(doc.errs) > 0 {
		sortErrors(doc.errs)
		return doc.errs
	}
	verify.Problem = &reference
	given.Verify = verify
	return nil
}
