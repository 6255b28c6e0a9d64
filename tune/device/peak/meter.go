// Package peak measures what an OpenCL device can do: how fast it moves memory, computes and
// launches. Kernels are held against these figures, so that a figure may be too high by
// chance rather than too low: each is the best of several variants of a kernel, since
// devices want different ones, and of several launches.
//
// What a kernel did is checked, and a variant whose result is wrong counts for nothing. The
// kernels stand in kernels/peak. A driver that crashes takes the process with it: package
// tune/worker measures in a process of its own.
//
// Compiling the variants takes nearly all of the time on a CPU. What one search needs is
// measured quickly instead: see [Meter.Hurry]. Where the time is up, what was measured by then
// counts, and says what is left out.
package peak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// Method is the version of measuring. It changes with what makes other figures.
const Method = 2

// A Part is what is measured together, and gives some of the figures.
type Part struct {
	Name    string
	Figures []string // names of hardware.PeakFigures
	measure func(context.Context, *Meter) (*hardware.Peaks, error)
}

// Parts are all of them, in the order in which they are best measured.
func Parts() []Part {
	return []Part{
		{"arithmetic in float32", []string{hardware.PeakFloat32}, arithmetic(float)},
		{"arithmetic in float64", []string{hardware.PeakFloat64}, arithmetic(double)},
		{"arithmetic in float16", []string{hardware.PeakFloat16}, arithmetic(half)},
		{"local memory", []string{hardware.PeakLocalMemory}, localMemory},
		{"copying", []string{hardware.PeakMemoryCopy, hardware.PeakCacheCopy}, moving(copying)},
		{"reading", []string{hardware.PeakMemoryRead, hardware.PeakCacheRead}, moving(reading)},
		{"launching", []string{hardware.PeakLaunch, hardware.PeakLaunchWait}, launching},
	}
}

// PartsFor are the parts that give what some limits need.
func PartsFor(n problem.Needs) []Part {
	wanted := map[string]bool{n.Precision: true, hardware.PeakMemoryCopy: len(n.Sets) > 0, hardware.PeakMemoryRead: len(n.Sets) > 0 && n.Read}
	return slices.DeleteFunc(Parts(), func(p Part) bool { return !wanted[p.Figures[0]] })
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
func (p Part) Missed(why string) *hardware.Peaks {
	missed := &hardware.Peaks{}
	for _, name := range p.Figures {
		missed.Miss(name, strings.ToValidUTF8(why, "\uFFFD"))
	}
	return missed
}

// A Meter measures one device. Release it when done. It is not safe for concurrent use.
type Meter struct {
	*device.Launcher
	info  *cl.DeviceInfo
	needs *problem.Needs // what is wanted quickly; nil: everything with care

	// Of the part that is measured:
	deadline time.Time             // zero: there is none
	interim  func(*hardware.Peaks) // is told what is known so far; nil: nobody is
	partial  string                // what the time did not suffice for
}

// Open makes a meter of a device. The timer is one of tune's; if it is empty, the meter finds
// out which one to use.
func Open(d *cl.Device, timer string) (*Meter, error) {
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	l, err := device.NewLauncher(d, timer)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", info.Name, err)
	}
	return &Meter{Launcher: l, info: info}, nil
}

// Hurry has the meter measure no more than some limits need: bandwidth of sets of these sizes
// and beyond the caches, and as many variants of each kernel as the time allows.
func (m *Meter) Hurry(n problem.Needs) { m.needs = &n }

// Measure measures a part for about as long as within says; 0 is no bound. Where the time is up,
// variants and sizes that were not measured by then are left out, after the first few. Interim
// is told what is known so far, each time that it is more; it may be nil. What cannot be had
// says why; the error is that of a context that ended.
func (m *Meter) Measure(ctx context.Context, p Part, within time.Duration, interim func(*hardware.Peaks)) (*hardware.Peaks, error) {
	m.deadline, m.interim, m.partial = time.Time{}, interim, ""
	if within > 0 {
		m.deadline = time.Now().Add(within)
	}
	measured, err := p.measure(ctx, m)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		measured = p.Missed(err.Error())
	}
	measured.Timer = m.Timer
	if m.partial != "" {
		measured.Partial = p.Name + ": " + m.partial
	}
	return measured, nil
}

// late reports whether the time for the part is up.
func (m *Meter) late() bool { return !m.deadline.IsZero() && time.Now().After(m.deadline) }

// tell passes on what is known so far.
func (m *Meter) tell(p *hardware.Peaks) {
	if m.interim != nil {
		p.Timer = m.Timer
		m.interim(p)
	}
}

// A Task is what to measure of a device.
type Task struct {
	Needs  *problem.Needs // of a search, measured quickly; nil: everything, with care
	Within time.Duration  // about how long: each part, or with Needs all of them together; 0: no bound
	Timer  string         // of the device, where it is known
}

// Parts are those that the task needs.
func (t Task) Parts() []Part {
	if t.Needs == nil {
		return Parts()
	}
	return PartsFor(*t.Needs)
}

// New is peaks of now and of this method, without a figure yet.
func (t Task) New() *hardware.Peaks {
	return &hardware.Peaks{
		Method: Method, Measured: time.Now().UTC().Truncate(time.Second),
		Figures: map[string]hardware.Peak{}, Quick: t.Needs != nil,
	}
}

// Run measures parts of a device in this process, one after the other. Begin is told as each
// begins, and interim what is known of it so far; done gets it. The error is that of a device
// that cannot be opened, or of the context.
func (t Task) Run(ctx context.Context, d *cl.Device, parts []Part, ready func(timer string), begin func(Part), interim, done func(Part, *hardware.Peaks)) error {
	m, err := Open(d, t.Timer)
	if err != nil {
		return err
	}
	defer m.Release()
	ready(m.Timer)
	if t.Needs != nil {
		m.Hurry(*t.Needs)
	}
	end := time.Now().Add(t.Within)
	for i, p := range parts {
		begin(p)
		within := t.Within
		if t.Needs != nil && within > 0 {
			within = max(time.Until(end)/time.Duration(len(parts)-i), time.Nanosecond)
		}
		measured, err := m.Measure(ctx, p, within, func(so *hardware.Peaks) { interim(p, so) })
		if err != nil {
			return err
		}
		done(p, measured)
	}
	return nil
}

// isCPU reports whether the variants for CPUs are what the device wants.
func (m *Meter) isCPU() bool { return m.info.Type&cl.DeviceCPU != 0 }

// takes reports whether work-groups of a size can be launched.
func (m *Meter) takes(local int) bool {
	return (m.info.MaxWorkGroupSize == 0 || local <= m.info.MaxWorkGroupSize) &&
		(len(m.info.MaxWorkItemSizes) == 0 || local <= m.info.MaxWorkItemSizes[0])
}

// figure is a figure that was measured.
func figure(name string, value float64, variant string) hardware.Peak {
	all := hardware.PeakFigures()
	i := slices.IndexFunc(all, func(f hardware.PeakFigure) bool { return f.Name == name })
	return hardware.Peak{Value: value, Unit: all[i].Unit, Variant: variant}
}
