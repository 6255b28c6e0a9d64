package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
)

// A Pool evaluates the configurations of one problem in worker processes, on one device or
// on several of one model. It implements tune.Remeasurer and tune.Prober.
// Close it when done. Evaluate, Probe and Remeasure are called one at a time.
type Pool struct {
	problem    *problem.Problem
	devices    []device.Listed
	identities []hardware.Device // of the devices
	identity   hardware.Device   // of the first one, with its timer
	options    Options
	noBuilders bool // every worker evaluates; else some only build
	shared     bool // any work of a worker can disturb one that times
	freezes    bool // workers can be frozen

	// answering is the time that programs of the user's may take for their answers in a stage, which the worker itself observes.
	answering map[device.Stage]time.Duration

	hello   hello
	segment *process.Segment // with the problem; nil: the hello has it
	reserve *Reserve         // of the options, or of this pool alone
	host    *host            // of the reserve
	events  <-chan event
	closed  bool

	members     []*member
	most        int       // workers, without the evaluating ones if there are builders
	fewer       string    // why there are fewer, until the user is told
	startDeaths int       // in a row
	line        []*member // members that wait for the device
	timer       *member   // the member that times, if shared
	references  map[string]*reference
	makerDeaths int           // in a row, of members that made a reference
	measuring   average       // the time to measure a configuration
	building    average       // the time of a build in a worker that evaluates, from the driver's cache or not
	evaluating  average       // the time of a configuration but for its timed launches, in a pool without builders
	starting    time.Duration // the least time until a worker was ready; the first may wait for the disk
	filling     time.Duration // the time for the buffers of a worker
	expected    int           // configurations that the pool gets at most; 0: unknown
	unsafe      bool          // a worker has died or was killed in a build
	launched    bool          // a launch has ended
	carry       carry
	dropping    atomic.Bool // what waits
	fastest     []fast
	best        atomic.Pointer[tune.Result] // so far, as the run observes it; nil: unknown

	fresh               string      // of new assignments
	retest              tune.Retest // likewise
	toBuild, toEvaluate queue
	slow                queue         // assignments to repeat
	began               time.Time     // the search
	repeating           time.Duration // the time for all repeats that have begun or wait for their turn, by the first evaluations
	results             []tune.Result // not yet handed on
	evaluated           atomic.Int64
	capacity            atomic.Int64
	spent               Spent
}

// Open opens a pool for a problem on a device, or on several of one model, and waits until its
// first worker is ready or the context ends. Other workers start when there is work for them.
//
// It is an error if the program does not call [Main], or if the problem holds Go functions and Options name no Maker.
func Open(ctx context.Context, devices []device.Listed, p *problem.Problem, o Options) (*Pool, error) {
	if len(devices) == 0 {
		return nil, errors.New("a pool needs a device")
	}
	if len(p.SettingNames()) > 0 && len(o.Set) < len(devices) {
		return nil, device.ErrNotSet
	}
	pool := newPool(devices, p, o)
	err := pool.prepare()
	if err == nil {
		err = pool.openFirst(ctx)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

func newPool(devices []device.Listed, p *problem.Problem, o Options) *Pool {
	identities := make([]hardware.Device, len(devices))
	for i, d := range devices {
		identities[i] = *d.Identity
		identities[i].Peaks = o.Peaks
	}
	identity := identities[0]
	if o.Single {
		o.Workers = 1
	} else if o.Workers <= 0 {
		o.Workers = defaultWorkers(p, identity, len(devices))
	}
	o.Iterations = cmp.Or(o.Iterations, p.Timing().Launches)
	o.BuildTimeout = cmp.Or(max(0, o.BuildTimeout), DefaultBuildTimeout)
	o.KernelTimeout = cmp.Or(max(0, o.KernelTimeout), DefaultKernelTimeout)
	if o.Note == nil {
		o.Note = func(text string) { fmt.Fprintln(os.Stderr, text) }
	}
	pool := &Pool{
		problem: p, devices: devices, identities: identities, identity: identity, options: o, most: o.Workers, began: time.Now(),
		answering:  map[device.Stage]time.Duration{},
		carry:      carry{binaries: p.HasTarget() || identity.IsCUDA()}, // no driver's cache has the binary for another target, and CUDA has none
		noBuilders: o.Single || needsNoBuilders(identity), shared: sharesHost(identity), freezes: process.CanFreeze,
	}
	if pool.reserve = o.Reserve; pool.reserve == nil {
		pool.reserve = NewReserve(o.Output)
	}
	pool.host = pool.reserve.host
	if judge := p.VerifyCommand(); judge != nil {
		pool.answering[device.StageVerify] = judge.Timeout
	}
	if generator := p.SourceCommand(); generator != nil {
		pool.answering[device.StageBuild], pool.answering[device.StageBuffers] = generator.Timeout, generator.Timeout
	}
	for _, i := range p.Definition().Measure.Instruments {
		if i.Command != nil {
			pool.answering[device.StageObserve] += cmp.Or(i.Command.Timeout, observe.DefaultTimeout)
		}
	}
	pool.events = pool.host.Events
	return pool
}

// prepare makes the hello for all workers.
func (p *Pool) prepare() (err error) {
	if !hasRun {
		return errNoMain
	}
	p.hello = hello{
		Maker: p.options.Maker, Input: p.options.Input,
		Iterations: p.options.Iterations, EarlyStop: p.options.EarlyStop, Outputs: p.options.Outputs,
	}
	if !p.options.Single || p.options.Maker != "" { // else it would be the only reason to read all of the data
		p.hello.Digest = p.problem.Digest()
	}
	if p.problem.VerifyCommand() != nil {
		if p.hello.Scratch, err = os.MkdirTemp("", "ndtune-verify-"); err != nil {
			return fmt.Errorf("make a folder for verify.command: %w", err)
		}
	}
	if p.options.Maker != "" {
		if _, ok := makers[p.options.Maker]; !ok {
			return fmt.Errorf("no problem is registered as %q: call worker.Register before worker.Main", p.options.Maker)
		}
		return nil
	}
	p.hello.Problem, err = p.problem.EncodeInto(func(size int) []byte {
		if size >= segmentLeast {
			if s, err := process.NewSegment(size); err == nil { // else the problem goes through the pipes
				p.segment = s
				return s.Bytes
			}
		}
		return make([]byte, size)
	})
	p.hello.Bulk = len(p.hello.Problem)
	if p.segment != nil {
		p.hello.Problem, p.hello.Segment = nil, p.segment.Seal()
	}
	if _, is := errors.AsType[*problem.FunctionError](err); is {
		return fmt.Errorf("%w: register it (worker.Register), or evaluate in this process (device.Open)", err)
	}
	return err
}

// segmentLeast is the least size of a problem, in bytes, that workers read from a segment of memory.
const segmentLeast = 1 << 20

// openFirst finds how the quantities of the problem are observed, before any worker disturbs an idle device, and starts the worker that
// tells the timer.
func (p *Pool) openFirst(ctx context.Context) (err error) {
	for i := range p.identities {
		if p.identities[i].Instruments, err = device.Instruments(ctx, p.identities[i], p.problem); err != nil {
			return err
		}
	}
	if err := p.start(false, 0, time.Now()); err != nil {
		return err
	}
	p.reserve.trim(p.most-p.count(true), p.most+len(p.devices))
	_, err = p.evaluator(ctx, 0)
	p.capacity.Store(int64(p.room()))
	return err
}

// Device is the first device, with its timer.
func (p *Pool) Device() hardware.Device { return p.identity }

// Capacity is how many configurations the pool can use: one for each worker, and as many more as
// keep them busy.
func (p *Pool) Capacity() int { return int(p.capacity.Load()) }

// Evaluated is how many configurations have a result so far.
func (p *Pool) Evaluated() int { return int(p.evaluated.Load()) }

// Observe implements tune.Prober.
func (p *Pool) Observe(r tune.Result) { p.best.Store(&r) }

// Expect says that the pool evaluates at most n more configurations. Without it, a pool on a CPU starts all its workers at once; with it,
// as many as are worth their start. It must not be called while the pool evaluates.
func (p *Pool) Expect(n int) { p.expected = p.Evaluated() + n }

// Started is how many processes the pool has started so far. It must not be called while the
// pool evaluates.
func (p *Pool) Started() int { return p.host.Started }

// Spent is the time of all workers so far. It must not be called while the pool
// evaluates.
func (p *Pool) Spent() Spent {
	for _, m := range p.members {
		m.book(time.Now())
	}
	return p.spent
}

// Close hands idle workers to the reserve and kills all others, without waiting for their ends. It can be called twice.
func (p *Pool) Close() {
	if p.closed {
		return
	}
	now := time.Now()
	p.Spent() // books the last state of each member
	for _, m := range p.members {
		m.thaw(now)
		if m.state == idle && !m.doubtful {
			p.reserve.put(spare{m.child, m.builds, p.noBuilders, device.LanguageOf(p.identity), p.devices[m.device].Selector()})
			continue
		}
		m.child.Kill()
		close(m.child.Requests)
	}
	p.members, p.closed = nil, true
	p.segment.Close()
	if p.hello.Scratch != "" {
		_ = os.RemoveAll(p.hello.Scratch) // temporary files, of no use to anyone
	}
	if p.options.Reserve == nil {
		p.reserve.Close()
	}
}

var errClosed = errors.New("the pool is closed")
