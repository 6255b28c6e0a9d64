package problem

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

func TestNotices(t *testing.T) {
	const kernel = "__kernel void saxpy(int x) { x = unroll * block_size_x; }\n"
	for name, c := range map[string]struct {
		change func(*definition.Definition)
		want   []string // in this order, the beginning of each notice
	}{
		"nothing": {func(*definition.Definition) {}, nil},
		"a parameter of the source again": {func(d *definition.Definition) { d.Kernel.Source = "#define unroll 4\n" + kernel },
			[]string{"line 1 of the source: «#define unroll 4» is left out, because the parameter unroll "}},
		"a constant of the source again": {func(d *definition.Definition) { d.Kernel.Source = kernel + "#undef n\n#define n 4\n" },
			[]string{"line 2 of the source: «#undef n» is left out, because the constant n ", "line 3 of the source: «#define n 4» is left out"}},
		"a default for a parameter": {func(d *definition.Definition) {
			d.Kernel.Source = "#ifndef unroll\n#define unroll 4\n#endif\n" + kernel
		}, nil},
		"a default under a macro of the options": {func(d *definition.Definition) {
			d.Kernel.Source, d.Kernel.BuildOptions = "#ifdef FAST\n#define unroll 4\n#endif\n"+kernel, []string{"-D", "FAST=1"}
		}, []string{"line 2 of the source: «#define unroll 4» is left out"}},
		"a host constant": {func(d *definition.Definition) { d.Kernel.Source, d.Constants[0].Host = "#define n 4\n"+kernel, true }, nil},
		"nothing reads a parameter": {func(d *definition.Definition) { d.Kernel.Source = "// unroll\n__kernel void saxpy() {}" },
			[]string{"The parameter unroll has no effect: "}},
		"a parameter of one value": {func(d *definition.Definition) {
			d.Kernel.Source, d.Parameters[1].Values = "__kernel void saxpy() {}", []space.Value{1}
		}, nil},
		"a parameter of a size": {func(d *definition.Definition) {
			d.Kernel.Source, d.GridDiv[0] = "", []definition.Expr{"unroll"}
			d.Kernel.Source = " "
		}, nil},
		"a parameter of a scalar":  {func(d *definition.Definition) { d.Kernel.Source, d.Arguments[2].Value = " ", "unroll * 0.5" }, nil},
		"a parameter of an option": {func(d *definition.Definition) { d.Kernel.Source, d.Kernel.BuildOptions = " ", []string{"-DU=unroll"} }, nil},
		"a parameter of a constant": {func(d *definition.Definition) {
			d.Kernel.Source, d.Constants[1].Value = " ", "(unroll + 1)"
			d.Arguments[2].Value = 1
		}, nil},
		"a parameter that is pasted":     {func(d *definition.Definition) { d.Kernel.Source = "#define PASTE(a) un##a\nint i = PASTE(roll);\n" }, nil},
		"files that only the driver has": {func(d *definition.Definition) { d.Kernel.Source = "#include <k.h>\n" }, nil},
		"a restriction is no effect": {func(d *definition.Definition) {
			d.Kernel.Source = " "
			d.Restrictions = []space.Restriction{{Expression: "block_size_x > unroll"}}
		}, []string{"The parameter unroll has no effect: "}},
		"texts like rules": {func(d *definition.Definition) {
			d.Parameters[1].Values = []space.Value{"range(128,1024,64)", "32:256:32", "1..8", "float4", "a:b", "f(1, 2)", "1"}
			d.Restrictions = nil
		}, []string{`The parameter unroll has the text "range(128,1024,64)"`, `The parameter unroll has the text "32:256:32"`, `The parameter unroll has the text "1..8"`}},
		"no local size": {func(d *definition.Definition) {
			d.Parameters[0].Name, d.Restrictions, d.Arguments[3].LocalSize = "block", nil, "1"
			d.Kernel.Source = "int i = block * unroll;"
		}, []string{"The local size is 1, "}},
		"a local size of 1": {func(d *definition.Definition) {
			d.Parameters[0].Name, d.Restrictions, d.Arguments[3].LocalSize, d.BlockSize[0] = "block", nil, "1", "1"
			d.Kernel.Source = "int i = block * unroll;"
		}, nil},
		"the reference's source": {func(d *definition.Definition) {
			r := saxpy()
			r.Kernel.Source = "#define n 5\n"
			d.Verify = &definition.Verification{Problem: &r, Configuration: map[string]space.Value{"block_size_x": 32, "unroll": 1}}
		}, []string{"The reference kernel: line 1 of the source: «#define n 5» is left out"}},
	} {
		d := saxpy()
		d.Kernel.Source = kernel
		c.change(&d)
		got := mustProblem(t, d).Notices()
		same := len(got) == len(c.want)
		for i := range got {
			same = same && strings.HasPrefix(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTheSpecificationsValueCounts: the source that is compiled defines no parameter again, whoever
// made it.
func TestTheSpecificationsValueCounts(t *testing.T) {
	const source = "#define unroll 4\n__kernel void saxpy() {}"
	for name, change := range map[string]func(*definition.Definition){
		"text":     func(d *definition.Definition) { d.Kernel.Source = source },
		"function": func(d *definition.Definition) { d.Kernel.Source, d.Kernel.Func = "", sourceOf(source) },
	} {
		d := saxpy()
		change(&d)
		p := mustProblem(t, d)
		v, err := p.Variant(configurationOf(t, p, nil), hardware.Device{})
		if err == nil {
			err = p.Generate(t.Context(), v, p.Generator())
		}
		if err != nil || v.Source != "\n__kernel void saxpy() {}" || !strings.Contains(v.OptionLine(), "-D unroll=1") {
			t.Errorf("%s: %q with %s, %v", name, v.Source, v.OptionLine(), err)
		}
	}
}

func TestMacrosThatCannotBeOverridden(t *testing.T) {
	options := func(options ...string) func(*definition.Definition) {
		return func(d *definition.Definition) { d.Kernel.BuildOptions = options }
	}
	for _, test := range []struct {
		change func(*definition.Definition)
		want   string
	}{
		{func(d *definition.Definition) { d.Kernel.Source = "#define unroll(x) x\n" }, "kernel: line 1 of the source: «#define unroll(x) x» defines a macro with arguments"},
		{options("-D unroll=2"), "kernel.build_options: -D unroll defines a parameter or a constant; remove the option"},
		{options("-Dn"), "kernel.build_options: -D n defines a parameter or a constant; remove the option"},
		{options("-D", "unroll=4"), "kernel.build_options: -D unroll defines a parameter or a constant; remove the option"},
	} {
		d := saxpy()
		test.change(&d)
		if _, err := New(d); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

func TestHostConstants(t *testing.T) {
	d := saxpy()
	d.Constants[0].Host = true
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, nil), hardware.Device{})
	if err != nil || strings.Contains(v.OptionLine(), "-D n=") || v.Elements[0] != 1000 {
		t.Errorf("%s, %d elements, %v", v.OptionLine(), v.Elements[0], err)
	}
}
