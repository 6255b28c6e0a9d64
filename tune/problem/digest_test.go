package problem

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func TestDigestIsStable(t *testing.T) {
	first := mustProblem(t, saxpy()).Digest()
	for range 20 {
		if again := mustProblem(t, saxpy()).Digest(); again != first {
			t.Fatalf("%s, then %s", first, again)
		}
	}
	for name, change := range map[string]func(*definition.Definition){
		"no options is an empty list": func(d *definition.Definition) { d.Kernel.BuildOptions = []string{} },
		"the default objective":       func(d *definition.Definition) { d.Objective.Name = "time" },
		"the type of an integer":      func(d *definition.Definition) { d.Constants[0].Value = int16(1000) },
		"a number as a text":          func(d *definition.Definition) { d.Constants[0].Value = "1000" },
		"the other name of a type":    func(d *definition.Definition) { d.Arguments[0].Type = "float" },
		"the default measurement": func(d *definition.Definition) {
			d.Measure.Timing = definition.Timing{Cache: definition.CacheWarm, Launches: 7, Warmup: 1}
		},
		"the number of launches":   func(d *definition.Definition) { d.Measure.Timing = definition.Timing{Launches: 50, Time: time.Second} },
		"the timer":                func(d *definition.Definition) { d.Measure.Timing = definition.Timing{Timer: "host"} },
		"a number of a type's own": func(d *definition.Definition) { d.Constants[0].Value = time.Duration(1000) },
	} {
		d := saxpy()
		change(&d)
		if got := mustProblem(t, d).Digest(); got != first {
			t.Errorf("%s changes the digest", name)
		}
	}
}

// TestDigestIsOfTheContent makes sure that two ways to say the same have one digest.
func TestDigestIsOfTheContent(t *testing.T) {
	ones := make([]float32, 1000)
	for i := range ones {
		ones[i] = 1
	}
	file := writeNPY(t, array.Of(ones))
	for name, ways := range map[string][2]func(*definition.Definition){
		"right outputs in a file and as data": {
			func(d *definition.Definition) {
				d.Verify = &definition.Verification{Files: map[string]string{"y": file}}
			},
			func(d *definition.Definition) {
				d.Verify = &definition.Verification{Expected: map[string]any{"y": ones}}
			},
		},
		"content of a file and data": {
			func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{File: file} },
			func(d *definition.Definition) { d.Arguments[1].Fill, d.Arguments[1].Data = definition.Fill{}, ones },
		},
		"files in two folders": {
			func(d *definition.Definition) {
				d.Kernel.Source = "#line 1 \"/home/a/k.cl\"\n__kernel void saxpy() {}\n"
			},
			func(d *definition.Definition) { d.Kernel.Source = "#line 1 \"C:/k.cl\"\n__kernel void saxpy() {}\n" },
		},
		"no division and one by 1": {
			func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{} },
			func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{"1"} },
		},
	} {
		d, e := saxpy(), saxpy()
		ways[0](&d)
		ways[1](&e)
		if mustProblem(t, d).Digest() != mustProblem(t, e).Digest() {
			t.Errorf("%s: two digests", name)
		}
	}
}

func TestDigestChangesWithAllThatMatters(t *testing.T) {
	ones := writeNPY(t, array.Of(make([]float32, 1000)))
	other := make([]float32, 1000)
	other[999] = 1
	others := writeNPY(t, array.Of(other))
	reference := func(change func(*definition.Definition)) *definition.Definition {
		d := saxpy()
		change(&d)
		return &d
	}
	at := map[string]space.Value{"block_size_x": 32, "unroll": 1}
	verify := func(v definition.Verification) func(*definition.Definition) {
		return func(d *definition.Definition) { d.Verify = &v }
	}
	same := func(*definition.Definition) {}

	seen := map[string]string{}
	for name, change := range map[string]func(*definition.Definition){
		"nothing":               same,
		"kernel":                func(d *definition.Definition) { d.Kernel.Name = "other" },
		"source":                func(d *definition.Definition) { d.Kernel.Source += " " },
		"source by a function":  func(d *definition.Definition) { d.Kernel.Source, d.Kernel.Func = "", sourceOf("a") },
		"another function":      func(d *definition.Definition) { d.Kernel.Source, d.Kernel.Func = "", sourceOf("b") },
		"a function that fails": func(d *definition.Definition) { d.Kernel.Source, d.Kernel.Func = "", sourceOf("") },
		"alias of the input": func(d *definition.Definition) {
			d.Arguments[3] = definition.Argument{Name: "scratch", Type: "float32", Alias: "x"}
		},
		"alias of the output": func(d *definition.Definition) {
			d.Arguments[3] = definition.Argument{Name: "scratch", Type: "float32", Alias: "y"}
		},
		"options":              func(d *definition.Definition) { d.Kernel.BuildOptions = []string{"-a", "-b"} },
		"joined options":       func(d *definition.Definition) { d.Kernel.BuildOptions = []string{"-a -b"} },
		"constant":             func(d *definition.Definition) { d.Constants[1].Value = "0.25f" },
		"constant as a double": func(d *definition.Definition) { d.Constants[1].Value = 0.5 },
		"constant as a float":  func(d *definition.Definition) { d.Constants[0].Value = 1000.0 },
		"another constant": func(d *definition.Definition) {
			d.Constants = append(d.Constants, definition.Constant{Name: "z", Value: 1})
		},
		"order of constants": func(d *definition.Definition) { d.Constants[0], d.Constants[1] = d.Constants[1], d.Constants[0] },
		"problem size":       func(d *definition.Definition) { d.ProblemSize[0] = "n + 1" },
		"block size":         func(d *definition.Definition) { d.BlockSize[1] = "1" },
		"no division":        func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{} },
		"division":           func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{"32"} },
		"argument's name":    func(d *definition.Definition) { d.Arguments[1].Name = "z" },
		"argument's type":    func(d *definition.Definition) { d.Arguments[1].Type = "float64" },
		"argument's size":    func(d *definition.Definition) { d.Arguments[1].Size = "n * 2" },
		"fill":               func(d *definition.Definition) { d.Arguments[1].Fill.Kind = array.Ones },
		"fill's bounds":      func(d *definition.Definition) { d.Arguments[1].Fill.High = "2" },
		"an infinite fill": func(d *definition.Definition) {
			d.Arguments[1].Fill = definition.Fill{Kind: array.Constant, Value: "2 ** 2000"}
		},
		"a fill of NaN": func(d *definition.Definition) {
			d.Arguments[1].Fill = definition.Fill{Kind: array.Constant, Value: "0 / 0"}
		},
		"observed": func(d *definition.Definition) { d.Measure.Observe = []string{"energy"} },
		"observed by a command": func(d *definition.Definition) {
			d.Measure = definition.Measure{Observe: []string{"wall"}, Instruments: []definition.Instrument{{Quantities: []string{"wall"}, Command: &definition.Command{Args: []string{"meter"}}}}}
		},
		"computed":           func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{Expression: "index"} },
		"computed otherwise": func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{Expression: "index + 1"} },
		"fill of a field": func(d *definition.Definition) {
			d.Arguments[1].Fill = field("a", "1")
			d.Types, d.Arguments[1].Type = pairOf("a", "int32"), "pair"
		},
		"another fill of one": func(d *definition.Definition) {
			d.Arguments[1].Fill = field("a", "2")
			d.Types, d.Arguments[1].Type = pairOf("a", "int32"), "pair"
		},
		"copy": func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{Copy: "y"} },
		"data": func(d *definition.Definition) {
			d.Arguments[1] = definition.Argument{Name: "x", Data: make([]float32, 1000)}
		},
		"other data":     func(d *definition.Definition) { d.Arguments[1] = definition.Argument{Name: "x", Data: other} },
		"output":         func(d *definition.Definition) { d.Arguments[1].Output = true },
		"restore":        func(d *definition.Definition) { d.Arguments[1].RestoreEachLaunch = true },
		"scalar":         func(d *definition.Definition) { d.Arguments[2].Value = 2 },
		"image":          func(d *definition.Definition) { d.Arguments[1] = imageOf("2d", "r/float32") },
		"image's format": func(d *definition.Definition) { d.Arguments[1] = imageOf("2d", "a/float32") },
		"image's shape":  func(d *definition.Definition) { d.Arguments[1] = imageOf("1d_array", "r/float32") },
		"sampler": func(d *definition.Definition) {
			d.Arguments[1] = definition.Argument{Name: "x", Sampler: &definition.Sampler{}}
		},
		"sampler's filter": func(d *definition.Definition) {
			d.Arguments[1] = definition.Argument{Name: "x", Sampler: &definition.Sampler{Filter: "linear"}}
		},
		"struct":              func(d *definition.Definition) { d.Types, d.Arguments[1].Type = pairOf("a", "int32"), "pair" },
		"type of a field":     func(d *definition.Definition) { d.Types, d.Arguments[1].Type = pairOf("a", "float32"), "pair" },
		"name of a field":     func(d *definition.Definition) { d.Types, d.Arguments[1].Type = pairOf("b", "int32"), "pair" },
		"build restriction":   func(d *definition.Definition) { d.BuildRestrictions = []definition.Expr{"spill_bytes == 0"} },
		"cold caches":         func(d *definition.Definition) { d.Measure.Timing.Cache = definition.CacheCold },
		"warm-up":             func(d *definition.Definition) { d.Measure.Timing.Warmup = 3 },
		"no warm-up":          func(d *definition.Definition) { d.Measure.Timing.Warmup = definition.NoWarmup },
		"local size":          func(d *definition.Definition) { d.Arguments[3].LocalSize = "2" },
		"values":              func(d *definition.Definition) { d.Parameters[1].Values = []space.Value{1, 4} },
		"order of values":     func(d *definition.Definition) { d.Parameters[1].Values = []space.Value{2, 1} },
		"values as floats":    func(d *definition.Definition) { d.Parameters[1].Values = []space.Value{1.0, 2.0} },
		"order of parameters": func(d *definition.Definition) { d.Parameters[0], d.Parameters[1] = d.Parameters[1], d.Parameters[0] },
		"restriction":         func(d *definition.Definition) { d.Restrictions[0].Expression = "block_size_x > unroll" },
		"no restriction":      func(d *definition.Definition) { d.Restrictions = nil },
		"metric":              func(d *definition.Definition) { d.Metrics[0].Expression += " * 2" },
		"metric's name":       func(d *definition.Definition) { d.Metrics[0].Name = "GB" },
		"objective":           func(d *definition.Definition) { d.Objective.Name = "GB/s" },
		"direction":           func(d *definition.Definition) { d.Objective = score.Objective{Name: "GB/s", Maximize: true} },
		"seed":                func(d *definition.Definition) { d.Seed = 1 },
		"verify by a check":   verify(definition.Verification{Check: func(space.Configuration, map[string]*array.Array) error { return nil }}),
		"verify by a command": verify(definition.Verification{Command: &definition.Command{Args: []string{"judge", "it"}}}),
		"by another command":  verify(definition.Verification{Command: &definition.Command{Args: []string{"judge it"}}}),
		"verify by a function": verify(definition.Verification{Reference: func(map[string]*array.Array) (map[string]*array.Array, error) {
			return nil, nil
		}}),
		"verify by a file":    verify(definition.Verification{Files: map[string]string{"y": ones}}),
		"verify by another":   verify(definition.Verification{Files: map[string]string{"y": others}}),
		"verify by data":      verify(definition.Verification{Expected: map[string]any{"y": slices.Repeat([]float32{2}, 1000)}}),
		"verify by a kernel":  verify(definition.Verification{Problem: reference(same), Configuration: at}),
		"at another place":    verify(definition.Verification{Problem: reference(same), Configuration: map[string]space.Value{"block_size_x": 64, "unroll": 1}}),
		"by another kernel":   verify(definition.Verification{Problem: reference(func(d *definition.Definition) { d.Kernel.Source = "//" }), Configuration: at}),
		"launched more often": verify(definition.Verification{Problem: reference(same), Configuration: at, Launches: "2"}),
		"with a swap":         verify(definition.Verification{Problem: reference(same), Configuration: at, Swap: [2]string{"y", "x"}}),
		"reduced":             verify(definition.Verification{Problem: reference(same), Configuration: at, Compare: map[string]definition.Comparison{"y": {As: array.Sum}}}),
		"reduced by row":      verify(definition.Verification{Problem: reference(same), Configuration: at, Compare: map[string]definition.Comparison{"y": {As: array.Sum, Rows: "10"}}}),
		"with a tolerance":    verify(definition.Verification{Problem: reference(same), Configuration: at, ATol: "1"}),
		"with another":        verify(definition.Verification{Problem: reference(same), Configuration: at, RTol: "1"}),
	} {
		d := saxpy()
		change(&d)
		digest := mustProblem(t, d).Digest()
		if twin, ok := seen[digest]; ok {
			t.Errorf("«%s» and «%s» have one digest", name, twin)
		}
		seen[digest] = name
	}
}

func sourceOf(text string) func(space.Configuration) (string, error) {
	return func(space.Configuration) (string, error) {
		if text == "" {
			return "", errors.New("there is none")
		}
		return text, nil
	}
}

func imageOf(shape, format string) definition.Argument {
	return definition.Argument{Name: "x", Image: &definition.Image{Shape: shape, Format: format, Size: []definition.Expr{"n", "1"}}}
}

// pairOf returns a struct of a float and another field.
func pairOf(name, typ string) []definition.StructType {
	return []definition.StructType{{Name: "pair", Fields: []definition.StructField{{Name: "first", Type: "float"}, {Name: name, Type: typ}}}}
}

// field returns a fill of a field by a constant.
func field(name string, value definition.Expr) definition.Fill {
	return definition.Fill{Fields: map[string]definition.Fill{name: {Kind: array.Constant, Value: value}}}
}

// TestMeasurementDigest makes sure that another search space has the same digest, and that another meaning of a
// result has another one.
func TestMeasurementDigest(t *testing.T) {
	reference := saxpy()
	verified := func(change func(d *definition.Definition, at map[string]space.Value)) func(*definition.Definition) {
		return func(d *definition.Definition) {
			of, at := reference, map[string]space.Value{"block_size_x": 32, "unroll": 1}
			of.Parameters = slices.Clone(of.Parameters)
			change(&of, at)
			d.Verify = &definition.Verification{Problem: &of, Configuration: at}
		}
	}
	plain := verified(func(*definition.Definition, map[string]space.Value) {})
	digests := func(change func(*definition.Definition)) (measurement, whole string) {
		d := saxpy()
		plain(&d)
		change(&d)
		p := mustProblem(t, d)
		return p.MeasurementDigest(), p.Digest()
	}
	measurement, whole := digests(plain)
	for name, change := range map[string]func(*definition.Definition){
		"the values":     func(d *definition.Definition) { d.Parameters[0].Values = []space.Value{32, 128, 512} },
		"a restriction":  func(d *definition.Definition) { d.Restrictions = []space.Restriction{{Expression: "unroll == 1"}} },
		"the order":      func(d *definition.Definition) { slices.Reverse(d.Parameters) },
		"its own values": verified(func(d *definition.Definition, _ map[string]space.Value) { d.Parameters[0].Values = []space.Value{32} }),
	} {
		if m, w := digests(change); m != measurement || w == whole {
			t.Errorf("%s: the same measurement %t, the same problem %t", name, m == measurement, w == whole)
		}
	}
	for name, change := range map[string]func(*definition.Definition){
		"the source": func(d *definition.Definition) { d.Kernel.Source += " " },
		"an option":  func(d *definition.Definition) { d.Kernel.BuildOptions = []string{"-cl-mad-enable"} },
		"a constant": func(d *definition.Definition) { d.Constants[0].Value = 4096; d.Verify = nil },
		"a parameter more": func(d *definition.Definition) {
			d.Parameters = append(d.Parameters, space.Parameter{Name: "u", Values: []space.Value{1}})
		},
		"data":                    func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{} },
		"the tolerance":           func(d *definition.Definition) { d.Verify.ATol = "1" },
		"the reference at work":   verified(func(_ *definition.Definition, at map[string]space.Value) { at["block_size_x"] = 64 }),
		"the reference's source":  verified(func(d *definition.Definition, _ map[string]space.Value) { d.Kernel.Source += " " }),
		"the seed of random data": func(d *definition.Definition) { d.Seed = 7 },
		"cold caches":             func(d *definition.Definition) { d.Measure.Timing.Cache = definition.CacheCold },
		"the objective":           func(d *definition.Definition) { d.Objective.Name = "time_min" },
	} {
		if m, _ := digests(change); m == measurement {
			t.Errorf("%s does not change the digest", name)
		}
	}
}

// TestKernelDigest makes sure that a change of the code has another digest, and that another size has not.
func TestKernelDigest(t *testing.T) {
	pipeline := func(size string) func(*definition.Definition) {
		return func(d *definition.Definition) {
			d.Stages = []definition.Stage{{Kernel: "saxpy"}, {Repeat: "2", Stages: []definition.Stage{{Kernel: "saxpy", Shape: definition.Shape{ProblemSize: []definition.Expr{size}}}}}}
		}
	}
	literal := func(size string) func(*definition.Definition) {
		return func(d *definition.Definition) { d.ProblemSize = []definition.Expr{size} }
	}
	same := map[string][2]func(*definition.Definition){
		"a constant":      {nil, func(d *definition.Definition) { d.Constants[0].Value = 4096 }},
		"a constant of C": {nil, func(d *definition.Definition) { d.Constants[1].Value = "0.25f" }},
		"the size of an image": {
			func(d *definition.Definition) { d.Arguments[1] = imageOf("2d", "r/float32") },
			func(d *definition.Definition) {
				d.Arguments[1] = imageOf("2d", "r/float32")
				d.Arguments[1].Image.Size[1] = "7"
			},
		},
		"a size that is a number":        {literal("1024"), literal("2048")},
		"the size of a stage":            {pipeline("64"), pipeline("128")},
		"the values of a parameter":      {nil, func(d *definition.Definition) { d.Parameters[0].Values = []space.Value{128} }},
		"data":                           {nil, func(d *definition.Definition) { d.Arguments[1].Fill = definition.Fill{} }},
		"the warm-up":                    {nil, func(d *definition.Definition) { d.Measure.Timing.Warmup = 3 }},
		"the verification and objective": {nil, func(d *definition.Definition) { d.Objective.Name = "time_min"; d.Metrics = nil }},
	}
	others := map[string]func(*definition.Definition){
		"the source":                   func(d *definition.Definition) { d.Kernel.Source += " " },
		"the kernel":                   func(d *definition.Definition) { d.Kernel.Name = "other" },
		"an option":                    func(d *definition.Definition) { d.Kernel.BuildOptions = []string{"-cl-mad-enable"} },
		"a type":                       func(d *definition.Definition) { d.Arguments[1].Type = "float64" },
		"a constant that is no number": func(d *definition.Definition) { d.Constants[1].Value, d.Arguments[2].Value = "REAL", 1.0 },
		"a new constant": func(d *definition.Definition) {
			d.Constants = append(d.Constants, definition.Constant{Name: "m", Value: 1})
		},
		"a constant of the host": func(d *definition.Definition) { d.Constants[0].Host = true },
		"a new parameter": func(d *definition.Definition) {
			d.Parameters = append(d.Parameters, space.Parameter{Name: "u", Values: []space.Value{1}})
		},
		"the expression of the size": literal("n + 1"),
		"the work-group":             func(d *definition.Definition) { d.BlockSize[0] = "64" },
		"the grid":                   func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{"unroll"} },
		"the offset":                 func(d *definition.Definition) { d.GlobalOffset = []definition.Expr{"1"} },
		"local memory":               func(d *definition.Definition) { d.Arguments[3].LocalSize = "64" },
		"a new argument": func(d *definition.Definition) {
			d.Arguments = append(d.Arguments, definition.Argument{Name: "b", Type: "int32", Value: 1})
		},
		"stages":      pipeline("64"),
		"cold caches": func(d *definition.Definition) { d.Measure.Timing.Cache = definition.CacheCold },
	}
	digest := func(change func(*definition.Definition)) string {
		d := saxpy()
		if change != nil {
			change(&d)
		}
		return mustProblem(t, d).KernelDigest()
	}
	for name, pair := range same {
		if digest(pair[0]) != digest(pair[1]) {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, change := range others {
		if digest(change) == digest(nil) {
			t.Errorf("%s does not change the digest", name)
		}
	}
	image := func(shape, format string) string {
		return digest(func(d *definition.Definition) { d.Arguments[1] = imageOf(shape, format) })
	}
	if first := image("2d", "r/float32"); image("1d_array", "r/float32") == first || image("2d", "r/unorm_int8") == first {
		t.Error("neither the shape nor the format of an image changes the digest")
	}
	stages := pipeline("64")
	d := saxpy()
	stages(&d)
	if p := mustProblem(t, d); p.KernelDigest() == "" || p.Definition().Stages[1].Stages[0].ProblemSize[0] != "64" {
		t.Error("the digest changes the definition")
	}
}
