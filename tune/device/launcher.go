package device

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// A Launcher builds kernels for one device, launches them on one in-order queue, and reads
// their times. Everything that times kernels uses one: evaluators, peaks, matrix
// multiplications and the diffusion simulation. Release it when done. It is not safe for
// concurrent use.
type Launcher struct {
	Device  *cl.Device
	Info    *cl.DeviceInfo
	Context *cl.Context
	Queue   *cl.Queue // with profiling where the driver supports it
	Timer   string    // hardware.TimerEvent or hardware.TimerHost

	lies, timed int // launches with timestamps that cannot be right, and all

	programs map[string]*cl.Program // of the kernels, by options and source
	kernels  map[string]*cl.Kernel  // made by Kernel, by options, source and name
	kept     []kept                 // programs of configurations, the fastest first
	targets  map[string]string      // why the driver builds none, by target; "": it does
}

// NewLauncher makes a context and a queue on a device. If timer is empty, the launcher finds
// out which one to use.
func NewLauncher(d *cl.Device, timer string) (*Launcher, error) {
	l := &Launcher{
		Device: d, Timer: timer, programs: map[string]*cl.Program{}, kernels: map[string]*cl.Kernel{}, targets: map[string]string{},
	}
	var err error
	if l.Info, err = d.Info(); err == nil && strings.HasPrefix(l.Info.Version, hardware.CUDA) {
		err = cl.CUDACompiler()
	}
	if err != nil {
		return nil, err
	}
	if l.Context, err = cl.NewContext(d); err != nil {
		return nil, err
	}
	if l.Queue, err = l.Context.NewQueue(cl.Profiling); err == nil && timer == "" {
		if l.Timer, err = l.probeTimer(); err != nil {
			err = fmt.Errorf("check the timer: %w", err)
		}
	}
	if err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// Release releases the queue, the context and the kernels of [Launcher.Kernel]. It does nothing on nil.
func (l *Launcher) Release() {
	if l == nil {
		return
	}
	for _, k := range l.kernels {
		k.Release()
	}
	for _, p := range l.programs {
		p.Release()
	}
	for _, k := range l.kept {
		k.Release()
	}
	l.kernels, l.programs, l.kept = nil, nil, nil
	l.Queue.Release()
	l.Context.Release()
}

// Build compiles a source with build options. The caller releases the program.
func (l *Launcher) Build(source, options string) (*cl.Program, error) {
	return l.buildTarget(source, options, "")
}

// Kernel returns a kernel of ndtune's own. Its source is compiled when it is first needed, and the launcher releases it. Whoever needs
// the kernel sets all of its arguments.
func (l *Launcher) Kernel(source, options, name string) (*cl.Kernel, error) {
	key := options + "\n" + source
	if k := l.kernels[key+name]; k != nil {
		return k, nil
	}
	p := l.programs[key]
	if p == nil {
		var err error
		if p, err = l.Build(source, options); err != nil {
			return nil, err
		}
		l.programs[key] = p
	}
	k, err := p.NewKernel(name)
	if err == nil {
		l.kernels[key+name] = k
	}
	return k, err
}

// A launchError says that the driver refused a launch: the kernel did not run.
type launchError struct {
	launch Launch
	err    error
}

func (e *launchError) Error() string { return "launch: " + e.err.Error() }
func (e *launchError) Unwrap() error { return e.err }

// A Launch is a kernel, whose arguments are set, with its index space.
type Launch struct {
	Kernel *cl.Kernel
	Range  problem.NDRange
}

// Enqueue launches a kernel without waiting for it. The caller releases the event.
func (l *Launcher) Enqueue(launch Launch) (*cl.Event, error) {
	r := launch.Range
	event, err := l.Queue.EnqueueKernel(launch.Kernel, r.GlobalOffset(), r.Global(), r.WorkGroup())
	if err != nil {
		return nil, &launchError{launch, err}
	}
	return event, nil
}

// EnqueueAll launches kernels in order without waiting for them. The caller releases the batch, even if there
// is an error.
func (l *Launcher) EnqueueAll(launches []Launch) (Batch, error) {
	b := make(Batch, 0, len(launches))
	for _, launch := range launches {
		e, err := l.Enqueue(launch)
		if err != nil {
			return b, err
		}
		b = append(b, e)
	}
	return b, nil
}

// Times makes some launches, in order, n times and returns the time of each launch. Timed by events, the
// launches are enqueued together and waited for once, and a time can be 0: see [Launcher.Timed]. Timed by the host's clock, each launch
// begins on an idle device and is waited for before the next.
func (l *Launcher) Times(launches []Launch, n int) ([]time.Duration, error) {
	all := slices.Repeat(launches, n)
	if l.Timer == hardware.TimerHost {
		return l.hostTimes(all)
	}
	began := time.Now()
	b, err := l.EnqueueAll(all)
	defer b.Release()
	if err != nil {
		return nil, err
	}
	return l.Timed(b, began)
}

func (l *Launcher) hostTimes(launches []Launch) ([]time.Duration, error) {
	times := make([]time.Duration, len(launches))
	for i, launch := range launches {
		if err := l.Queue.Finish(); err != nil {
			return nil, fmt.Errorf("wait for the device: %w", err)
		}
		began := time.Now()
		e, err := l.Enqueue(launch)
		if err != nil {
			return nil, err
		}
		err = Batch{e}.Wait()
		times[i] = time.Since(began)
		e.Release()
		if err != nil {
			return nil, err
		}
	}
	return times, nil
}

// A Batch is the events of launches that were enqueued one after the other on one queue.
// Release it when done.
type Batch []*cl.Event

// Wait waits for the last launch, and so for all of them.
func (b Batch) Wait() error {
	if len(b) == 0 {
		return nil
	}
	if err := b[len(b)-1].Wait(); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// ErrTimestamps says that a driver's profiling timestamps cannot be used, though the launch
// succeeded.
var ErrTimestamps = errors.New("the driver's timestamps cannot be used")

// A TimerError says that a driver's timestamps are wrong so often that only the host's clock can time its launches.
type TimerError struct{ Lies, Launches int }

func (e *TimerError) Error() string {
	return fmt.Sprintf("%v: those of %d launches of %d are missing, zero, reversed or longer than the host saw (measure.timer: host does not use them)",
		ErrTimestamps, e.Lies, e.Launches)
}

func (e *TimerError) Unwrap() error { return ErrTimestamps }

// Timed waits for launches that were enqueued since some time, and returns the time of each by its profiling event. It is 0 if the
// timestamps cannot be right. If that is so more often than twice and in more than one launch of ten, the error is a [TimerError].
func (l *Launcher) Timed(b Batch, began time.Time) ([]time.Duration, error) {
	if err := b.Wait(); err != nil {
		return nil, err
	}
	seen := time.Since(began)
	times := make([]time.Duration, len(b))
	for i, e := range b {
		p, missing := e.Profile()
		if missing != nil {
			if failed := e.Wait(); failed != nil {
				return nil, fmt.Errorf("run: %w", failed)
			}
		}
		if l.timed++; missing == nil && l.believes(p, seen) {
			times[i] = p.Duration()
		} else if l.lies++; l.lies > max(2, l.timed/10) {
			return nil, &TimerError{l.lies, l.timed}
		}
	}
	return times, nil
}

// believes reports whether the timestamps of a launch can be right that has ended within the time that the host has seen.
func (l *Launcher) believes(p cl.Profile, seen time.Duration) bool {
	took := p.Duration()
	return p.Start != 0 && took > 0 && took <= seen+seen/2+time.Millisecond+time.Duration(l.Info.TimerResolution)
}

// Release releases the events, which may be nil. Launches go on.
func (b Batch) Release() {
	for _, e := range b {
		e.Release()
	}
}

// Milliseconds converts times to milliseconds.
func Milliseconds(times []time.Duration) []float64 {
	return each.Of(times, func(t time.Duration) float64 { return float64(t) / float64(time.Millisecond) })
}

// probeSource has a kernel that works for at least some microseconds on any device.
const probeSource = `
__kernel void ndtune_timer_probe(__global uint *out, uint n) {
    uint x = out[0];
    for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
    out[0] = x;
}
`

const (
	probeLaunches = 3
	probeSteps    = 20000 // each depends on the one before
	probeLeast    = time.Microsecond
)

// probeTimer returns the timer to use. It is the host's clock if the driver refuses profiling,
// or if its timestamps are zero or reversed, or say that a kernel took longer than the host
// saw it take, or less than any device needs for it.
func (l *Launcher) probeTimer() (timer string, err error) {
	if !l.Queue.Profiling() {
		return hardware.TimerHost, nil
	}
	kernel, err := l.Kernel(probeSource, "", "ndtune_timer_probe")
	if err != nil {
		return "", err
	}
	out, err := l.Context.NewBufferFrom(cl.ReadWrite, make([]byte, 4))
	if err != nil {
		return "", err
	}
	defer out.Release()
	if err := kernel.SetArgs(out, uint32(probeSteps)); err != nil {
		return "", err
	}
	timer = hardware.TimerEvent
	for range probeLaunches {
		if err := l.Queue.Finish(); err != nil {
			return "", err
		}
		began := time.Now()
		event, err := l.Enqueue(Launch{kernel, Line(1, 1)})
		if err != nil {
			return "", err
		}
		err = event.Wait()
		seen := time.Since(began)
		p, missing := event.Profile()
		event.Release()
		if err != nil {
			return "", err
		}
		if missing != nil || p.Duration() < probeLeast || !l.believes(p, seen) {
			timer = hardware.TimerHost
		}
	}
	return timer, nil
}

// Line is the NDRange of one dimension with some work-groups of local work-items each.
func Line(groups, local int) problem.NDRange {
	return problem.NDRange{Dimensions: 1, Grid: [3]int{groups, 1, 1}, Local: [3]int{local, 1, 1}}
}
