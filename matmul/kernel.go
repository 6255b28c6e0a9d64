package matmul

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/spec"
)

// LoadKernel reads a bundled specification for matrices of size n: its constant size, or its
// constants m, n and k, are n.
func LoadKernel(path string, n int) (*spec.Spec, error) {
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
	path      string
	device    *cl.Device
	described tune.Device
	context   *cl.Context
	queue     *cl.Queue
	host      bool // the driver's timestamps cannot be used
}

// openKernel opens a device for a kernel. The process owns all of it until its end.
func openKernel(e Entrant) (multiplier, error) {
	all, err := device.List()
	if err != nil {
		return nil, err
	}
	listed, err := device.Select(all, e.Device)
	if err != nil {
		return nil, err
	}
	o := &openclKernel{path: e.Spec, device: listed.Device}
	if o.described, err = device.Describe(o.device); err != nil {
		return nil, err
	}
	if o.context, err = cl.NewContext(o.device); err != nil {
		return nil, err
	}
	if o.queue, err = o.context.NewQueue(o.device, cl.Profiling); err != nil {
		return nil, err
	}
	timer, err := device.FindTimer(o.queue)
	o.host = timer == tune.TimerHost
	return o, err
}

func (o *openclKernel) about() string             { return o.described.Name }
func (o *openclKernel) tolerance(n int) Tolerance { return ToleranceFloat32(n) }

// prepare builds the kernel in each configuration, and keeps the one that is fastest at this
// size. One that cannot run here, or whose result is wrong, is passed over while another can.
func (o *openclKernel) prepare(m *Matrices, configurations []string) (prepared, error) {
	s, err := LoadKernel(o.path, m.N)
	if err != nil {
		return nil, err
	}
	places, err := findMatrices(s.Problem)
	if err != nil {
		return nil, err
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
			l.release()
			failures = append(failures, fmt.Errorf("%s: %w", text, err))
			continue
		}
		if best != nil && shortest <= time {
			l.release()
			continue
		}
		if best != nil {
			best.release()
		}
		best, shortest = l, time
	}
	if best == nil {
		buffers.release()
		return nil, errors.Join(failures...)
	}
	m.spoil() // of what was tried
	return best, o.queue.Write(buffers.c, 0, cl.Bytes(m.C))
}

// places are those of the matrices among the kernel's arguments.
type places struct{ a, b, c int }

// findMatrices refuses a kernel that does not take just the three matrices.
func findMatrices(p *tune.Problem) (places, error) {
	at := map[string]int{}
	infos := p.Arguments()
	for i, info := range infos {
		if info.Kind == tune.BufferArgument && info.Type == array.Float32 {
			at[info.Name] = i
		}
	}
	a, hasA := at["A"]
	b, hasB := at["B"]
	c, hasC := at["C"]
	if len(infos) != 3 || !hasA || !hasB || !hasC {
		return places{}, fmt.Errorf("%s is no multiplication of matrices: its arguments must be three buffers of float32, A, B and C", p.KernelName())
	}
	return places{a, b, c}, nil
}

// buffers are the matrices on the device.
type buffers struct{ a, b, c *cl.Buffer }

func newBuffers(o *openclKernel, m *Matrices) (*buffers, error) {
	var all [3]*cl.Buffer
	for i, content := range [][]float32{m.A, m.B, m.C} {
		buffer, err := o.context.NewBufferFrom(cl.ReadWrite, cl.Bytes(content))
		if err != nil {
			(&buffers{all[0], all[1], all[2]}).release()
			return nil, fmt.Errorf("a buffer of %d × %d numbers: %w", m.N, m.N, err)
		}
		all[i] = buffer
	}
	return &buffers{all[0], all[1], all[2]}, nil
}

func (b *buffers) release() {
	b.a.Release()
	b.b.Release()
	b.c.Release()
}
