package peak

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// A define is a macro that a kernel is built with.
type define struct{ name, value string }

func number(name string, n int) define { return define{name, strconv.Itoa(n)} }

// kernel returns a kernel of kernels/peak. Kernels of one file with the same macros share a program, since
// compiling takes most of the time of a measurement on a CPU.
func (m *Meter) kernel(file, name string, defines ...define) (*cl.Kernel, error) {
	source, err := fs.ReadFile(kernels.FS, "peak/"+file)
	if err != nil {
		return nil, err
	}
	var prologue strings.Builder
	for _, d := range defines {
		fmt.Fprintf(&prologue, "#define %s %s\n", d.name, d.value)
	}
	k, err := m.Kernel(prologue.String()+string(source), "-cl-mad-enable", name)
	if err != nil {
		return nil, fmt.Errorf("build %s: %s", name, tune.Headline(tune.Compile, err.Error()))
	}
	return k, nil
}

// vectorOf returns the type of a vector, such as float or float4.
func vectorOf(scalar string, lanes int) string {
	if lanes == 1 {
		return scalar
	}
	return scalar + strconv.Itoa(lanes)
}

// sumLanes returns the macro sum_lanes: the sum of the lanes of v, each converted to a type.
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

// ramp returns the macro ramp: the vector 0, 1, 2, …
func ramp(vector string, lanes int) define {
	numbers := make([]string, lanes)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	return define{"ramp", "((" + vector + ")(" + strings.Join(numbers, ", ") + "))"}
}

const (
	// A timed launch gets enough work to take at least this long, so that neither its own cost nor
	// the resolution of the timer matters. The host's clock also measures work around the kernel.
	aimByEvent = 2 * time.Millisecond
	aimByHost  = 20 * time.Millisecond

	// A variant is launched for about its budget, but at least leastLaunches times, unless a
	// launch takes longer than tooLong.
	budget        = 6 * time.Millisecond
	moveBudget    = 20 * time.Millisecond // of memory, on a CPU: other processes may use it and its caches meanwhile
	finalBudget   = 100 * time.Millisecond
	warmUp        = 150 * time.Millisecond // the clock rate of an idle device rises meanwhile
	leastLaunches = 3
	tooLong       = 500 * time.Millisecond
)

// aim returns the least time of a timed launch.
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

// together launches n times and returns the shortest time. Times of 0 are no times.
func (m *Meter) together(k *cl.Kernel, r problem.NDRange, n int) (time.Duration, error) {
	times, err := m.Times([]device.Launch{{Kernel: k, Range: r}}, n)
	if err != nil {
		return 0, err
	}
	times = slices.DeleteFunc(times, func(t time.Duration) bool { return t == 0 })
	if len(times) == 0 {
		return 0, fmt.Errorf("%w: a launch takes no time", device.ErrTimestamps)
	}
	return slices.Min(times), nil
}

// fastest returns the shortest time of as many launches as fit a budget. Up to 16 of them are
// enqueued together.
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

// repetitions returns how many times, up to most, a launch must repeat its work to reach the aim. Run
// launches the kernel with that many repetitions.
func (m *Meter) repetitions(ctx context.Context, most int, run func(times int) (time.Duration, error)) (int, error) {
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
		// The time of a short launch is a poor estimate for a longer one: grow step by step.
		more := float64(m.aim()) / float64(max(t, time.Microsecond)) * 1.3
		times = min(most, int(float64(times)*min(max(more, 1.5), 16))+1)
	}
}
