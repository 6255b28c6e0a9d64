// Package peak measures the peaks of an OpenCL device: the rates of memory and arithmetic. Kernels are compared with peaks, so a peak
// that is too low is worse than a peak that is too high. Each peak is therefore the best of several launches of several variants of a
// kernel, because the fastest variant differs between devices.
//
// Its types: a [Meter] measures one [Part] after the other.
//
// A measurement is a list of probes: a variant of a kernel, and the set of buffers that it moves if it moves any. A contest makes the
// probes, keeps the fastest variant of each set, and measures the fastest of all again.
//
// Results are checked; a variant with a wrong result has no rate. The kernels are in kernels/peak. A driver that crashes ends the
// process, so package tune/worker measures in another process.
//
// # Reasons
//
// Peaks are measured, not looked up, as the best of several variants of each kernel, because a peak that is too low gives results above
// 100 %. Each launch repeats the work many times, so that the cost of the launch does not count, and each work-group takes a block that
// another one had before it, so that caches private to a core do not help. Each result of a peak kernel is checked on the device.
//
// A part has a time, because compiling its variants can take seconds on a CPU. If it is up, the peaks so far are the result, which says
// how much was left out; the most promising variants come first.
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
)

// Method is the version of the measurement. A change that affects figures changes it.
const Method = 3

// A Part is a measurement of some of the figures.
type Part struct {
	Name    string
	Figures []string // names of hardware.PeakFigures
	measure func(context.Context, *Meter) (*hardware.Peaks, error)
}

// Parts returns the parts that measure some figures, or all parts if none is named, in the order in which they should be measured.
func Parts(figures ...string) []Part {
	return slices.DeleteFunc([]Part{
		{"arithmetic in float32", []string{hardware.PeakFloat32}, arithmetic(float)},
		{"arithmetic in float64", []string{hardware.PeakFloat64}, arithmetic(double)},
		{"arithmetic in float16", []string{hardware.PeakFloat16}, arithmetic(half)},
		{"copying", []string{hardware.PeakMemoryCopy, hardware.PeakCacheCopy}, moving(copying)},
		{"reading", []string{hardware.PeakMemoryRead, hardware.PeakCacheRead}, moving(reading)},
	}, func(p Part) bool {
		return len(figures) > 0 && !slices.ContainsFunc(p.Figures, func(name string) bool { return slices.Contains(figures, name) })
	})
}

// Missed returns the peaks of a part that could not be measured, with the reason.
func (p Part) Missed(why string) *hardware.Peaks {
	missed := &hardware.Peaks{}
	for _, name := range p.Figures {
		missed.Set(name, hardware.Peak{Missing: strings.ToValidUTF8(why, "\uFFFD")})
	}
	return missed
}

// A Meter measures one device. It is not safe for concurrent use.
type Meter struct {
	*device.Launcher

	// Of the current part:
	deadline time.Time // zero: none
	asked    int       // measurements
	skipped  int       // of these, left out for lack of time
}

// Measure measures a part for about the time within; 0 is no bound. If the time is up, it leaves out
// the remaining variants, but not the first ones. Figures that cannot be measured have a reason. The
// error is that of the context.
func (m *Meter) Measure(ctx context.Context, p Part, within time.Duration) (*hardware.Peaks, error) {
	m.deadline, m.asked, m.skipped = time.Time{}, 0, 0
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
	if m.skipped > 0 {
		measured.Partial = fmt.Sprintf("%s: %d of %d measurements were left out", p.Name, m.skipped, m.asked)
	}
	return measured, nil
}

// PartTime returns the time of a part: a roofline needs three parts at most, some 4 s on a GPU and 10 s on a CPU.
func (m *Meter) PartTime() time.Duration {
	if m.isCPU() {
		return 3300 * time.Millisecond
	}
	return 1300 * time.Millisecond
}

// late reports whether the time for the part is up.
func (m *Meter) late() bool { return !m.deadline.IsZero() && time.Now().After(m.deadline) }

// New returns peaks of the present time and method, without figures.
func New() *hardware.Peaks {
	return &hardware.Peaks{Method: Method, Measured: time.Now().UTC().Truncate(time.Second), Figures: map[string]hardware.Peak{}}
}

// isCPU reports whether the device needs the variants for CPUs.
func (m *Meter) isCPU() bool { return m.Info.Type&cl.DeviceCPU != 0 }

// takes reports whether the device can launch work-groups of a size.
func (m *Meter) takes(local int) bool {
	return (m.Info.MaxWorkGroupSize == 0 || local <= m.Info.MaxWorkGroupSize) &&
		(len(m.Info.MaxWorkItemSizes) == 0 || local <= m.Info.MaxWorkItemSizes[0])
}
