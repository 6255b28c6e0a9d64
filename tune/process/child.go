package process

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

const (
	// holdTime is how long a pipe of a dead child is read further: a process that the child has
	// started may hold it open.
	holdTime = time.Second
	// StopTime is how long to wait for the end of a killed child. A process that hangs in the
	// kernel of the operating system cannot be ended.
	StopTime = 10 * time.Second
)

// A Host starts children of one kind. Q is the type of their requests, A that of their answers.
type Host[Q, A any] struct {
	Name        string    // of the kind, for messages and lists of processes
	Mark        string    // the environment variable that tells a child what it is
	Environment []string  // further variables
	Wrapper     []string  // a command with options that runs a child's command, such as a debugger; nil: none
	Output      io.Writer // gets what children print, line by line; nil: it is only kept for End

	Events  chan Event[Q, A]
	Started int // children so far

	closed   chan struct{}
	printing sync.Mutex
}

// An Event is an answer of a child, or its end.
type Event[Q, A any] struct {
	Child  *Child[Q, A]
	Answer A
	End    *End // nil: it has not ended
}

// NewHost returns a host without children. Close it when nobody takes events any more.
func NewHost[Q, A any](name, mark string, output io.Writer) *Host[Q, A] {
	return &Host[Q, A]{Name: name, Mark: mark, Output: output, Events: make(chan Event[Q, A], 64), closed: make(chan struct{})}
}

// Close discards all events from now on. It does not end the children.
func (h *Host[Q, A]) Close() { close(h.closed) }

// A Child is a process that a [Host] has started.
type Child[Q, A any] struct {
	Number int // counted from 1, in the order of their start

	// Requests are sent to the child in their order. Close it to let the child end by itself, and
	// after the child has ended.
	Requests chan Q

	group
}

// A group is a process that this one has started, with everything that it has started itself.
type group struct {
	command *exec.Cmd
	out     io.Closer
	printed *printed
	end     *End          // not to be read before over is closed
	over    chan struct{} // closed when the process has ended

	mutex sync.Mutex
	alive bool // it may be signalled: its PID cannot have been reused
}

// Start runs the program once more, with further environment variables, NAME=VALUE.
func (h *Host[Q, A]) Start(environment ...string) (*Child[Q, A], error) {
	h.Started++
	c := &Child[Q, A]{Number: h.Started, Requests: make(chan Q, 8)}
	c.printed = h.printed(c.Number)
	path, err := OwnPath()
	if err != nil {
		return nil, fmt.Errorf("start a %s: find the program: %w", h.Name, err)
	}
	c.command = exec.Command(path)
	c.command.Args = []string{os.Args[0], "(" + h.Name + ")"} // for lists of processes
	if h.Wrapper != nil {
		if path, err = os.Executable(); err != nil { // what OwnPath names is the wrapper itself, in a wrapper
			return nil, fmt.Errorf("start a %s: find the program: %w", h.Name, err)
		}
		c.command = exec.Command(h.Wrapper[0], slices.Concat(h.Wrapper[1:], []string{path})...)
	}
	c.command.Env = slices.Concat(os.Environ(), []string{h.Mark + "=1"}, h.Environment, environment)
	in, out, err := c.start()
	if err != nil {
		return nil, fmt.Errorf("start a %s: %w", h.Name, err)
	}
	go c.write(in)
	go c.read(h, out)
	return c, nil
}

// start starts the command, and returns its standard input and output.
func (g *group) start() (in io.WriteCloser, out io.ReadCloser, err error) {
	g.end, g.over = &End{}, make(chan struct{})
	g.command.Stderr, g.command.WaitDelay = g.printed, holdTime
	if in, err = g.command.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if out, err = g.command.StdoutPipe(); err == nil {
		err = startProgram(g.command)
	}
	if err != nil {
		in.Close()
		return nil, nil, err
	}
	g.out, g.alive = out, true
	return in, out, nil
}

// reap waits for the process, and completes its end. Before the process is waited for, which frees its
// PID, everything that it has started is killed, and it gets no further signals.
func (g *group) reap() {
	g.mutex.Lock()
	g.alive = inChild.Load() || !sweep(g.command)
	g.mutex.Unlock()
	_ = g.command.Wait() // ProcessState says more
	g.end.State, g.end.Printed = g.command.ProcessState, g.printed.end()
	close(g.over)
}

// A Bulky request has data that are too long for package gob, which would copy them several times: they follow it as they are. Their length
// is told by what gob encodes. Sending a request takes its data away.
type Bulky interface {
	Bulk() (data *[]byte, length int)
}

// A SegmentPlace is where children find a [Segment]: its number among the files of the parent, and the device and inode that prove it.
type SegmentPlace struct{ Number, Device, Inode uint64 }

// bulkOf returns the data of a request; its length is 0 if there are none.
func bulkOf(request any) (data *[]byte, length int) {
	if b, ok := request.(Bulky); ok {
		return b.Bulk()
	}
	return nil, 0
}

// write sends the requests.
func (c *Child[Q, A]) write(to io.WriteCloser) {
	w := bufio.NewWriter(to)
	encoder := gob.NewEncoder(w)
	for r := range c.Requests {
		var data []byte
		if at, n := bulkOf(&r); n > 0 {
			data, *at = (*at)[:n], nil
		}
		err := encoder.Encode(r)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil || w.Flush() != nil {
			break // the child has ended, of which read tells
		}
	}
	to.Close()
	for range c.Requests {
	}
}

// read passes on the answers and then the end.
func (c *Child[Q, A]) read(h *Host[Q, A], out io.Reader) {
	decoder := gob.NewDecoder(bufio.NewReader(out))
	for {
		var a A
		if err := decoder.Decode(&a); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				c.end.Garbled = err
				c.Kill()
			}
			break
		}
		h.pass(Event[Q, A]{Child: c, Answer: a})
	}
	c.reap()
	h.pass(Event[Q, A]{Child: c, End: c.end})
}

func (h *Host[Q, A]) pass(e Event[Q, A]) {
	select {
	case h.Events <- e:
	case <-h.closed:
	}
}

// PID returns the process identifier.
func (g *group) PID() int { return g.command.Process.Pid }

// Kill ends the process and everything that it has started. The end is still to come.
func (g *group) Kill() {
	g.signal(func(command *exec.Cmd) {
		killProgram(command)
		time.AfterFunc(holdTime, func() { g.out.Close() })
	})
}

// Freeze stops the process and everything that it has started, where [CanFreeze], until Thaw. Both
// return at once: a processor that runs it is interrupted for it.
func (g *group) Freeze() { g.signal(freeze) }

// Thaw lets the process go on after Freeze.
func (g *group) Thaw() { g.signal(thaw) }

// Alive reports whether the process has not ended yet. If it has not, its end is still to come.
func (g *group) Alive() bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.alive
}

// signal sends a signal unless the process has ended.
func (g *group) signal(send func(*exec.Cmd)) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.alive {
		send(g.command)
	}
}

// An EndedError is the error of a request whose child has ended.
type EndedError struct{ End *End }

func (e *EndedError) Error() string { return "the process ended " + e.End.Explain("") }

// Ask sends a request to a child, and waits for the next answer. It is for hosts whose children work one at a time: what others still
// have to say is lost. If the context ends first, the error is its cause; if the child does, it is an [EndedError].
func (h *Host[Q, A]) Ask(ctx context.Context, c *Child[Q, A], request Q) (A, error) {
	c.Requests <- request
	return h.Next(ctx, c)
}

// Next waits for one more answer of a child, as Ask does.
func (h *Host[Q, A]) Next(ctx context.Context, c *Child[Q, A]) (answer A, err error) {
	for {
		select {
		case <-ctx.Done():
			return answer, context.Cause(ctx)
		case e := <-h.Events:
			switch {
			case e.Child != c: // it took long to end
			case e.End != nil:
				return answer, &EndedError{e.End}
			default:
				return e.Answer, nil
			}
		}
	}
}

// AwaitEnd waits for the end of a process that gets no more requests. It is false if there is none until a time.
func (g *group) AwaitEnd(until time.Time) bool {
	select {
	case <-g.over:
		return true
	case <-time.After(time.Until(until)):
		return false
	}
}

// Leave lets a child that gets no more requests end by itself, until a context ends, and then stops it as Stop does.
func (h *Host[Q, A]) Leave(ctx context.Context, c *Child[Q, A]) *End {
	close(c.Requests)
	for {
		select {
		case <-c.over:
			return c.end
		case <-h.Events:
		case <-ctx.Done():
			return h.kill(c)
		}
	}
}

// Stop kills a child that gets no more requests, and waits for its end, at most [StopTime]. It takes the child's place among
// those who take events: what children still had to say is lost. Nil: there is no end in sight.
func (h *Host[Q, A]) Stop(c *Child[Q, A]) *End {
	close(c.Requests)
	return h.kill(c)
}

func (h *Host[Q, A]) kill(c *Child[Q, A]) *End {
	c.Kill()
	for patience := time.After(StopTime); ; {
		select {
		case <-c.over:
			return c.end
		case <-h.Events:
		case <-patience:
			return nil
		}
	}
}
