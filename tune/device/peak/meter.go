// Package peak measures what an OpenCL device can do: how fast it moves memory, computes and
// launches. Kernels are held against these figures, so that a figure may be too high by
// chance rather than too low: each is the best of several variants of a kernel, since
// devices want different ones, and of several launches.
//
// What a kernel did is checked, and a variant whose result is wrong counts for nothing. The
// kernels stand in kernels/peak. A driver that crashes takes the process with it: package
// tune/worker measures in a process of its own.
package peak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
)

// Method is the version of measuring. It changes with what makes other figures.
const Method = 2

// A Part is what is measured together, and gives some of the figures.
type Part struct {
	Name    string
	Figures []string // names of tune.PeakFigures
	measure func(context.Context, *Meter) (*tune.Peaks, error)
}

// Parts are all of them, in the order in which they are best measured.
func Parts() []Part {
	return []Part{
		{"arithmetic in float32", []string{tune.PeakFloat32}, arithmetic(float)},
		{"arithmetic in float64", []string{tune.PeakFloat64}, arithmetic(double)},
		{"arithmetic in float16", []string{tune.PeakFloat16}, arithmetic(half)},
		{"local memory", []string{tune.PeakLocalMemory}, localMemory},
		{"copying", []string{tune.PeakMemoryCopy, tune.PeakCacheCopy}, moving(copying)},
		{"reading", []string{tune.PeakMemoryRead, tune.PeakCacheRead}, moving(reading)},
		{"launching", []string{tune.PeakLaunch, tune.PeakLaunchWait}, launching},
	}
}

// FindPart is the part of a name.
func FindPart(name string) (Part, error) {
	for _, p := range Parts() {
		if p.Name == name {
			return p, nil
		}
	}
	return Part{}, fmt.Errorf("nothing that is measured is named %q", name)
}

// Missed is what is known of a part that could not be measured: why.
func (p Part) Missed(why string) *tune.Peaks {
	missed := &tune.Peaks{}
	for _, name := range p.Figures {
		missed.Miss(name, strings.ToValidUTF8(why, "\uFFFD"))
	}
	return missed
}

// A Meter measures one device. Close it when done. It is not safe for concurrent use.
type Meter struct {
	device  *cl.Device
	info    *cl.DeviceInfo
	context *cl.Context
	queue   *cl.Queue
	timer   string
}

// Open makes a context and a queue on the device, and finds out about its timer.
func Open(d *cl.Device) (*Meter, error) {
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	m := &Meter{device: d, info: info}
	if m.context, err = cl.NewContext(d); err != nil {
		return nil, fmt.Errorf("open %s: %w", info.Name, err)
	}
	if m.queue, err = m.context.NewQueue(d, cl.Profiling); err == nil {
		m.timer, err = device.FindTimer(m.queue)
	}
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("open %s: %w", info.Name, err)
	}
	return m, nil
}

// Close releases what the meter holds on the device.
func (m *Meter) Close() {
	m.queue.Release()
	m.context.Release()
}

// Timer is the clock that is used, one of tune's timers.
func (m *Meter) Timer() string { return m.timer }

// Measure measures a part. What cannot be had says why; the error is that of a context that
// ended.
func (m *Meter) Measure(ctx context.Context, p Part) (*tune.Peaks, error) {
	measured, err := p.measure(ctx, m)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		measured = p.Missed(err.Error())
	}
	measured.Timer = m.timer
	return measured, nil
}

// All measures a device in this process.
func All(ctx context.Context, d *cl.Device) (*tune.Peaks, error) {
	m, err := Open(d)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	peaks := New()
	for _, p := range Parts() {
		measured, err := m.Measure(ctx, p)
		if err != nil {
			return nil, err
		}
		peaks.Add(measured)
	}
	return peaks, nil
}

// New is peaks of now and of this method, without a figure yet.
func New() *tune.Peaks {
	return &tune.Peaks{Method: Method, Measured: time.Now().UTC().Truncate(time.Second), Figures: map[string]tune.Peak{}}
}

// isCPU reports whether the variants for CPUs are what the device wants.
func (m *Meter) isCPU() bool { return m.info.Type&cl.DeviceCPU != 0 }

// takes reports whether work-groups of a size can be launched.
func (m *Meter) takes(local int) bool {
	return (m.info.MaxWorkGroupSize == 0 || local <= m.info.MaxWorkGroupSize) &&
		(len(m.info.MaxWorkItemSizes) == 0 || local <= m.info.MaxWorkItemSizes[0])
}

// figure is a figure that was measured.
func figure(name string, value float64, variant string) tune.Peak {
	all := tune.PeakFigures()
	i := slices.IndexFunc(all, func(f tune.PeakFigure) bool { return f.Name == name })
	return tune.Peak{Value: value, Unit: all[i].Unit, Variant: variant}
}
