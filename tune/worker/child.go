package worker

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
)

// A child is the worker's side of the protocol. It is the Supervisor of its evaluator.
type child struct {
	work    chan request // what to do
	replies chan request // to what the worker asked in the middle of it

	mutex   sync.Mutex
	out     *bufio.Writer
	encoder *gob.Encoder

	problem   *tune.Problem
	builder   *device.Builder
	evaluator *device.Evaluator
	trace     *trace
}

// serve is the life of a worker, and gives its exit status.
func serve() int {
	in, out, err := takeStreams()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ndtune worker:", err)
		return 1
	}
	return newChild(out).serve(in)
}

func newChild(out io.Writer) *child {
	w := bufio.NewWriter(out)
	return &child{
		work: make(chan request, 1), replies: make(chan request, 1),
		out: w, encoder: gob.NewEncoder(w),
	}
}

func (c *child) serve(in io.Reader) int {
	go c.read(in)
	if err := c.greet(*(<-c.work).Hello); err != nil {
		c.send(answer{Failed: &failed{err.Error()}})
		return 1
	}
	for r := range c.work {
		if err := c.do(r); err != nil {
			c.giveUp(err)
			return 1
		}
	}
	return 0
}

// giveUp says why nothing further can be evaluated. Where only this process cannot go on, its
// end says so: the parent knows what it was at, and does as if it had crashed.
func (c *child) giveUp(err error) {
	var lost *device.LostError
	if errors.As(err, &lost) {
		fmt.Fprintln(os.Stderr, "ndtune worker:", err)
		return
	}
	c.send(answer{Failed: &failed{err.Error()}})
}

// read takes messages until there are no more, which is the end of the process, whatever
// it does: the parent has ended, or wants no more of it.
func (c *child) read(in io.Reader) {
	decoder := gob.NewDecoder(bufio.NewReader(in))
	greeted := false
	for {
		var r request
		if err := decoder.Decode(&r); err != nil {
			if err != io.EOF {
				fmt.Fprintln(os.Stderr, "ndtune worker: read a message:", err)
			}
			os.Exit(0)
		}
		switch {
		case greeted != (r.Hello == nil):
			fmt.Fprintln(os.Stderr, "ndtune worker: hello must be the first message, and the only one of its kind")
			os.Exit(1)
		case r.Time != nil, r.Outputs != nil:
			c.replies <- r
		default:
			c.work <- r
		}
		greeted = true
	}
}

// send writes a message. Nobody reads it where the parent has ended, and that ends the
// process too.
func (c *child) send(a answer) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	err := c.encoder.Encode(a)
	if err == nil {
		err = c.out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ndtune worker: send a message:", err)
		os.Exit(1)
	}
}

// greet makes ready for what the parent wants.
func (c *child) greet(h hello) error {
	if len(h.Peaks) > 0 {
		return c.measurePeaks(h)
	}
	var err error
	if c.problem, err = h.problem(); err != nil {
		return err
	}
	d, err := findDevice(h)
	if err != nil {
		return err
	}
	if c.trace, err = openTrace(); err != nil {
		return err
	}
	var identity tune.Device
	if h.Builds {
		if c.builder, err = device.OpenBuilder(d.Device, c.problem, device.Options{Peaks: h.Device.Peaks, Supervisor: c}); err != nil {
			return err
		}
		identity = c.builder.Device()
	} else {
		o := device.Options{Timer: h.Device.Timer, Peaks: h.Device.Peaks, Iterations: h.Iterations, EarlyStop: h.EarlyStop, Supervisor: c}
		if c.evaluator, err = device.Open(d.Device, c.problem, o); err != nil {
			return err
		}
		identity = c.evaluator.Device()
	}
	c.send(answer{Ready: &ready{identity}})
	return nil
}

// findDevice is the device that the parent means.
func findDevice(h hello) (device.Listed, error) {
	all, err := device.List()
	if err != nil {
		return device.Listed{}, err
	}
	d, err := device.Select(all, h.Selector)
	if err != nil {
		return device.Listed{}, err
	}
	identity, err := device.Describe(d.Device)
	if err != nil {
		return device.Listed{}, err
	}
	if identity.Name != h.Device.Name || identity.PCI != h.Device.PCI || identity.UUID != h.Device.UUID {
		return device.Listed{}, fmt.Errorf("device %s is %s in a worker, and %s in the program", h.Selector, identity.Name, h.Device.Name)
	}
	return d, nil
}

// do answers one request. An error says that nothing further can be evaluated.
func (c *child) do(r request) error {
	ctx := context.Background() // the parent ends a worker that shall stop
	switch {
	case r.Build != nil && c.builder != nil:
		configuration, err := c.configure(r.Build.Values)
		if err != nil {
			return err
		}
		c.trace.note("build", configuration)
		result, binary, err := c.builder.Build(ctx, configuration, r.Build.WantBinary, r.Build.Fresh)
		if err != nil {
			return err
		}
		c.send(answer{Built: &built{sent(result), binary}})
		return nil
	case r.Evaluate != nil && c.evaluator != nil:
		return c.evaluate(ctx, r.Evaluate)
	case r.Remeasure != nil && c.evaluator != nil:
		return c.remeasure(ctx, r.Remeasure)
	}
	return errors.New("the message is none that this worker can do anything with")
}

// configure refuses what is not one of the problem's configurations. Whether restrictions
// allow it was decided by the parent, which alone has the search space.
func (c *child) configure(values map[string]space.Value) (space.Configuration, error) {
	configuration, err := c.problem.Parameters().Configure(values)
	if err == nil {
		err = c.problem.Parameters().CheckValues(configuration)
	}
	return configuration, err
}

func (c *child) evaluate(ctx context.Context, e *evaluate) error {
	configuration, err := c.configure(e.Values)
	if err != nil {
		return err
	}
	c.trace.note("evaluate", configuration)
	r, err := c.evaluator.One(ctx, configuration, e.Binary, e.Fresh)
	var lost *device.LostError
	if err != nil && (r.Status == "" || !errors.As(err, &lost)) {
		return err
	}
	answered := sent(r)
	answered.Lost = lost != nil
	c.send(answer{Result: &answered})
	return nil
}

func (c *child) remeasure(ctx context.Context, r *remeasure) error {
	configurations := make([]space.Configuration, len(r.Values))
	for i, v := range r.Values {
		var err error
		if configurations[i], err = c.configure(v); err != nil {
			return err
		}
	}
	times, err := c.evaluator.Interleave(ctx, configurations, device.Interleaving{
		Rounds: r.Rounds, Singly: r.Singly,
		Turn: func(place int) { c.send(answer{Turn: &turn{place}}) },
	})
	if err != nil {
		return err
	}
	c.send(answer{Remeasured: &remeasured{times}})
	return nil
}

// Begin implements device.Supervisor.
func (c *child) Begin(s device.Stage, launches int) {
	c.send(answer{Stage: &stage{s, launches}})
}

// Timing implements device.Supervisor.
func (c *child) Timing(context.Context) error {
	c.send(answer{Ask: true})
	r := <-c.replies
	if r.Time == nil {
		return errors.New("asked to time, and was answered something else")
	}
	if r.Time.Known {
		c.evaluator.SetBest(r.Time.Best)
	}
	return nil
}

// Reference implements device.Supervisor.
func (c *child) Reference(_ context.Context, key string) (map[string]*array.Array, error) {
	c.send(answer{Need: &need{key}})
	r := <-c.replies
	if r.Outputs == nil || r.Outputs.Key != key {
		return nil, errors.New("asked for right outputs, and was answered something else")
	}
	return r.Outputs.Arrays, nil
}

// Made implements device.Supervisor.
func (c *child) Made(key string, arrays map[string]*array.Array) {
	c.send(answer{Outputs: &outputs{key, arrays}})
}
