package worker

import (
	"encoding/gob"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// A conversation is one with a worker, by the protocol and nothing else.
type conversation struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	encoder *gob.Encoder
	answers chan answer // closed when the worker says no more
	errors  lines       // what it prints
	heard   []string    // stages are merged where the same one begins again
}

// talk starts the program as a worker.
func talk(t *testing.T, variables ...string) *conversation {
	t.Helper()
	c := &conversation{t: t, answers: make(chan answer, 64)}
	mark := nextMark()
	c.command = exec.Command(os.Args[0])
	c.command.Env = append(append(os.Environ(), environment+"=1", mark), variables...)
	c.command.Stderr = &c.errors
	var err error
	if c.in, err = c.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, outOfChild, err := os.Pipe() // not StdoutPipe: Wait would close what is still to be read
	if err != nil {
		t.Fatal(err)
	}
	c.command.Stdout = outOfChild
	c.encoder = gob.NewEncoder(c.in)
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	outOfChild.Close()
	go func() {
		defer close(c.answers)
		decoder := gob.NewDecoder(out)
		for {
			var a answer
			if decoder.Decode(&a) != nil {
				return
			}
			c.answers <- a
		}
	}()
	t.Cleanup(func() {
		_ = c.command.Process.Kill()
		_ = c.command.Wait()
		out.Close()
		checkGone(t, mark)
	})
	return c
}

func (c *conversation) say(r request) {
	c.t.Helper()
	if err := c.encoder.Encode(r); err != nil {
		c.t.Fatalf("say %+v: %v", r, err)
	}
}

// hear is the next answer that is no stage.
func (c *conversation) hear() answer {
	c.t.Helper()
	for {
		a := c.next()
		what := a.what()
		if n := len(c.heard); n == 0 || a.Stage == nil || c.heard[n-1] != what {
			c.heard = append(c.heard, what)
		}
		if a.Stage == nil {
			return a
		}
	}
}

// next is the next answer.
func (c *conversation) next() answer {
	c.t.Helper()
	select {
	case a, ok := <-c.answers:
		if !ok {
			c.t.Fatalf("the worker ended after %q; it printed:\n%s", c.heard, &c.errors)
		}
		return a
	case <-time.After(watchdog):
		c.t.Fatalf("the worker says nothing more after %q; it printed:\n%s", c.heard, &c.errors)
	}
	panic("not reached")
}

// watchdog bounds the wait for an event: none takes so long unless something is wrong, on a busy
// machine neither.
const watchdog = 10 * time.Minute

// what is an answer in a word: the stage, or the field that is set. It is an error where the
// answer has not exactly one.
func (a answer) what() string {
	var all []string
	add := func(is bool, word string) {
		if is {
			all = append(all, word)
		}
	}
	add(a.Ready != nil, "ready")
	if a.Stage != nil {
		all = append(all, "["+string(a.Stage.Stage)+"]")
	}
	add(a.Need != "", "need")
	add(a.Outputs != nil, "outputs")
	add(a.Ask, "ask")
	add(a.Built != nil, "built")
	add(a.Result != nil, "result")
	add(a.Turn != nil, "turn")
	add(a.Remeasured != nil, "remeasured")
	add(a.Failed != "", "failed")
	if len(all) != 1 {
		return "not one message but: " + strings.Join(all, " ")
	}
	return all[0]
}

// wantHeard wants what was heard since it was last called.
func (c *conversation) wantHeard(want string) {
	c.t.Helper()
	if got := strings.Join(c.heard, " "); got != want {
		c.t.Errorf("heard:\n%s\nwant:\n%s", got, want)
	}
	c.heard = nil
}

// ends wants the worker to end with a status, and to have printed something.
func (c *conversation) ends(status int, printed string) {
	c.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.command.Wait() }()
	select {
	case <-ended:
	case <-time.After(watchdog):
		c.t.Fatalf("the worker does not end after %q", c.heard)
	}
	if got := c.command.ProcessState.ExitCode(); got != status || !strings.Contains(c.errors.String(), printed) {
		c.t.Errorf("ended with status %d and %q; want %d and %q", got, &c.errors, status, printed)
	}
}

// greeting is what a pool says to a worker first.
func greeting(t *testing.T, p *problem.Problem) *hello {
	t.Helper()
	return greetingFrom(t, testDevice(t), p)
}

func greetingFrom(t *testing.T, l device.Listed, p *problem.Problem) *hello {
	t.Helper()
	problem, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return &hello{Selector: l.Selector(), Device: *l.Identity, Problem: problem, Digest: p.Digest(), Iterations: 3}
}

func (c *conversation) greet(h *hello) hardware.Device {
	c.t.Helper()
	c.say(request{Hello: h})
	a := c.hear()
	if a.Ready == nil {
		c.t.Fatalf("%+v, want ready", a)
	}
	c.wantHeard("ready")
	return *a.Ready
}

// silence makes sure that a worker that has asked to time does not go on by itself. It waits
// a moment for the worker to do wrong: too short a moment hides a fault, and fails nothing.
func (c *conversation) silence() {
	c.t.Helper()
	select {
	case a, ok := <-c.answers:
		c.t.Fatalf("%+v, %v before it was allowed to time", a, ok)
	case <-time.After(50 * time.Millisecond):
	}
}
