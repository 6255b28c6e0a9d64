package spec

import "github.com/ndtune/ndtune/tune/problem"

// arguments reads the arguments of the kernel in its order.
func (f field) arguments() (arguments []problem.Argument) {
	for _, item := range f.list() {
		arguments = append(arguments, item.argument())
	}
	return arguments
}

func (f field) argument() (a problem.Argument) {
	f.keys(
		reader{"name", func(f field) { a.Name = f.text() }},
		reader{"type", func(f field) { a.Type = f.text() }},
		reader{"size", func(f field) { a.Size = f.expression() }},
		reader{"fill", func(f field) { a.Fill = f.fill() }},
		reader{"output", func(f field) { a.Output = f.boolean() }},
		reader{"restore", func(f field) { a.RestoreEachLaunch = f.choice("iteration", "configuration") == "iteration" }},
		reader{"value", func(f field) { a.Value = f.argumentValue() }},
		reader{"local_size", func(f field) { a.LocalSize = f.expression() }},
	)
	f.require("name", "type")
	return a
}

// argumentValue is a number, a bool or an expression, or a list of them for a vector.
func (f field) argumentValue() any {
	scalars := f.listOrOne()
	lanes := make([]any, len(scalars))
	for i, s := range scalars {
		lanes[i] = s.value()
		if text, ok := lanes[i].(string); ok && len(text) > maxExpression {
			lanes[i] = s.expression()
		}
	}
	if len(scalars) == 1 && scalars[0].name == f.name {
		return lanes[0]
	}
	return lanes
}
