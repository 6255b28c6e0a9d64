package peak

import (
	"context"
	"fmt"
	"math"
	"slices"
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

// forms are the ways to write a multiply-add. The fastest depends on the device: fma is slow without support in hardware. With
// -cl-mad-enable, compilers make of mad what they make of the other form.
var forms = []string{"fma(x, a, b)", "((x) * (a) + (b))"}

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
	scalar               string
	lanes, chains, local int
	form                 string
}

func (v summing) String() string {
	return fmt.Sprintf("%s, %d chains, %d work-items, %s", vectorOf(v.scalar, v.lanes), v.chains, v.local, v.form)
}

// flops returns the number of operations of a work-item.
func (v summing) flops(steps int) float64 { return 2 * float64(v.lanes*v.chains*steps) }

// expected returns the number that a work-item writes.
func (v summing) expected(steps int) float32 {
	n := v.lanes * v.chains
	return float32(n*(countFrom+steps) + n*(n-1)/2)
}

// summings returns the variants for a device, without a form. The first one is used to compare the forms.
func (m *Meter) summings(p precision) []summing {
	var all []summing
	for _, s := range m.summingShapes(p) {
		for s.local > 1 && !m.takes(s.local) {
			s.local /= 2
		}
		s.scalar = p.scalar
		all = append(all, s)
	}
	return all
}

func (m *Meter) summingShapes(p precision) []summing {
	_, width := p.of(m.Info)
	w := max(1, width)
	switch {
	case m.isCPU():
		all := []summing{
			{lanes: w, chains: 8, local: 16}, {lanes: w, chains: 12, local: 16}, {lanes: w, chains: 16, local: 16},
			{lanes: w / 2, chains: 8, local: 16}, {lanes: w / 2, chains: 12, local: 16},
			{lanes: 2 * w, chains: 4, local: 16}, {lanes: 2 * w, chains: 6, local: 16},
		}
		return slices.DeleteFunc(all, func(s summing) bool { return s.lanes < 1 || s.lanes > 16 })
	case p.figure == hardware.PeakFloat16:
		return []summing{
			{lanes: 2, chains: 8, local: 256}, {lanes: 2, chains: 4, local: 256}, {lanes: 2, chains: 16, local: 256},
			{lanes: 4, chains: 4, local: 256}, {lanes: 8, chains: 2, local: 256}, {lanes: 1, chains: 8, local: 256},
		}
	}
	return []summing{
		{lanes: 1, chains: 8, local: 256}, {lanes: 4, chains: 4, local: 256}, {lanes: 1, chains: 16, local: 256},
		{lanes: 1, chains: 4, local: 256}, {lanes: 1, chains: 8, local: 128}, {lanes: 2, chains: 4, local: 256},
	}
}

// arithmetic measures multiply-adds of a precision: first the forms, then all variants in the fastest form.
func arithmetic(p precision) func(context.Context, *Meter) (*hardware.Peaks, error) {
	return func(ctx context.Context, m *Meter) (*hardware.Peaks, error) {
		if err := p.lacking(m.Info); err != nil {
			return nil, err
		}
		s := &sums{meter: m, precision: p, steps: countSteps}
		if err := s.open(); err != nil {
			return nil, err
		}
		defer s.close()
		c := newContest(m, func(ctx context.Context, v summing, _ int64, budget time.Duration) (float64, error) {
			return s.rate(ctx, v, budget)
		})
		variants := m.summings(p)
		first := probe[summing]{variant: variants[0], budget: warmUp}
		for _, first.variant.form = range forms {
			c.run(ctx, first)
			first.budget = budget
		}
		if len(c.best) == 0 {
			return nil, c.none()
		}
		form := c.best[0].variant.form
		for _, v := range variants[1:] {
			v.form = form
			c.run(ctx, probe[summing]{variant: v, budget: budget})
		}
		c.confirm(ctx, 0)
		peaks := &hardware.Peaks{}
		peaks.Set(p.figure, hardware.Peak{Value: c.best[0].rate, Variant: c.best[0].variant.String()})
		return peaks, nil
	}
}

// sums measures the variants of one precision.
type sums struct {
	meter     *Meter
	precision precision
	out       *cl.Buffer
	content   *content
	steps     int
}

func (s *sums) open() (err error) {
	most := 4 * mostItems
	if limit := s.meter.Info.MaxAllocSize; limit > 0 {
		most = int(min(int64(most), limit))
	}
	if s.content, err = s.meter.openContent(); err != nil {
		return err
	}
	if s.out, err = s.meter.Context.NewBuffer(cl.ReadWrite, most); err != nil {
		s.content.release()
	}
	return err
}

func (s *sums) close() {
	s.out.Release()
	s.content.release()
}

// rate returns the rate of a variant in GFLOP/s.
func (s *sums) rate(ctx context.Context, v summing, budget time.Duration) (float64, error) {
	m, p := s.meter, s.precision
	vector := vectorOf(p.scalar, v.lanes)
	k, err := m.kernel("arithmetic.cl", "peak_arithmetic",
		define{"use_" + p.scalar, ""}, define{"scalar", p.scalar}, define{"vector", vector}, ramp(vector, v.lanes), sumLanes(v.lanes, "float"),
		number("lanes", v.lanes), number("chains", v.chains), number("block_size_x", v.local), define{"multiply_add(x, a, b)", v.form})
	if err != nil {
		return 0, err
	}
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
	unit := max(1, m.Info.ComputeUnits)
	most := max(1, min(mostItems, s.out.Size()/4)/v.local/unit)
	times, err := m.repetitions(ctx, most, func(times int) (time.Duration, error) { return run(times*unit, steps) })
	if err != nil {
		return 0, err
	}
	if t <= slowTrial {
		groups = times * unit
	}
	items := groups * v.local
	if err := s.content.fill(s.out, items, 0, 0); err != nil {
		return 0, err
	}
	if t, err = m.fastest(ctx, k, device.Line(groups, v.local), budget); err == nil {
		err = s.content.check(s.out, items, 0, math.Float32bits(v.expected(steps)))
	}
	return v.flops(steps) * float64(items) / float64(t.Nanoseconds()), err
}
