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
	s := newSurvey(r, d.Selector(), *d.Identity, o)
	s.hello.Visible = d.Visible()
	return s.run(ctx)
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
	worker  *child        // nil: none, or it cannot go on
	deaths  int
	peaks   *hardware.Peaks
}

func newSurvey(r *Reserve, selector string, d hardware.Device, o PeakOptions) *survey {
	if o.Begin == nil {
		o.Begin = func(string, int) {}
	}
	d.Timer = o.Timer
	return &survey{options: o, hello: hello{Selector: selector, Device: d}, reserve: r, timeout: partTimeout, peaks: peak.New()}
}

func (s *survey) run(ctx context.Context) (*hardware.Peaks, error) {
	defer func() {
		if s.worker != nil {
			s.reserve.put(spare{s.worker, false, needsNoBuilders(s.hello.Device), device.LanguageOf(s.hello.Device), s.hello.Selector})
		}
	}()
	parts := peak.Parts(s.options.Figures...)
	for i, p := range parts {
		begun, err := s.measure(ctx, p, i+1)
		if err == nil {
			continue
		}
		if s.worker != nil {
			s.reserve.host.Stop(s.worker)
			s.worker = nil
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case begun:
			s.peaks.Add(p.Missed(err.Error()))
			if s.deaths++; s.deaths < maxPeakDeaths {
				continue
			}
			s.miss(parts[i+1:], fmt.Sprintf("%d processes have not come to their end before", s.deaths))
		case s.nothing() != nil:
			return nil, err
		default: // there can be no worker, and earlier figures stand
			s.miss(parts[i:], err.Error())
		}
		break
	}
	if s.deaths == 0 { // the device itself may lack all figures that were wanted
		return s.peaks, nil
	}
	return s.peaks, s.nothing()
}

// measure lets a worker measure a part. Until the part has begun, an error says why there can be no worker.
func (s *survey) measure(ctx context.Context, p peak.Part, number int) (begun bool, err error) {
	if s.worker == nil {
		s.worker = s.reserve.take(false, s.hello.Selector)
	}
	if s.worker == nil {
		if s.worker, err = s.reserve.host.Start(); err != nil {
			return false, err
		}
	}
	h := s.hello
	h.Survey = p.Figures[0]
	s.worker.Requests <- request{Hello: &h}
	if _, err = s.next(ctx, max(startTime, s.timeout)); err != nil {
		return false, err
	}
	s.options.Begin(p.Name, number)
	a, err := s.next(ctx, s.timeout)
	if err == nil {
		s.peaks.Add(a.Measured)
	}
	return true, err
}

// next waits for an answer of the worker.
func (s *survey) next(ctx context.Context, within time.Duration) (answer, error) {
	limited, stop := context.WithTimeoutCause(ctx, within, fmt.Errorf("it took longer than %s", within))
	defer stop()
	a, err := s.reserve.host.Next(limited, s.worker)
	if ended, is := errors.AsType[*process.EndedError](err); is && ended.End.FromOutside() {
		select {
		case <-ctx.Done():
		case <-time.After(signalDelay):
		}
	}
	if a.Failed != "" {
		err = errors.New(a.Failed)
	}
	return a, err
}

// miss says why some parts were not tried.
func (s *survey) miss(parts []peak.Part, why string) {
	for _, p := range parts {
		s.peaks.Add(p.Missed("not tried: " + why))
	}
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

// measurePeaks measures, in a worker, a part of the peaks of a device. The error says that none can be measured.
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
	s.Begin(device.StageMeasure, 0)
	m := &peak.Meter{Launcher: s.idle}
	measured, err := m.Measure(context.Background(), peak.Parts(h.Survey)[0], m.PartTime()) // the parent kills a worker that shall stop
	if err == nil {
		s.parent.Send(answer{Measured: measured})
	}
	return err
}
