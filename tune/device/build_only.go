package device

import (
	"context"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A Builder compiles the configurations of one problem for one device, and does nothing
// else there: it holds a context and no buffers. Another process that evaluates what was
// built finds it in the driver's cache, or takes the binary. Close it when done. It is not
// safe for concurrent use.
type Builder struct{ evaluator *Evaluator }

// OpenBuilder makes a builder. Of the options only Peaks and Supervisor count.
func OpenBuilder(d *cl.Device, p *tune.Problem, o Options) (*Builder, error) {
	e, err := newEvaluator(d, p, o)
	if err != nil {
		return nil, err
	}
	return &Builder{e}, nil
}

// Device is the device, without its timer.
func (b *Builder) Device() tune.Device { return b.evaluator.identity }

// Close releases what the builder holds.
func (b *Builder) Close() { b.evaluator.Close() }

// Build compiles a configuration. A result without a status says that it can be evaluated;
// one with a status is its end. Its Durations.Build is what compiling took. The binary is
// that of the program where it is wanted and the driver gives one. Fresh is a [FreshOption], or
// "": who evaluates the build must have the same.
func (b *Builder) Build(ctx context.Context, c space.Configuration, wantBinary bool, fresh string) (result tune.Result, binary []byte, err error) {
	t := b.evaluator.trial(c)
	t.fresh = fresh
	defer t.release()
	for _, stage := range []func(context.Context) error{t.derive, t.build} {
		if err := ctx.Err(); err != nil {
			return t.result, nil, err
		}
		if err := stage(ctx); err != nil {
			if failed, ok := err.(*failure); ok {
				t.result.Status, t.result.Reason = failed.status, failed.reason
				t.result.Timestamp = time.Now()
				return t.result, nil, nil
			}
			return t.result, nil, err
		}
	}
	if wantBinary {
		if all, err := t.program.Binaries(); err == nil && len(all) == 1 {
			binary = all[0]
		}
	}
	return t.result, binary, nil
}
