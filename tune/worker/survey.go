package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/process"
)

const (
	// DefaultPeakTimeout is how long a part of a device's peaks may take. In three quarters of it,
	// a part ends by itself with the figures that it has.
	DefaultPeakTimeout = time.Minute

	// quickTime is how long the peaks for the limits of one search take, with the compilation of the
	// first variants of the kernels.
	quickTime = 3 * time.Second
)

// Reasons for figures that are missing.
const (
	notTried = "not tried: "
	timeUp   = "the time was up"
)

// maxPeakDeaths is how many processes may die while one device is measured.
const maxPeakDeaths = 3

// PeakOptions of [MeasurePeaks]. Zero fields have the defaults named.
type PeakOptions struct {
	// Needs are the peaks that a search needs: only they are measured, within a few seconds. Nil:
	// all peaks are measured, with care.
	Needs *judge.Needs

	Timer   string        // of the device; "": unknown
	Timeout time.Duration // for each part, with Needs for all of them together; DefaultPeakTimeout

	// Output gets the lines that the worker prints; nil: they only explain missing figures.
	Output io.Writer

	// Reserve may have a worker for it, and gets it back; nil: it is a new one, which ends afterwards. Its Output takes the
	// place of that in these options.
	Reserve *Reserve

	// Begin is called as each part begins, with its number from 1; or nil.
	Begin func(part string, number, of int)

	interim func() // is called as more is known of a part, for tests; or nil
}

// MeasurePeaks measures the peaks of a device in a worker. A driver that crashes or hangs costs the
// figures of one part that are not yet known; they say so, and another worker goes on with the next
// part. The error says that nothing could be measured, or is that of the context.
//
// It is an error if the program does not call [Main].
func MeasurePeaks(ctx context.Context, d device.Listed, o PeakOptions) (*hardware.Peaks, error) {
	if !hasRun {
		return nil, errNoMain
	}
	return newSurvey(d.Selector(), *d.Identity, o).run(ctx)
}

// task is the task of the options.
func (o PeakOptions) task() peak.Task {
	if o.Needs != nil {
		return peak.Task{Needs: o.Needs, Within: quickTime, Timer: o.Timer}
	}
	return peak.Task{Within: o.timeout() / 4 * 3, Timer: o.Timer}
}

// timeout is how long a part may take.
func (o PeakOptions) timeout() time.Duration { return cmp.Or(max(0, o.Timeout), DefaultPeakTimeout) }

// signalDelay is how long a signal to the program may take to cancel its context. A signal at the terminal
// ends a child that has not left the program's process group yet, before the program has seen the signal.
const signalDelay = time.Second

// A survey measures one device, with one worker after the other if they die.
type survey struct {
	options PeakOptions
	hello   hello
	reserve *Reserve // of the options, or of this survey alone
	host    *host    // of the reserve

	all    int // parts
	left   []peak.Part
	begun  bool            // the first part that is left
	known  *hardware.Peaks // the figures of that part so far; nil: none
	end    time.Time       // of a quick survey
	worker *child
	deaths int
	peaks  *hardware.Peaks
}

func newSurvey(selector string, d hardware.Device, o PeakOptions) *survey {
	o.Timeout = o.timeout()
	if o.Begin == nil {
		o.Begin = func(string, int, int) {}
	}
	task := o.task()
	s := &survey{
		options: o, hello: hello{Survey: true, Selector: selector, Device: d, Task: task}, peaks: task.New(),
		left: task.Parts(),
	}
	s.all = len(s.left)
	if s.reserve = o.Reserve; s.reserve == nil {
		s.reserve = NewReserve(o.Output)
	}
	s.host = s.reserve.host
	return s
}

func (s *survey) run(ctx context.Context) (*hardware.Peaks, error) {
	if s.options.Reserve == nil {
		defer s.reserve.Close()
	}
	s.end = time.Now().Add(s.options.Timeout)
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
	return s.peaks, s.nothing()
}

// work measures with one worker. Afterwards at least one part less is left, or the error says why
// there can be no worker.
func (s *survey) work(ctx context.Context) error {
	h := s.hello
	h.Done = s.all - len(s.left)
	var err error
	if s.worker = s.reserve.take(false, h.Selector); s.worker == nil {
		if s.worker, err = s.host.Start(); err != nil {
			return err
		}
	}
	defer func() {
		if len(s.left) == 0 && s.worker.Alive() && !s.begun {
			s.reserve.put(spare{s.worker, false, needsNoBuilders(h.Device), h.Selector})
		} else {
			s.host.Stop(s.worker)
		}
	}()
	s.begun = false
	s.worker.Requests <- request{Hello: &h}
	quick := s.options.Needs != nil
	until := s.end
	allow := func(d time.Duration) {
		if !quick {
			until = time.Now().Add(d)
		}
	}
	allow(max(startTime, s.options.Timeout))
	for len(s.left) > 0 {
		limited, stop := context.WithDeadlineCause(ctx, until, process.ErrLate)
		a, err := s.host.Next(limited, s.worker)
		stop()
		var ended *process.EndedError
		switch {
		case errors.Is(err, process.ErrLate):
			err := s.broken(fmt.Sprintf("it took longer than %s", s.options.Timeout))
			if quick {
				s.miss(notTried + timeUp)
			}
			return err
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
		case a.Probing != nil: // in a search before
		case a.Measured == nil:
			return errors.New("it answered something that it was not asked")
		case a.Measured.Part == "":
			if s.begun {
				s.cutShort(timeUp)
			}
			s.miss(notTried + timeUp)
			s.begun = false
		case a.Measured.Peaks == nil:
			s.begun, s.known = true, nil
			s.options.Begin(a.Measured.Part, s.all-len(s.left)+1, s.all)
			allow(s.options.Timeout)
		case !a.Measured.End:
			s.known = a.Measured.Peaks
			if s.options.interim != nil {
				s.options.interim()
			}
		default:
			s.begun = false
			s.peaks.Add(a.Measured.Peaks)
			s.left = s.left[1:]
			allow(max(startTime, s.options.Timeout)) // the next part has not begun
		}
	}
	return nil
}

// broken removes the part at which a worker has ended, or the error says that it had begun none.
func (s *survey) broken(why string) error {
	if !s.begun {
		return errors.New(why)
	}
	s.cutShort(why)
	if s.deaths++; s.deaths == maxPeakDeaths {
		s.miss(fmt.Sprintf(notTried+"%d processes have not come to their end before", s.deaths))
	}
	return nil
}

// cutShort removes the part that was begun and not finished. It keeps the figures that are known.
func (s *survey) cutShort(why string) {
	part := s.left[0]
	if s.known != nil {
		s.peaks.Add(s.known)
		s.peaks.AddPartial(part.Name + ": " + why)
	}
	for _, name := range part.Figures {
		if s.peaks.Value(name) == 0 {
			s.peaks.Miss(name, strings.ToValidUTF8(why, "\uFFFD"))
		}
	}
	s.left = s.left[1:]
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

// measurePeaks measures, in a worker, the parts that are left. The error says that none can be measured.
func (s *server) measurePeaks(h hello) error {
	s.surveyed = true
	if p := s.probes; p != nil && p.launcher == s.idle && reflect.DeepEqual(p.task.Needs, h.Task.Needs) {
		s.finishProbes(h.Task.Within)
		return nil
	}
	d, err := findDevice(h)
	if err != nil {
		return err
	}
	// The parent kills a worker that shall stop.
	return h.Task.Run(context.Background(), d.Device, s.idle, h.Task.Parts()[h.Done:], func(p peak.Part, known *hardware.Peaks, end bool) {
		s.parent.Send(answer{Measured: &measured{p.Name, known, end}})
	})
}
