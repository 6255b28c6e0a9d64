package matmul

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/spec"
)

// loadKernel reads a bundled specification for matrices of size n: its constant size, or its
// constants m, n and k, are n.
func loadKernel(path string, n int) (*spec.Spec, error) {
	plain, err := spec.LoadFS(kernels.FS, path, spec.Options{})
	if err != nil {
		return nil, err
	}
	set := map[string]string{}
	for _, c := range plain.Definition.Constants {
		if slices.Contains([]string{"size", "m", "n", "k"}, c.Name) {
			set[c.Name] = strconv.Itoa(n)
		}
	}
	return spec.LoadFS(kernels.FS, path, spec.Options{Set: set})
}

// An openclKernel is a bundled kernel on an OpenCL device.
type openclKernel struct {
	*device.Launcher
	path      string
	described hardware.Device
}

// openKernel opens a device for a kernel. Nothing is released before the process ends.
func openKernel(e Entrant) (*openclKernel, error) {
	all, err := device.List()
	if err != nil {
		return nil, err
	}
	listed, err := device.Select(all, e.Device)
	if err != nil {
		return nil, err
	}
	o := &openclKernel{path: e.Spec}
	if o.described, err = device.Describe(listed.Device); err != nil {
		return nil, err
	}
	o.Launcher, err = device.NewLauncher(listed.Device, "")
	return o, err
}

func (o *openclKernel) multiplier() *multiplier {
	return &multiplier{o.described.Name, ToleranceFloat32, o.prepare}
}

// prepare builds the kernel in each configuration and keeps the fastest at this size. A
// configuration that cannot run here, or whose result is wrong, is skipped. It is an error if
// all are.
func (o *openclKernel) prepare(m *Matrices, configurations []string) (*prepared, error) {
	s, err := loadKernel(o.path, m.N)
	if err != nil {
		return nil, err
	}
	places, ok := device.FindBuffers(s.Problem, "A", "B", "C")
	if !ok {
		return nil, fmt.Errorf("%s is no multiplication of matrices: its arguments must be three buffers of float32, A, B and C", s.Problem.KernelName())
	}
	buffers, err := newBuffers(o, m)
	if err != nil {
		return nil, err
	}
	var best *openclLaunch
	var shortest float64
	var failures []error
	for _, text := range configurations {
		l := &openclLaunch{kernel: o, matrices: m, buffers: buffers, text: text}
		time, err := l.try(s.Problem, places, len(configurations) > 1)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", text, err))
		}
		if err == nil && (best == nil || time < shortest) {
			l, best, shortest = best, l, time
		}
		if l != nil {
			l.release()
		}
	}
	if best == nil {
		buffers.release()
		return nil, errors.Join(failures...)
	}
	m.spoil() // the result of the tried configurations
	return &prepared{
		configuration: best.text, hostTimer: o.Timer == hardware.TimerHost,
		run: best.run, roundTrip: best.roundTrip, fetch: best.fetch, close: best.close,
	}, o.Queue.Write(buffers[2], 0, cl.Bytes(m.C))
}

// buffers are A, B and C on the device.
type buffers [3]*cl.Buffer

func newBuffers(o *openclKernel, m *Matrices) (b buffers, err error) {
	for i, content := range [][]float32{m.A, m.B, m.C} {
		if b[i], err = o.Context.NewBufferFrom(cl.ReadWrite, cl.Bytes(content)); err != nil {
			b.release()
			return b, fmt.Errorf("a buffer of %d × %d numbers: %w", m.N, m.N, err)
		}
	}
	return b, nil
}

func (b buffers) release() {
	for _, buffer := range b {
		buffer.Release()
	}
}

// An openclLaunch is a kernel built in one configuration, with the matrices bound to it.
type openclLaunch struct {
	kernel   *openclKernel
	matrices *Matrices
	buffers  buffers
	text     string // the configuration

	program  *cl.Program
	function *cl.Kernel
	nd       problem.NDRange
}

// triedRuns is the number of launches that decide between configurations.
const triedRuns = 3

// try builds the kernel and launches it once. If the configuration is compared with others, try
// also checks the result and returns the shortest time of a few launches.
func (l *openclLaunch) try(p *problem.Problem, at []int, compared bool) (float64, error) {
	if err := l.build(p, at); err != nil {
		return 0, err
	}
	times, err := l.run(1) // PoCL compiles now
	if err != nil || !compared {
		return 0, err
	}
	if err := errors.Join(l.fetch(), l.matrices.Check(ToleranceFloat32(l.matrices.N))); err != nil {
		return 0, err
	}
	runs := triedRuns
	if times[0] > enough {
		runs = 1
	}
	if times, err = l.run(runs); err != nil {
		return 0, err
	}
	return problem.StatsOf(times).Min, nil
}

func (l *openclLaunch) build(p *problem.Problem, at []int) error {
	o, size := l.kernel, l.matrices.N*l.matrices.N
	configuration, err := spec.ParseConfiguration(p.Parameters(), l.text)
	if err != nil {
		return err
	}
	if err := p.Admit(configuration, o.described); err != nil {
		return err
	}
	v, err := device.Derive(p, configuration, o.described)
	if err != nil {
		return err
	}
	if a, b, c := v.Elements[at[0]], v.Elements[at[1]], v.Elements[at[2]]; a != size || b != size || c != size {
		return fmt.Errorf("%s takes buffers of %d, %d and %d elements, not of %d", p.KernelName(), a, b, c, size)
	}
	l.nd = v.Launches[0].NDRange
	if l.program, err = o.Build(v.Source, v.OptionLine()); err != nil {
		return err
	}
	if l.function, err = l.program.NewKernel(p.KernelName()); err != nil {
		return err
	}
	for i, buffer := range l.buffers {
		err = errors.Join(err, l.function.SetArg(at[i], buffer))
	}
	return err
}

func (l *openclLaunch) run(times int) ([]float64, error) {
	took, err := l.kernel.Times([]device.Launch{l.launch()}, times)
	return device.Milliseconds(took), err
}

func (l *openclLaunch) launch() device.Launch { return device.Launch{Kernel: l.function, Range: l.nd} }

func (l *openclLaunch) roundTrip() error {
	q, m := l.kernel.Queue, l.matrices
	if err := errors.Join(q.Write(l.buffers[0], 0, cl.Bytes(m.A)), q.Write(l.buffers[1], 0, cl.Bytes(m.B))); err != nil {
		return err
	}
	e, err := l.kernel.Enqueue(l.launch())
	if err != nil {
		return err
	}
	defer e.Release()
	if err := l.fetch(); err != nil { // the queue is in order
		return err
	}
	return e.Wait() // returns the error of a failed launch
}

func (l *openclLaunch) fetch() error {
	return l.kernel.Queue.Read(l.buffers[2], 0, cl.Bytes(l.matrices.C))
}

// release releases the kernel. close releases the buffers, too.
func (l *openclLaunch) release() {
	l.function.Release()
	l.program.Release()
}

func (l *openclLaunch) close() {
	_ = l.kernel.Queue.Finish() // run has reported a failed launch
	l.release()
	l.buffers.release()
}

// Finalists are the best configurations of a kernel at one size.
type Finalists struct {
	N              int      // 0: unknown, and the configurations are candidates at all sizes
	Configurations []string // the best first
}

// Candidates returns the configurations to try at size n: the finalists of the nearest tuned
// sizes below and above n, each once.
func Candidates(tuned []Finalists, n int) []string {
	below, above := 0, 0
	for _, f := range tuned {
		if f.N > 0 && f.N <= n {
			below = max(below, f.N)
		}
		if f.N >= n && (above == 0 || f.N < above) {
			above = f.N
		}
	}
	var all []string
	for _, f := range tuned {
		if f.N != 0 && f.N != below && f.N != above {
			continue
		}
		for _, c := range f.Configurations {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}
