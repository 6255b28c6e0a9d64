package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// A server is the worker's side of the protocol. It is the Supervisor of its evaluator.
type server struct {
	work    chan request // tasks
	replies chan request // to questions in the middle of a task
	greeted bool
	idle    *device.Launcher // of the last problem, while there is none, or opened for the first one
	started time.Duration    // what the start has taken so far

	parent *process.Parent[request, answer]

	problem   *problem.Problem
	segment   []byte // that holds arrays of the problem; nil: none
	builds    bool   // or else it evaluates
	alone     bool
	making    time.Time // when it began to make right outputs
	evaluator *device.Evaluator
	trace     *os.File // nil: none is wanted
}

// began is when this process began.
var began = time.Now()

// serve answers the parent's requests until it cannot go on. Otherwise Listen ends the process.
func serve() {
	parent, err := process.Connect[request, answer]("worker")
	if err != nil {
		fmt.Fprintln(os.Stderr, "ndtune worker:", err)
		return
	}
	s := newServer(parent)
	go parent.Listen(s.hear)
	s.started = time.Since(began)
	err = s.greet(*(<-s.work).Hello)
	for err == nil {
		err = s.do(<-s.work)
	}
	s.giveUp(err)
}

// giveUp tells the parent why nothing further can be evaluated. If another process may be able to go
// on, it does not: the parent treats the end of this one as a crash in the present stage.
func (s *server) giveUp(err error) {
	if _, is := errors.AsType[*device.LostError](err); is {
		fmt.Fprintln(os.Stderr, "ndtune worker:", err)
		return
	}
	timer, _ := errors.AsType[*device.TimerError](err)
	s.parent.Send(answer{Failed: err.Error(), Timer: timer})
}

func newServer(parent *process.Parent[request, answer]) *server {
	return &server{work: make(chan request, 1), replies: make(chan request, 1), parent: parent}
}

// hear takes a message of the parent.
func (s *server) hear(r request) {
	switch {
	case !s.greeted && r.Hello == nil:
		fmt.Fprintln(os.Stderr, "ndtune worker: hello must be the first message")
		os.Exit(1)
	case r.Time != nil, r.Outputs != nil, r.Applied != nil:
		s.replies <- r
	default:
		s.work <- r
	}
	s.greeted = true
}

// greet gets ready.
func (s *server) greet(h hello) error {
	if h.Survey != "" {
		return s.measurePeaks(h)
	}
	if h.Program != nil {
		return s.describe(h)
	}
	since := time.Now()
	if h.Load != "" {
		if h.Load == source.CUDA { // without the devices, all of which the driver would open, one process after the other
			_ = cl.HasCUDA() && cl.CUDACompiler() == nil
		} else {
			_, _ = device.List(h.Load) // an error is told to those who need a device
		}
		s.started += time.Since(since)
		return nil
	}
	d, err := findDevice(h)
	if err != nil {
		return err
	}
	if h.Warm {
		s.idle, err = device.NewLauncher(d.Device, h.Device.Timer)
		s.started += time.Since(since)
		return err
	}
	if s.problem, err = h.problem(); err != nil {
		return err
	}
	if h.Segment.Number > 0 {
		s.segment = h.Problem
	}
	if path := os.Getenv(traceVariable); path != "" && s.trace == nil {
		if s.trace, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err != nil {
			return fmt.Errorf("%s: %w", traceVariable, err)
		}
	}
	o := device.Options{
		Timer: h.Device.Timer, Peaks: h.Device.Peaks, Instruments: h.Device.Instruments, Iterations: h.Iterations, EarlyStop: h.EarlyStop,
		Supervisor: s, Launcher: s.idle, Scratch: h.Scratch, Outputs: h.Outputs,
	}
	s.alone = h.Alone
	if s.builds = h.Builds; s.builds {
		o.Timer = hardware.TimerEvent // unused, and so not probed
	}
	if s.evaluator, err = device.Open(d.Device, s.problem, o); err != nil {
		return err
	}
	s.idle = nil
	found := s.evaluator.Device()
	if s.builds {
		found.Timer = ""
	}
	s.parent.Send(answer{Ready: &found, Starting: s.started + time.Since(since)})
	return nil
}

// seeOne lets the driver of CUDA see one card from its start on; later a thread of it might read the environment meanwhile.
var seeOne sync.Once

// findDevice returns the device of a hello. It loads no libraries of other platforms than that of CUDA, or those of OpenCL. Where CUDA
// has several cards, it sees one alone: the index is another one then, and the UUID the same.
func findDevice(h hello) (device.Listed, error) {
	if h.Known != nil {
		return device.Listed{Device: cl.ForCompiling(h.Known), Identity: &h.Device}, nil
	}
	if h.Visible != "" {
		seeOne.Do(func() { os.Setenv("CUDA_VISIBLE_DEVICES", h.Visible) })
	}
	all, err := device.List(device.LanguageOf(h.Device))
	if err != nil {
		return device.Listed{}, err
	}
	if i := slices.IndexFunc(all, func(l device.Listed) bool {
		return h.Visible != "" && l.Identity.UUID == h.Device.UUID && l.Identity.Platform == h.Device.Platform
	}); i >= 0 {
		return all[i], nil
	}
	d, err := device.Select(all, h.Selector)
	if err != nil {
		return d, err
	}
	if here, there := d.Identity, h.Device; here.Name != there.Name || here.PCI != there.PCI || here.UUID != there.UUID {
		return d, fmt.Errorf("device %s is %s in a worker, and %s in the program", h.Selector, here.Name, there.Name)
	}
	return d, nil
}

// do answers one request. An error says that nothing further can be evaluated.
func (s *server) do(r request) error {
	ctx := context.Background() // the parent kills a worker that shall stop
	switch {
	case r.Release && s.evaluator != nil:
		s.idle = s.evaluator.Detach()
		s.problem, s.evaluator = nil, nil
		if s.segment != nil {
			process.CloseSegment(s.segment)
			s.segment = nil
		}
		files.Unmap()
		return nil
	case r.Release && s.idle != nil: // it has measured peaks
		return nil
	case r.Hello != nil && s.evaluator == nil:
		return s.greet(*r.Hello)
	case s.evaluator == nil: // it waits for another problem
	case r.Build != nil && s.builds:
		return s.build(ctx, r.Build)
	case r.Evaluate != nil && !s.builds:
		return s.evaluate(ctx, r.Evaluate)
	case r.Remeasure != nil && !s.builds:
		return s.remeasure(ctx, r.Remeasure)
	}
	return errors.New("the message is none that this worker can do anything with")
}

// traceVariable names a file to which workers add a line as they begin with a configuration: the
// PID, build or evaluate, and the configuration. A retest is not among them.
const traceVariable = "NDTUNE_WORKER_TRACE"

func (s *server) note(task string, c space.Configuration) {
	if s.trace != nil {
		fmt.Fprintf(s.trace, "%d %s %s\n", os.Getpid(), task, c) // one write, so that lines of processes do not mix
	}
}

func (s *server) build(ctx context.Context, j *job) error {
	configuration, err := s.problem.Parameters().Configure(j.Values)
	if err != nil {
		return err
	}
	s.note("build", configuration)
	r, binary, err := s.evaluator.Build(ctx, configuration, j.WantBinary, j.Fresh)
	if err == nil {
		s.parent.Send(answer{Built: &built{Result: result{Result: r}, Binary: binary}})
	}
	return err
}

func (s *server) evaluate(ctx context.Context, j *job) error {
	configuration, err := s.problem.Parameters().Configure(j.Values)
	if err != nil {
		return err
	}
	if j.Retest.Launches == 0 {
		s.note("evaluate", configuration)
	}
	r, err := s.evaluator.One(ctx, configuration, device.Prebuilt{Binary: j.Binary, Readings: j.Readings, Fresh: j.Fresh, Retest: j.Retest})
	var lost *device.LostError
	if err != nil && (r.Status == "" || !errors.As(err, &lost)) {
		return err
	}
	s.parent.Send(answer{Result: &result{r, lost != nil}})
	return nil
}

func (s *server) remeasure(ctx context.Context, r *remeasure) error {
	configurations := make([]space.Configuration, len(r.Values))
	for i, v := range r.Values {
		var err error
		if configurations[i], err = s.problem.Parameters().Configure(v); err != nil {
			return err
		}
	}
	o := device.RemeasureOptions{
		Rounds: r.Rounds, Observe: r.Observe, Singly: r.Singly, Binaries: r.Binaries,
		Turn: func(index int) { s.parent.Send(answer{Turn: &turn{index}}) },
	}
	measured, err := s.evaluator.RemeasureWith(ctx, configurations, o)
	if err == nil {
		s.parent.Send(answer{Remeasured: measured})
	}
	return err
}

// Begin implements device.Supervisor.
func (s *server) Begin(now device.Stage, launches int) {
	s.parent.Send(answer{Stage: &stage{now, launches}})
}

// Timing implements device.Supervisor.
func (s *server) Timing(_ context.Context, first time.Duration) error {
	s.parent.Send(answer{Ask: true, First: first})
	r := <-s.replies
	if r.Time == nil {
		return errors.New("asked to time, and was answered something else")
	}
	if r.Time.Known {
		s.evaluator.Observe(tune.Result{Objective: r.Time.Best})
	}
	return nil
}

// Set implements device.Supervisor.
func (s *server) Set(_ context.Context, all []hardware.Setting) (changed bool, err error) {
	s.parent.Send(answer{Set: all})
	r := <-s.replies
	if r.Applied == nil {
		return false, errors.New("asked for settings of the device, and was answered something else")
	}
	return r.Applied.Changed, nil
}

// Reference implements device.Supervisor.
func (s *server) Reference(_ context.Context, key string) (map[string]*array.Array, error) {
	s.parent.Send(answer{Need: key})
	r := <-s.replies
	if r.Outputs == nil || r.Outputs.Key != key {
		return nil, errors.New("asked for right outputs, and was answered something else")
	}
	s.making = time.Now()
	return r.Outputs.Arrays, nil
}

// handTime is the longest time for making right outputs after which the only worker of a device that needs them keeps them to itself.
// To hand 64 MiB on takes 0.4 s on the host of an H200, where making them takes 0.15 s.
const handTime = time.Second

// Made implements device.Supervisor.
func (s *server) Made(key string, arrays map[string]*array.Array) {
	if s.alone && time.Since(s.making) < handTime {
		arrays = nil // the successor of this worker makes them anew
	}
	s.parent.Send(answer{Outputs: &outputs{key, arrays}})
}
