package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
)

// DefaultPeakTimeout is how long a part of a device's peaks may take.
const DefaultPeakTimeout = time.Minute

// maxPeakDeaths is how many processes may die as one device is measured.
const maxPeakDeaths = 3

// PeakOptions of [MeasurePeaks]. Zero fields have the defaults named.
type PeakOptions struct {
	Timeout time.Duration // for each part; DefaultPeakTimeout

	// Output gets what the worker prints, line by line; nil: it is only kept for the reasons
	// of what is missing.
	Output io.Writer

	// Begin is told as a part begins, counted from 1; nil: nobody is.
	Begin func(part string, number, of int)
}

// MeasurePeaks measures what a device can do, in a worker: a driver that crashes or hangs costs
// the figures of one part, which then say so, and another worker goes on. The error says that
// nothing could be measured, or is that of the context.
//
// Where the program does not call [Main], it measures in this process.
func MeasurePeaks(ctx context.Context, d device.Listed, o PeakOptions) (*tune.Peaks, error) {
	if !hasRun {
		return peak.All(ctx, d.Device)
	}
	identity, err := device.Describe(d.Device)
	if err != nil {
		return nil, err
	}
	return newSurvey(d.Selector(), identity, o).run(ctx)
}

// A survey is one device as it is measured, by one worker after the other if need be.
type survey struct {
	options  PeakOptions
	hello    hello
	launcher launcher
	events   chan event
	closed   chan struct{}

	all    int // parts
	left   []peak.Part
	begun  bool // the first of those that are left
	worker *process
	deaths int
	peaks  *tune.Peaks
}

func newSurvey(selector string, d tune.Device, o PeakOptions) *survey {
	if o.Timeout <= 0 {
		o.Timeout = DefaultPeakTimeout
	}
	if o.Begin == nil {
		o.Begin = func(string, int, int) {}
	}
	s := &survey{
		options: o, hello: hello{Selector: selector, Device: d}, peaks: peak.New(),
		events: make(chan event, 64), closed: make(chan struct{}), left: peak.Parts(),
	}
	s.all = len(s.left)
	s.launcher = launcher{events: s.events, closed: s.closed, output: o.Output}
	return s
}

func (s *survey) run(ctx context.Context) (*tune.Peaks, error) {
	defer close(s.closed)
	for len(s.left) > 0 {
		err := s.work(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil || s.nothing() != nil:
			return nil, err
		default: // what was measured before stands
			s.miss("not tried: " + err.Error())
		}
	}
	return s.peaks, s.nothing()
}

// work is the life of one worker. Afterwards it is gone, and at least one part less is left, or the
// error says why no worker can be had.
func (s *survey) work(ctx context.Context) error {
	h := s.hello
	for _, p := range s.left {
		h.Peaks = append(h.Peaks, p.Name)
	}
	process, err := s.launcher.start()
	if err != nil {
		return err
	}
	s.worker = process
	ended := false
	defer func() {
		if !ended {
			process.end()
			s.await(process)
		}
		process.close()
	}()
	s.begun = false
	process.send(request{Hello: &h})
	watch := time.NewTimer(max(startTime, s.options.Timeout))
	defer watch.Stop()
	for len(s.left) > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-watch.C:
			return s.broken(fmt.Sprintf("it took longer than %s", s.options.Timeout))
		case e := <-s.events:
			switch a := e.answer; {
			case e.process != process: // one that was past waiting for
			case e.ended:
				ended = true
				return s.broken("the process ended " + death(e, ""))
			case a.Failed != nil:
				return errors.New(a.Failed.Reason)
			case a.Measuring != nil:
				s.begun = true
				s.options.Begin(a.Measuring.Part, s.all-len(s.left)+1, s.all)
				watch.Reset(s.options.Timeout)
			case a.Measured != nil:
				s.begun = false
				s.peaks.Add(a.Measured.Peaks)
				s.left = s.left[1:]
			}
		}
	}
	return nil
}

// broken strikes off the part that a worker was at which did not come to its end.
func (s *survey) broken(why string) error {
	if !s.begun {
		return errors.New(why)
	}
	s.peaks.Add(s.left[0].Missed(why))
	s.left = s.left[1:]
	if s.deaths++; s.deaths == maxPeakDeaths {
		s.miss(fmt.Sprintf("not tried: %d processes have not come to their end before", s.deaths))
	}
	return nil
}

// miss strikes off all parts that are left.
func (s *survey) miss(why string) {
	for _, p := range s.left {
		s.peaks.Add(p.Missed(why))
	}
	s.left = nil
}

// await waits for the end of a worker.
func (s *survey) await(p *process) {
	patience := time.NewTimer(leaveTime)
	defer patience.Stop()
	for {
		select {
		case e := <-s.events:
			if e.process == p && e.ended {
				return
			}
		case <-patience.C: // a process that hangs in the kernel of the operating system
			return
		}
	}
}

// nothing says why there is not a single figure.
func (s *survey) nothing() error {
	var reasons []string
	for _, f := range tune.PeakFigures() {
		if s.peaks.Value(f.Name) > 0 {
			return nil
		}
		if why := s.peaks.Figures[f.Name].Missing; why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return errors.New(strings.Join(reasons, "; "))
}
