package problem_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// pipelines are specifications whose launches are exported, without their kernels.
var pipelines = map[string]string{
	"diffusion": `
constants: {n: 64, time_steps: 3, dt: 0.225f, every: 2}
problem_size: [n, n]
kernels:
  - name: step
    repeat: time_steps
    swap: [u_new, u]
  - {name: norm, arguments: [u_new, sum, partial], repeat: time_steps % every == 0}
arguments:
  - {name: u_new, type: float32, size: n * n, output: true}
  - {name: u, type: float32, size: n * n, fill: random}
  - {name: sum, type: double, size: 1}
  - {name: partial, type: double, local_size: block_size_x * block_size_y * every}
  - {name: dt, type: float32, value: dt / every}
parameters: {block_size_x: [8, 16], block_size_y: [1, 4]}
`,
	"lists": `
constants: {n: 100, m: 3, w: 1.5}
kernels:
  - repeat: m
    index: i
    swap: [a, b]
    kernels:
      - {name: first, problem_size: [n, i + 1], arguments: [a, b, a, count], repeat: 2, swap: [b, c]}
      - repeat: i % 2 == 1 and deep
        kernels:
          - {name: second, index: j, repeat: m - i, problem_size: n + j, block_size: {x: width, y: 2}, global_offset: [j * i], arguments: [c, both, local]}
          - {name: third, problem_size: 1, grid_div: {x: []}, arguments: [c], block_size: i}
  - {name: last, problem_size: 'div(n, m)', arguments: [b, a, image, sampler], repeat: m > 1, block_size: 0}
arguments:
  - {name: a, type: int32, size: n}
  - {name: b, type: int32, size: n, output: true}
  - {name: c, type: int32, size: n}
  - {name: count, type: int64, value: 'power(n, 4) * (i - 1)'}
  - {name: both, type: uint8, value: 'i * 100 + j * w * 2'}
  - {name: local, type: float3, local_size: n - j}
  - {name: image, image: 2d, format: rgba/float32, size: [8, 8]}
  - {name: sampler, sampler: {}}
parameters: {width: [1, 2, 4], deep: [true, false]}
restrictions: [width < 8]
`,
	"values": `
constants: {n: 100, f: 0.1, bytes: 2}
problem_size: n
kernels: [{name: k, index: i, repeat: n % 4 + 1}]
types:
  inner: {h: half, p: int16}
  outer: {c: uint8, v: float3, in: {type: inner, count: bytes}, d: double, flag: uint8}
arguments:
  - {name: x, type: int32, size: n, output: true}
  - {name: i8, type: int8, value: n - i}
  - {name: u16, type: uint16, value: n * 100}
  - {name: u32, type: uint32, value: 'shift_left(n, 20)'}
  - {name: u64, type: uint64, value: 'n * 1e17'}
  - {name: most, type: uint64, value: '18446744073709551615'}
  - {name: h, type: half, value: 'f * n * 10'}
  - {name: v, type: float4, value: [f, n, '1 / (n - 50)', 2.5]}
  - {name: s3, type: short3, value: [i, 'i > 1', -1]}
  - {name: b, type: bytes, value: '00 ff 80 3f 22'}
  - {name: d, type: double, value: 'f / 3'}
  - name: o
    type: outer
    value: {c: 'i == 1', v: [1, 'f * i', 3], in: [{h: 'f / 1e5', p: n}, {h: 0.1, p: -3}], d: 'sqrt(n)', flag: true}
parameters: {block_size_x: [1, 32]}
`,
	"many": `
constants: {n: 65536, m: 1}
problem_size: 1
kernels: [{name: a, repeat: n}, {name: b, repeat: m, arguments: [x]}]
arguments: [{name: x, type: int32, size: 1, output: true}]
parameters: {block_size_x: [1, 2]}
`,
}

func loadPipeline(t *testing.T, name string) *problem.Problem {
	t.Helper()
	text := "kernel: {name: p, source: '__kernel void none() {}'}\n" + pipelines[name]
	s, err := spec.LoadFS(fstest.MapFS{"p.yaml": {Data: []byte(text)}}, "p.yaml", spec.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s.Problem
}

// pipelineCases: pipelines launch the same kernels with the same arguments, byte by byte, in C, C++ and Python
// as in ndtune, and leave the buffers at the same places, for random values of constants and configurations.
func pipelineCases(t *testing.T) (cases []foreign.Case) {
	for _, name := range slices.Sorted(maps.Keys(pipelines)) {
		x := exporting{t: t, path: name, problem: loadPipeline(t, name), r: rand.New(rand.NewPCG(15, 4))}
		environments, err := x.environments(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if name == "many" {
			environments = []map[string]any{{"n": 65536, "m": 0, "block_size_x": 1}, {"n": 65536, "m": 1, "block_size_x": 1}, {"n": 0, "m": 0, "block_size_x": 1}, {"n": -1, "m": 1, "block_size_x": 2}}
		} else {
			environments = append(environments, x.small(slices.Repeat(environments, 40))...)
		}
		c := launchesCase(name, x.problem, environments)
		failed := 0
		for _, environment := range environments {
			if c.Want(environment) == foreign.Failed {
				failed++
			}
		}
		t.Logf("%s: %d of %d environments have no launches", name, failed, len(environments))
		if failed == 0 || failed > len(environments)*4/5 {
			t.Errorf("%s: %d of %d environments have no launches", name, failed, len(environments))
		}
		cases = append(cases, c, bytesCase(name, x.problem, environments))
	}
	return cases
}

// scalarCases: integers and floats become the same bytes of each type as in ndtune, or are refused, also at the
// ends of its range and between two values.
func scalarCases(t *testing.T) (cases []foreign.Case) {
	r := rand.New(rand.NewPCG(15, 5))
	var environments []map[string]any
	for exponent := -30; exponent <= 130; exponent++ {
		for range 6 {
			f := math.Ldexp(1+float64(r.IntN(5)-2)*math.Ldexp(1, -[]int{11, 12, 24, 25, 52}[r.IntN(5)]), exponent)
			if r.IntN(2) > 0 {
				f = -f
			}
			environments = append(environments, map[string]any{"f": f, "n": r.IntN(5) - 2 + 1<<r.IntN(64)})
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 65519.999, 65520, 0x1p-25, 0x1.8p-24, math.MaxFloat32, 0x1.ffffffp127, 0x1.fffffefffffffp127, 1e300} {
		environments = append(environments, map[string]any{"f": f, "n": math.MinInt})
	}
	for _, typ := range []string{"char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "half", "float", "double"} {
		for _, value := range []string{"n", "f", "n > 4", "n % 7 == 0 ? n : -n"} {
			p, err := problem.New(definition.Definition{
				Kernel: definition.Kernel{Name: "k", Source: "__kernel void k() {}"}, ProblemSize: []definition.Expr{"1"},
				Constants:  []definition.Constant{{Name: "n", Value: 1}, {Name: "f", Value: 1.0}},
				Parameters: []space.Parameter{{Name: "p", Values: []space.Value{1}}},
				Arguments:  []definition.Argument{{Name: "x", Type: typ, Value: value + " + (p - p)"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			with := slices.Clone(environments)
			for i := range with {
				with[i] = maps.Clone(with[i])
				with[i]["p"] = 1
			}
			cases = append(cases, launchesCase(typ, p, with))
		}
	}
	return cases
}

// small are environments with other small numbers.
func (x *exporting) small(environments []map[string]any) []map[string]any {
	for i := range environments {
		environments[i] = maps.Clone(environments[i])
		for _, name := range slices.Sorted(maps.Keys(environments[i])) {
			switch environments[i][name].(type) {
			case int:
				if x.r.IntN(2) > 0 {
					environments[i][name] = []int{0, 1, 2, 3, 4, 5, 7, 50, 64, 100, 127, 128, 655, 1000, -1}[x.r.IntN(15)]
				}
			case float64:
				environments[i][name] = []float64{0, 0.1, 0.225, 1, -1.5, 1e-7, 65.5, 3.4e37, 1e300, math.Exp(10 * x.r.NormFloat64()), x.r.NormFloat64()}[x.r.IntN(11)]
			}
		}
	}
	return environments
}

// launchesCase has the launches of a problem.
func launchesCase(path string, p *problem.Problem, environments []map[string]any) foreign.Case {
	names, indices := map[string]bool{}, map[string]bool{}
	collectNames(p, p.Steps(), names, indices)
	c := foreign.Case{About: path + ": the launches", Environments: environments, Problem: p}
	for name := range names {
		if !indices[name] {
			c.Names = append(c.Names, name)
		}
	}
	buffers, kernels := problem.BuffersOf(p), p.KernelNames()
	arguments := p.Arguments()
	c.Want = func(environment map[string]any) string {
		v, err := p.LaunchesIn(maps.Clone(environment))
		if err != nil {
			return foreign.Failed
		}
		var b strings.Builder
		for _, l := range v.Launches {
			r := l.NDRange
			fmt.Fprint(&b, slices.Index(kernels, l.Kernel), l.Kernel, r.Global(), " ", r.WorkGroup(), " ", r.GlobalOffset(), " ")
			for place, holder := range l.Arguments {
				switch a := arguments[holder]; {
				case l.Scalars[place] != nil:
					fmt.Fprintf(&b, "%s=x%x ", a.Name, l.Scalars[place])
				case a.Kind == definition.LocalArgument:
					fmt.Fprintf(&b, "%s=%d bytes ", a.Name, l.LocalBytes[place])
				default:
					fmt.Fprintf(&b, "%s=%d ", nameAt(p, l.Kernel, place), slices.Index(buffers, a.Name))
				}
			}
			b.WriteString("; ")
		}
		for i, holder := range v.Holders {
			if slices.Contains(buffers, arguments[i].Name) {
				fmt.Fprint(&b, slices.Index(buffers, arguments[holder].Name), " ")
			}
		}
		return b.String()
	}
	c.Add = func(r *export.Rules) (foreign.How, error) { return foreign.Launches, r.AddSteps(p.Steps()) }
	return c
}

// bytesCase has the sizes of the buffers of a problem.
func bytesCase(path string, p *problem.Problem, environments []map[string]any) foreign.Case {
	c := foreign.Case{About: path + ": the sizes of the buffers", Environments: environments, Problem: p}
	for _, a := range p.Arguments() {
		if a.Kind != definition.BufferArgument {
			continue
		}
		for _, e := range a.Expressions() {
			c.Names = append(c.Names, e.Names()...)
		}
	}
	slices.Sort(c.Names)
	c.Names = slices.Compact(c.Names)
	c.Want = func(environment map[string]any) string {
		all, err := p.BytesIn(environment)
		if err != nil {
			return foreign.Failed
		}
		return fmt.Sprint(all)
	}
	c.Add = func(r *export.Rules) (foreign.How, error) { return foreign.Bytes, r.AddBuffers() }
	return c
}

// collectNames collects the names that steps and their arguments read.
func collectNames(p *problem.Problem, steps []problem.Step, names, indices map[string]bool) {
	for _, s := range steps {
		indices[s.Index] = true
		all := s.Expressions()
		for _, i := range s.Arguments {
			all = append(all, p.Arguments()[i].Expressions()...)
		}
		for _, e := range all {
			for _, name := range e.Names() {
				names[name] = true
			}
		}
		collectNames(p, s.Steps, names, indices)
	}
}

// nameAt is the name of an argument of a kernel in a place.
func nameAt(p *problem.Problem, kernel string, place int) string {
	steps := p.Steps()
	for len(steps) > 0 {
		s := steps[0]
		if s.Kernel == kernel {
			return p.Arguments()[s.Arguments[place]].Name
		}
		steps = append(s.Steps, steps[1:]...)
	}
	return ""
}
