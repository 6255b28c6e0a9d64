package matmul

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
)

// A Kernel is a bundled specification in a precision.
type Kernel struct {
	Name      string
	Path      string            // of the specification, in package kernels
	Set       map[string]string // constants of the precision
	Precision Precision
	Otherwise string // the kernel that takes its place on devices that cannot run it
	Language  source.Language
}

// Kernels are the bundled kernels.
var Kernels = []Kernel{
	{Name: "naive", Path: "matmul/matmul_naive.yaml", Precision: Float},
	{Name: "local", Path: "matmul/matmul_local.yaml", Precision: Float},
	{Name: "tiled", Path: "matmul/matmul_tiled.yaml", Precision: Float},
	{Name: "bounds-naive", Path: "matmul/matmul_bounds_naive.yaml", Precision: Float},
	{Name: "bounds-tiled", Path: "matmul/matmul_bounds_tiled.yaml", Precision: Float},
	{Name: "fast", Path: "matmul/matmul_fast.yaml", Precision: Float},
	{Name: "fast-half", Path: "matmul/matmul_fast.yaml", Set: map[string]string{"element": "half"}, Precision: Half},
	{Name: "fast-double", Path: "matmul/matmul_fast.yaml", Set: map[string]string{"element": "double"}, Precision: Double},
	{Name: "tf32", Path: "matmul/matmul_tf32.yaml", Precision: TF32, Otherwise: "fast"},
	{Name: "half", Path: "matmul/matmul_half.yaml", Precision: Half, Otherwise: "fast-half"},
	{Name: "double", Path: "matmul/matmul_double.yaml", Precision: Double, Otherwise: "fast-double"},
	{Name: "hopper", Path: "matmul/matmul_hopper.yaml", Precision: Float, Otherwise: "fast"},
	{Name: "hopper-tf32", Path: "matmul/matmul_hopper.yaml", Set: map[string]string{"products": "1"}, Precision: TF32, Otherwise: "tf32"},
	{
		Name: "hopper-half", Path: "matmul/matmul_hopper.yaml", Set: map[string]string{"element": "half", "products": "1"},
		Precision: Half, Otherwise: "half",
	},
}

// KernelNames returns the names of the bundled kernels.
func KernelNames() []string {
	return each.Of(Kernels, func(k Kernel) string { return k.Name })
}

// inCUDA ends the names of kernels in CUDA C, which are entrants of their own: «tiled, CUDA C».
const inCUDA = ", CUDA C"

// kernelNamed returns a bundled kernel, or one in CUDA C.
func kernelNamed(name string) (Kernel, error) {
	plain, isCUDA := strings.CutSuffix(name, inCUDA)
	for _, k := range Kernels {
		if k.Name == plain {
			k.Name, k.Language = name, source.OpenCL
			if isCUDA {
				k.Language, k.Otherwise = source.CUDA, ""
			}
			return k, nil
		}
	}
	return Kernel{}, fmt.Errorf("there is no kernel %q", name)
}

// load reads the specification for matrices of a shape. Specifications with the constant size take square matrices only.
func (k Kernel) load(s Shape) (*spec.Spec, error) {
	plain, err := spec.LoadFS(kernels.FS, k.Path, spec.Options{})
	if err != nil {
		return nil, err
	}
	sizes := map[string]int{"m": s.M, "n": s.N, "k": s.K, "size": s.N}
	set := map[string]string{}
	maps.Copy(set, k.Set)
	for _, c := range plain.Definition.Constants {
		if c.Name == "size" && !s.IsSquare() {
			return nil, fmt.Errorf("%s takes square matrices only", k.Name)
		}
		if n, ok := sizes[c.Name]; ok {
			set[c.Name] = strconv.Itoa(n)
		}
	}
	loaded, err := spec.LoadFS(kernels.FS, k.Path, spec.Options{Set: set})
	if err != nil {
		return nil, err
	}
	return loaded.In(k.Language)
}

// An deviceKernel is a bundled kernel on an OpenCL device.
type deviceKernel struct {
	*device.Launcher
	Kernel
	described hardware.Device
}

// openKernel opens a device for a kernel. Nothing is released before the process ends.
func openKernel(e Entrant) (*deviceKernel, error) {
	k, err := kernelNamed(e.Name)
	if err != nil {
		return nil, err
	}
	listed, err := device.SelectFor(e.Device, k.Language)
	if err != nil {
		return nil, err
	}
	o := &deviceKernel{Kernel: k}
	if o.described, err = device.Describe(listed.Device); err != nil {
		return nil, err
	}
	o.Launcher, err = device.NewLauncher(listed.Device, "")
	return o, err
}

func (o *deviceKernel) multiplier() *multiplier {
	return &multiplier{o.described.Name, o.prepare}
}

// prepare builds the kernel in each of the near candidates and keeps the fastest at this size. A
// configuration that cannot run here, or whose result is wrong, is skipped. If all are, it takes the first of the others that
// runs; if there is none, it is an error.
func (o *deviceKernel) prepare(m *Matrices, c Candidates) (*prepared, error) {
	s, err := o.load(m.Shape)
	if err != nil {
		return nil, err
	}
	arguments, ok := device.FindBuffers(s.Problem, m.element.kind, "A", "B", "C")
	if !ok {
		return nil, fmt.Errorf("%s is no multiplication of matrices: its arguments must be three buffers of the precision %s, A, B and C",
			s.Problem.KernelName(), m.Precision)
	}
	buffers, err := newBuffers(o, m)
	if err != nil {
		return nil, err
	}
	var best *kernelLaunch
	var shortest float64
	var failures []error
	for i, text := range slices.Concat(c.Near, c.Others) {
		if i >= len(c.Near) && best != nil {
			break
		}
		l := &kernelLaunch{kernel: o, matrices: m, buffers: buffers, text: text}
		time, err := l.try(s.Problem, arguments, len(c.Near)+len(c.Others) > 1)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", text, err))
		}
		if err == nil && (best == nil || time < shortest) {
			l, best, shortest = best, l, time
		}
		if l != nil {
			l.built.Release()
		}
	}
	if best == nil {
		buffers.release()
		return nil, errors.Join(failures...)
	}
	m.spoil() // the result of the tried configurations
	return &prepared{
		configuration: best.text, hostTimer: o.Timer == hardware.TimerHost,
		run: best.built.Times, roundTrip: best.roundTrip, fetch: best.fetch, close: best.close,
	}, o.Queue.Write(buffers[2], 0, m.C)
}

// buffers are A, B and C on the device.
type buffers [3]*cl.Buffer

func newBuffers(o *deviceKernel, m *Matrices) (b buffers, err error) {
	for i, content := range [][]byte{m.A, m.B, m.C} {
		if b[i], err = o.Context.NewBufferFrom(cl.ReadWrite, content); err != nil {
			b.release()
			return b, fmt.Errorf("a buffer of %d bytes: %w", len(content), err)
		}
	}
	return b, nil
}

func (b buffers) release() {
	for _, buffer := range b {
		buffer.Release()
	}
}

// An kernelLaunch is a kernel built in one configuration, with the matrices bound to it.
type kernelLaunch struct {
	kernel   *deviceKernel
	matrices *Matrices
	buffers  buffers
	text     string // the configuration

	built *device.Built
}

// triedRuns is the number of launches that decide between configurations.
const triedRuns = 3

// try builds the kernel and launches it once. If the configuration is compared with others, try
// also checks the result and returns the shortest time of a few launches.
func (l *kernelLaunch) try(p *problem.Problem, at []int, compared bool) (float64, error) {
	if err := l.build(p, at); err != nil {
		return 0, err
	}
	times, err := l.built.Times(1) // PoCL compiles now
	if err != nil || !compared {
		return 0, err
	}
	if err := errors.Join(l.fetch(), l.matrices.Check()); err != nil {
		return 0, err
	}
	runs := triedRuns
	if times[0] > leastTime {
		runs = 1
	}
	if times, err = l.built.Times(runs); err != nil {
		return 0, err
	}
	return score.StatsOf(slices.DeleteFunc(times, func(ms float64) bool { return ms == 0 })).Min, nil
}

func (l *kernelLaunch) build(p *problem.Problem, at []int) error {
	o, m := l.kernel, l.matrices
	configuration, err := spec.ParseConfiguration(p.Parameters(), l.text)
	if err != nil {
		return err
	}
	if err := p.Admit(configuration, o.described); err != nil {
		return err
	}
	if l.built, err = o.BuildFor(context.Background(), p, configuration, o.described); err != nil {
		return err
	}
	elements := l.built.Variant.Elements
	if a, b, c := elements[at[0]], elements[at[1]], elements[at[2]]; a != m.M*m.K || b != m.K*m.N || c != m.M*m.N {
		return fmt.Errorf("%s takes buffers of %d, %d and %d elements, not of %d, %d and %d", p.KernelName(), a, b, c, m.M*m.K, m.K*m.N, m.M*m.N)
	}
	arguments := make([]any, len(l.buffers))
	for i, buffer := range l.buffers {
		arguments[at[i]] = buffer
	}
	return l.built.Bind(arguments...)
}

func (l *kernelLaunch) roundTrip() error {
	q, m := l.kernel.Queue, l.matrices
	if err := errors.Join(q.Write(l.buffers[0], 0, m.A), q.Write(l.buffers[1], 0, m.B)); err != nil {
		return err
	}
	batch, err := l.kernel.EnqueueAll(l.built.Launches)
	defer batch.Release()
	if err != nil {
		return err
	}
	if err := l.fetch(); err != nil { // the queue is in order
		return err
	}
	return batch.Wait() // returns the error of a failed launch
}

func (l *kernelLaunch) fetch() error {
	return l.kernel.Queue.Read(l.buffers[2], 0, l.matrices.C)
}

// close releases the kernel and the buffers.
func (l *kernelLaunch) close() {
	_ = l.kernel.Queue.Finish() // Times has reported a failed launch
	l.built.Release()
	l.buffers.release()
}

// Finalists are the best configurations of a kernel at one size.
type Finalists struct {
	Shape          Shape    // zero: unknown, and the configurations are candidates at all sizes
	Configurations []string // the best first
}

// Candidates are the configurations to choose from at a size: the fastest of Near, or, if none of them can run, the first
// of Others that can.
type Candidates struct{ Near, Others []string }

// aboutAsLarge is how far apart the operations of two tuned sizes are at most for both to be the nearest: their rows may differ in
// alignment, which matters more than a row more.
const aboutAsLarge = 1.1

// candidatesOf returns the finalists of the nearest tuned sizes below and above a size, each once, and all others from the
// nearest size to the farthest.
func candidatesOf(tuned []Finalists, s Shape) Candidates {
	below, above := 0.0, math.Inf(1)
	for _, f := range tuned {
		operations := f.Shape.Operations()
		if operations > 0 && operations <= s.Operations() {
			below = max(below, operations)
		}
		if operations >= s.Operations() {
			above = min(above, operations)
		}
	}
	distance := func(f Finalists) float64 { return math.Abs(math.Log(f.Shape.Operations() / s.Operations())) }
	var c Candidates
	var others []Finalists
	for _, f := range tuned {
		operations := f.Shape.Operations()
		justBelow := operations <= s.Operations() && operations*aboutAsLarge >= below
		justAbove := operations >= s.Operations() && operations <= above*aboutAsLarge
		if operations != 0 && !justBelow && !justAbove {
			others = append(others, f)
			continue
		}
		c.Near = each.AppendNew(c.Near, f.Configurations...)
	}
	slices.SortStableFunc(others, func(a, b Finalists) int { return cmp.Compare(distance(a), distance(b)) })
	all := slices.Clone(c.Near)
	for _, f := range others {
		all = each.AppendNew(all, f.Configurations...)
	}
	c.Others = all[len(c.Near):]
	return c
}
