package spec

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/python"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// A t1 is a T1 file while it is read: the JSON format of the auto-tuning hub, which Kernel Tuner and
// KTT read, too. Its expressions are Python's; they are translated, not executed.
type t1 struct {
	*document
	definition task.Definition
	kernel     field        // KernelSpecification, unread
	conditions []field      // of the configuration space
	scope      python.Scope // the parameters
}

// isT1 reports whether a document is a T1 file.
func isT1(root *yaml.Node) bool {
	return hasKey(root, "ConfigurationSpace") || hasKey(root, "KernelSpecification")
}

// loadT1 reads a T1 file whole.
func (d *document) loadT1(root *yaml.Node, o Options) (*Spec, error) {
	t := d.t1(root, o)
	if t.kernel.node == nil {
		d.failAt("KernelSpecification", d.locate(""), errors.New("the key is missing; ndtune space needs none"))
	} else if !d.failedOptions() {
		t.readKernel(t.kernel)
	}
	if err := d.sorted(); err != nil {
		return nil, err
	}
	problem := d.check(t.definition)
	if err := d.sorted(); err != nil {
		return nil, err
	}
	return &Spec{Path: d.path, SourcePath: d.sourcePath, Definition: t.definition, Problem: problem, Sizes: d.sizes, place: d.placed}, nil
}

// loadT1Space reads the parameters and the conditions of a T1 file.
func (d *document) loadT1Space(root *yaml.Node, o Options) (*SearchSpace, error) {
	t := d.t1(root, o)
	if err := d.sorted(); err != nil {
		return nil, err
	}
	s := &SearchSpace{Path: d.path, restrictions: t.definition.Restrictions, place: d.placed}
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
	for _, bad := range space.CheckRestrictions(s.parameters, s.restrictions, nil) {
		t.blame(fmt.Sprintf("restrictions[%d]", bad.Index), bad.Err)
	}
	if err := d.sorted(); err != nil {
		return nil, err
	}
	return s, nil
}

// kernelTunerSettings returns the settings of the device that Kernel Tuner gives to parameters of some names.
func kernelTunerSettings(parameters []space.Parameter) (all []task.Setting) {
	for _, s := range []struct{ parameter, setting string }{
		{"nvml_mem_clock", hardware.MemoryClock}, {"nvml_gr_clock", hardware.Clock}, {"nvml_pwr_limit", hardware.PowerLimit},
	} {
		if slices.ContainsFunc(parameters, func(p space.Parameter) bool { return p.Name == s.parameter }) {
			all = append(all, task.Setting{Name: s.setting, Expression: s.parameter})
		}
	}
	return all
}

// comesFrom notes the field of the file from which a field of the definition was read.
func (t *t1) comesFrom(name string, f field) { t.origins[name] = f.name }

// blame adds an error of a field of the definition.
func (t *t1) blame(name string, err error) { t.errs = append(t.errs, t.placed(name, err)) }

// ignored returns readers of keys that have no meaning for this program. A conversion lists those that had one.
func ignored(keys ...string) (readers []reader) {
	for _, key := range keys {
		readers = append(readers, reader{key: key, read: func(f field) {
			if !slices.Contains(redundant, key) && !f.isNull() {
				f.lost = append(f.lost, f.name+": "+f.excerpt())
			}
		}})
	}
	return readers
}

// redundant are the ignored keys that say nothing which other keys and the kernel do not say.
var redundant = []string{"$schema", "Parameters", "AccessType", "MemType", "TypeSize"}

// excerpt returns the text of a field on one line.
func (f field) excerpt() string {
	text, err := yaml.Marshal(f.node)
	if err != nil {
		return ""
	}
	return excerpt.Of(strings.Join(strings.Fields(string(text)), " "))
}

// ConvertT1 reads a T1 file and returns it as a specification for the file out. What a specification cannot express,
// such as the budget of a benchmark, stands in comments at its end that begin with «not converted».
func ConvertT1(path, out string) (*Draft, error) {
	d := newDocument(files{osFiles{}}, path)
	d.converting = true
	root, errs := d.parse()
	switch {
	case errs != nil:
		return nil, errs
	case !isT1(root):
		return nil, Errors{{File: path, Err: errors.New("this is no T1 file: it has neither ConfigurationSpace nor KernelSpecification")}}
	}
	s, err := d.loadT1(root, Options{})
	if err != nil {
		return nil, err
	}
	draft := &Draft{Definition: s.Definition, Arrays: map[string]*array.Array{}}
	file, options := Relative(out, s.SourcePath, s.Definition.Kernel.BuildOptions)
	draft.Files, draft.Definition.Kernel.BuildOptions = []string{file}, options
	draft.Definition.Arguments = slices.Clone(s.Definition.Arguments)
	for i, a := range draft.Definition.Arguments {
		if data, ok := a.Data.(*array.Array); ok {
			name := fmt.Sprintf("%s.%d.npy", strings.TrimSuffix(filepath.Base(out), filepath.Ext(out)), i+1)
			draft.Arrays[name] = data
			draft.Definition.Arguments[i].Fill.File = name
		}
	}
	draft.Head = []string{"Converted from " + filepath.Base(path) + "."}
	for _, line := range d.lost {
		draft.Remark("", "not converted: %s", line)
	}
	if s.Definition.Verify == nil {
		draft.Remark("verify", "The output is not verified: a T1 file says nothing of it. Name the configuration that is correct, or\nanother specification, such as verify: {spec: %s, parameters: {…}}.", filepath.Base(out))
	}
	return draft, nil
}

// isNull reports whether a field is null, which means missing in T1 files.
func (f field) isNull() bool {
	if f.node.Kind != yaml.ScalarNode {
		return false
	}
	v, err := scalar(f.node)
	return err == nil && v == nil
}

// t1 reads the parameters and gives them the values of the options. It then translates the
// conditions, whose translation depends on the values of the parameters.
func (d *document) t1(node *yaml.Node, o Options) *t1 {
	d.origins = map[string]string{}
	t := &t1{document: d}
	root := d.field("", node)
	root.keys(append(ignored("$schema", "General", "Search", "Budget", "BenchmarkConfig"),
		reader{key: "ConfigurationSpace", read: func(f field) {
			f.keys(
				reader{key: "TuningParameters", read: func(f field) {
					for _, item := range f.list() {
						t.readParameter(item)
					}
				}},
				reader{key: "Conditions", read: func(f field) {
					if !f.isNull() {
						t.conditions = f.list()
					}
				}},
			)
			f.require("TuningParameters")
		}},
		key("KernelSpecification", &t.kernel, field.itself),
	)...)
	root.require("ConfigurationSpace")
	o.apply(d, &t.definition)
	if len(d.errs) > 0 {
		return t
	}
	t.definition.Measure.Settings = kernelTunerSettings(t.definition.Parameters)
	t.scope = python.Scope{}
	for _, p := range t.definition.Parameters {
		domain, err := expression.DomainOf(p.Values)
		if err != nil {
			t.blame("parameters."+p.Name, err)
			continue
		}
		t.scope[p.Name] = domain
	}
	for _, c := range t.conditions {
		t.readCondition(c)
	}
	return t
}

func (t *t1) readParameter(f field) {
	var p space.Parameter
	var values field
	kind := ""
	f.keys(append(ignored("Default"),
		key("Name", &p.Name, field.text),
		key("Type", &kind, func(f field) string { return f.choice("int", "uint", "float", "bool", "string") }),
		key("Values", &values, field.itself),
	)...)
	f.require("Name", "Values")
	if f.failed(f.name) || values.node == nil {
		return
	}
	t.comesFrom("parameters."+p.Name, values)
	if task.Reserved(p.Name) {
		f.failf("the name %s is taken by expressions", p.Name)
		return
	}
	list := values.pythonValues()
	if f.failed(f.name) {
		return
	}
	for i, v := range list {
		converted, err := convertTo(kind, v)
		if err != nil {
			values.failf("value %d: %w", i+1, err)
			return
		}
		p.Values = append(p.Values, converted)
	}
	t.definition.Parameters = append(t.definition.Parameters, p)
}

// pythonValues reads the values of a list, of JSON or a Python expression.
func (f field) pythonValues() []any {
	if f.node.Kind == yaml.SequenceNode {
		return each(f.items(), field.value)
	}
	switch v := f.pythonValue(nil).(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

// pythonValue reads a number, or computes a text as a Python expression.
func (f field) pythonValue(environment map[string]any) any {
	value := f.value()
	text, ok := value.(string)
	if !ok {
		return value
	}
	e, err := python.Parse(text)
	if err != nil {
		f.fail(err)
		return nil
	}
	v, err := e.Eval(environment)
	if err != nil {
		f.fail(err)
		return nil
	}
	return v
}

// convertTo converts a value to the declared type of a parameter.
func convertTo(kind string, v any) (space.Value, error) {
	switch x := v.(type) {
	case []any:
		return nil, errors.New("a list is no value of a parameter")
	case int:
		switch {
		case kind == "uint" && x < 0:
			return nil, fmt.Errorf("%d is negative, and the type uint", x)
		case kind == "float":
			return float64(x), nil
		case kind == "bool" && (x == 0 || x == 1):
			return x == 1, nil
		case kind == "int", kind == "uint", kind == "":
			return x, nil
		}
	case float64:
		switch {
		case (kind == "int" || kind == "uint") && x == math.Trunc(x) && math.Abs(x) < 1<<53:
			return convertTo(kind, int(x))
		case kind == "float", kind == "":
			return x, nil
		}
	case bool:
		switch kind {
		case "bool", "":
			return x, nil
		case "int", "uint":
			if x {
				return 1, nil
			}
			return 0, nil
		}
	case string:
		if kind == "string" || kind == "" {
			return x, nil
		}
	}
	return nil, fmt.Errorf("%v is not of the type %s", v, kind)
}

// readCondition translates a condition of the configuration space.
func (t *t1) readCondition(f field) {
	f.keys(append(ignored("Parameters"),
		reader{key: "Expression", read: func(f field) {
			e := f.pythonExpression()
			if e == nil {
				return
			}
			source, err := e.Condition(t.scope)
			if err != nil {
				f.fail(err)
				return
			}
			t.comesFrom(fmt.Sprintf("restrictions[%d]", len(t.definition.Restrictions)), f)
			t.definition.Restrictions = append(t.definition.Restrictions, space.Restriction{Expression: source})
		}},
	)...)
	f.require("Expression")
}

// pythonExpression parses the text of a field. It returns nil if that is not possible.
func (f field) pythonExpression() *python.Expression {
	var text string
	switch v := f.value().(type) {
	case nil:
		return nil
	case string:
		text = v
	case bool:
		text = map[bool]string{true: "True", false: "False"}[v]
	default:
		text = space.FormatValue(v)
	}
	if len(text) > maxExpression {
		f.failf("the expression has %d characters, more than the %d that are taken", len(text), maxExpression)
		return nil
	}
	e, err := python.Parse(text)
	if err != nil {
		f.fail(err)
		return nil
	}
	return e
}

// pythonNumber reads a number, or an expression of the parameters whose value is one.
func (t *t1) pythonNumber(f field) task.Expr {
	e := f.pythonExpression()
	if e == nil {
		return ""
	}
	source, err := e.Number(t.scope)
	if err != nil {
		f.fail(err)
	}
	return source
}
