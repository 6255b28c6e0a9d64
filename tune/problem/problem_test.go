package problem

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// saxpy is a definition without a fault, for tests to put one in.
func saxpy() definition.Definition {
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "saxpy", Source: "__kernel void saxpy() {}"},
		Constants:   []definition.Constant{{Name: "n", Value: 1000}, {Name: "alpha", Value: "0.5f"}},
		ProblemSize: []definition.Expr{"n"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "n", Output: true},
			{Name: "x", Type: "float32", Size: "n", Fill: definition.Fill{Kind: array.Random}},
			{Name: "a", Type: "float32", Value: "alpha"},
			{Name: "scratch", Type: "float32", LocalSize: "block_size_x"},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{32, 64}},
			{Name: "unroll", Values: []space.Value{1, 2}},
		},
		Restrictions: []space.Restriction{{Expression: "block_size_x >= unroll"}},
		Metrics:      []definition.Metric{{Name: "GB/s", Expression: "12 * n / time / 1e6"}},
	}
}

// lineDefinition is a definition with n configurations, i = 0 … n − 1.
func lineDefinition(n int) definition.Definition {
	values := make([]space.Value, n)
	for i := range values {
		values[i] = i
	}
	return definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: " "}, ProblemSize: []definition.Expr{"1"},
		Parameters: []space.Parameter{{Name: "i", Values: values}},
	}
}

func mustProblem(t testing.TB, d definition.Definition) *Problem {
	t.Helper()
	p, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustSpace(t testing.TB, p *Problem) *space.Space {
	t.Helper()
	s, err := p.Space(t.Context(), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func writeNPY(t testing.TB, a *array.Array) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.npy")
	if err := array.WriteNPY(path, a, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// fieldsOf are all FieldErrors joined in an error.
func fieldsOf(err error) (fields []*definition.FieldError) {
	var field *definition.FieldError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			fields = append(fields, fieldsOf(e)...)
		}
	} else if errors.As(err, &field) {
		fields = append(fields, field)
	}
	return fields
}

func TestNewProblemAcceptsTheFaultless(t *testing.T) {
	mustProblem(t, saxpy())
}

func TestNewProblemNamesTheFieldThatIsWrong(t *testing.T) {
	nan := math.NaN()
	reference := func() *definition.Definition { d := saxpy(); return &d }
	alias := func(of string) func(*definition.Definition) {
		return func(d *definition.Definition) {
			d.Arguments = append(d.Arguments, definition.Argument{Name: "v", Type: "float4", Alias: of})
		}
	}
	verify := func(v definition.Verification) func(*definition.Definition) {
		return func(d *definition.Definition) { d.Verify = &v }
	}
	at := map[string]space.Value{"block_size_x": 32, "unroll": 1}
	long := writeNPY(t, array.Of(make([]float32, 1001)))
	integers := writeNPY(t, array.Of(make([]int32, 1000)))
	empty := writeNPY(t, array.Of([]float32{}))
	numbers := make([]float32, 1000)
	numbers[7] = float32(nan)
	nans := writeNPY(t, array.Of(numbers))
	blank := filepath.Join(t.TempDir(), "blank.cl")
	if err := os.WriteFile(blank, []byte("\n"), 0o666); err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		spoil       func(*definition.Definition)
		field, text string
	}{
		"kernel name":    {func(d *definition.Definition) { d.Kernel.Name = "2nd" }, "kernel.name", `"2nd" is not the name of a kernel`},
		"no source":      {func(d *definition.Definition) { d.Kernel.Source = "" }, "kernel", "the source is missing"},
		"two sources":    {func(d *definition.Definition) { d.Kernel.File = "k.cl" }, "kernel", "give the source once"},
		"missing source": {func(d *definition.Definition) { d.Kernel.Source, d.Kernel.File = "", "missing.cl" }, "kernel.file", "missing.cl"},
		"empty source":   {func(d *definition.Definition) { d.Kernel.Source, d.Kernel.File = "", blank }, "kernel.file", "blank.cl is empty"},

		"constant's name":   {func(d *definition.Definition) { d.Constants[0].Name = "n x" }, "constants.n x", "not a name"},
		"constant twice":    {func(d *definition.Definition) { d.Constants[1].Name = "n" }, "constants.n", "twice"},
		"constant reserved": {func(d *definition.Definition) { d.Constants[1].Name = "device" }, "constants.device", "taken by expressions"},
		"constant's value":  {func(d *definition.Definition) { d.Constants[1].Value = nan }, "constants.alpha", "not a finite number"},
		"constant's type":   {func(d *definition.Definition) { d.Constants[1].Value = []int{1} }, "constants.alpha", "not a number"},
		"constant of a later one": {func(d *definition.Definition) {
			d.Constants = append([]definition.Constant{{Name: "m", Value: "2 * n", Host: true}}, d.Constants...)
		}, "constants.m", "nothing is named n"},
		"constant of two words": {func(d *definition.Definition) {
			d.Constants[1] = definition.Constant{Name: "alpha", Value: "unsigned int", Host: true}
		},
			"constants.alpha", "a text has quotes of its own"},
		"parameter reserved": {func(d *definition.Definition) { d.Parameters[1].Name = "time" }, "parameters.time", "taken by expressions"},
		"parameter constant": {func(d *definition.Definition) { d.Parameters[1].Name = "n" }, "parameters.n", "a constant has the same name"},
		"parameter's name":   {func(d *definition.Definition) { d.Parameters[1].Name = "a-b" }, "parameters.a-b", "not a name"},
		"parameter twice":    {func(d *definition.Definition) { d.Parameters[1].Name = "block_size_x" }, "parameters.block_size_x", "twice"},
		"parameter empty":    {func(d *definition.Definition) { d.Parameters[1].Values = nil }, "parameters.unroll", "empty"},
		"value twice":        {func(d *definition.Definition) { d.Parameters[1].Values = []space.Value{1, 1} }, "parameters.unroll", "stands twice"},
		"no problem size":    {func(d *definition.Definition) { d.ProblemSize = nil }, "problem_size", "0 dimensions"},
		"four dimensions":    {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{"1", "1", "1", "1"} }, "problem_size", "4 dimensions"},
		"size of nothing":    {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{"n", "n - n"} }, "problem_size[1]", "must be positive"},
		"size a fraction":    {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{"n / 3"} }, "problem_size[0]", "div(a, b)"},
		"size a text":        {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{`"n"`} }, "problem_size[0]", "not a number"},
		"size misspelt":      {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{"nn"} }, "problem_size[0]", `did you mean "n"?`},
		"size a comment":     {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{"n // 2"} }, "problem_size[0]", "write div(a, b)"},
		"block size":         {func(d *definition.Definition) { d.BlockSize[1] = "block_size_z" }, "block_size.y", "nothing is named block_size_z"},
		"grid divisor":       {func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{"1", "0"} }, "grid_div.x[1]", "must be positive"},
		"restriction":        {func(d *definition.Definition) { d.Restrictions[0].Expression = "unrol > 1" }, "restrictions[0]", `did you mean "unroll"?`},
		"Python's True":      {func(d *definition.Definition) { d.Restrictions[0].Expression = "unroll == 1 or True" }, "restrictions[0]", `nothing is named True; did you mean "true"?`},
		"empty restriction":  {func(d *definition.Definition) { d.Restrictions[0].Expression = " " }, "restrictions[0]", "empty"},
		"second restriction": {func(d *definition.Definition) {
			d.Restrictions = append(d.Restrictions, space.Restriction{Expression: "1 +"})
		}, "restrictions[1]", "column"},
		"metric":              {func(d *definition.Definition) { d.Metrics[0].Expression = "tim" }, "metrics.GB/s", "nothing is named tim"},
		"metric twice":        {func(d *definition.Definition) { d.Metrics = append(d.Metrics, d.Metrics[0]) }, "metrics.GB/s", "twice"},
		"metric without name": {func(d *definition.Definition) { d.Metrics[0].Name = "" }, "metrics", "no name"},
		"metric called time":  {func(d *definition.Definition) { d.Metrics[0].Name = "time" }, "metrics.time", "twice"},
		"metric of a later one": {func(d *definition.Definition) {
			d.Metrics = []definition.Metric{{Name: "a1", Expression: "b1"}, {Name: "b1", Expression: "time"}}
		},
			"metrics.a1", "nothing is named b1"},
		"objective": {func(d *definition.Definition) { d.Objective.Name = "GB" }, "objective.name", "neither a metric nor a time"},

		"argument without name": {func(d *definition.Definition) { d.Arguments[0].Name = "" }, "arguments[0].name", "no name"},
		"argument twice":        {func(d *definition.Definition) { d.Arguments[1].Name = "y" }, "arguments[1].name", "two arguments are named y"},
		"no type":               {func(d *definition.Definition) { d.Arguments[0].Type = "" }, "arguments[0].type", "the type is missing"},
		"unknown type":          {func(d *definition.Definition) { d.Arguments[0].Type = "flaot32" }, "arguments[0].type", "float32"},
		"a constant no type": {func(d *definition.Definition) {
			d.Constants = append(d.Constants, definition.Constant{Name: "element", Value: "flaot"})
			d.Arguments[0].Type = "element"
		}, "arguments[0].type", `element is flaot: unknown type`},
		"a parameter no type": {func(d *definition.Definition) {
			d.Parameters = append(d.Parameters, space.Parameter{Name: "real", Values: []space.Value{"float", "double"}})
			d.Arguments[0].Type = "real"
		}, "arguments[0].type", "search once for each type with --set"},
		"an expression no type": {func(d *definition.Definition) { d.Arguments[0].Type = `unrol == 1 ? "float" : "half"` }, "arguments[0].type", `did you mean "unroll"?`},
		"a number no type":      {func(d *definition.Definition) { d.Arguments[0].Type = "n + 1" }, "arguments[0].type", "n + 1 is 1001: that is not the name of a type"},
		"a device no type":      {func(d *definition.Definition) { d.Arguments[0].Type = `device.compute_units > 4 ? "float" : "half"` }, "arguments[0].type", "depends on the configuration or the device"},
		"no size":               {func(d *definition.Definition) { d.Arguments[0].Size = "" }, "arguments[0].size", "the size is missing"},
		"negative size":         {func(d *definition.Definition) { d.Arguments[0].Size = "-1" }, "arguments[0].size", "must be positive"},
		"scalar and local":      {func(d *definition.Definition) { d.Arguments[2].LocalSize = "1" }, "arguments[2]", "not both"},
		"scalar with a size":    {func(d *definition.Definition) { d.Arguments[2].Size = "1" }, "arguments[2].size", "only a buffer has it; a is a scalar"},
		"local with data":       {func(d *definition.Definition) { d.Arguments[3].Data = []float32{1} }, "arguments[3].data", "local memory"},
		"scalar with a fill":    {func(d *definition.Definition) { d.Arguments[2].Fill.Copy = "x" }, "arguments[2].fill", "only a buffer"},
		"scalar as output":      {func(d *definition.Definition) { d.Arguments[2].Output = true }, "arguments[2].output", "only a buffer"},
		"local restored":        {func(d *definition.Definition) { d.Arguments[3].RestoreEachLaunch = true }, "arguments[3].restore", "only a buffer"},
		"local of nothing":      {func(d *definition.Definition) { d.Arguments[3].LocalSize = "0" }, "arguments[3].local_size", "must be positive"},
		"data of no type":       {func(d *definition.Definition) { d.Arguments[1].Data = []string{"1"} }, "arguments[1].data", ""},
		"data of another type": {func(d *definition.Definition) {
			d.Arguments[1].Data, d.Arguments[1].Fill = []float64{1}, definition.Fill{}
		},
			"arguments[1].type", "float64"},
		"data of another size": {func(d *definition.Definition) {
			d.Arguments[1].Data, d.Arguments[1].Fill = []float32{1}, definition.Fill{}
		},
			"arguments[1].size", "n is 1000, but the content has 1 elements"},
		"empty data": {func(d *definition.Definition) {
			d.Arguments[1] = definition.Argument{Name: "x", Data: []float32{}}
		}, "arguments[1].data", "the buffer is empty"},
		"empty file": {func(d *definition.Definition) {
			d.Arguments[1] = definition.Argument{Name: "x", Type: "float32", Fill: definition.Fill{File: empty}}
		}, "arguments[1].fill", "the buffer is empty"},
		"content twice": {func(d *definition.Definition) { d.Arguments[1].Fill.Copy = "y" }, "arguments[1].fill", "more than once"},
		"fill":          {func(d *definition.Definition) { d.Arguments[1].Fill.Kind = "randm" }, "arguments[1].fill", "random"},
		"fill's value": {func(d *definition.Definition) {
			d.Arguments[1].Type, d.Arguments[1].Fill = "uint8", definition.Fill{Kind: array.Constant, Value: "300"}
		}, "arguments[1].fill", "300"},
		"missing file": {func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{File: "missing.npy"} }, "arguments[1].fill", "missing.npy"},
		"file's type":  {func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{File: integers} }, "arguments[1].fill", "int32"},
		"file's size":  {func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{File: long} }, "arguments[1].size", "1001"},
		"copy of nothing": {func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{Copy: "z"} },
			"arguments[1].fill", `no argument is named "z"`},
		"copy of a scalar": {func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{Copy: "a"} }, "arguments[1].fill", "a is a scalar"},
		"copy of a copy": {func(d *definition.Definition) {
			d.Arguments[1].Fill, d.Arguments[0].Fill = definition.Fill{Copy: "y"}, definition.Fill{Copy: "x"}
		}, "arguments[0].fill", "itself a copy"},
		"copy of itself": {func(d *definition.Definition) { d.Arguments[0].Fill = definition.Fill{Copy: "y"} }, "arguments[0].fill", "itself a copy"},
		"copy of a type": {func(d *definition.Definition) {
			d.Arguments[1].Fill, d.Arguments[1].Type = definition.Fill{Copy: "y"}, "int32"
		},
			"arguments[1].fill", "y is of float32, x of int32"},
		"copy of a size": {func(d *definition.Definition) {
			d.Arguments[1].Fill, d.Arguments[1].Size = definition.Fill{Copy: "y"}, "n + 1"
		},
			"arguments[1].fill", "y has 1000 elements, x has 1001"},
		"alias of nothing":  {alias("z"), "arguments[4].alias", `no argument is named "z"`},
		"alias of a scalar": {alias("a"), "arguments[4].alias", "a is a scalar, not a buffer"},
		"alias of itself":   {alias("v"), "arguments[4].alias", "v is an alias of a buffer, not a buffer"},
		"alias that is an output": {func(d *definition.Definition) {
			d.Arguments = append(d.Arguments, definition.Argument{Name: "v", Type: "float4", Alias: "x", Output: true})
		}, "arguments[4].output", "only a buffer has it"},
		"alias without a type": {func(d *definition.Definition) {
			d.Arguments = append(d.Arguments, definition.Argument{Name: "v", Alias: "x"})
		}, "arguments[4].type", "the type is missing"},
		"alias that is a scalar": {func(d *definition.Definition) { d.Arguments[2].Alias = "x" }, "arguments[2]", "not both"},
		"swap with an alias": {func(d *definition.Definition) {
			alias("x")(d)
			d.Stages = []definition.Stage{{Kernel: "saxpy", Repeat: "2", Swap: [2]string{"y", "x"}}}
		}, "kernels[0].swap", "a buffer with an alias cannot change places"},
		"scalar of a text":  {func(d *definition.Definition) { d.Arguments[2].Value = "alhpa" }, "arguments[2].value", "nothing is named alhpa"},
		"scalar too large":  {func(d *definition.Definition) { d.Arguments[2].Type, d.Arguments[2].Value = "int8", 300 }, "arguments[2].value", "300"},
		"scalar not whole":  {func(d *definition.Definition) { d.Arguments[2].Type = "int32" }, "arguments[2].value", "0.5"},
		"scalar as vector":  {func(d *definition.Definition) { d.Arguments[2].Type = "float4" }, "arguments[2].value", "4 values"},
		"vector too short":  {func(d *definition.Definition) { d.Arguments[2].Type, d.Arguments[2].Value = "float2", []any{1, "n", 3} }, "arguments[2].value", "2 values"},
		"vector for scalar": {func(d *definition.Definition) { d.Arguments[2].Value = []any{"n"} }, "arguments[2].value", "single value"},
		"scalar of a chan":  {func(d *definition.Definition) { d.Arguments[2].Value = make(chan int) }, "arguments[2].value", ""},
		"int without width": {func(d *definition.Definition) { d.Arguments[2].Type, d.Arguments[2].Value = "", 3 }, "arguments[2].type", "the type is missing"},

		"verify by nothing": {verify(definition.Verification{}), "verify", "the reference is missing"},
		"verify twice":      {verify(definition.Verification{Files: map[string]string{}, Problem: reference()}), "verify", "one reference"},
		"verify no output": {func(d *definition.Definition) {
			d.Verify, d.Arguments[0].Output = &definition.Verification{Problem: reference()}, false
		}, "verify", "no argument is marked as output"},
		"negative tolerance": {verify(definition.Verification{Problem: reference(), Configuration: at, ATol: "-1"}), "verify.atol", "not negative"},
		"endless tolerance":  {verify(definition.Verification{Problem: reference(), Configuration: at, RTol: "1 / 0"}), "verify.rtol", "+Inf"},
		"unknown tolerance":  {verify(definition.Verification{Problem: reference(), Configuration: at, RTol: "eps"}), "verify.rtol", "eps"},
		"reference is wrong": {verify(definition.Verification{Problem: &definition.Definition{}}), "verify.spec", "kernel.name"},
		"reference's parameter": {verify(definition.Verification{Problem: reference()}),
			"verify.parameters", "no value for the parameter block_size_x"},
		"reference's parameter is unknown": {verify(definition.Verification{Problem: reference(), Configuration: map[string]space.Value{"block": 1}}),
			"verify.parameters", "no parameter is named block"},
		"reference without the output": {verify(definition.Verification{Problem: func() *definition.Definition {
			d := reference()
			d.Arguments = nil
			return d
		}(), Configuration: at, Swap: [2]string{"y", "x"}}), "verify.spec", "no argument y"},
		"reference of another type": {verify(definition.Verification{Problem: func() *definition.Definition {
			d := reference()
			d.Arguments[0].Type = "float64"
			return d
		}(), Configuration: at}), "verify.spec", "float64"},
		"reference of another size": {verify(definition.Verification{Problem: func() *definition.Definition {
			d := reference()
			d.Arguments[0].Size = "n * 2"
			return d
		}(), Configuration: at}), "verify.spec", "y has 1000 elements of float32 here and 2000 of float32 in the reference"},
		"input of another size": {verify(definition.Verification{Problem: func() *definition.Definition {
			d := reference()
			d.Arguments[1].Size = "n * (unroll + 1)"
			return d
		}(), Configuration: at}), "verify.spec", "x has 1000 elements of float32 here and 2000 of float32 in the reference"},
		"input of another type": {verify(definition.Verification{Problem: func() *definition.Definition {
			d := reference()
			d.Arguments[1].Type = "int32"
			return d
		}(), Configuration: at}), "verify.spec", "x holds float32 here and is buffer of int32 in the reference"},
		"reduced output of vectors": {verify(definition.Verification{Problem: func() *definition.Definition {
			d := reference()
			d.Arguments[0].Type, d.Arguments[0].Size = "float4", "250"
			return d
		}(), Configuration: at, Compare: map[string]definition.Comparison{"y": {As: array.Sum}}}), "verify.spec", "y holds float32 here and is buffer of float32x4 in the reference"},
		"launches":           {verify(definition.Verification{Problem: reference(), Configuration: at, Launches: "0"}), "verify.launches", "must be positive"},
		"swap of nothing":    {verify(definition.Verification{Problem: reference(), Configuration: at, Swap: [2]string{"y", "z"}}), "verify.swap", `"z"`},
		"swap with itself":   {verify(definition.Verification{Problem: reference(), Configuration: at, Swap: [2]string{"y", "y"}}), "verify.swap", "two different"},
		"swap with a scalar": {verify(definition.Verification{Problem: reference(), Configuration: at, Swap: [2]string{"y", "a"}}), "verify.swap", "buffers"},
		"swap without kernel": {verify(definition.Verification{Check: func(space.Configuration, map[string]*array.Array) error { return nil }, Launches: "2"}),
			"verify.launches", "belongs to spec, the reference kernel"},
		"no file for the output": {verify(definition.Verification{Files: map[string]string{}}), "verify.npy", "no file for the output y"},
		"file for no output":     {verify(definition.Verification{Files: map[string]string{"x": long}}), "verify.npy.x", "no output"},
		"file is missing":        {verify(definition.Verification{Files: map[string]string{"y": "missing.npy"}}), "verify.npy.y", "missing.npy"},
		"file is longer":         {verify(definition.Verification{Files: map[string]string{"y": long}}), "verify.npy.y", "1001 elements, the output has 1000"},
		"file is of integers":    {verify(definition.Verification{Files: map[string]string{"y": integers}}), "verify.npy.y", "int32"},
		"file of NaNs":           {verify(definition.Verification{Files: map[string]string{"y": nans}}), "verify.npy.y", "the reference of y is NaN, which no output equals: 1 of 1000 numbers, the first at 7"},
		"files and data": {verify(definition.Verification{Files: map[string]string{"y": long}, Expected: map[string]any{"y": make([]float32, 1000)}}),
			"verify", "one reference"},
		"no data for the output": {verify(definition.Verification{Expected: map[string]any{}}), "verify.expected", "no content for the output y"},
		"data for no output":     {verify(definition.Verification{Expected: map[string]any{"x": make([]float32, 1000)}}), "verify.expected.x", "no output"},
		"data that is longer":    {verify(definition.Verification{Expected: map[string]any{"y": make([]float32, 1001)}}), "verify.expected.y", "1001 elements, the output has 1000"},
		"data of integers":       {verify(definition.Verification{Expected: map[string]any{"y": make([]int32, 1000)}}), "verify.expected.y", "int32"},
		"data of texts":          {verify(definition.Verification{Expected: map[string]any{"y": []string{"1"}}}), "verify.expected.y", "[]string"},
		"no data":                {verify(definition.Verification{Expected: map[string]any{"y": nil}}), "verify.expected.y", "not from"},
	} {
		d := saxpy()
		c.spoil(&d)
		p, err := New(d)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if p != nil {
			t.Errorf("%s: a problem and an error", name)
		}
		found := false
		for _, f := range fieldsOf(err) {
			found = found || (f.Field == c.field && strings.Contains(f.Error(), c.text))
		}
		if !found {
			t.Errorf("%s: want %s with %q, got:\n%v", name, c.field, c.text, err)
		}
	}
}

func TestNewProblemReportsEveryFaultAtOnce(t *testing.T) {
	d := saxpy()
	d.Kernel.Name, d.ProblemSize, d.Arguments[0].Type, d.Metrics[0].Expression = "", nil, "x", "y"
	_, err := New(d)
	var fields []string
	for _, f := range fieldsOf(err) {
		fields = append(fields, f.Field)
	}
	if got := strings.Join(fields, " "); got != "kernel.name arguments[0].type problem_size metrics.GB/s" {
		t.Errorf("fields %s", got)
	}
}

func TestAConstantNamesTheTypeOfArguments(t *testing.T) {
	d := saxpy()
	d.Arguments[0].Type, d.Arguments[1].Type = "element", "element"
	d.Arguments[2].Type = `element == "half" ? "float" : element`
	for name, want := range map[string]string{"float": "float32 float32", "double": "float64 float64", "half": "float16 float32"} {
		d.Constants = append([]definition.Constant{{Name: "element", Value: name}}, d.Constants...)
		p := mustProblem(t, d)
		if got := fmt.Sprint(p.Arguments()[1].Element, " ", p.Arguments()[2].Element); got != want {
			t.Errorf("with element %s, the types are %s, want %s", name, got, want)
		}
		d.Constants = d.Constants[1:]
	}
}

func TestKernelFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.cl")
	if err := os.WriteFile(path, []byte("// in a file"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := saxpy()
	d.Kernel.Source, d.Kernel.File = "", path
	if v := variantOf(t, d, nil); v.Source != "// in a file" {
		t.Errorf("source %q", v.Source)
	}
}

func TestContentDependsOnNameAndSeedAlone(t *testing.T) {
	d := saxpy()
	d.Arguments = append(d.Arguments, definition.Argument{Name: "z", Type: "float32", Size: "n", Fill: definition.Fill{Copy: "x"}},
		definition.Argument{Name: "w", Type: "float32", Size: "n", Fill: d.Arguments[1].Fill})
	content := func(d definition.Definition, i int) string {
		a, err := mustProblem(t, d).Content(i, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return string(a.Bytes)
	}
	x := content(d, 1)
	if content(d, 4) != x {
		t.Error("a copy differs from its original")
	}
	if content(d, 5) == x {
		t.Error("two names have the same data")
	}
	other := d
	other.Arguments = []definition.Argument{d.Arguments[1], d.Arguments[2]}
	if content(other, 0) != x {
		t.Error("the place of an argument changes its data")
	}
	other.Seed = 1
	if content(other, 0) == x {
		t.Error("the seed does not change the data")
	}
	if _, err := mustProblem(t, d).Content(2, 1); err == nil {
		t.Error("a scalar has content")
	}
}

func TestNewProblemBoundsItsLists(t *testing.T) {
	for field, change := range map[string]func(*definition.Definition){
		"arguments":    func(d *definition.Definition) { d.Arguments = make([]definition.Argument, maxArguments+1) },
		"constants":    func(d *definition.Definition) { d.Constants = make([]definition.Constant, maxConstants+1) },
		"restrictions": func(d *definition.Definition) { d.Restrictions = make([]space.Restriction, maxRestrictions+1) },
		"metrics":      func(d *definition.Definition) { d.Metrics = make([]definition.Metric, maxMetrics+1) },
	} {
		d := saxpy()
		change(&d)
		_, err := New(d)
		got := fieldsOf(err)
		if len(got) != 1 || got[0].Field != field || !strings.Contains(err.Error(), " "+field+" are more than the ") {
			t.Errorf("%s: %.200v", field, err)
		}
	}
}

// TestTheSpaceIsConstructedOnce: not with the problem, not with a reference, and once for all
// who ask for it.
func TestTheSpaceIsConstructedOnce(t *testing.T) {
	d := saxpy()
	reference := d
	d.Verify = &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"block_size_x": 32, "unroll": 1}}
	p := mustProblem(t, d)
	if p.space.Load() != nil {
		t.Error("a problem with a reference has a space before anybody asks for it")
	}
	first := mustSpace(t, p)
	for range 3 {
		if again, _, err := p.SpaceWithoutDevice(t.Context()); err != nil || again != first || mustSpace(t, p) != first {
			t.Errorf("another space, %v", err)
		}
	}
}

// TestErrorsOfTheSpace come with the restriction that they are about, where it is known.
func TestErrorsOfTheSpace(t *testing.T) {
	for name, c := range map[string]struct {
		restrictions []space.Restriction
		field, want  string
	}{
		"none is left":          {[]space.Restriction{{Expression: "device.compute_units > 1000"}, {Expression: "unroll > 2"}}, "restrictions[1]", "the space is empty"},
		"it cannot be computed": {[]space.Restriction{{Expression: "device.compute_units >= 0"}, {Expression: "n % (unroll - 1) == 0"}}, "restrictions[1]", "at unroll=1"},
	} {
		d := saxpy()
		d.Restrictions = c.restrictions
		p := mustProblem(t, d)
		_, _, err := p.SpaceWithoutDevice(t.Context())
		field := ""
		if fields := fieldsOf(err); len(fields) > 0 {
			field = fields[0].Field
		}
		if err == nil || field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q of %q", name, err, c.want, c.field)
		}
	}
}
