package peak

import (
	"context"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A localReading is a variant of the kernel of kernels/peak/local.cl.
type localReading struct{ lanes, items, local int }

func (v localReading) text() string {
	return fmt.Sprintf("%s, %d a round, %d work-items", vectorOf("float", v.lanes), v.items, v.local)
}

func (v localReading) vectorBytes() int { return 4 * v.lanes }

// held returns the local memory of a work-group in bytes.
func (v localReading) held() int { return v.local * v.items * v.vectorBytes() }

const localRounds = 2048 // a multiple of every work-group size below

func (m *Meter) localReadings() []localReading {
	all := []localReading{{4, 4, 256}, {4, 8, 128}, {4, 2, 512}, {4, 4, 512}, {2, 8, 256}, {1, 8, 256}, {1, 16, 256}}
	if m.isCPU() {
		all = []localReading{{16, 4, 32}, {16, 8, 16}, {8, 8, 32}, {4, 8, 64}}
	}
	var fit []localReading
	for _, v := range all {
		if m.takes(v.local) && (m.info.LocalMemSize == 0 || int64(v.held()) <= m.info.LocalMemSize) {
			fit = append(fit, v)
		}
	}
	return fit
}

// localMemory measures reads of local memory.
func localMemory(ctx context.Context, m *Meter) (*hardware.Peaks, error) {
	c := contest[localReading]{meter: m, figure: hardware.PeakLocalMemory, text: localReading.text}
	c.rate = func(ctx context.Context, v localReading, budget time.Duration) (float64, error) {
		return v.rate(ctx, m, budget)
	}
	for _, v := range m.localReadings() {
		c.try(ctx, v, budget)
	}
	return c.end(ctx)
}

// rate returns the rate of a variant in GB/s.
func (v localReading) rate(ctx context.Context, m *Meter, budget time.Duration) (float64, error) {
	k, err := m.build("local.cl", "peak_local",
		define{"vector", vectorOf("float", v.lanes)}, sumLanes(v.lanes, "float"), number("items", v.items), number("block_size_x", v.local))
	if err != nil {
		return 0, err
	}
	defer k.Release()
	unit := max(1, m.info.ComputeUnits)
	most := 1 << 20 / (unit * v.local)
	out, err := m.Context.NewBuffer(cl.ReadWrite, 4*max(1, most)*unit*v.local)
	if err != nil {
		return 0, err
	}
	defer out.Release()
	if err := k.SetArgs(out, uint32(localRounds), uint32(1)); err != nil {
		return 0, err
	}
	if _, err := m.once(k, device.Line(1, v.local)); err != nil { // builds, with some drivers
		return 0, err
	}
	times, err := m.enough(ctx, max(1, most), func(times int) (time.Duration, error) {
		return m.once(k, device.Line(times*unit, v.local))
	})
	if err != nil {
		return 0, err
	}
	items := times * unit * v.local
	want := float32(localRounds * v.items * v.lanes * 7 / 2)
	t, err := m.checked(out, items, want, func() (time.Duration, error) {
		return m.fastest(ctx, k, device.Line(times*unit, v.local), budget)
	})
	if err != nil {
		return 0, err
	}
	bytes := float64(localRounds) * float64(v.items*v.vectorBytes()) * float64(items)
	return bytes / float64(t.Nanoseconds()), nil
}
