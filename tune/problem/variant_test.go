package problem

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// configurationOf is the first value of every parameter, but for those given.
func configurationOf(t testing.TB, p *Problem, values map[string]space.Value) space.Configuration {
	t.Helper()
	c, err := p.Parameters().ConfigureFirst(values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func variantOf(t testing.TB, d definition.Definition, values map[string]space.Value) *Variant {
	t.Helper()
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, values), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func one(name string, v space.Value) space.Parameter {
	return space.Parameter{Name: name, Values: []space.Value{v}}
}

func TestNDRange(t *testing.T) {
	for name, c := range map[string]struct {
		definition        definition.Definition
		dimensions        int
		grid, local       [3]int
		global            string
		workItemsInAGroup int
	}{
		"default divisor is the block": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"100"}, Parameters: []space.Parameter{one("block_size_x", 32)}},
			dimensions: 1, grid: [3]int{4, 1, 1}, local: [3]int{32, 1, 1}, global: "[128]", workItemsInAGroup: 32,
		},
		"no parameters at all": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"7", "3"}},
			dimensions: 2, grid: [3]int{7, 3, 1}, local: [3]int{1, 1, 1}, global: "[7 3]", workItemsInAGroup: 1,
		},
		"exact division": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"128"}, Parameters: []space.Parameter{one("block_size_x", 32)}},
			dimensions: 1, grid: [3]int{4, 1, 1}, local: [3]int{32, 1, 1}, global: "[128]", workItemsInAGroup: 32,
		},
		"product of divisors": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"4096", "4095"},
				Parameters: []space.Parameter{one("block_size_x", 16), one("block_size_y", 8), one("tile_x", 4)},
				GridDiv:    [3][]definition.Expr{{"block_size_x", "tile_x"}}},
			dimensions: 2, grid: [3]int{64, 512, 1}, local: [3]int{16, 8, 1}, global: "[1024 4096]", workItemsInAGroup: 128,
		},
		"an empty list divides by nothing": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"10"}, Parameters: []space.Parameter{one("block_size_x", 4)}, GridDiv: [3][]definition.Expr{{}}},
			dimensions: 1, grid: [3]int{10, 1, 1}, local: [3]int{4, 1, 1}, global: "[40]", workItemsInAGroup: 4,
		},
		"a block of three dimensions for a problem of one": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"10"},
				Parameters: []space.Parameter{one("block_size_x", 2), one("block_size_y", 3), one("block_size_z", 4)}},
			dimensions: 3, grid: [3]int{5, 1, 1}, local: [3]int{2, 3, 4}, global: "[10 3 4]", workItemsInAGroup: 24,
		},
		"renamed block sizes": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"100", "100"}, Parameters: []space.Parameter{one("bx", 8), one("by", 4), one("block_size_x", 99)},
				BlockSize: [3]definition.Expr{"bx", "by * 2"}},
			dimensions: 2, grid: [3]int{13, 13, 1}, local: [3]int{8, 8, 1}, global: "[104 104]", workItemsInAGroup: 64,
		},
		"a block size from a constant": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"n"}, Constants: []definition.Constant{{Name: "n", Value: "0x64"}, {Name: "block_size_x", Value: int64(10)}}},
			dimensions: 1, grid: [3]int{10, 1, 1}, local: [3]int{10, 1, 1}, global: "[100]", workItemsInAGroup: 10,
		},
		"expressions of parameters": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"n * (wide ? 2 : 1)", "ceil(n / 3)"}, Constants: []definition.Constant{{Name: "n", Value: 100}},
				Parameters: []space.Parameter{one("wide", true), one("block_size_x", 32)}},
			dimensions: 2, grid: [3]int{7, 34, 1}, local: [3]int{32, 1, 1}, global: "[224 34]", workItemsInAGroup: 32,
		},
		"a divisor larger than the problem": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"10"}, Parameters: []space.Parameter{one("block_size_x", 4)}, GridDiv: [3][]definition.Expr{{"1000"}}},
			dimensions: 1, grid: [3]int{1, 1, 1}, local: [3]int{4, 1, 1}, global: "[4]", workItemsInAGroup: 4,
		},
		"divisors that are no whole numbers": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"10", "7"}, Parameters: []space.Parameter{one("tile", 3)}, GridDiv: [3][]definition.Expr{{"0.5"}, {"tile / 4", "2"}}},
			dimensions: 2, grid: [3]int{20, 5, 1}, local: [3]int{1, 1, 1}, global: "[20 5]", workItemsInAGroup: 1,
		},
		"divisors whose product overflows": {
			definition: definition.Definition{ProblemSize: []definition.Expr{"10"}, GridDiv: [3][]definition.Expr{{"4294967296", "4294967296"}}},
			dimensions: 1, grid: [3]int{1, 1, 1}, local: [3]int{1, 1, 1}, global: "[1]", workItemsInAGroup: 1,
		},
	} {
		c.definition.Kernel = definition.Kernel{Name: "k", Source: " "}
		r := variantOf(t, c.definition, nil).Launches[0].NDRange
		if r.Dimensions != c.dimensions || r.Grid != c.grid || r.Local != c.local {
			t.Errorf("%s: %+v, want %d dimensions, grid %v, local %v", name, r, c.dimensions, c.grid, c.local)
		}
		if got := fmt.Sprint(r.Global()); got != c.global {
			t.Errorf("%s: global %s, want %s", name, got, c.global)
		}
		if r.WorkItems() != c.workItemsInAGroup || len(r.WorkGroup()) != c.dimensions {
			t.Errorf("%s: work-group %v of %d", name, r.WorkGroup(), r.WorkItems())
		}
	}
}

// TestGridCoversTheProblem is the rule of the NDRange for many sizes: the work-groups cover
// the problem, and one less would not.
func TestGridCoversTheProblem(t *testing.T) {
	var sizes, blocks []space.Value
	for i := 1; i <= 40; i++ {
		sizes, blocks = append(sizes, i*i), append(blocks, i)
	}
	p := mustProblem(t, definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: " "}, ProblemSize: []definition.Expr{"size"},
		Parameters: []space.Parameter{{Name: "size", Values: sizes}, {Name: "block_size_x", Values: blocks}},
	})
	s, err := p.Space(t.Context(), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.All() {
		v, err := p.Variant(c, hardware.Device{})
		if err != nil {
			t.Fatal(err)
		}
		size, block, grid := c.Int("size"), c.Int("block_size_x"), v.Launches[0].NDRange.Grid[0]
		if grid*block < size || (grid-1)*block >= size {
			t.Errorf("%s: %d work-groups", c, grid)
		}
	}
}

func TestVariantRefusesWhatCannotBeLaunched(t *testing.T) {
	const big = "4294967296" // 2³²
	for name, c := range map[string]struct {
		spoil func(*definition.Definition)
		want  string
	}{
		"problem size":  {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{"n - 1000 * unroll"} }, "problem size x: n - 1000 * unroll is 0; it must be positive"},
		"block size":    {func(d *definition.Definition) { d.BlockSize[1] = "1 - unroll" }, "block size y: 1 - unroll is 0"},
		"a fraction":    {func(d *definition.Definition) { d.BlockSize[1] = "unroll / 2" }, "not a whole number"},
		"division":      {func(d *definition.Definition) { d.BlockSize[1] = "div(n, unroll - 1)" }, "division by zero"},
		"grid divisor":  {func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{"unroll - 1"} }, "grid divisor x: unroll - 1 is 0"},
		"buffer size":   {func(d *definition.Definition) { d.Arguments[1].Size = "unroll - 1" }, "argument x: size: unroll - 1 is 0"},
		"local size":    {func(d *definition.Definition) { d.Arguments[3].LocalSize = "unroll - 1" }, "argument scratch: local memory: unroll - 1 is 0"},
		"scalar":        {func(d *definition.Definition) { d.Arguments[2].Type, d.Arguments[2].Value = "uint8", "unroll - 2" }, "argument a: "},
		"endless block": {func(d *definition.Definition) { d.BlockSize = [3]definition.Expr{big + " * unroll", big} }, "work-group of 4294967296×4294967296 work-items"},
		"endless grid": {func(d *definition.Definition) {
			d.ProblemSize = []definition.Expr{big + " * unroll", big}
			d.GridDiv[0] = []definition.Expr{}
		}, "grid of 4294967296×4294967296 work-groups"},
		"endless parts": {func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{"unroll / 1e300"} }, "grid of 1e+303 work-groups in dimension x"},
		"endless range": {func(d *definition.Definition) {
			d.ProblemSize = []definition.Expr{big + " * unroll"}
			d.BlockSize[1] = big
		}, "NDRange of"},
		"endless buffer": {func(d *definition.Definition) { d.Arguments[1].Size = "4611686018427387904 * unroll" }, "argument x: "},
		"endless local":  {func(d *definition.Definition) { d.Arguments[3].LocalSize = "4611686018427387904 * unroll" }, "argument scratch: "},
		"tolerance": {func(d *definition.Definition) {
			d.Verify = &definition.Verification{ATol: "1 - 2 * unroll", Check: func(space.Configuration, map[string]*array.Array) error { return nil }}
		}, "the tolerance 1 - 2 * unroll is -1"},
		"copy": {func(d *definition.Definition) {
			d.Arguments[1].Fill, d.Arguments[1].Size = definition.Fill{Copy: "y"}, "n + unroll"
		},
			"argument x: has 1001 elements, y, of which it is a copy, has 1000"},
	} {
		d := saxpy()
		c.spoil(&d)
		p := mustProblem(t, d)
		_, err := p.Variant(configurationOf(t, p, nil), hardware.Device{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestValuesReachTheKernelAsOptionsOrAsAPrologue(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: "first line\n", BuildOptions: []string{"-cl-mad-enable"}},
		Constants: []definition.Constant{
			{Name: "n", Value: 4096}, {Name: "dt", Value: "0.225f"}, {Name: "h", Value: 0.5}, {Name: "whole", Value: 2.0}, {Name: "yes", Value: true}, {Name: "short", Value: int16(-3)},
			{Name: "expression", Value: "(n + 1)"}, {Name: "spaced", Value: "unsigned int"},
		},
		ProblemSize: []definition.Expr{"n"},
		Parameters: []space.Parameter{
			one("block_size_x", 16), one("type", "float4"), one("pragma", "unroll 4"), one("quoted", `"a"`), one("nothing", ""),
			one("two", "a\nb"), one("read_only", "volatile"), one("mad", "a b"),
		},
	}
	v := variantOf(t, d, nil)
	want := []string{"-cl-mad-enable", "-D n=4096", "-D dt=0.225f", "-D h=0.5", "-D whole=2.0", "-D yes=1", "-D ndtune_short=-3",
		"-D block_size_x=16", "-D type=float4", "-D ndtune_read_only=volatile"}
	if !slices.Equal(v.Options, want) {
		t.Errorf("options %q\nwant    %q", v.Options, want)
	}
	prologue := "#undef short\n#define short ndtune_short\n#undef read_only\n#define read_only ndtune_read_only\n#undef mad\n" +
		"#define expression (n + 1)\n#define spaced unsigned int\n#define pragma unroll 4\n" +
		"#define quoted \"a\"\n#define nothing \n#define two a\\\nb\n#define mad a b\n#line 1\nfirst line\n"
	if v.Source != prologue {
		t.Errorf("source %q\nwant   %q", v.Source, prologue)
	}
}

func TestASourceWithoutAPrologueIsUntouched(t *testing.T) {
	if v := variantOf(t, saxpy(), nil); v.Source != saxpy().Kernel.Source {
		t.Errorf("source %q", v.Source)
	}
}

func TestConstantsAreNumbersInExpressions(t *testing.T) {
	for _, c := range []struct {
		value      space.Value
		expression definition.Expr
		want       float64
	}{
		{"0.225f", "x * 4", 0.9}, {"1.f", "x", 1}, {".5F", "x", 0.5}, {"1e-3f", "x * 1000", 1}, {"2.0h", "x", 2},
		{"4096", "x % 4095", 1}, {"0x10", "x", 16}, {"0x10f", "x", 271}, {"16u", "x", 16}, {"16UL", "x % 5", 1}, {"-3L", "x", -3},
		{" 7 ", "x", 7}, {"010", "x", 8}, {true, "x ? 2 : 1", 2}, {2.5, "x", 2.5},
		{int8(5), "x % 3", 2}, {int64(5), "x % 3", 2}, {uint16(5), "div(x, 2)", 2}, {float32(0.5), "x * 2", 1},
		{"float4", `x == "float4" ? 1 : 0`, 1}, {"(1 + 2)", "len(x)", 7}, {"1e999", "len(x)", 5},
	} {
		p := mustProblem(t, definition.Definition{
			Kernel: definition.Kernel{Name: "k", Source: " "}, ProblemSize: []definition.Expr{"1"}, Constants: []definition.Constant{{Name: "x", Value: c.value}},
			Metrics: []definition.Metric{{Name: "m", Expression: c.expression}},
		})
		judgement, err := p.Judge(configurationOf(t, p, nil), hardware.Device{}, score.StatsOf([]float64{1}), nil, nil)
		if err != nil || math.Abs(judgement.Metrics[0].Value-c.want) > 1e-12 {
			t.Errorf("x = %v: %s is %v (%v), want %v", c.value, c.expression, judgement, err, c.want)
		}
	}
}

// TestHostConstantsAreComputedFromOthers: they follow these, and keep their words and texts.
func TestHostConstantsAreComputedFromOthers(t *testing.T) {
	host := func(name string, value space.Value) definition.Constant {
		return definition.Constant{Name: name, Value: value, Host: true}
	}
	d := saxpy()
	d.Constants = append(d.Constants, host("m", "2 * n"), host("part", "m / 4"), host("same", "m"), host("word", "float"), host("literal", "0x10u"),
		host("real", `m > 4000 ? "double" : "float"`))
	d.ProblemSize = []definition.Expr{"m + literal"}
	d.Arguments[1].Type = "real"
	for n, want := range map[int]string{1000: "[2016] m=2000 part=500.0 same=2000 word=float literal=0x10u real=float", 3000: "[6016] m=6000 part=1500.0 same=6000 word=float literal=0x10u real=double"} {
		d.Constants[0].Value = n
		p := mustProblem(t, d)
		portable, err := p.Portable()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Problem{p, mustProblem(t, p.Definition()), mustProblem(t, portable)} {
			got := fmt.Sprint(p.FixedProblemSize())
			for _, c := range p.Constants()[2:] {
				got += " " + c.Name + "=" + space.FormatValue(c.Value)
			}
			if got != want {
				t.Errorf("n = %d: %s\nwant %s", n, got, want)
			}
		}
		if v := variantOf(t, d, nil); !slices.Equal(v.Options[:2], []string{fmt.Sprint("-D n=", n), "-D alpha=0.5f"}) || p.Arguments()[1].Element.String() != map[int]string{1000: "float32", 3000: "float64"}[n] {
			t.Errorf("n = %d: %q, %v", n, v.Options, p.Arguments()[1].Element)
		}
	}
}

func TestScalars(t *testing.T) {
	f32 := func(f float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)) }
	i32 := func(i int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(i)) }
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	for _, c := range []struct {
		typ   string
		value any
		want  []byte
	}{
		{"", float32(1.5), f32(1.5)}, {"", int32(-2), i32(-2)}, {"", uint8(200), []byte{200}},
		{"float32", 1.5, f32(1.5)}, {"float32", 3, f32(3)}, {"int32", true, i32(1)},
		{"float32", "0.225f", f32(0.225)}, {"int32", "0x10u", i32(16)}, {"float32", "n / 8", f32(12.5)}, {"int32", "n * unroll", i32(100)},
		{"uint64", "0xffffffffffffffffUL", slices.Repeat([]byte{255}, 8)}, {"uint64", uint64(math.MaxUint64), slices.Repeat([]byte{255}, 8)},
		{"uint64", "18446744073709551615", slices.Repeat([]byte{255}, 8)},
		{"float2", []float64{1, 2}, join(f32(1), f32(2))}, {"float2", []any{"n", 0.5}, join(f32(100), f32(0.5))},
		{"float2", []string{"-0.5f", "unroll"}, join(f32(-0.5), f32(1))},
		{"int3", []int{1, 2, 3}, join(i32(1), i32(2), i32(3), i32(0))}, {"int3", []any{"n", "n", 1}, join(i32(100), i32(100), i32(1), i32(0))},
	} {
		d := definition.Definition{
			Kernel: definition.Kernel{Name: "k", Source: " "}, ProblemSize: []definition.Expr{"1"}, Constants: []definition.Constant{{Name: "n", Value: 100}},
			Parameters: []space.Parameter{one("unroll", 1)},
			Arguments:  []definition.Argument{{Name: "s", Type: c.typ, Value: c.value}},
		}
		if v := variantOf(t, d, nil); !slices.Equal(v.Launches[0].Scalars[0], c.want) {
			t.Errorf("%s %v: bytes %v, want %v", c.typ, c.value, v.Launches[0].Scalars[0], c.want)
		}
	}
}

func TestSizesOfArguments(t *testing.T) {
	d := saxpy()
	d.Arguments[0].Size = "n + unroll"
	d.Arguments[3].Type = "float3"
	d.Arguments = append(d.Arguments, definition.Argument{Name: "table", Data: []uint16{1, 2, 3}})
	v := variantOf(t, d, map[string]space.Value{"unroll": 2})
	if fmt.Sprint(v.Elements) != "[1002 1000 0 0 3]" || fmt.Sprint(v.Launches[0].LocalBytes) != "[0 0 0 512 0]" {
		t.Errorf("elements %v, local bytes %v", v.Elements, v.Launches[0].LocalBytes)
	}
}

func TestTolerances(t *testing.T) {
	check := func(space.Configuration, map[string]*array.Array) error { return nil }
	for _, c := range []struct {
		aTol, rTol         definition.Expr
		typ                array.Type
		absolute, relative float64
	}{
		{"", "", array.Float32, 1e-6, 1e-4}, {"", "", array.Float64.Vector(4), 1e-6, 1e-4}, {"", "", array.Float16, 1e-6, 1e-4},
		{"", "", array.Int32, 0, 0},
		{"0", "", array.Float32, 0, 0}, {"", "0", array.Float32, 0, 0}, {"unroll * 0.5", "", array.Int32, 1, 0}, {"1", "alpha", array.Float32, 1, 0.5},
	} {
		d := saxpy()
		d.Verify = &definition.Verification{Check: check, ATol: c.aTol, RTol: c.rTol}
		absolute, relative := variantOf(t, d, map[string]space.Value{"unroll": 2}).Tolerance.Of(c.typ)
		if absolute != c.absolute || relative != c.relative {
			t.Errorf("atol %q, rtol %q for %v: %v, %v", c.aTol, c.rTol, c.typ, absolute, relative)
		}
	}
}

func TestDeviceIsKnownToExpressions(t *testing.T) {
	d := saxpy()
	d.BlockSize[0] = "min(256, device.max_work_group_size)"
	d.Restrictions = []space.Restriction{{Expression: `device.local_memory >= 4 * block_size_x and "fast" in device.extensions`}}
	p := mustProblem(t, d)
	device := hardware.Device{MaxWorkGroupSize: 128, LocalMemory: 200, Extensions: []string{"fast"}}
	s, err := p.Space(t.Context(), device)
	if err != nil || s.Len() != 2 {
		t.Fatalf("%v, %v", s, err)
	}
	v, err := p.Variant(s.At(0), device)
	if err != nil || v.Launches[0].NDRange.Local[0] != 128 {
		t.Errorf("%+v, %v", v, err)
	}
	s, skipped, err := p.SpaceWithoutDevice(t.Context())
	if err != nil || s.Len() != 4 || len(skipped) != 1 {
		t.Errorf("without a device: %v, %v, %v", s, skipped, err)
	}
}

func TestRefusal(t *testing.T) {
	device := hardware.Device{MaxWorkGroupSize: 1024, MaxWorkItemSizes: []int{1024, 1024, 64}, LocalMemory: 49152}
	for _, c := range []struct {
		local      [3]int
		localBytes []int
		device     hardware.Device
		want       string
	}{
		{[3]int{32, 32, 1}, []int{49152}, device, ""},
		{[3]int{64, 32, 1}, nil, device, "work-group of 64×32×1 = 2048 work-items > device limit 1024"},
		{[3]int{1, 1, 128}, nil, device, "128 work-items in dimension z > device limit 64"},
		{[3]int{1, 1, 1}, []int{49152, 0, 16384}, device, "local memory 65536 B > device limit 49152 B"},
		{[3]int{1, 1, 1}, []int{math.MaxInt, math.MaxInt}, device, "local memory 18446744073709551616 B > device limit 49152 B"},
		{[3]int{4096, 4096, 4096}, []int{1 << 40}, hardware.Device{}, ""}, // nothing is known of the device
	} {
		v := Variant{Launches: []Launch{{NDRange: NDRange{Dimensions: 3, Grid: [3]int{1, 1, 1}, Local: c.local}, LocalBytes: c.localBytes}}}
		if got := v.ExceededLimit(c.device); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.local, c.localBytes, got, c.want)
		}
	}
}
