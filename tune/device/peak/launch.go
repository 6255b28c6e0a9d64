package peak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// A define is a macro that a kernel is built with.
type define struct{ name, value string }

func number(name string, n int) define { return define{name, strconv.Itoa(n)} }

// build makes a kernel of kernels/peak. Kernels of one file and the same macros share a program,
// which is compiled once: on a CPU, that is most of what measuring costs.
func (m *Meter) build(file, name string, defines ...define) (*cl.Kernel, error) {
	source, err := fs.ReadFile(kernels.FS, "peak/"+file)
	if err != nil {
		return nil, err
	}
	var prologue strings.Builder
	for _, d := range defines {
		fmt.Fprintf(&prologue, "#define %s %s\n", d.name, d.value)
	}
	program, err := m.Shared(prologue.String()+string(source), "-cl-mad-enable")
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, brief(err))
	}
	k, err := program.NewKernel(name)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, err)
	}
	return k, nil
}

// brief is the error of a build with as much of its log as says what is wrong.
func brief(err error) error {
	var failed *cl.BuildError
	if !errors.As(err, &failed) {
		return err
	}
	for line := range strings.Lines(failed.Log) {
		if strings.Contains(strings.ToLower(line), "error") {
			return fmt.Errorf("%w: %s", failed.Err, strings.TrimSpace(line))
		}
	}
	return failed.Err
}

// vectorOf is a scalar type with lanes: float, float4.
func vectorOf(scalar string, lanes int) string {
	if lanes == 1 {
		return scalar
	}
	return scalar + strconv.Itoa(lanes)
}

// sumLanes is the macro sum_lanes: the sum of the lanes of v, each converted to a type.
func sumLanes(lanes int, as string) define {
	terms := make([]string, lanes)
	for i := range terms {
		terms[i] = fmt.Sprintf("(%s)(v).s%x", as, i)
	}
	if lanes == 1 {
		terms[0] = fmt.Sprintf("(%s)(v)", as)
	}
	return define{"sum_lanes(v)", "(" + strings.Join(terms, " + ") + ")"}
}

// ramp is the vector 0, 1, 2, … of a type.
func ramp(vector string, lanes int) define {
	numbers := make([]string, lanes)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	return define{"ramp", "((" + vector + ")(" + strings.Join(numbers, ", ") + "))"}
}

const (
	// A launch that is timed takes aim at least, where more work can be had for it: then
	// neither its own cost nor the resolution of the timer count. The host's clock measures
	// much that is no kernel.
	aimByEvent = 2 * time.Millisecond
	aimByHost  = 20 * time.Millisecond

	// A variant is launched again for about its budget, and leastLaunches times at least,
	// unless a launch takes longer than tooLong.
	budget        = 12 * time.Millisecond
	sweepBudget   = 60 * time.Millisecond // for sets of buffers: other processes take a CPU and its caches away for some
	finalBudget   = 250 * time.Millisecond
	warmUp        = 150 * time.Millisecond // in which the clocks of a device that was idle rise
	leastLaunches = 3
	tooLong       = 500 * time.Millisecond
)

// aim is how long a launch that is timed should take.
func (m *Meter) aim() time.Duration {
	if m.Timer == hardware.TimerHost {
		return aimByHost
	}
	return aimByEvent
}

// once launches and waits, and returns the time.
func (m *Meter) once(k *cl.Kernel, r problem.NDRange) (time.Duration, error) {
	return m.together(k, r, 1)
}

// together launches n times and returns the shortest time. A time of 0 is refused: no rate
// can be computed from it.
func (m *Meter) together(k *cl.Kernel, r problem.NDRange, n int) (time.Duration, error) {
	times, err := m.Times(k, r, n)
	if err != nil {
		return 0, err
	}
	shortest := slices.Min(times)
	if shortest <= 0 {
		return 0, fmt.Errorf("%w: a launch takes no time", device.ErrTimestamps)
	}
	return shortest, nil
}

// fastest is the shortest time of a launch, out of as many as fit a budget. Up to 16 of them
// are enqueued together.
func (m *Meter) fastest(ctx context.Context, k *cl.Kernel, r problem.NDRange, budget time.Duration) (time.Duration, error) {
	shortest, err := m.once(k, r)
	if err != nil || shortest > tooLong {
		return shortest, err
	}
	for left := max(int(budget/max(shortest, time.Microsecond)), leastLaunches); left > 0; left -= 16 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		t, err := m.together(k, r, min(left, 16))
		if err != nil {
			return 0, err
		}
		shortest = min(shortest, t)
	}
	return shortest, nil
}

// enough is how often some work must be done in a launch for the aim: at most so often. Run
// launches it that often.
func (m *Meter) enough(ctx context.Context, most int, run func(times int) (time.Duration, error)) (int, error) {
	times := 1
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		t, err := run(times)
		if err != nil {
			return 0, err
		}
		if t >= m.aim() || times >= most {
			return times, nil
		}
		// A short launch says little of how long a longer one takes: it grows step by step.
		more := float64(m.aim()) / float64(max(t, time.Microsecond)) * 1.3
		times = min(most, int(float64(times)*min(max(more, 1.5), 16))+1)
	}
}

// A contest measures variants of a kernel for one figure and keeps the fastest.
type contest[V any] struct {
	meter  *Meter
	figure string
	rate   func(ctx context.Context, v V, budget time.Duration) (float64, error)
	text   func(V) string

	best    V
	top     float64 // the rate of best; 0: no variant could be measured yet
	errs    []error
	asked   int // measurements
	skipped int // of these, left out for lack of time
}

// try measures a variant. When the time is up, it does so only if none could be measured yet.
func (c *contest[V]) try(ctx context.Context, v V, budget time.Duration) {
	c.asked++
	if c.top > 0 && c.meter.late() {
		c.skipped++
		return
	}
	rate, err := c.rate(ctx, v, budget)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", c.text(v), err))
	} else if rate > c.top {
		c.best, c.top = v, rate
		c.meter.tell(c.peaks())
	}
}

func (c *contest[V]) peaks() *hardware.Peaks {
	return &hardware.Peaks{Figures: map[string]hardware.Peak{c.figure: figure(c.figure, c.top, c.text(c.best))}}
}

// end measures the best variant once more, for longer, and returns the figure.
func (c *contest[V]) end(ctx context.Context) (*hardware.Peaks, error) {
	if c.top == 0 {
		return nil, noneOf(c.errs)
	}
	c.try(ctx, c.best, finalBudget)
	if c.skipped > 0 {
		c.meter.partial = fmt.Sprintf("%d of %d measurements were left out", c.skipped, c.asked)
	}
	return c.peaks(), nil
}

// noneOf says why none of the variants of a kernel gave anything: the first error.
func noneOf(errs []error) error {
	if len(errs) > 0 {
		return errs[0]
	}
	return errors.New("the device takes none of the variants")
}
