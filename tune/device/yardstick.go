package device

import (
	"fmt"
	"math"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
)

// A yardstick is a launch of ndtune's own whose time shows how fast the device is. It computes on all compute units, and
// touches no memory.
type yardstick struct {
	launcher *Launcher
	kernel   *cl.Kernel
	out      *cl.Buffer
	launch   Launch
	took     time.Duration // of a launch
}

const (
	yardstickLocal = 64 // work-items of a work-group
	yardstickLeast = 200 * time.Microsecond
	yardstickMost  = 1 << 24 // steps
	// A yardstick is timed by the shortest of some launches. The first one may find the device asleep.
	yardstickLaunches = 3
)

// newYardstick builds the yardstick, which the timer's probe has in its program, and launches it once, since some drivers
// compile further then.
func (l *Launcher) newYardstick() (_ *yardstick, err error) {
	r := &yardstick{launcher: l}
	defer func() {
		if err != nil {
			r.release()
		}
	}()
	program, err := l.Shared(probeSource, "")
	if err != nil {
		return nil, err
	}
	if r.kernel, err = program.NewKernel("ndtune_yardstick"); err != nil {
		return nil, err
	}
	if r.out, err = l.Context.NewBuffer(cl.ReadWrite, 4); err != nil {
		return nil, err
	}
	local := max(1, min(yardstickLocal, l.Info.MaxWorkGroupSize))
	r.launch = Launch{r.kernel, Line(8*max(1, l.Info.ComputeUnits), local)}
	if err := r.kernel.SetArgs(r.out, uint32(1)); err != nil {
		return nil, err
	}
	if _, err := l.Times([]Launch{r.launch}, 1); err != nil {
		return nil, err
	}
	return r, nil
}

// size finds out how many steps take yardstickLeast.
func (r *yardstick) size() (err error) {
	for steps := 64; r.took < yardstickLeast; steps *= 2 {
		if steps > yardstickMost {
			return fmt.Errorf("a launch of %d steps takes %s", steps/2, r.took)
		}
		if err := r.kernel.SetArgs(r.out, uint32(steps)); err != nil {
			return err
		}
		if r.took, err = r.time(); err != nil {
			return err
		}
	}
	return nil
}

// release releases the yardstick. It does nothing on nil.
func (r *yardstick) release() {
	if r != nil {
		r.kernel.Release()
		r.out.Release()
	}
}

// time returns the time of a launch.
func (r *yardstick) time() (time.Duration, error) {
	times, err := r.launcher.Times([]Launch{r.launch}, yardstickLaunches)
	if err != nil {
		return 0, err
	}
	least := times[0]
	for _, t := range times {
		least = min(least, t)
	}
	return least, nil
}

// processorTime returns the time of the processors for a launch, the shortest of some. Unlike its time, it does
// not count the turns of other programs: it depends on the clock, and on what a core shares with others.
func (r *yardstick) processorTime() (time.Duration, error) {
	least := time.Duration(math.MaxInt64)
	for range yardstickLaunches {
		before := observe.ProcessorTime()
		if _, err := r.launcher.Times([]Launch{r.launch}, 1); err != nil {
			return 0, err
		}
		least = min(least, observe.ProcessorTime()-before)
	}
	return least, nil
}

// keepBusy launches for about a time.
func (r *yardstick) keepBusy(d time.Duration) error {
	_, err := r.launcher.Times([]Launch{r.launch}, int(max(1, d/r.took)))
	return err
}

// A speedometer is what a launcher reads its device's speed with.
type speedometer struct {
	*watch
	yardstick *yardstick    // nil: it could not be built
	pace      *observe.Pace // of the device
	unsized   bool
}

// release releases what the speedometer holds. It does nothing on nil.
func (s *speedometer) release() {
	if s != nil {
		s.yardstick.release()
		s.pace.Close()
	}
}

const (
	just       = 100 * time.Millisecond // as long a time of the yardstick counts as one of now
	waitsLeast = 2 * time.Millisecond   // that threads must have run: a shorter run meets another program by chance only
)

// newSpeedometer opens what there is for a device, and builds what it needs. It must be sized.
func (l *Launcher) newSpeedometer(d hardware.Device) *speedometer {
	s := &speedometer{pace: observe.OpenPace(d), watch: &watch{now: time.Now, pause: time.Sleep}, unsized: true}
	s.yardstick, _ = l.newYardstick() // without it, less is seen
	return s
}

// size completes the speedometer on a device that nothing else uses.
func (s *speedometer) size(d hardware.Device) {
	s.unsized = false
	if s.yardstick != nil && s.yardstick.size() != nil {
		s.yardstick.release()
		s.yardstick = nil
	}
	if s.pace.Clocked() {
		s.signs = append(s.signs, &sign{cause: "its clock", least: leastOfClock, end: func() (float64, error) {
			mhz, err := s.pace.Clock()
			return 1e3 / mhz, err
		}})
		s.slowed = s.pace.Slowed
	}
	if r := s.yardstick; r != nil {
		s.load = r.keepBusy
		switch {
		case s.pace.Clocked():
		case s.pace.Waits():
			s.signs = append(s.signs, yardstickSign("the speed of the processors", true, r.processorTime, time.Now))
		default:
			s.signs = append(s.signs, yardstickSign("the time of a yardstick", d.Type == "cpu", r.time, time.Now))
		}
	}
	if s.pace.Waits() {
		s.signs = append(s.signs, &sign{cause: "other programs on the processors", least: leastOfCPU, shared: true, begin: s.pace.Begin, end: func() (float64, error) {
			share, ran, err := s.pace.Waited()
			if ran < waitsLeast {
				return math.NaN(), err
			}
			return 1 / (1 - min(share, 0.99)), err
		}})
	}
}

// yardstickSign compares two figures of a yardstick: before the launches, which is that after the ones before if it was just
// now, and after them. The larger one counts, because the device may have slowed down in between.
func yardstickSign(cause string, cpu bool, measure func() (time.Duration, error), now func() time.Time) *sign {
	var last time.Duration
	var at time.Time
	read := func() (err error) {
		last, err = measure()
		at = now()
		return err
	}
	least := leastOfClock
	if cpu {
		least = leastOfCPU
	}
	return &sign{
		cause: cause, least: least, shared: cpu,
		begin: func() error {
			if now().Sub(at) < just {
				return nil
			}
			return read()
		},
		end: func() (float64, error) {
			before := last
			err := read()
			return float64(max(before, last)), err
		},
	}
}
