package matmul

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/ndtune/ndtune/tune/process"
)

// environment marks a process as that of an entrant.
const environment = "NDTUNE_MATMUL"

// A request is to open an entrant, which comes first, or to measure it at a size.
type request struct {
	Entrant    *Entrant
	Shape      Shape
	Candidates Candidates // of a kernel
}

// An answer to a request has one of these.
type answer struct {
	About       string // the entrant is open
	Measurement Measurement
	Missing     string // the entrant's library is not there
	Failed      string // why the request failed; the next one may succeed
}

// A Process is an entrant in a process of its own, which is started again after it has ended.
// Close it when done. It is for one goroutine at a time.
type Process struct {
	Entrant Entrant

	host  *process.Host[request, answer]
	child *process.Child[request, answer] // nil: not running
}

// About starts the process and says what the entrant is: which library or device, on how many
// threads. The error is a [MissingError] if its library is not there.
func (p *Process) About(ctx context.Context) (string, error) {
	var err error
	p.host = process.NewHost[request, answer]("process of "+p.Entrant.Name, environment, nil)
	if p.child, err = p.host.Start(); err != nil {
		return "", err
	}
	a, err := p.ask(ctx, request{Entrant: &p.Entrant})
	if err != nil {
		p.Close()
		return "", err
	}
	return a.About, nil
}

// Measure measures at a size, a kernel in the best of its candidates. If ctx ends before
// there is an answer, the process is killed, and the error is that of the context.
func (p *Process) Measure(ctx context.Context, s Shape, c Candidates) (Measurement, error) {
	if p.child == nil {
		if _, err := p.About(ctx); err != nil {
			return Measurement{}, err
		}
	}
	a, err := p.ask(ctx, request{Shape: s, Candidates: c})
	return a.Measurement, err
}

// ask sends a request and waits for the answer.
func (p *Process) ask(ctx context.Context, r request) (answer, error) {
	a, err := p.host.Ask(ctx, p.child, r)
	if err != nil {
		p.Close()
	}
	ended, is := errors.AsType[*process.EndedError](err)
	switch {
	case is:
		cause, _, _ := strings.Cut(ended.End.Explain(""), "\n")
		return answer{}, fmt.Errorf("the process of %s ended %s", p.Entrant.Name, cause)
	case err != nil:
		return answer{}, err
	case a.Failed != "":
		return answer{}, errors.New(a.Failed)
	case a.Missing != "":
		return answer{}, &MissingError{a.Missing}
	}
	return a, nil
}

// Close ends the process. It can be called twice.
func (p *Process) Close() {
	if p.child != nil {
		p.host.Stop(p.child)
		p.host.Close()
		p.child = nil
	}
}

// Main must be called by the main function of a program that opens a [Process], before it does
// anything else but worker.Main (and by TestMain of its tests). In the process of an entrant it
// serves and ends the process; otherwise it returns at once.
func Main() {
	var entrant Entrant
	var with *multiplier
	// On one thread, to which CUDA binds a device.
	process.Serve("matmul", environment, func(r request, parent *process.Parent[request, answer]) {
		var a answer
		var err error
		if r.Entrant != nil {
			entrant = *r.Entrant
			if with, err = open(entrant); err == nil {
				a.About = with.about
			}
		} else {
			a.Measurement, err = measure(entrant, with, r.Shape, r.Candidates)
			debug.FreeOSMemory() // other entrants need it now
		}
		if missing, is := errors.AsType[*MissingError](err); is {
			a.Missing = missing.Text
		} else if err != nil {
			a = answer{Failed: err.Error()}
		}
		parent.Send(a)
	})
}
