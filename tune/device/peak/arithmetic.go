package peak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A precision is a type of floating point numbers.
type precision struct {
	name, scalar, define string
	figure               string
	widths               func(cl.VectorWidths) int
	lacking              func(*cl.DeviceInfo) string // why a device has none of it, or ""
}

var (
	float = precision{
		name: "float32", scalar: "float", define: "use_float", figure: hardware.PeakFloat32,
		widths:  func(w cl.VectorWidths) int { return w.Float },
		lacking: func(*cl.DeviceInfo) string { return "" },
	}
	double = precision{
		name: "float64", scalar: "double", define: "use_double", figure: hardware.PeakFloat64,
		widths: func(w cl.VectorWidths) int { return w.Double },
		lacking: func(i *cl.DeviceInfo) string {
			if i.DoubleFP == 0 && !i.HasExtension("cl_khr_fp64") {
				return "the device has no double precision (cl_khr_fp64)"
			}
			return ""
		},
	}
	half = precision{
		name: "float16", scalar: "half", define: "use_half", figure: hardware.PeakFloat16,
		widths: func(w cl.VectorWidths) int { return w.Half },
		lacking: func(i *cl.DeviceInfo) string {
			if i.HalfFP == 0 && !i.HasExtension("cl_khr_fp16") {
				return "the device has no half precision (cl_khr_fp16)"
			}
			return ""
		},
	}
)

// The ways to write a multiply-add. Which of them is the hardware's own differs: fma is slow
// where there is none, and mad is two operations with some compilers.
var forms = []string{"fma(x, a, b)", "mad(x, a, b)", "((x) * (a) + (b))"}

const (
	// Chains count from countFrom for countSteps: whole numbers that a half holds exactly,
	// with the numbers of the chains added. fewSteps are for a device that is very slow.
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

// flops are the operations of a work-item.
func (v summing) flops(steps int) float64 { return 2 * float64(v.lanes*v.chains*steps) }

// expected is what a work-item writes.
func (v summing) expected(steps int) float32 {
	n := v.lanes * v.chains
	return float32(n*(countFrom+steps) + n*(n-1)/2)
}

// summings are the variants for a device. The first is the one that forms are tried with.
func (m *Meter) summings(p precision) []summing {
	var all []summing
	if m.isCPU() {
		w := max(1, p.widths(m.info.NativeVectorWidth))
		for _, s := range [][2]int{{w, 8}, {w, 12}, {w, 16}, {w / 2, 8}, {w / 2, 12}, {2 * w, 4}, {2 * w, 6}} {
			if s[0] >= 1 && s[0] <= 16 {
				all = append(all, summing{lanes: s[0], chains: s[1], local: 16})
			}
		}
		return all
	}
	shapes := [][3]int{{1, 8, 256}, {1, 4, 256}, {1, 16, 256}, {1, 8, 128}, {2, 4, 256}, {4, 4, 256}}
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
		if why := p.lacking(m.info); why != "" {
			return nil, errors.New(why)
		}
		s := &sums{meter: m, precision: p, steps: countSteps}
		if err := s.open(); err != nil {
			return nil, err
		}
		defer s.close()
		variants := m.summings(p)
		variants[0].form = forms[0]
		c := contest[summing]{meter: m, figure: p.figure, rate: s.rate, text: func(v summing) string { return v.text(p) }}
		if m.needs == nil { // else the search has warmed it up
			c.try(ctx, variants[0], warmUp)
		}
		for _, form := range forms {
			variants[0].form = form
			c.try(ctx, variants[0], budget)
		}
		for _, v := range variants[1:] {
			if c.top > 0 {
				v.form = c.best.form
				c.try(ctx, v, budget)
			}
		}
		return c.end(ctx)
	}
}

// sums are the variants of one precision.
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

// rate measures a variant, in GFLOP/s.
func (s *sums) rate(ctx context.Context, v summing, budget time.Duration) (float64, error) {
	m, p := s.meter, s.precision
	vector := vectorOf(p.scalar, v.lanes)
	k, err := m.build("arithmetic.cl", "peak_arithmetic",
		define{p.define, ""}, define{"scalar", p.scalar}, define{"vector", vector}, ramp(vector, v.lanes), sumLanes(v.lanes, "float"),
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
	if err := s.check(v, groups, steps, run); err != nil {
		return 0, err
	}
	if t, err = m.fastest(ctx, k, device.Line(groups, v.local), budget); err != nil {
		return 0, err
	}
	return v.flops(steps) * float64(groups*v.local) / float64(t.Nanoseconds()), nil
}

// check launches once more and looks at what every work-item wrote.
func (s *sums) check(v summing, groups, steps int, run func(groups, steps int) (time.Duration, error)) error {
	items := groups * v.local
	found := make([]float32, items)
	if err := s.meter.Queue.Write(s.out, 0, cl.Bytes(found)); err != nil {
		return err
	}
	if _, err := run(groups, steps); err != nil {
		return err
	}
	if err := s.meter.Queue.Read(s.out, 0, cl.Bytes(found)); err != nil {
		return err
	}
	want := v.expected(steps)
	for i, x := range found {
		if x != want {
			return fmt.Errorf("the result is wrong: work-item %d gave %v, not %v", i, x, want)
		}
	}
	return nil
}
