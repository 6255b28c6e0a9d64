package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

// An Instrument of the user's own gives readings of further quantities. Its methods are called in turn: Begin before
// the launches of a frame, End after them, Close at the end. One that frames nothing (hardware.EachConfiguration) has only End called.
type Instrument interface {
	Begin(Frame) error
	// End returns the values of the quantities in the time since Begin. A quantity without a value is missing in the result. Its
	// reading is the mean over the frames of a configuration that have a value.
	End(Frame) (map[string]float64, error)
	Close() error
}

// A Frame is what an instrument is told of the launches that it observes.
type Frame struct {
	Values   map[string]any // the configuration, as JSON has it: kernel, configuration, constants
	Times    []float64      // of the timed launches of the configuration, in milliseconds, which came before
	Index    int            // of the frame, from 0
	Launches int            // in the frame; 0 at Begin
	Took     time.Duration  // from Begin to End
}

// An Own describes an instrument of the user's own.
type Own struct {
	Quantities []string
	Each       string        // one of hardware.Frames; "": hardware.EachWindow
	Window     time.Duration // least duration of the launches that it observes; 0: the default

	// Open opens the instrument of a device. If it is nil, Command is started once for each device.
	Open    Opener
	Name    string        // of Open, for people
	Command []string      // the program with its arguments
	Dir     string        // in which the command runs
	Timeout time.Duration // for an answer of the command; 0: DefaultTimeout
}

// An Opener opens an instrument on a device.
type Opener = func(hardware.Device) (Instrument, error)

var registered = map[string]Opener{}

// Register names a function that opens an instrument, for problems that name it. It is called before worker.Main, since
// the instrument is opened in the process that times. It panics if the name is taken.
func Register(name string, open Opener) {
	if _, taken := registered[name]; taken {
		panic(fmt.Sprintf("observe: two instruments are named %q", name))
	}
	registered[name] = open
}

// Registered returns the function of a name. For an unknown name, it returns one that fails.
func Registered(name string) Opener {
	if open, ok := registered[name]; ok {
		return open
	}
	return func(hardware.Device) (Instrument, error) {
		return nil, errors.New("no instrument of this name is registered in the process that times: call observe.Register before worker.Main")
	}
}

// DefaultTimeout is the time in which a command must answer.
const DefaultTimeout = 5 * time.Second

// maxFailures is the number of failures in a row after which an instrument is not opened again.
const maxFailures = 3

// own is an open instrument of the user's.
type own struct {
	Own
	device     hardware.Device
	instrument Instrument         // nil: it must be opened
	failures   int                // in a row
	last       error              // of the last observation
	sums       map[string]float64 // of values, by quantity
	counts     map[string]float64 // of values
}

func newOwn(o Own, d hardware.Device) *own {
	if o.Open == nil {
		args, dir, timeout := o.Command, o.Dir, o.Timeout
		if timeout <= 0 {
			timeout = DefaultTimeout
		}
		o.Open = func(d hardware.Device) (Instrument, error) { return newCommand(args, dir, timeout, d), nil }
	}
	o.Each = cmp.Or(o.Each, hardware.EachWindow)
	return &own{Own: o, device: d}
}

// name returns the name of the instrument for people.
func (o *own) name() string {
	if len(o.Command) > 0 {
		return strings.Join(o.Command, " ")
	}
	return o.Name
}

// start readies the instrument for a configuration. It opens it unless it failed too often.
func (o *own) start() {
	o.sums, o.counts = map[string]float64{}, map[string]float64{}
	if o.failures >= maxFailures {
		return
	}
	if o.last = nil; o.instrument == nil {
		if o.instrument, o.last = o.Open(o.device); o.last != nil {
			o.instrument = nil
			o.fail()
		}
	}
}

// begin tells the instrument that launches begin.
func (o *own) begin(f Frame) {
	if o.last != nil {
		return
	}
	if o.last = o.instrument.Begin(f); o.last != nil {
		o.fail()
	}
}

// end tells the instrument that the launches have ended, and takes its values.
func (o *own) end(f Frame) {
	if o.last != nil {
		return
	}
	values, err := o.instrument.End(f)
	if o.last = err; err != nil {
		o.fail()
		return
	}
	o.failures = 0
	for quantity, v := range values {
		o.sums[quantity] += v
		o.counts[quantity]++
	}
}

// fail counts a failure, and closes the instrument so that the next observation opens it again. A command starts again by itself.
func (o *own) fail() {
	if o.failures++; o.failures >= maxFailures {
		o.last = fmt.Errorf("%w; it failed %d times in a row, and is not used any more", o.last, o.failures)
	} else if len(o.Command) > 0 {
		return
	}
	o.stop()
}

// stop closes the instrument.
func (o *own) stop() {
	if o.instrument != nil {
		_ = o.instrument.Close() // its readings are taken
		o.instrument = nil
	}
}

// reading returns the value of a quantity.
func (o *own) reading(quantity string) hardware.Reading {
	n := o.counts[quantity]
	v := o.sums[quantity] / n
	switch {
	case o.last != nil:
		return hardware.MissingReading(quantity, fmt.Sprintf("%s: %v", o.name(), o.last))
	case n == 0:
		return hardware.MissingReading(quantity, o.name()+" gave no value of "+quantity)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return hardware.MissingReading(quantity, fmt.Sprintf("%s gave the value %v", o.name(), v))
	}
	return hardware.Reading{Quantity: quantity, Value: v}
}

// A command is an instrument that is a program. Before the launches of a frame it gets {"begin": …}, which it answers with an object,
// and after them {"end": …}, which it answers with an object of quantities and their values.
type command struct{ program process.Program }

// newCommand returns a command, whose environment names the device.
func newCommand(args []string, dir string, timeout time.Duration, d hardware.Device) Instrument {
	return &command{process.Program{
		Args: args, Dir: dir, Timeout: timeout, Show: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Env:    []string{"NDTUNE_DEVICE_NAME=" + d.Name, "NDTUNE_DEVICE_PCI=" + d.PCI, "NDTUNE_DEVICE_UUID=" + d.UUID},
		Wanted: `a JSON object of numbers such as {"watts": 71.5}, which may be empty`,
	}}
}

// ask asks the program about a frame.
func (c *command) ask(what string, f Frame, more map[string]any) (map[string]float64, error) {
	question := map[string]any{"times": append([]float64{}, f.Times...), "launch": f.Index}
	maps.Copy(question, f.Values)
	maps.Copy(question, more)
	var answer map[string]*float64 // null: there is none
	if err := c.program.Ask(context.Background(), &answer, map[string]any{what: question}); err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for quantity, v := range answer {
		if v != nil {
			values[quantity] = *v
		}
	}
	return values, nil
}

// Begin implements Instrument.
func (c *command) Begin(f Frame) error {
	_, err := c.ask("begin", f, nil)
	return err
}

// End implements Instrument.
func (c *command) End(f Frame) (map[string]float64, error) {
	return c.ask("end", f, map[string]any{"launches": f.Launches, "seconds": f.Took.Seconds()})
}

// Close ends the command, with the processes that it has started. It gets no time for that, because its readings are taken.
func (c *command) Close() error {
	c.program.Close(false)
	return nil
}
