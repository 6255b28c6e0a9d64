package peak

import (
	"context"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A precision is a type of floating-point numbers.
type precision struct {
	scalar, figure string
	extension      string // of OpenCL, that devices need; "": all devices have the type
	of             func(*cl.DeviceInfo) (fp cl.FPConfig, width int)
}

var (
	float = precision{"float", hardware.PeakFloat32, "",
		func(i *cl.DeviceInfo) (cl.FPConfig, int) { return i.SingleFP, i.NativeVectorWidth.Float }}
	double = precision{"double", hardware.PeakFloat64, "cl_khr_fp64",
		func(i *cl.DeviceInfo) (cl.FPConfig, int) { return i.DoubleFP, i.NativeVectorWidth.Double }}
	half = precision{"half", hardware.PeakFloat16, "cl_khr_fp16",
		func(i *cl.DeviceInfo) (cl.FPConfig, int) { return i.HalfFP, i.NativeVectorWidth.Half }}
)

// lacking returns an error if a device does not have the precision.
func (p precision) lacking(i *cl.DeviceInfo) error {
	if fp, _ := p.of(i); fp == 0 && p.extension != "" && !i.HasExtension(p.extension) {
		return fmt.Errorf("the device has no %s precision (%s)", p.scalar, p.extension)
	}
	return nil
}

// forms are the ways to write a multiply-add. The fastest depends on the device: fma is slow
// without support in hardware, and some compilers make two operations of mad.
var forms = []string{"fma(x, a, b)", "mad(x, a, b)", "((x) * (a) + (b))"}

const (
	// Each chain counts countSteps steps from countFrom plus its number: integers that a half
	// represents exactly. Very slow devices do fewSteps.
	countFrom  = -1024
	countSteps = 2048
	fewSteps   = 64
	slowTrial  = 100 * time.Millisecond

	mostItems = 1 << 24 // work-items of a launch
)

// A summing is a variant of the kernel of kernels/peak/arithmetic.cl.
type summing struct {
	lanes, chains, local int
	form                 string
}

func (v summing) text(p precision) string {
	return fmt.Sprintf("%s, %d chains, %d work-items, %s", vectorOf(p.scalar, v.lanes), v.chains, v.local, v.form)
}

// flops returns the number of operations of a work-item.
func (v summing) flops(steps int) float64 { return 2 * float64(v.lanes*v.chains*steps) }

// expected returns the number that a work-item writes.
func (v summing) expected(steps int) float32 {
	n := v.lanes * v.chains
	return float32(n*(countFrom+steps) + n*(n-1)/2)
}

// summings returns the variants for a device. The first one is used to compare the forms.
func (m *Meter) summings(p precision) []summing {
	var all []summing
	if m.isCPU() {
		_, width := p.of(m.info)
		w := max(1, width)
		for _, s := range [][2]int{{w, 8}, {w, 12}, {w, 16}, {w / 2, 8}, {w / 2, 12}, {2 * w, 4}, {2 * w, 6}} {
			if s[0] >= 1 && s[0] <= 16 {
				all = append(all, summing{lanes: s[0], chains: s[1], local: 16})
			}
		}
		return all
	}
	shapes := [][3]int{{1, 8, 256}, {4, 4, 256}, {1, 16, 256}, {1, 4, 256}, {1, 8, 128}, {2, 4, 256}}
	if p.figure == hardware.PeakFloat16 {
		shapes = [][3]int{{2, 8, 256}, {2, 4, 256}, {2, 16, 256}, {4, 4, 256}, {8, 2, 256}, {1, 8, 256}}
	}
	for _, s := range shapes {
		all = append(all, summing{lanes: s[0], chains: s[1], local: s[2]})
	}
	for i := range all {
		for !m.takes(all[i].local) && all[i].local > 1 {
			all[i].local /= 2
		}
	}
	return all
}

// arithmetic measures multiply-adds of a precision.
func arithmetic(p precision) func(context.Context, *Meter) (*hardware.Peaks, error) {
	return func(ctx context.Context, m *Meter) (*hardware.Peaks, error) {
		if err := p.lacking(m.info); err != nil {
			return nil, err
		}
		s := &sums{meter: m, precision: p, steps: countSteps}
		if err := s.open(); err != nil {
			return nil, err
		}
		defer s.close()
		variants := m.summings(p)
		variants[0].form = forms[0]
		c := contest[summing]{meter: m, figure: p.figure, rate: s.rate, text: func(v summing) string { return v.text(p) }}
		if m.needs == nil { // otherwise the search has warmed up the device
			c.try(ctx, variants[0], warmUp)
		}
		tried, time := forms, budget
		if m.needs != nil && !m.isCPU() { // with -cl-mad-enable, compilers of GPUs make one instruction of the other two
			tried, time = []string{forms[0], forms[2]}, quickBudget
		}
		for _, form := range tried {
			variants[0].form = form
			c.try(ctx, variants[0], time)
		}
		for _, v := range promising(m, variants)[1:] {
			if c.top > 0 {
				v.form = c.best.form
				c.try(ctx, v, time)
			}
		}
		return c.end(ctx)
	}
}

// sums measures the variants of one precision.
type sums struct {
	meter     *Meter
	precision precision
	out       *cl.Buffer
	steps     int
}

func (s *sums) open() (err error) {
	most := 4 * mostItems
	if limit := s.meter.info.MaxAllocSize; limit > 0 {
		most = int(min(int64(most), limit))
	}
	s.out, err = s.meter.Context.NewBuffer(cl.ReadWrite, most)
	return err
}

func (s *sums) close() { s.out.Release() }

// rate returns the rate of a variant in GFLOP/s.
func (s *sums) rate(ctx context.Context, v summing, budget time.Duration) (float64, error) {
	m, p := s.meter, s.precision
	vector := vectorOf(p.scalar, v.lanes)
	k, err := m.build("arithmetic.cl", "peak_arithmetic",
		define{"use_" + p.scalar, ""}, define{"scalar", p.scalar}, define{"vector", vector}, ramp(vector, v.lanes), sumLanes(v.lanes, "float"),
		number("lanes", v.lanes), number("chains", v.chains), number("block_size_x", v.local), define{"multiply_add(x, a, b)", v.form})
	if err != nil {
		return 0, err
	}
	defer k.Release()
	run := func(groups, steps int) (time.Duration, error) {
		if err := k.SetArgs(s.out, float32(1), float32(1), float32(countFrom), uint32(steps)); err != nil {
			return 0, err
		}
		return m.once(k, device.Line(groups, v.local))
	}
	if _, err := run(1, fewSteps); err != nil { // builds, with some drivers
		return 0, err
	}
	t, err := run(1, fewSteps)
	if err != nil {
		return 0, err
	}
	steps, groups := s.steps, 1
	if t > slowTrial {
		steps = fewSteps
	}
	unit := max(1, m.info.ComputeUnits)
	most := max(1, min(mostItems, s.out.Size()/4)/v.local/unit)
	times, err := m.enough(ctx, most, func(times int) (time.Duration, error) { return run(times*unit, steps) })
	if err != nil {
		return 0, err
	}
	if t <= slowTrial {
		groups = times * unit
	}
	t, err = m.checked(s.out, groups*v.local, v.expected(steps), func() (time.Duration, error) {
		return m.fastest(ctx, k, device.Line(groups, v.local), budget)
	})
	if err != nil {
		return 0, err
	}
	return v.flops(steps) * float64(groups*v.local) / float64(t.Nanoseconds()), nil
}
