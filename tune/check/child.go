package check

import (
	"cmp"
	"context"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/score"
)

// childVariable is set in a process that checks one configuration.
const childVariable = "NDTUNE_CHECK_CHILD"

// work is what a child has to do: to check one configuration.
type work struct {
	Problem  []byte // of [problem.Problem.Encode], with one configuration
	Device   string // selector; "": the only device, which is Oclgrind's
	Log      string // of Oclgrind
	Mode     mode   // in Oclgrind
	Launches int    // of each kind, on a real device
	Tool     string // of compute-sanitizer, under which the child runs; "": none

	// Tolerance is that of the problem: outputs that differ by no more than this are a note.
	Tolerance score.Tolerance

	wrapper []string // the command of compute-sanitizer
}

// A mode is one of the ways in which Oclgrind runs a configuration.
type mode int

const (
	// Of a thorough simulation, the kernel is not optimised: an optimising compiler removes accesses whose results are not used, and
	// anything that depends on undefined values. Oclgrind looks for uninitialised memory too.
	thorough mode = iota
	// A fast simulation is one of the optimised kernel, without a look for uninitialised memory. It takes a fifth of the time.
	fast
	// The order of the work-groups is changed, and nothing else looked for.
	reordered
)

// simulated reports whether the work is for Oclgrind.
func (t *work) simulated() bool { return t.Device == "" }

// An answer of a child. A child that crashes has given those that come before.
type answer struct {
	Ready   *ready          // nil: it has launched nothing
	Failure *device.Failure // nil: the device took the configuration
	Failed  string
	Done    *done // nil: it did not come to its end
}

// ready describes the launch that is about to begin.
type ready struct {
	Source    string
	Addresses []uint64 // by argument; 0: unknown
	Size      size
}

// A size orders configurations: by the work-items of all launches, then by those of the largest work-group.
type size struct{ Items, Group int }

func (s size) compare(other size) int {
	return cmp.Or(s.Items-other.Items, s.Group-other.Group)
}

// done says that all launches have ended.
type done struct {
	Faults  []fault
	Skipped []string // checks that were not made, and why
}

// A fault was seen in the content of buffers. It has no line.
type fault struct {
	Kind     Kind
	Note     bool
	Argument int
	Index    int // of the first element
	Text     string
}

// Main must be called first by the main function of a program that calls [Run], and by TestMain of its tests. In a child it checks
// a configuration and ends the process; otherwise it returns at once.
func Main() {
	process.Serve("check", childVariable, func(t work, parent *process.Parent[work, answer]) {
		done, err := t.do(context.Background(), parent.Send)
		failure, own := err.(*device.Failure)
		switch {
		case own:
			parent.Send(answer{Failure: failure})
		case err != nil:
			parent.Send(answer{Failed: err.Error()})
		default:
			parent.Send(answer{Done: done})
		}
	})
}

// do opens the device and checks the configuration there. When it returns, the device is closed, and Oclgrind has written its log.
func (t *work) do(ctx context.Context, say func(answer)) (*done, error) {
	d, err := definition.Decode(t.Problem)
	if err != nil {
		return nil, err
	}
	p, err := problem.New(d)
	if err != nil {
		return nil, err
	}
	listed, err := device.SelectFor(t.Device, p.Language())
	if err != nil {
		return nil, err
	}
	e, err := device.Open(listed.Device, p, device.Options{Timer: hardware.TimerHost, Instruments: []hardware.Instrument{}})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	c, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		return nil, err
	}
	i, err := e.Inspect(ctx, c)
	if err != nil {
		return nil, err
	}
	defer i.Release()
	x := &examination{work: t, problem: p, inspector: i, say: say, done: &done{}}
	switch {
	case t.simulated():
		err = x.simulate(ctx)
	case t.Tool != "":
		_, err = i.Rehearse(ctx, device.Rehearsal{Addresses: true, Ready: x.ready, Bare: t.Tool == initcheck})
	default:
		err = x.rehearse(ctx)
	}
	return x.done, err
}

// An examination is that of one configuration in a child.
type examination struct {
	*work
	problem   *problem.Problem
	inspector *device.Inspector
	say       func(answer)
	done      *done
}

// ready tells the parent of the launch that begins.
func (x *examination) ready(addresses []uint64) {
	v := x.inspector.Variant
	r := &ready{Source: v.Source, Addresses: addresses}
	for _, l := range v.Launches {
		items := 1
		for _, n := range l.NDRange.Global() {
			items *= n
		}
		r.Size.Items += items
		r.Size.Group = max(r.Size.Group, l.NDRange.WorkItems())
	}
	x.say(answer{Ready: r})
}

// simulate launches in Oclgrind, which writes what it finds into its log.
func (x *examination) simulate(ctx context.Context) error {
	first, err := x.inspector.Rehearse(ctx, device.Rehearsal{Addresses: true, ReadOnly: true, Ready: x.ready})
	if err != nil || x.Mode != reordered {
		return err
	}
	return x.reverse(ctx, first, device.Rehearsal{ReadOnly: true})
}

// reverse compares with launches whose work-groups run in the opposite order.
func (x *examination) reverse(ctx context.Context, first *device.Rehearsed, how device.Rehearsal) error {
	if !x.inspector.CanReverse() {
		x.skip("the order of work-groups: the kernel is a SPIR-V module, or has ids by get_global_linear_id or cooperative_groups")
		return nil
	}
	how.Reversed = true
	second, err := x.inspector.Rehearse(ctx, how)
	if failure, ok := err.(*device.Failure); ok {
		x.skip("the order of work-groups: " + failure.Reason)
		return nil
	}
	if err != nil {
		return err
	}
	x.compare(Order, "with the work-groups in the opposite order", first, second)
	return nil
}

func (x *examination) skip(why string) { x.done.Skipped = append(x.done.Skipped, why) }

func (x *examination) add(f fault) { x.done.Faults = append(x.done.Faults, f) }

// A said is what a child has said until its end.
type said struct {
	answer
	ended error // why it was over early; nil: by an answer
}

// size returns the size of the launch, if one has begun.
func (s *said) size() (of size) {
	if s.Ready != nil {
		of = s.Ready.Size
	}
	return of
}

// runChild has work done in a process of its own, with further environment variables. It notes in a check what the child does not
// check. The error says that there was no child, or is that of the context.
func runChild(ctx context.Context, t work, environment []string, limit time.Duration, into *Check) (all said, err error) {
	host := process.NewHost[work, answer]("check", childVariable, nil)
	defer host.Close()
	host.Wrapper = t.wrapper
	limited, stop := context.WithTimeoutCause(ctx, limit, process.ErrLate)
	defer stop()
	child, err := host.Start(environment...)
	if err != nil {
		return all, err
	}
	if t.wrapper == nil {
		defer host.Stop(child)
	} else { // it writes its last messages after the child's end
		defer host.Leave(limited, child)
	}
	a, err := host.Ask(limited, child, t)
	if err == nil && a.Ready != nil {
		all.Ready = a.Ready
		a, err = host.Next(limited, child)
	}
	switch {
	case err != nil && all.Ready == nil && ctx.Err() != nil:
		return all, ctx.Err()
	case err != nil:
		all.ended = err
	case a.Done != nil:
		all.Done, into.Skipped = a.Done, a.Done.Skipped
	case a.Failure != nil:
		all.Failure, into.Unchecked = a.Failure, reasonOf(a.Failure)
	default:
		into.Unchecked = a.Failed
	}
	return all, nil
}

// reasonOf returns why a device did not run a configuration, in a few words.
func reasonOf(f *device.Failure) string {
	if f.Status == tune.Compile {
		return "it does not compile: " + f.Reason
	}
	return f.Reason
}
