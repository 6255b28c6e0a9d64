package problem

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// Digest returns a text that identifies the problem: the results of two problems with one digest are
// comparable. It covers the kernel with everything that its source includes, constants, sizes, arguments
// with their content, parameters, restrictions, verification, roofline, metrics, observed quantities, the state of the
// caches and the warm-up of a measurement, and the settings of the device. It covers neither options of a run nor the device.
// It cannot cover Go functions; of the sources that a function or a command makes, it covers that of the first configuration,
// and the files that the arguments of the command name.
func (p *Problem) Digest() string { return digestOf(p.canonical()) }

func digestOf(c canonicalProblem) string {
	h := sha256.New()
	encoder := json.NewEncoder(h)
	// An encoding error would mean a type that JSON cannot hold, and there is none here.
	if err := encoder.Encode(c); err != nil {
		panic(fmt.Sprintf("tune: digest of a problem: %v", err))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// KernelDigest returns a text that identifies the kernel and its launch, whatever the size of the problem:
// a configuration that was the best before it changed need not be valid after it. It covers the source
// with all that it includes, its language, build options, names of parameters and constants, types of arguments, shapes and formats of images, the
// expressions of the launch, the state of the caches and the settings of the device. It covers neither numbers that are the values of
// constants or the problem size, nor data, nor the values that parameters can have. The values of other
// constants are part of the code: double instead of float is another kernel.
//
// Where a function or a command makes the source, the digest covers the same as [Problem.Digest]. If the
// source depends on the values of constants, another size has another digest.
func (p *Problem) KernelDigest() string {
	all := p.canonical()
	c := canonicalProblem{
		Kernel: all.Kernel, Source: all.Source, BuildOptions: all.BuildOptions, Target: all.Target, Language: all.Language, ProblemSize: withoutNumbers(all.ProblemSize),
		BlockSize: all.BlockSize, GridDiv: all.GridDiv, GlobalOffset: all.GlobalOffset, Stages: slices.Clone(all.Stages),
		Generator: all.Generator, Parameters: p.parameters.Names(), Timing: cacheDigest(p.Timing().Cache),
		Settings: all.Settings,
	}
	withoutSizes(c.Stages)
	for _, constant := range p.definition.Constants {
		text := fmt.Sprintf("%s (host: %t)", constant.Name, constant.Host)
		if value, isText := constant.Number().(string); isText {
			text += "=" + value
		}
		c.Constants = append(c.Constants, text)
	}
	for _, a := range all.Arguments {
		own := canonicalArgument{Name: a.Name, Type: a.Type, LocalSize: a.LocalSize, Output: a.Output, Sampler: a.Sampler, Alias: a.Alias, Symbol: a.Symbol}
		if a.Image != nil {
			own.Image = &definition.Image{Shape: a.Image.Shape, Format: a.Image.Format}
		}
		c.Arguments = append(c.Arguments, own)
	}
	return digestOf(c)
}

// MeasurementDigest returns a text that identifies the meaning of a result: the results of one configuration
// under two problems with one such digest are comparable, whatever other configurations the problems have. It covers
// the same as [Problem.Digest], but of the parameters the names alone, in any order, and no restrictions.
func (p *Problem) MeasurementDigest() string {
	c := p.canonical()
	c.Parameters, c.Restrictions = slices.Sorted(slices.Values(p.parameters.Names())), nil
	if v := p.verify; v != nil && v.reference != nil {
		c.Reference, c.Configuration = v.reference.MeasurementDigest(), v.configuration.String()
	}
	return digestOf(c)
}

// withoutNumbers replaces the expressions that are plain numbers.
func withoutNumbers(expressions []definition.Expr) []definition.Expr {
	expressions = slices.Clone(expressions)
	for i, e := range expressions {
		if _, err := strconv.ParseFloat(strings.TrimSpace(e), 64); err == nil {
			expressions[i] = "number"
		}
	}
	return expressions
}

// withoutSizes replaces the problem sizes of stages that are plain numbers. The lists of stages inside a
// stage are copied first.
func withoutSizes(stages []definition.Stage) {
	for i := range stages {
		stages[i].ProblemSize = withoutNumbers(stages[i].ProblemSize)
		stages[i].Stages = slices.Clone(stages[i].Stages)
		withoutSizes(stages[i].Stages)
	}
}

type canonicalProblem struct {
	Kernel, Source    string
	BuildOptions      string
	Target            string          `json:",omitempty"`
	Language          source.Language `json:",omitempty"` // unless it is OpenCL C
	Constants         []string
	ProblemSize       []definition.Expr
	BlockSize         [3]definition.Expr
	GridDiv           [3][]definition.Expr
	GlobalOffset      []definition.Expr  `json:",omitempty"`
	Stages            []definition.Stage `json:",omitempty"`
	Arguments         []canonicalArgument
	Parameters        []string
	Restrictions      []string
	Roofline          string `json:",omitempty"`
	Metrics           string
	Measure           string            `json:",omitempty"`
	BuildRestrictions []definition.Expr `json:",omitempty"`
	Objective         score.Objective
	Seed              uint64
	Verify            string // what the output is compared with
	Reference         string
	Configuration     string
	Launches          definition.Expr
	Swap              [2]string
	ATol, RTol        definition.Expr
	Expected          map[string]string
	Compare           map[string]definition.Comparison `json:",omitempty"`
	Command           []string                         `json:",omitempty"` // of the verification
	Generator         []string                         `json:",omitempty"` // the command that makes sources
	Timing            string                           `json:",omitempty"`
	Settings          []definition.Setting             `json:",omitempty"` // of the device
}

type canonicalArgument struct {
	Name, Type, Size, Value, LocalSize string
	Content, Fill                      string
	Output, Restore                    bool
	Image                              *definition.Image   `json:",omitempty"`
	Sampler                            *definition.Sampler `json:",omitempty"`
	Alias                              string              `json:",omitempty"`
	Symbol                             bool                `json:",omitempty"`
}

func (p *Problem) canonical() canonicalProblem {
	d := p.definition
	_, options := CutFlag("-I", d.Kernel.BuildOptions) // the included files are part of the source, and their folders are of one machine
	c := canonicalProblem{
		Kernel: d.Kernel.Name, Source: foldersOfLines.ReplaceAllString(p.source, `#line $1 "`),
		BuildOptions: fmt.Sprintf("%q", options), Target: d.Kernel.Target,
		ProblemSize: d.ProblemSize, BlockSize: d.BlockSize, GridDiv: divisors(d.GridDiv), GlobalOffset: d.GlobalOffset,
		Stages: portableStages(d.Stages), Metrics: fmt.Sprintf("%q", d.Metrics), Measure: p.canonicalMeasure(),
		BuildRestrictions: d.BuildRestrictions, Objective: p.Objective(), Seed: d.Seed, Timing: timingDigest(p.Timing()),
		Settings: slices.SortedFunc(slices.Values(d.Measure.Settings), func(a, b definition.Setting) int { return strings.Compare(a.Name, b.Name) }),
	}
	if p.language != source.OpenCL {
		c.Language = p.language
	}
	switch {
	case d.Kernel.Func != nil:
		c.Source = p.firstSource()
	case d.Kernel.Command != nil:
		c.Source, c.Generator = p.commandDigest(), d.Kernel.Command.Args
	case source.IsSPIRV(p.source):
		// JSON has no place for bytes that are no text.
		c.Source = fmt.Sprintf("SPIR-V %x", sha256.Sum256([]byte(p.source)))
	}
	if r := d.Roofline; r != nil {
		c.Roofline = fmt.Sprintf("%q %q %s", r.Flops, r.Bytes, p.roofline.precision)
	}
	for _, constant := range d.Constants {
		// 1 and 1.0 are two constants for a kernel, 1 and "1" are one.
		text := fmt.Sprintf("%s=%T %s", constant.Name, p.constants[constant.Name], constant.Text())
		if constant.Host {
			text += " (host)"
		}
		c.Constants = append(c.Constants, text)
	}
	for _, a := range p.arguments {
		layout := a.Element.Type.String()
		if a.Element.Struct != nil {
			layout = a.Element.Struct.String()
		}
		c.Arguments = append(c.Arguments, canonicalArgument{
			Name: a.Name, Type: layout, Size: a.Size, Value: fmt.Sprint(a.Value), LocalSize: a.LocalSize,
			Content: p.contentDigest(a.Content), Fill: fillDigest(&a), Output: a.Output, Restore: a.RestoreEachLaunch,
			Image: a.Image, Sampler: a.Sampler, Alias: a.Alias, Symbol: a.Symbol,
		})
	}
	for _, q := range p.parameters.List() {
		text := q.Name + "="
		for _, v := range q.Values {
			text += fmt.Sprintf("%T %s,", v, space.FormatValue(v))
		}
		c.Parameters = append(c.Parameters, text)
	}
	for _, r := range d.Restrictions {
		text := r.String()
		if r.Table != nil {
			text = r.Table.Digest()
		}
		c.Restrictions = append(c.Restrictions, text)
	}
	if v := p.verify; v != nil {
		c.ATol, c.RTol, c.Launches, c.Swap = d.Verify.ATol, d.Verify.RTol, d.Verify.Launches, d.Verify.Swap
		c.Expected, c.Compare = map[string]string{}, d.Verify.Compare
		switch {
		case v.reference != nil:
			c.Verify, c.Reference, c.Configuration = "problem", v.reference.Digest(), v.configuration.Key()
		case v.expected != nil:
			c.Verify = "files"
		case d.Verify.Reference != nil:
			c.Verify = "reference function"
		case d.Verify.Command != nil:
			c.Verify, c.Command = "command", d.Verify.Command.Args
		default:
			c.Verify = "check function"
		}
		for name, data := range v.expected {
			c.Expected[name] = p.contentDigest(data)
		}
	}
	return c
}

// fillDigest returns the fill of an argument as text. Files are part of the content.
func fillDigest(a *Argument) string {
	if a.Fill.Shared != "" {
		return "shared " + a.Fill.Shared
	}
	text := fmt.Sprintf("{%v %s }", array.Fill{Value: 0.0, Low: 0.0, High: 0.0}, a.Fill.Copy)
	for i, f := range a.Fills {
		switch member := fmt.Sprintf("{%v %s }", f.Fill, a.Fill.Copy); {
		case f.Rule != nil:
			text += fmt.Sprintf(" %d %s", i, f.Source)
		case len(a.Fill.Fields) > 0:
			text += member
		default:
			return member // the same for all members
		}
	}
	return text
}

// foldersOfLines finds the folders in #line directives with absolute paths: the digest does not depend on the place of the files.
var foldersOfLines = regexp.MustCompile(`(?m)^#line (\d+) "(?:[A-Za-z]:)?/(?:[^"\n]*/)?`)

// contentDigest returns the digest of an array of the problem, which is computed once.
func (p *Problem) contentDigest(a *array.Array) string {
	switch {
	case a == nil:
		return ""
	case a.Digest != "":
		return a.Digest
	}
	at := memory{unsafe.SliceData(a.Bytes), len(a.Bytes)}
	text, known := p.digests.Load(at)
	if !known {
		text = fmt.Sprintf("%x", sha256.Sum256(a.Bytes))
		p.digests.Store(at, text)
	}
	return text.(string)
}

// knownDigest is contentDigest, but "" for a mapped file whose digest nobody has asked for.
func (p *Problem) knownDigest(a *array.Array) string {
	if a.File != "" && a.Digest == "" {
		text, _ := p.digests.Load(memory{unsafe.SliceData(a.Bytes), len(a.Bytes)})
		known, _ := text.(string)
		return known
	}
	return p.contentDigest(a)
}

// A memory is the place of the bytes of an array, which arrays of several types may share.
type memory struct {
	first *byte
	len   int
}
