package worker

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/space"
)

// A server is the worker's side of the protocol. It is the Supervisor of its evaluator.
type server struct {
	work    chan request // tasks
	replies chan request // to questions in the middle of a task
	greeted bool

	parent *process.Parent[request, answer]

	problem   *problem.Problem
	builder   *device.Builder
	evaluator *device.Evaluator
	trace     *trace
}

// serve does what the parent wants until the process ends, and returns its exit status.
func serve() int {
	parent, err := process.Connect[request, answer]("worker")
	if err != nil {
		fmt.Fprintln(os.Stderr, "ndtune worker:", err)
		return 1
	}
	s := newServer(parent)
	go parent.Listen(s.hear)
	if err := s.greet(*(<-s.work).Hello); err != nil {
		s.parent.Send(answer{Failed: &failed{err.Error()}})
		return 1
	}
	for r := range s.work {
		if err := s.do(r); err != nil {
			s.giveUp(err)
			return 1
		}
	}
	return 0
}

func newServer(parent *process.Parent[request, answer]) *server {
	return &server{work: make(chan request, 1), replies: make(chan request, 1), parent: parent}
}

// giveUp tells the parent why nothing further can be evaluated. If only this process cannot go on, it
// just ends, and the parent treats that as a crash in the present stage.
func (s *server) giveUp(err error) {
	var lost *device.LostError
	if errors.As(err, &lost) {
		fmt.Fprintln(os.Stderr, "ndtune worker:", err)
		return
	}
	s.parent.Send(answer{Failed: &failed{err.Error()}})
}

// hear takes a message of the parent.
func (s *server) hear(r request) {
	switch {
	case s.greeted != (r.Hello == nil):
		fmt.Fprintln(os.Stderr, "ndtune worker: hello must be the first message, and the only one of its kind")
		os.Exit(1)
	case r.Time != nil, r.Outputs != nil:
		s.replies <- r
	default:
		s.work <- r
	}
	s.greeted = true
}

// greet gets ready.
func (s *server) greet(h hello) error {
	if len(h.Peaks) > 0 {
		return s.measurePeaks(h)
	}
	var err error
	if s.problem, err = h.problem(); err != nil {
		return err
	}
	d, _, err := findDevice(h)
	if err != nil {
		return err
	}
	if s.trace, err = openTrace(); err != nil {
		return err
	}
	if h.Builds {
		if s.builder, err = device.OpenBuilder(d.Device, s.problem, device.Options{Peaks: h.Device.Peaks, Supervisor: s}); err != nil {
			return err
		}
		s.parent.Send(answer{Ready: &ready{s.builder.Device()}})
		return nil
	}

	o := device.Options{Timer: h.Device.Timer, Peaks: h.Device.Peaks, Iterations: h.Iterations, EarlyStop: h.EarlyStop, Supervisor: s}
	if s.evaluator, err = device.Open(d.Device, s.problem, o); err != nil {
		return err
	}
	s.parent.Send(answer{Ready: &ready{s.evaluator.Device()}})
	return nil
}

// findDevice returns the device of a hello.
func findDevice(h hello) (d device.Listed, identity hardware.Device, err error) {
	all, err := device.List()
	if err != nil {
		return d, identity, err
	}
	if d, err = device.Select(all, h.Selector); err != nil {
		return d, identity, err
	}
	identity, err = device.Describe(d.Device)
	if err == nil && (identity.Name != h.Device.Name || identity.PCI != h.Device.PCI || identity.UUID != h.Device.UUID) {
		err = fmt.Errorf("device %s is %s in a worker, and %s in the program", h.Selector, identity.Name, h.Device.Name)
	}
	return d, identity, err
}

// do answers one request. An error says that nothing further can be evaluated.
func (s *server) do(r request) error {
	ctx := context.Background() // the parent kills a worker that shall stop
	switch {
	case r.Build != nil && s.builder != nil:
		configuration, err := s.configure(r.Build.Values)
		if err != nil {
			return err
		}
		s.trace.note("build", configuration)
		result, binary, err := s.builder.Build(ctx, configuration, r.Build.WantBinary, r.Build.Fresh)
		if err != nil {
			return err
		}
		s.parent.Send(answer{Built: &built{sent(result), binary}})
		return nil
	case r.Evaluate != nil && s.evaluator != nil:
		return s.evaluate(ctx, r.Evaluate)
	case r.Remeasure != nil && s.evaluator != nil:
		return s.remeasure(ctx, r.Remeasure)
	}
	return errors.New("the message is none that this worker can do anything with")
}

// configure refuses values that are none of the problem's. Whether restrictions allow them was
// decided by the parent, which alone has the search space.
func (s *server) configure(v values) (space.Configuration, error) {
	configuration, err := s.problem.Parameters().Configure(v)
	if err == nil {
		err = s.problem.Parameters().CheckValues(configuration)
	}
	return configuration, err
}

func (s *server) evaluate(ctx context.Context, e *evaluate) error {
	configuration, err := s.configure(e.Values)
	if err != nil {
		return err
	}
	s.trace.note("evaluate", configuration)
	r, err := s.evaluator.One(ctx, configuration, e.Binary, e.Fresh)
	var lost *device.LostError
	if err != nil && (r.Status == "" || !errors.As(err, &lost)) {
		return err
	}
	answered := sent(r)
	answered.Lost = lost != nil
	s.parent.Send(answer{Result: &answered})
	return nil
}

func (s *server) remeasure(ctx context.Context, r *remeasure) error {
	configurations := make([]space.Configuration, len(r.Values))
	for i, v := range r.Values {
		var err error
		if configurations[i], err = s.configure(v); err != nil {
			return err
		}
	}
	times, err := s.evaluator.Interleave(ctx, configurations, device.Interleaving{
		Rounds: r.Rounds, Singly: r.Singly,
		Turn: func(place int) { s.parent.Send(answer{Turn: &turn{place}}) },
	})
	if err != nil {
		return err
	}
	s.parent.Send(answer{Remeasured: &remeasured{times}})
	return nil
}

// Begin implements device.Supervisor.
func (s *server) Begin(now device.Stage, launches int) {
	s.parent.Send(answer{Stage: &stage{now, launches}})
}

// Timing implements device.Supervisor.
func (s *server) Timing(context.Context) error {
	s.parent.Send(answer{Ask: true})
	r := <-s.replies
	if r.Time == nil {
		return errors.New("asked to time, and was answered something else")
	}
	if r.Time.Known {
		s.evaluator.SetBest(r.Time.Best)
	}
	return nil
}

// Reference implements device.Supervisor.
func (s *server) Reference(_ context.Context, key string) (map[string]*array.Array, error) {
	s.parent.Send(answer{Need: &need{key}})
	r := <-s.replies
	if r.Outputs == nil || r.Outputs.Key != key {
		return nil, errors.New("asked for right outputs, and was answered something else")
	}
	return r.Outputs.Arrays, nil
}

// Made implements device.Supervisor.
func (s *server) Made(key string, arrays map[string]*array.Array) {
	s.parent.Send(answer{Outputs: &outputs{key, arrays}})
}

// traceVariable names a file to which workers add a line as they begin with a configuration: the
// PID, build or evaluate, and the configuration.
const traceVariable = "NDTUNE_WORKER_TRACE"

// A trace is nil if none is wanted.
type trace struct{ file *os.File }

func openTrace() (*trace, error) {
	path := os.Getenv(traceVariable)
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", traceVariable, err)
	}
	return &trace{f}, nil
}

func (t *trace) note(what string, c space.Configuration) {
	if t != nil {
		fmt.Fprintf(t.file, "%d %s %s\n", os.Getpid(), what, c) // one write, so that lines of processes do not mix
	}
}
