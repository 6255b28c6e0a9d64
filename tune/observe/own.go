package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

// An Instrument of the user's own gives readings of further quantities. Its methods are called in turn: Begin before
// the launches, End after them, Close at the end.
type Instrument interface {
	Begin() error
	// End returns the values of the quantities in the time since Begin, in which there were so many launches. A
	// quantity without a value is missing in the result.
	End(launches int, took time.Duration) (map[string]float64, error)
	Close() error
}

// An Own describes an instrument of the user's own.
type Own struct {
	Quantities []string
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
	instrument Instrument // nil: it must be opened
	failures   int        // in a row
	last       error      // of the last observation
	values     map[string]float64
}

func newOwn(o Own, d hardware.Device) *own {
	if o.Open == nil {
		args, dir, timeout := o.Command, o.Dir, o.Timeout
		if timeout <= 0 {
			timeout = DefaultTimeout
		}
		o.Open = func(d hardware.Device) (Instrument, error) { return startCommand(args, dir, timeout, d) }
	}
	return &own{Own: o, device: d}
}

// name returns the name of the instrument for people.
func (o *own) name() string {
	if len(o.Command) > 0 {
		return strings.Join(o.Command, " ")
	}
	return o.Name
}

// begin tells the instrument that launches begin. It opens it first, unless it failed too often.
func (o *own) begin() {
	o.values = nil
	if o.failures >= maxFailures {
		return
	}
	o.last = nil
	if o.instrument == nil {
		if o.instrument, o.last = o.Open(o.device); o.last != nil {
			o.instrument = nil
			o.fail()
			return
		}
	}
	if o.last = o.instrument.Begin(); o.last != nil {
		o.fail()
	}
}

// end tells the instrument that the launches have ended, and takes its values.
func (o *own) end(launches int, took time.Duration) {
	if o.instrument == nil || o.last != nil {
		return
	}
	if o.values, o.last = o.instrument.End(launches, took); o.last != nil {
		o.fail()
		return
	}
	o.failures = 0
}

// fail closes an instrument that failed. The next observation opens it again.
func (o *own) fail() {
	if o.failures++; o.failures >= maxFailures {
		o.last = fmt.Errorf("%w; it failed %d times in a row, and is not used any more", o.last, o.failures)
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
	v, ok := o.values[quantity]
	switch {
	case o.last != nil:
		return hardware.MissingReading(quantity, fmt.Sprintf("%s: %v", o.name(), o.last))
	case !ok:
		return hardware.MissingReading(quantity, o.name()+" gave no value of "+quantity)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return hardware.MissingReading(quantity, fmt.Sprintf("%s gave the value %v", o.name(), v))
	}
	return hardware.Reading{Quantity: quantity, Value: v}
}

// A command is an instrument that is a program. Before the launches it gets the line «begin», after them the line
// «end LAUNCHES SECONDS», to which it answers with a line: a JSON object of quantities and their values.
type command struct {
	dialogue *process.Dialogue
	timeout  time.Duration
}

// startCommand starts a command. Its environment names the device.
func startCommand(args []string, dir string, timeout time.Duration, d hardware.Device) (Instrument, error) {
	program := exec.Command(args[0], args[1:]...)
	program.Dir = dir
	program.Env = append(os.Environ(), "NDTUNE_DEVICE_NAME="+d.Name, "NDTUNE_DEVICE_PCI="+d.PCI, "NDTUNE_DEVICE_UUID="+d.UUID)
	dialogue, err := process.Converse(program, func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		return nil, err
	}
	return &command{dialogue, timeout}, nil
}

// limited returns a context for an exchange of lines.
func (c *command) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), c.timeout, fmt.Errorf("it did not answer within %s", c.timeout))
}

// Begin implements Instrument.
func (c *command) Begin() error {
	if line := c.dialogue.Unasked(); line != nil { // it would be taken for the next answer
		return fmt.Errorf("it printed %.100q without being asked", line)
	}
	ctx, stop := c.limited()
	defer stop()
	return explained(c.dialogue.Send(ctx, []byte("begin\n")))
}

// End implements Instrument.
func (c *command) End(launches int, took time.Duration) (map[string]float64, error) {
	ctx, stop := c.limited()
	defer stop()
	if err := c.dialogue.Send(ctx, fmt.Appendf(nil, "end %d %.9f\n", launches, took.Seconds())); err != nil {
		return nil, explained(err)
	}
	line, err := c.dialogue.Receive(ctx)
	if err != nil {
		return nil, explained(err)
	}
	var values map[string]float64
	if err := json.Unmarshal(line, &values); err != nil {
		return nil, fmt.Errorf("it answered %.100q; want a JSON object of numbers such as {\"watts\": 71.5}: %w", line, err)
	}
	return values, nil
}

// explained returns the error of an exchange of lines.
func explained(err error) error {
	if errors.Is(err, process.ErrOver) {
		return errors.New("it has ended, or closed its standard output")
	}
	return err
}

// Close ends the command, with the processes that it has started. A command that works as it should ends with its standard
// input; it gets no time for that, because its readings are taken.
func (c *command) Close() error {
	c.dialogue.Close(false)
	return nil
}
