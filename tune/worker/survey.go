package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

// partTimeout is how long a part of a device's peaks may take. It ends by itself much earlier, with the figures that it has.
const partTimeout = 20 * time.Second

// notTried begins the reason of figures that were not tried.
const notTried = "not tried: "

// maxPeakDeaths is how many processes may die while one device is measured.
const maxPeakDeaths = 3

// PeakOptions of [Reserve.MeasurePeaks]. Zero fields have the defaults named.
type PeakOptions struct {
	Figures []string // the names of those that are measured, with others that come with them; all
	Timer   string   // of the device; unknown

	Begin func(part string, number int) // is called as each part begins, with its number from 1; or nil
}

// MeasurePeaks measures peaks of a device in a worker of the reserve, or in a new one, which then is in the reserve. A driver that
// crashes or hangs costs the figures of one part; they say so, and another worker goes on with the next part. The error says that
// nothing could be measured, or is that of the context.
//
// It is an error if the program does not call [Main].
func (r *Reserve) MeasurePeaks(ctx context.Context, d device.Listed, o PeakOptions) (*hardware.Peaks, error) {
	if !hasRun {
		return nil, errNoMain
	}
	return newSurvey(r, d.Selector(), *d.Identity, o).run(ctx)
}

// signalDelay is how long a signal to the program may take to cancel its context. A signal at the terminal
// ends a child that has not left the program's process group yet, before the program has seen the signal.
const signalDelay = time.Second

// A survey measures one device, with one worker after the other if they die.
type survey struct {
	options PeakOptions
	hello   hello
	reserve *Reserve
	timeout time.Duration // of a part

	all    int // parts
	left   []peak.Part
	begun  bool // the first part that is left
	worker *child
	deaths int
	peaks  *hardware.Peaks
}

func newSurvey(r *Reserve, selector string, d hardware.Device, o PeakOptions) *survey {
	if o.Begin == nil {
		o.Begin = func(string, int) {}
	}
	d.Timer = o.Timer
	left := peak.Parts(o.Figures...)
	return &survey{
		options: o, hello: hello{Selector: selector, Device: d}, reserve: r, timeout: partTimeout, all: len(left), left: left, peaks: peak.New(),
	}
}

func (s *survey) run(ctx context.Context) (*hardware.Peaks, error) {
	for len(s.left) > 0 {
		err := s.work(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil || s.nothing() != nil:
			return nil, err
		default: // earlier figures stand
			s.miss(notTried + err.Error())
		}
	}
	if s.deaths == 0 { // the device itself may lack all figures that were wanted
		return s.peaks, nil
	}
	return s.peaks, s.nothing()
}

// work measures with one worker. Afterwards at least one part less is left, or the error says why
// there can be no worker.
func (s *survey) work(ctx context.Context) error {
	h := s.hello
	h.Survey = nil
	for _, p := range s.left {
		h.Survey = append(h.Survey, p.Figures[0])
	}
	var err error
	if s.worker = s.reserve.take(false, h.Selector); s.worker == nil {
		if s.worker, err = s.reserve.host.Start(); err != nil {
			return err
		}
	}
	defer func() {
		if len(s.left) == 0 && s.worker.Alive() && !s.begun {
			s.reserve.put(spare{s.worker, false, needsNoBuilders(h.Device), h.Selector})
		} else {
			s.reserve.host.Stop(s.worker)
		}
	}()
	s.begun = false
	s.worker.Requests <- request{Hello: &h}
	until := time.Now().Add(max(startTime, s.timeout))
	for len(s.left) > 0 {
		limited, stop := context.WithDeadlineCause(ctx, until, process.ErrLate)
		a, err := s.reserve.host.Next(limited, s.worker)
		stop()
		var ended *process.EndedError
		switch {
		case errors.Is(err, process.ErrLate):
			return s.broken(fmt.Sprintf("it took longer than %s", s.timeout))
		case errors.As(err, &ended):
			if ended.End.FromOutside() {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(signalDelay):
				}
			}
			return s.broken(err.Error())
		case err != nil:
			return err
		case a.Failed != "":
			return errors.New(a.Failed)
		case a.Measured == nil:
			return errors.New("it answered something that it was not asked")
		case a.Measured.Peaks == nil:
			s.begun = true
			s.options.Begin(a.Measured.Part, s.all-len(s.left)+1)
			until = time.Now().Add(s.timeout)
		default:
			s.begun = false
			s.peaks.Add(a.Measured.Peaks)
			s.left = s.left[1:]
			until = time.Now().Add(max(startTime, s.timeout)) // the next part has not begun
		}
	}
	return nil
}

// broken removes the part at which a worker has ended, or the error says that it had begun none.
func (s *survey) broken(why string) error {
	if !s.begun {
		return errors.New(why)
	}
	s.peaks.Add(s.left[0].Missed(why))
	s.left = s.left[1:]
	if s.deaths++; s.deaths == maxPeakDeaths {
		s.miss(fmt.Sprintf(notTried+"%d processes have not come to their end before", s.deaths))
	}
	return nil
}

// miss removes all parts that are left.
func (s *survey) miss(why string) {
	for _, p := range s.left {
		s.peaks.Add(p.Missed(why))
	}
	s.left = nil
}

// nothing returns an error with the reasons if there is not a single figure.
func (s *survey) nothing() error {
	var reasons []string
	for _, f := range hardware.PeakFigures() {
		if s.peaks.Value(f.Name) > 0 {
			return nil
		}
		if why := s.peaks.Figures[f.Name].Missing; why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return errors.New(strings.Join(reasons, "; "))
}

// measurePeaks measures, in a worker, figures of a device. The error says that none can be measured.
func (s *server) measurePeaks(h hello) error {
	d, err := findDevice(h)
	if err != nil {
		return err
	}
	if s.idle == nil {
		if s.idle, err = device.NewLauncher(d.Device, h.Device.Timer); err != nil {
			return fmt.Errorf("open %s: %w", d.Device, err)
		}
	}
	m := &peak.Meter{Launcher: s.idle}
	for _, p := range peak.Parts(h.Survey...) {
		s.parent.Send(answer{Measured: &measured{Part: p.Name}})
		result, err := m.Measure(context.Background(), p, m.PartTime()) // the parent kills a worker that shall stop
		if err != nil {
			return err
		}
		s.parent.Send(answer{Measured: &measured{p.Name, result}})
	}
	return nil
}
