package task

import (
	"fmt"
	"maps"
	"slices"
)

// A FieldKind says what a field of a definition holds.
type FieldKind int

// The kinds of fields that [Definition.Fields] yields.
const (
	ExpressionField FieldKind = iota // an expression that can read device.*, or a text that holds such expressions
	FunctionField                    // a Go function
	CommandField                     // a program to run
	FileField                        // the name of a file to read
)

// A Field is a field of a definition that holds more than plain data.
type Field struct {
	Path string // in the words of a specification file: «arguments[0].size»
	Kind FieldKind
	Text string // of an expression
}

// Fields returns the fields of a definition that hold expressions, functions, commands or names of files, as far as they are
// given. The fields of the kernel that gives the expected output begin with verify.spec.
func (d *Definition) Fields() []Field {
	var all []Field
	given := func(kind FieldKind, path string, is bool) {
		if is {
			all = append(all, Field{Path: path, Kind: kind})
		}
	}
	expressions := func(path string, given ...Expr) {
		for _, e := range given {
			if e != "" {
				all = append(all, Field{Path: path, Kind: ExpressionField, Text: e})
			}
		}
	}
	shape := func(prefix string, s Shape) {
		expressions(prefix+"problem_size", s.ProblemSize...)
		expressions(prefix+"block_size", s.BlockSize[:]...)
		for i, dim := range Dimensions {
			expressions(prefix+"grid_div."+dim, s.GridDiv[i]...)
		}
		expressions(prefix+"global_offset", s.GlobalOffset...)
	}
	k := &d.Kernel
	given(FunctionField, "kernel.func", k.Func != nil)
	given(FileField, "kernel.file", k.File != "")
	given(FileField, "kernel.include_dirs", len(k.IncludeDirs) > 0 && k.Command == nil)
	expressions("kernel.build_options", k.BuildOptions...)
	expressions("kernel.target", k.Target)
	if k.Command != nil {
		given(CommandField, "kernel.command", true)
	}
	shape("", d.Shape())
	for s := range Every(d.Stages) {
		expressions("kernels.repeat", s.Repeat)
		shape("kernels.", s.Shape())
	}
	for i := range d.Arguments {
		a, path := &d.Arguments[i], "arguments."+d.Arguments[i].Name
		expressions(path+".size", a.Size)
		expressions(path+".local_size", a.LocalSize)
		if a.Image != nil {
			expressions(path+".size", a.Image.Size...)
		}
		if a.Value != nil {
			expressions(path+".value", fmt.Sprint(a.Value))
		}
		given(FileField, path+".fill", a.Fill.File != "")
	}
	for i, r := range d.Restrictions {
		expressions(fmt.Sprintf("restrictions[%d]", i), r.Expression)
	}
	expressions("build_restrictions", d.BuildRestrictions...)
	if r := d.Roofline; r != nil {
		expressions("roofline", r.Flops, r.Bytes)
	}
	for _, m := range d.Metrics {
		expressions("metrics."+m.Name, m.Expression)
	}
	for i := range d.Measure.Instruments {
		given(CommandField, fmt.Sprintf("measure.instruments[%d].command", i), d.Measure.Instruments[i].Command != nil)
	}
	for _, s := range d.Measure.Settings {
		expressions("measure.settings."+s.Name, s.Expression)
	}
	v := d.Verify
	if v == nil {
		return all
	}
	expressions("verify", v.Launches, v.ATol, v.RTol)
	for _, name := range slices.Sorted(maps.Keys(v.Compare)) {
		expressions("verify.compare."+name, v.Compare[name].Rows)
	}
	given(FileField, "verify.files", len(v.Files) > 0)
	given(CommandField, "verify.command", v.Command != nil)
	if v.Problem != nil {
		reference := *v.Problem
		reference.Verify = nil // it is not itself verified
		for _, f := range reference.Fields() {
			f.Path = "verify.spec." + f.Path
			all = append(all, f)
		}
	}
	given(FunctionField, "verify.reference", v.Reference != nil)
	given(FunctionField, "verify.check", v.Check != nil)
	return all
}

// paths returns the paths of the fields of a kind.
func (d *Definition) paths(kind FieldKind) (paths []string) {
	for _, f := range d.Fields() {
		if f.Kind == kind {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// Outside returns the fields of a definition that name programs to run, and those that name files to read. A portable
// definition names no files.
func (d *Definition) Outside() (commands, files []string) {
	return d.paths(CommandField), d.paths(FileField)
}

// Functions returns the fields of a definition that are Go functions.
func (d *Definition) Functions() []string { return d.paths(FunctionField) }

// A FieldError is a fault of a field of a definition. Field is a path in the words of a specification
// file: «restrictions[2]», «arguments[0].size».
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }
