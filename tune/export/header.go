// Package export writes what an application needs to run a tuned kernel: its best configurations by device and
// size, its source, and the functions that choose one and compute the launch.
package export

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

//go:embed header.h.tmpl
var headerText string

var headerTemplate = template.Must(template.New("header").Parse(headerText))

// header is the data of the template.
type header struct {
	Key, Kernel, Runtime string
	Parameters           []parameter
	Sizes, Defined       []parameter // constants that the problem size reads, and those that are macros
	ProblemSize          []string    // assignments
	Records              []string
	Levels               []string // in words
	OptionBytes          int
	NDRange              string
	Source               []string
}

// A parameter is a variable of C.
type parameter struct{ Type, Name string }

// WriteHeader writes a C99 header with the wisdom about a problem. Its sizes are the whole-number constants that
// the problem size reads. The error names what cannot be exported: a pipeline, a source that is made for each
// configuration, a launch that reads the device, or wisdom about another kernel or another source.
func WriteHeader(w io.Writer, p *problem.Problem, f *wisdom.File) error {
	h, err := newHeader(p, f)
	if err != nil {
		return err
	}
	return headerTemplate.Execute(w, h)
}

func newHeader(p *problem.Problem, f *wisdom.File) (*header, error) {
	d := p.Definition()
	steps := p.Steps()
	switch {
	case p.IsPipeline():
		return nil, errors.New("a pipeline cannot be exported to C yet: its launches would need a loop")
	case d.Kernel.Func != nil || d.Kernel.Command != nil:
		return nil, errors.New("the source is made for each configuration, and a header has one source")
	case !slices.Equal(f.Parameters, p.Parameters().Names()):
		return nil, fmt.Errorf("the wisdom is about the parameters %s, the specification has %s", strings.Join(f.Parameters, ", "), strings.Join(p.Parameters().Names(), ", "))
	case !space.IsIdentifier(f.Key):
		return nil, fmt.Errorf("the key %q is no identifier of C; give another one with --key", f.Key)
	}
	h := &header{Key: f.Key, Kernel: p.KernelName(), Runtime: expression.Runtime(expression.C)}
	names := map[string]string{}
	for i := range p.Parameters().Len() {
		q := p.Parameters().At(i)
		typ, err := typeOf(q)
		if err != nil {
			return nil, err
		}
		h.Parameters = append(h.Parameters, parameter{typ, q.Name})
		names[q.Name] = "choice->record->configuration." + q.Name
	}
	own := map[string]string{}
	for _, c := range d.Constants {
		_, whole := c.Number().(int)
		if reads := slices.ContainsFunc(steps[0].ProblemSize, func(e *expression.Expression) bool { return e.Reads(c.Name) }); !whole || !reads {
			continue
		}
		h.Sizes = append(h.Sizes, parameter{"int64_t", c.Name})
		if own[c.Name] = c.Name; !c.Host {
			h.Defined = append(h.Defined, parameter{"int64_t", c.Name})
		}
		names[c.Name] = "choice->" + c.Name
	}
	for i, e := range steps[0].ProblemSize {
		text, err := e.ExportInt(expression.C, steps[0].WithConstants(expression.C, own))
		if err != nil {
			return nil, fmt.Errorf("problem_size[%d]: %w", i, err)
		}
		h.ProblemSize = append(h.ProblemSize, fmt.Sprintf("size[%d] = %s;", i, text))
	}
	var err error
	if h.NDRange, err = steps[0].NDRange(expression.C, f.Key+"_ndrange", []string{"const " + f.Key + "_choice *choice"}, names); err != nil {
		return nil, err
	}
	if err := h.addRecords(p, f); err != nil {
		return nil, err
	}
	return h, h.addSource(p)
}

// typeOf returns the type of C that holds the values of a parameter.
func typeOf(q space.Parameter) (string, error) {
	types := map[string]bool{}
	for _, v := range q.Values {
		switch v.(type) {
		case bool:
			types["int"] = true
		case int:
			types["int64_t"] = true
		case float64:
			types["double"] = true
		case string:
			types["const char *"] = true
		}
	}
	if len(types) == 2 && types["int64_t"] && types["double"] {
		return "double", nil
	}
	for t := range types {
		if len(types) == 1 {
			return t, nil
		}
	}
	return "", fmt.Errorf("the parameter %s has values of several types, which no variable of C can hold", q.Name)
}

// addRecords adds the records of the present source, those of one device and size with the best first.
func (h *header) addRecords(p *problem.Problem, f *wisdom.File) error {
	options, err := withoutSizes(p, h.Sizes)
	if err != nil {
		return err
	}
	digest := p.KernelDigest()
	kept := *f
	kept.Records = slices.DeleteFunc(f.Sorted(), func(r wisdom.Record) bool { return r.SourceDigest != "" && r.SourceDigest != digest })
	if len(kept.Records) == 0 {
		return errors.New("all records are of another source of the kernel: tune it again")
	}
	overall, err := kept.Overall("")
	if err != nil {
		return err
	}
	best := kept.Text(&wisdom.Record{Configuration: overall.Configuration})
	for level := wisdom.SameSize; level <= wisdom.BestOverall; level++ {
		h.Levels = append(h.Levels, quote(level.String()))
	}
	for i := range kept.Records {
		r := &kept.Records[i]
		c, err := p.Parameters().Configure(r.Configuration)
		if err != nil {
			return fmt.Errorf("the configuration %s: %w", kept.Text(r), err)
		}
		line := options.BuildOptions(c, r.Device)
		h.OptionBytes = max(h.OptionBytes, len(line)+1)
		cost := r.Objective
		if f.Objective.Maximize {
			cost = -cost
		}
		h.Records = append(h.Records, recordText(r, line, c, cost, r.SourceDigest == digest, kept.Text(r) == best))
	}
	for _, d := range h.Defined {
		h.OptionBytes += len(" -D =") + len(d.Name) + 20
	}
	return nil
}

// withoutSizes returns the problem without the macros of its sizes, for the options that do not depend on them.
func withoutSizes(p *problem.Problem, sizes []parameter) (*problem.Problem, error) {
	d := p.Definition()
	d.Verify, d.Baseline = nil, nil
	d.Constants = slices.Clone(d.Constants)
	for i := range d.Constants {
		c := &d.Constants[i]
		if slices.ContainsFunc(sizes, func(s parameter) bool { return s.Name == c.Name }) {
			c.Host = true
		}
	}
	for _, o := range d.Kernel.BuildOptions {
		for _, s := range sizes {
			if in := regexp.MustCompile(`\{[^}]*\b` + s.Name + `\b`); in.MatchString(o) {
				return nil, fmt.Errorf("the build option %s reads the size %s, which is known only to the application", o, s.Name)
			}
		}
	}
	return problem.New(d)
}

var deviceTypes = map[string]string{"cpu": "CL_DEVICE_TYPE_CPU", "gpu": "CL_DEVICE_TYPE_GPU", "accelerator": "CL_DEVICE_TYPE_ACCELERATOR"}

// recordText returns the initializer of a record.
func recordText(r *wisdom.Record, options string, c space.Configuration, cost float64, sameSource, overall bool) string {
	typ := deviceTypes[r.Device.Type]
	if typ == "" {
		typ = "0"
	}
	size := []int{1, 1, 1}
	copy(size, r.ProblemSize)
	date := int64(0)
	if !r.Date.IsZero() {
		date = r.Date.Unix()
	}
	var values []string
	for i := range c.Len() {
		text, _ := expression.Literal(expression.C, c.At(i))
		values = append(values, text)
	}
	return fmt.Sprintf("%s, %s, %s, %s, %s, %s, {%d, %d, %d}, %.17g, %.17g, %d, %s, %s, %s, %s, {%s}",
		quote(r.Device.Name), quote(r.Device.Vendor), quote(r.Device.Platform), quote(r.Device.Driver), quote(r.Device.Architecture), typ,
		size[0], size[1], size[2], r.Time, cost, date, truth(sameSource), truth(r.Verified), truth(overall), quote(options), strings.Join(values, ", "))
}

// truth returns a bool as a literal of C.
func truth(v bool) string {
	literal, _ := expression.Literal(expression.C, v)
	return literal
}

// addSource adds the lines of the source.
func (h *header) addSource(p *problem.Problem) error {
	first, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		return err
	}
	v, err := p.Variant(first, hardware.Device{})
	if err != nil {
		return err
	}
	switch {
	case v.SPIRV():
		return errors.New("a SPIR-V module cannot be exported to C yet")
	case v.Prologue > 0:
		return errors.New("a parameter or a constant has a value that no compiler's option can carry, such as one with spaces")
	}
	for line := range strings.Lines(v.Source) {
		h.Source = append(h.Source, quote(line))
	}
	return nil
}

// quote returns a text as a literal of C.
func quote(text string) string {
	literal, _ := expression.Literal(expression.C, text)
	return literal
}
