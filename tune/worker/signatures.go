package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/process"
)

// program is a source to build for the declarations of its kernels.
type program struct{ Source, Options string }

// described are the declarations, or what is known of a build that failed.
type described struct {
	Kernels []device.Signature
	Failed  *device.SourceError
}

// Signatures builds a source in a worker, and returns the declarations of its kernels. A compiler that crashes or
// takes longer than the time-out is an error that says so; a source that does not compile has a [device.SourceError].
func Signatures(ctx context.Context, d device.Listed, source, options string, timeout time.Duration) ([]device.Signature, error) {
	identity, err := device.Describe(d.Device)
	if err != nil {
		return nil, err
	}
	host := newHost(nil)
	defer host.Close()
	worker, err := host.Start()
	if err != nil {
		return nil, err
	}
	defer host.Stop(worker)
	limited, stop := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the compiler took longer than %s (--build-timeout)", timeout))
	defer stop()
	a, err := host.Ask(limited, worker, request{Hello: &hello{Selector: d.Selector(), Device: identity, Program: &program{source, options}}})
	var ended *process.EndedError
	switch {
	case errors.As(err, &ended):
		return nil, fmt.Errorf("the compiler of %s ended the process that built the source %s", d.Name, ended.End.Explain(""))
	case err != nil:
		return nil, err
	case a.Failed != "":
		return nil, errors.New(a.Failed)
	case a.Described == nil:
		return nil, errors.New("the process that builds the source gave another answer")
	case a.Described.Failed != nil:
		return nil, a.Described.Failed
	}
	return a.Described.Kernels, nil
}

// describe builds, in a worker, the source of a hello.
func (s *server) describe(h hello) error {
	d, err := findDevice(h)
	if err != nil {
		return err
	}
	kernels, err := device.Signatures(d.Device, h.Program.Source, h.Program.Options)
	if failed, is := errors.AsType[*device.SourceError](err); is {
		s.parent.Send(answer{Described: &described{Failed: failed}})
		return nil
	}
	if err == nil {
		s.parent.Send(answer{Described: &described{Kernels: kernels}})
	}
	return err
}
