package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/worker"
)

// A Device is a device of an agent.
type Device struct {
	Selector string // on its machine
	Identity hardware.Device

	// Open opens an evaluator for a problem, with options that came from its search. An agent has one open at a time for each device.
	Open func(context.Context, *problem.Problem, worker.Options) (Opened, error)

	// Close is called when the agent ends; nil: nothing is.
	Close func()
}

// Opened is an evaluator that an agent closes.
type Opened interface {
	tune.Remeasurer
	tune.Prober
	Close()
}

// An Agent evaluates configurations for the searches of a fleet.
type Agent struct {
	Devices []Device
	Machine string // name; "": the host's
	Tool    string // the program, with its version

	// AllowCommands lets problems run the commands that they name.
	AllowCommands bool

	// AllowSettings lets problems change settings of the devices: Open of a device must be able to.
	AllowSettings bool

	// Note gets sentences for the user; nil: they are dropped.
	Note func(text string)

	mutex    sync.Mutex
	searches map[string]known
	changed  chan struct{} // closed when searches change
}

// known is a search that an agent has heard of.
type known struct {
	search
	within context.Context // ends with the search, or with the agent
	end    context.CancelFunc
}

// Run works until the context ends, and returns nil then. Work in progress goes back to the queue.
func (a *Agent) Run(ctx context.Context, c *Connection) error {
	if len(a.Devices) == 0 {
		return errors.New("an agent needs a device")
	}
	if a.Machine == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		a.Machine = host
	}
	a.searches, a.changed = map[string]known{}, make(chan struct{})
	var all sync.WaitGroup
	var once sync.Once
	searches := follower[search]{
		connection: c, bucket: c.searches, keyOf: func(s search) string { return s.ID },
		each: func(id string, s *search) { a.set(ctx, id, s) },
		other: func(err error) {
			once.Do(func() { a.note("A coordinator of another version is ignored: %v.", err) })
		},
	}
	all.Go(func() { searches.run(ctx) })
	id := rand.Text()
	for i, d := range a.Devices {
		s := &station{agent: a, connection: c, device: d, asked: map[string]measurement{}, news: make(chan struct{}, 1)}
		s.announcement = Announcement{
			header: ours, Tool: a.Tool, Agent: fmt.Sprintf("%s_%d", id, i), Machine: a.Machine, Process: os.Getpid(),
			Selector: d.Selector, Device: d.Identity, Capacity: 1, Since: time.Now(),
		}
		all.Go(func() { s.announce(ctx) })
		all.Go(func() { s.run(ctx) })
	}
	all.Wait()
	return nil
}

func (a *Agent) note(format string, args ...any) {
	if a.Note != nil {
		a.Note(fmt.Sprintf(format, args...))
	}
}

// set keeps a search, or forgets it. One that has begun again takes the place of the one before it.
func (a *Agent) set(ctx context.Context, id string, s *search) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	before, had := a.searches[id]
	if had && s != nil && before.Begun == s.Begun || !had && s == nil {
		return
	}
	if had {
		before.end()
		delete(a.searches, id)
	}
	if s != nil {
		after := known{search: *s}
		after.within, after.end = context.WithCancel(ctx)
		a.searches[id] = after
	}
	close(a.changed)
	a.changed = make(chan struct{})
}

// forDevice returns the searches for devices of a kind, by their ids, and a channel that is closed when there are
// others.
func (a *Agent) forDevice(d hardware.Device) ([]known, <-chan struct{}) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var fit []known
	for _, id := range slices.Sorted(maps.Keys(a.searches)) {
		if s := a.searches[id]; sameModel(s.Device, d) == nil {
			fit = append(fit, s)
		}
	}
	return fit, a.changed
}

// goesOn reports whether a search is still there.
func (a *Agent) goesOn(id string) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	_, there := a.searches[id]
	return there
}

// sameModel compares devices whose timers may not be known yet.
func sameModel(a, b hardware.Device) error {
	a.Timer, b.Timer = "", ""
	return hardware.SameModel(a, b)
}

// A station is a device of an agent at work.
type station struct {
	agent      *Agent
	connection *Connection
	device     Device

	evaluator Opened // nil: none is open
	problem   *problem.Problem
	of        [2]string // the id and the begun of the search of both

	news chan struct{} // has an element when a measurement is asked for

	returning context.Context // of work that goes back to the coordinator
	returns   sync.WaitGroup  // has one for each

	mutex        sync.Mutex
	ended        bool // no more returns
	announcement Announcement
	asked        map[string]measurement // by search
	begun        string                 // the key of the last measurement
	measured     answer                 // the last measurement
}

// announce renews the announcement until the context ends, and withdraws it then.
func (s *station) announce(ctx context.Context) {
	tick := time.NewTicker(renewal)
	defer tick.Stop()
	for {
		s.publish(ctx)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = s.connection.agents.Delete(last, s.announcement.Agent) // else it expires
			return
		case <-tick.C:
		}
	}
}

// publish announces the device once. An error is mended by the next time.
func (s *station) publish(ctx context.Context) {
	s.mutex.Lock()
	a := s.announcement
	s.mutex.Unlock()
	a.Announced, a.Dropped = time.Now(), s.connection.dropped.Load()
	_, _ = s.connection.agents.Put(ctx, a.Agent, encode(a))
}

// change changes the announcement and publishes it.
func (s *station) change(ctx context.Context, f func(a *Announcement)) {
	s.mutex.Lock()
	f(&s.announcement)
	s.mutex.Unlock()
	s.publish(ctx)
}

// run works for one search after the other until the context ends.
func (s *station) run(ctx context.Context) {
	returning, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.returning = returning
	defer func() {
		s.mutex.Lock()
		s.ended = true
		s.mutex.Unlock()
		time.AfterFunc(renewal, cancel) // if the server is away, the work stays in the queue
		s.returns.Wait()
		if s.close(); s.device.Close != nil {
			s.device.Close()
		}
	}()
	asked, err := s.connection.nats.Subscribe(measureSubjects+s.announcement.Agent, s.hear)
	if err != nil {
		return // the connection is closed
	}
	defer asked.Unsubscribe()
	last := ""
	for ctx.Err() == nil {
		fit, changed := s.agent.forDevice(s.device.Identity)
		fit = slices.DeleteFunc(fit, func(k known) bool {
			return slices.ContainsFunc(s.announcement.Refused, func(r Refusal) bool { return r.Search == k.Begun })
		})
		if len(fit) == 0 {
			s.close()
			if s.announcement.Search != "" {
				s.change(ctx, func(a *Announcement) { a.Search, a.Problem, a.Since = "", "", time.Now() })
			}
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		// One that asks for a measurement, or else the next one after the last.
		i := s.asking(fit)
		if i < 0 {
			i = slices.IndexFunc(fit, func(k known) bool { return k.ID > last })
		}
		next := fit[max(0, i)]
		last = next.ID
		err := s.work(next.within, next.search, len(fit) > 1)
		var passes *passing
		switch {
		case err == nil || next.within.Err() != nil:
		case errors.As(err, &passes):
			_ = pause(ctx, renewal)
		default:
			s.agent.note("%s does not work for the search of %s: %v.", s.device.Selector, next.Kernel, err)
			s.change(ctx, func(a *Announcement) {
				known := a.Refused[max(0, len(a.Refused)-maxRefusals+1):]
				a.Refused = append(slices.Clone(known), Refusal{next.Begun, err.Error()})
			})
		}
	}
}

// passing is an error of the connection or the server. It is no reason to refuse a search.
type passing struct{ error }

func (p *passing) Unwrap() error { return p.error }

func (s *station) close() {
	if s.evaluator != nil {
		s.evaluator.Close()
		s.evaluator, s.problem, s.of = nil, nil, [2]string{}
	}
}

// open opens the evaluator for a search, if it is not the one that is open. A search that has begun again may have other settings,
// and the evaluator of before may have broken.
func (s *station) open(ctx context.Context, next search) error {
	of := [2]string{next.ID, next.Begun}
	if s.of == of {
		return nil
	}
	p, err := s.problemOf(ctx, next)
	if err != nil {
		return err
	}
	s.close()
	e, err := s.device.Open(ctx, p, next.Worker)
	if err != nil {
		return err
	}
	s.evaluator, s.problem, s.of = e, p, of
	s.change(ctx, func(a *Announcement) {
		a.Device, a.Search, a.Problem, a.Since = e.Device(), next.ID, next.Kernel, time.Now()
		a.Capacity = cmp.Or(e.Capacity(), 1)
	})
	return nil
}

// problemOf gets the problem of a search. The problem may come from anybody, so what it names on this machine is refused
// before it is made.
func (s *station) problemOf(ctx context.Context, next search) (*problem.Problem, error) {
	data, err := s.connection.problems.GetBytes(ctx, next.Object)
	if err != nil {
		return nil, &passing{fmt.Errorf("get the problem: %w", err)}
	}
	d, err := definition.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode the problem: %w", err)
	}
	commands, files := d.Outside()
	switch {
	case len(files) > 0:
		return nil, fmt.Errorf("its definition names files of this machine (%s)", strings.Join(files, ", "))
	case len(commands) > 0 && !s.agent.AllowCommands:
		return nil, fmt.Errorf("its specification names commands to run (%s), and the agent was not started with --allow commands",
			strings.Join(commands, ", "))
	}
	p, err := problem.New(d)
	if err != nil {
		return nil, fmt.Errorf("make the problem: %w", err)
	}
	if names := p.SettingNames(); len(names) > 0 && !s.agent.AllowSettings {
		return nil, fmt.Errorf("its specification changes settings of the device (%s), and the agent was not started with --allow settings",
			strings.Join(names, ", "))
	}
	if p.Digest() != next.Digest {
		return nil, errors.New("the problem is another one here than at the coordinator")
	}
	return p, nil
}
