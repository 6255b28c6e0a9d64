package spec

import (
	"errors"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/python"
	"github.com/ndtune/ndtune/tune/space"
)

// readSpace reads the parameters, gives them the values that the options have, and translates
// the conditions, for which it matters what the parameters can be.
func (t *t1) readSpace(root field, o Options) {
	root.keys(append(ignored("$schema", "General", "Search", "Budget", "BenchmarkConfig"),
		reader{"ConfigurationSpace", func(f field) {
			f.keys(
				reader{"TuningParameters", t.readParameters},
				reader{"Conditions", func(f field) {
					if !f.isNull() {
						t.conditions = f.list()
					}
				}},
			)
			f.require("TuningParameters")
		}},
		reader{"KernelSpecification", func(f field) { t.kernel = f }},
	)...)
	root.require("ConfigurationSpace")
	o.apply(t.document, &t.definition)
	if len(t.errs) > 0 {
		return
	}
	t.scope = python.Scope{}
	for _, p := range t.definition.Parameters {
		domain, err := python.DomainOf(p.Values)
		if err != nil {
			t.blame("parameters."+p.Name, err)
			continue
		}
		t.scope[p.Name] = domain
	}
	for _, c := range t.conditions {
		t.readCondition(c)
	}
}

func (t *t1) readParameters(f field) {
	for _, item := range f.list() {
		t.readParameter(item)
	}
}

func (t *t1) readParameter(f field) {
	var p space.Parameter
	var values field
	kind := ""
	f.keys(append(ignored("Default"),
		reader{"Name", func(f field) { p.Name = f.text() }},
		reader{"Type", func(f field) { kind = f.choice("int", "uint", "float", "bool", "string") }},
		reader{"Values", func(f field) { values = f }},
	)...)
	f.require("Name", "Values")
	if f.failed(f.name) || values.node == nil {
		return
	}
	t.comesFrom("parameters."+p.Name, values)
	if problem.Reserved(p.Name) {
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

// pythonValues are the values of a list: one of JSON, or a Python expression.
func (f field) pythonValues() (values []any) {
	if f.node.Kind == yaml.SequenceNode {
		for _, item := range f.items() {
			values = append(values, item.value())
		}
		return values
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

// pythonValue is a number or a text of JSON, which is computed as a Python expression.
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

// convertTo gives a value the type that a parameter says it has.
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
		reader{"Expression", func(f field) {
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

// pythonExpression is the text of a field, parsed; nil where that cannot be done.
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

// pythonNumber is a number, or an expression over the parameters that is one.
func (t *t1) pythonNumber(f field) problem.Expr {
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
