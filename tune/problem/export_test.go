package problem_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/spec"
)

// testDevice has values for the names of devices that specifications read.
var testDevice = hardware.Device{Name: "test", Vendor: "NVIDIA Corporation", ComputeMajor: 9, Type: "GPU", Extensions: []string{"cl_khr_fp16"}, LocalMemory: 65536, MaxWorkGroupSize: 1024, MaxWorkItemSizes: []int{1024, 1024, 64}, GlobalMemory: 1 << 34, MaxAllocation: 1 << 32, ComputeUnits: 132}

// TestExport compares all that is exported with ndtune, by one program in each language, because compilers take most of the time.
func TestExport(t *testing.T) {
	foreign.Compare(t, slices.Concat(rangeCases(t), pipelineCases(t), scalarCases(t), specificationCases(t)))
}

// specificationCases: the launches of the bundled specifications and of the gallery, the values of scalars, the
// sizes of local memory and the restrictions are the same in C, C++ and Python as in ndtune, for configurations of
// each space. An expression that cannot be exported is one that is listed here.
func specificationCases(t *testing.T) (cases []foreign.Case) {
	var paths []string
	root := withSources{os.DirFS("../..")}
	for _, folder := range []string{"kernels", "gallery"} {
		err := fs.WalkDir(root, folder, func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".yaml" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	loaded, launches, expressions, refused := 0, 0, 0, 0
	for _, path := range paths {
		s, err := spec.LoadFS(root, path, spec.Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		loaded++
		x := exporting{t: t, path: path, problem: s.Problem, r: rand.New(rand.NewPCG(15, 1))}
		if err := x.collect(t.Context(), s.Problem.Steps(), nil); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if err := x.collectRestrictions(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if environments, err := x.environments(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", path, err)
		} else {
			cases = append(cases, launchesCase(path, s.Problem, environments), bytesCase(path, s.Problem, environments))
		}
		cases = append(cases, x.cases...)
		launches, expressions, refused = launches+x.launches, expressions+x.expressions, refused+x.refused
	}
	t.Logf("%d of %d specifications: %d launches and %d expressions; %d restrictions are refused, because they read a list or a part of a text of the device", loaded, len(paths), launches, expressions, refused)
	return cases
}

// withSources has a source without kernels for each file of the gallery that has to be fetched.
type withSources struct{ fs.FS }

func (s withSources) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if err != nil && strings.HasPrefix(name, "gallery/sources/") {
		return fstest.MapFS{name: {Data: []byte("/* not fetched */\n")}}.Open(name)
	}
	return f, err
}

// readsDeviceText matches the exceededLimit of a restriction that looks for an extension or within the name of the vendor.
var readsDeviceText = regexp.MustCompile(`: device\.(extensions|vendor contains "\w+"): it has a list, a part of a text`)

// exporting makes the cases of a problem.
type exporting struct {
	t                     *testing.T
	path                  string
	problem               *problem.Problem
	r                     *rand.Rand
	configurations        []map[string]any // environments
	cases                 []foreign.Case
	launches, expressions int
	refused               int
}

// environments are those of a few configurations, with the indices of loops.
func (x *exporting) environments(ctx context.Context, indices []string) ([]map[string]any, error) {
	if x.configurations == nil {
		space, err := x.problem.Space(ctx, testDevice)
		if err != nil {
			return nil, err
		}
		for _, i := range space.Sample(min(12, space.Len()), x.r) {
			environment := map[string]any{"device": testDevice.Environment()}
			for _, c := range x.problem.Definition().Constants {
				environment[c.Name] = c.Number()
			}
			space.At(i).Assign(environment)
			x.configurations = append(x.configurations, environment)
		}
	}
	all := make([]map[string]any, len(x.configurations))
	for i, environment := range x.configurations {
		all[i] = maps.Clone(environment)
		for _, index := range indices {
			all[i][index] = x.r.IntN(4)
		}
	}
	return all, nil
}

func (x *exporting) collect(ctx context.Context, steps []problem.Step, indices []string) error {
	for _, s := range steps {
		inner := indices
		if s.Index != "" {
			inner = append(inner[:len(inner):len(inner)], s.Index)
		}
		if err := x.collect(ctx, s.Steps, inner); err != nil {
			return err
		}
		environments, err := x.environments(ctx, inner)
		if err != nil {
			return err
		}
		if s.Kernel != "" {
			x.launches++
			x.cases = append(x.cases, rangeCase(x.path, s, append(environments, x.extreme(environments)...)))
		}
		s.Steps = nil
		all := s.Expressions()
		for _, i := range s.Arguments {
			all = append(all, x.problem.Arguments()[i].Expressions()...)
		}
		for _, e := range all {
			x.add(e, environments)
		}
	}
	return nil
}

func (x *exporting) add(e *expression.Expression, environments []map[string]any) {
	c := foreign.Of(e, environments)
	if err := c.Refused(); err != nil {
		if !readsDeviceText.MatchString(err.Error()) {
			x.t.Errorf("%s: %v", x.path, err)
		}
		x.refused++
		return
	}
	x.expressions++
	c.About = x.path + ": " + c.About
	x.cases = append(x.cases, c)
}

// rangeCases: a launch with three dimensions, a divisor that is a float, an offset and a block size that can be 0.
func rangeCases(t *testing.T) []foreign.Case {
	scope := expression.Scope{"n": 1, "m": 1, "x": 1, "z": 1, "f": 1.5, "o": 1}
	compile := func(source string) *expression.Expression {
		e, err := expression.Compile(source, scope)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	s := problem.Step{
		Kernel: "k",
		Shape: problem.Shape{
			ProblemSize:  []*expression.Expression{compile("n"), compile("m")},
			BlockSize:    [3]*expression.Expression{compile("x"), nil, compile("z")},
			GlobalOffset: []*expression.Expression{compile("0"), compile("o")},
		},
	}
	s.GridDiv[0] = []*expression.Expression{s.BlockSize[0], compile("f * 2")}
	s.GridDiv[1] = []*expression.Expression{compile("z * n")}
	x := exporting{t: t, r: rand.New(rand.NewPCG(15, 2))}
	environments := x.extreme(slices.Repeat([]map[string]any{{"n": 100, "m": 70, "x": 16, "z": 2, "f": 1.5, "o": 0}, {"n": 1000, "m": 7, "x": 0, "z": 2, "f": 2.0, "o": 3}}, 300))
	kinds := map[string]int{}
	c := rangeCase("", s, environments)
	for _, environment := range environments {
		environment["f"] = float64(x.r.IntN(9)) / 4
		want := c.Want(environment)
		kinds[fmt.Sprint("failed ", want == foreign.Failed)]++
		kinds[fmt.Sprint("the driver chooses ", strings.Contains(want, "[] ["))]++
	}
	t.Log(kinds)
	if len(kinds) != 4 {
		t.Error("some kind of launch is not tested")
	}
	return []foreign.Case{c}
}

// extreme are environments with other integers, for which launches fail, overflow or have no work-group.
func (x *exporting) extreme(environments []map[string]any) []map[string]any {
	var all []map[string]any
	for _, environment := range environments {
		environment = maps.Clone(environment)
		for _, name := range slices.Sorted(maps.Keys(environment)) {
			if _, ok := environment[name].(int); ok && x.r.IntN(3) > 0 {
				environment[name] = []int{0, 1, 2, 3, 7, 64, 1000, 1 << 31, 1 << 40, 1 << 62, math.MaxInt, -1, math.MinInt}[x.r.IntN(13)]
			}
		}
		all = append(all, environment)
	}
	return all
}

func (x *exporting) collectRestrictions() error {
	scope := expression.Scope{"device": hardware.Device{}.Environment()}
	for _, c := range x.problem.Definition().Constants {
		scope[c.Name] = c.Number()
	}
	x.problem.Parameters().Describe(scope)
	for _, r := range x.problem.Definition().Restrictions {
		e, err := expression.Compile(r.Expression, scope)
		if err != nil {
			return err
		}
		environments, err := x.environments(context.Background(), nil)
		if err != nil {
			return err
		}
		for _, environment := range environments { // also values that the restriction refuses
			for i := range x.problem.Parameters().Len() {
				if q := x.problem.Parameters().At(i); x.r.IntN(3) == 0 {
					environment[q.Name] = q.Values[x.r.IntN(len(q.Values))]
				}
			}
		}
		x.add(e, environments)
	}
	return nil
}

// rangeCase is the launch of a step.
func rangeCase(path string, s problem.Step, environments []map[string]any) foreign.Case {
	names := map[string]bool{}
	for _, e := range s.Expressions() {
		for _, name := range e.Names() {
			names[name] = true
		}
	}
	c := foreign.Case{About: path + ": the launch of " + s.Kernel, Environments: environments}
	for name := range names {
		c.Names = append(c.Names, name)
	}
	c.Want = func(environment map[string]any) string {
		r, err := problem.NDRangeOf(s, environment)
		if err != nil {
			return foreign.Failed
		}
		return fmt.Sprint(r.Global(), r.WorkGroup(), r.GlobalOffset())
	}
	c.Add = func(r *export.Rules) (foreign.How, error) {
		s.Steps, s.Arguments, s.Repeat, s.Index, s.Swap = nil, nil, nil, "", [2]int{}
		return foreign.Range, r.AddSteps([]problem.Step{s})
	}
	return c
}
