package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// A Program is a program of the user's that answers lines of JSON with lines of JSON. It starts with the first question and stays. After
// an error it is killed, and starts anew with the next question. It is not safe for concurrent use. Whoever asks one must close it.
type Program struct {
	Args    []string // the program first
	Dir     string   // working folder; "": that of this process
	Env     []string // variables, NAME=VALUE, beside those of this process
	Timeout time.Duration
	Wanted  string            // the answers that it can give, for messages
	Show    func(line string) // gets what it prints on standard error; nil: only errors quote the end of it

	dialogue *Dialogue // nil: it does not run
}

func (p *Program) String() string { return strings.Join(p.Args, " ") }

// Ask sends messages, each as a line, and decodes the one line that the program answers. A program that cannot do what it is asked
// answers {"error": "…"}, which is the error, and goes on.
//
// It is an error if the program cannot be started, which is a [StartError], ends, which is an [EndedError], does not answer within its
// Timeout (0: there is none), which is [ErrLate], or answers something else. Time in which a child of a [Host] is frozen does not count.
func (p *Program) Ask(ctx context.Context, answer any, messages ...any) error {
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if p.Timeout > 0 {
		go limit(limited, p.Timeout, stop)
	}
	line, err := p.exchange(limited, messages)
	if err == nil {
		var refused struct{ Error string }
		if json.Unmarshal(line, &refused) == nil && refused.Error != "" {
			return errors.New(refused.Error)
		}
		if err = decode(line, answer); err == nil {
			return nil
		}
		err = fmt.Errorf("it wrote on standard output, where its answer belongs, %s: want %s: %w", excerpt.Of(string(line)), p.Wanted, err)
	}
	over := errors.Is(err, ErrOver)
	switch end := p.Close(over); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ErrLate):
		return fmt.Errorf("%w %s", ErrLate, p.Timeout)
	case over && end != nil:
		return &EndedError{end}
	}
	return err
}

// exchange sends messages and receives a line.
func (p *Program) exchange(ctx context.Context, messages []any) ([]byte, error) {
	if p.dialogue == nil {
		command := exec.Command(p.Args[0], p.Args[1:]...)
		command.Dir, command.Env = p.Dir, append(os.Environ(), p.Env...)
		var err error
		if p.dialogue, err = Converse(command, p.Show); err != nil {
			return nil, fmt.Errorf("start it: %w", err)
		}
	}
	if line := p.dialogue.Unasked(); line != nil { // it would be taken for the next answer
		return nil, fmt.Errorf("it printed %s without being asked", excerpt.Of(string(line)))
	}
	if err := p.Tell(ctx, messages...); err != nil && !errors.Is(err, ErrOver) {
		return nil, err
	} // a program that has ended may have answered before
	return p.dialogue.Receive(ctx)
}

// Tell sends messages that have no answer to a program that runs.
func (p *Program) Tell(ctx context.Context, messages ...any) error {
	if p.dialogue == nil {
		return ErrOver
	}
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	e.SetEscapeHTML(false)
	for _, m := range messages {
		if err := e.Encode(m); err != nil {
			return fmt.Errorf("encode what it is asked: %w", err)
		}
	}
	return p.dialogue.Send(ctx, lines.Bytes())
}

// decode decodes a line that is one value without unknown members.
func decode(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if _, more := d.Token(); err == nil && more != io.EOF {
		err = errors.New("more follows the object")
	}
	return err
}

// Close ends the program if it runs, as [Dialogue.Close] does. It does nothing on nil.
func (p *Program) Close(byItself bool) *End {
	if p == nil || p.dialogue == nil {
		return nil
	}
	defer func() { p.dialogue = nil }()
	return p.dialogue.Close(byItself)
}

// inChild is set in a child of a [Host]: its process group is killed with it, and frozen with it.
var inChild atomic.Bool

// startProgram starts a program, which [killProgram] ends.
func startProgram(c *exec.Cmd) error {
	isolate(c, !inChild.Load())
	return startKept(c)
}

// killProgram kills a program and the processes that it has started. In a child of a [Host], these are killed when
// the child ends. The program may have ended: as long as any of the others runs, no process gets the number of their group.
func killProgram(c *exec.Cmd) {
	if inChild.Load() {
		_ = c.Process.Kill()
	} else {
		killGroup(c)
	}
}

// ErrLate is the error of a program that did not answer within its time.
var ErrLate = errors.New("it did not answer within")

// A StartError says why a program could not be started.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// limit stops a context after some time. A ticker leaves out the ticks for which nobody was ready: while
// this process is frozen, no time passes.
func limit(ctx context.Context, after time.Duration, stop context.CancelCauseFunc) {
	const step = 500 * time.Millisecond
	ticker := time.NewTicker(min(step, after))
	defer ticker.Stop()
	for passed := time.Duration(0); passed < after; passed += step {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
	stop(ErrLate)
}
