package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/worker"
)

// Options of an [Evaluator].
type Options struct {
	Worker worker.Options // of the agents' pools

	// Search is the id of the search, of letters and digits. An evaluator with the id of an earlier one gets
	// the results that came after that one ended. "": a new id.
	Search string

	// Note gets sentences for the user; nil: they are dropped.
	Note func(text string)
}

// An Evaluator evaluates configurations on the devices of one kind in a fleet.
type Evaluator struct {
	connection *Connection
	search     search
	note       func(text string)
	end        context.CancelFunc
	all        sync.WaitGroup

	device   hardware.Device
	mutex    sync.Mutex
	devices  map[string]Announcement // by agent
	capacity int                     // of all devices
	counted  int
	changed  chan struct{} // closed when a device comes, goes, refuses the search, or begins or ends to work for it

	problem  *problem.Problem
	reading  func() // ends the reading of results
	answers  chan answer
	early    map[string]answer // correct results that no configuration waits for yet, by the configuration
	answered map[string]bool   // configurations that have a result
	silent   int               // audits since the last answer
}

// silence returns the time since an announcement that the server has not dropped. The clocks of the server and this machine can differ.
func silence(announced, now time.Time) time.Duration { return min(max(0, now.Sub(announced)), expiry) }

// Devices returns the devices of all agents, by name.
func (c *Connection) Devices(ctx context.Context) ([]Announcement, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	entries, err := c.agents.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list the devices of the fleet: %w", err)
	}
	defer entries.Stop()
	var all []Announcement
	for more := true; more; {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("list the devices of the fleet: %w", ctx.Err())
		case entry := <-entries.Updates():
			if entry == nil { // the end of those that are there
				more = false
			} else if a, err := decode[Announcement](entry.Value()); err == nil {
				a.Silence = silence(entry.Created(), time.Now())
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, func(a, b Announcement) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Selector, b.Selector))
	})
	return all, nil
}

// Open begins a search on the devices that are of the kind of d, and waits until one of them is ready or the
// context ends. It is an error if all of them refuse the problem.
func Open(ctx context.Context, c *Connection, p *problem.Problem, d hardware.Device, o Options) (*Evaluator, error) {
	d.Timer = ""
	e := &Evaluator{
		connection: c, note: o.Note, device: d, devices: map[string]Announcement{}, changed: make(chan struct{}), problem: p,
		answers: make(chan answer), early: map[string]answer{}, answered: map[string]bool{},
		search: search{
			header: ours, ID: cmp.Or(o.Search, rand.Text()), Begun: rand.Text(), Kernel: p.KernelName(),
			Digest: p.Digest(), Object: p.Digest(), Device: d, Worker: o.Worker,
		},
	}
	if e.note == nil {
		e.note = func(string) {}
	}
	limited, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	err := persist(limited, func(err error) bool {
		return passes(err) || errors.Is(err, jetstream.ErrJetStreamNotEnabled)
	}, func() error { return e.begin(ctx) })
	if err == nil {
		err = e.await(ctx)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// begin makes the queue, stores the problem, and announces the search.
func (e *Evaluator) begin(ctx context.Context) error {
	c, id := e.connection, e.search.ID
	if err := e.store(ctx); err != nil {
		return err
	}
	if err := e.purge(ctx); err != nil {
		return fmt.Errorf("empty the queue of an earlier search with this id: %w", err)
	}
	if err := e.makeQueue(ctx); err != nil {
		return err
	}
	earlier, err := e.read(ctx)
	if err != nil {
		return err
	}
	// Those of an earlier evaluator come first, so that nothing is asked again.
	for range earlier {
		select {
		case a := <-e.answers:
			e.keep(a)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if _, err := c.searches.Put(ctx, id, encode(e.search)); err != nil {
		return fmt.Errorf("announce the search: %w", err)
	}
	within, end := context.WithCancel(context.WithoutCancel(ctx))
	e.end = end
	agents := follower[Announcement]{
		connection: c, bucket: c.agents, keyOf: func(a Announcement) string { return a.Agent },
		each: func(agent string, a *Announcement) {
			if a == nil || sameModel(a.Device, e.search.Device) == nil {
				e.set(agent, a)
			}
		},
	}
	e.all.Go(func() { agents.run(within) })
	e.all.Go(func() {
		for pause(within, renewal) == nil {
			_, _ = c.searches.Put(within, id, encode(e.search)) // an error is mended by the next time
		}
	})
	return nil
}

// set keeps a device, or forgets it.
func (e *Evaluator) set(agent string, a *Announcement) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	before := len(e.devices)
	known, had := e.devices[agent]
	if a == nil {
		delete(e.devices, agent)
	} else {
		e.devices[agent] = *a
	}
	e.capacity = e.sum()
	if had && a != nil && known.Search == a.Search && slices.Equal(known.Refused, a.Refused) {
		return // as most announcements
	}
	if !had && a == nil {
		return
	}
	switch after := len(e.devices); {
	case after == 0 && before > 0:
		e.note("No agent with a device of this kind is left. The search waits for one.")
	case after > 0 && before == 0:
		e.note(fmt.Sprintf("An agent: %s.", a.Name()))
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// sum returns the capacity of all devices that do not refuse the search. One that has not begun to work for it does not know its capacity,
// and counts like the best of those that have: a search fixes at its start how many proposals are under way, when one device is ready.
func (e *Evaluator) sum() (sum int) {
	most, coming := 1, 0
	for _, a := range e.devices {
		switch {
		case a.Search == e.search.ID:
			sum += a.Capacity
			most = max(most, a.Capacity)
		case !slices.ContainsFunc(a.Refused, func(r Refusal) bool { return r.Search == e.search.Begun }):
			coming++
		}
	}
	return sum + coming*most
}

func (e *Evaluator) present() []Announcement {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return slices.Collect(maps.Values(e.devices))
}

// hopeful returns a channel that is closed when the devices change, and an error if all of them refuse the search.
func (e *Evaluator) hopeful() (changed <-chan struct{}, err error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var refusals []string
	for _, p := range e.devices {
		for _, r := range p.Refused {
			if r.Search == e.search.Begun {
				refusals = append(refusals, p.Name()+": "+r.Why)
			}
		}
	}
	if len(refusals) > 0 && len(refusals) == len(e.devices) {
		slices.Sort(refusals)
		return e.changed, fmt.Errorf("no agent works for this search:\n%s", strings.Join(refusals, "\n"))
	}
	return e.changed, nil
}

// await waits until a device is ready for the search.
func (e *Evaluator) await(ctx context.Context) error {
	for {
		changed, err := e.hopeful()
		if err != nil {
			return err
		}
		for _, p := range e.present() {
			if p.Search == e.search.ID {
				e.device = p.Device
				e.device.Peaks = e.search.Worker.Peaks
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Device implements [tune.Evaluator]. It is one of the devices, which are of one kind.
func (e *Evaluator) Device() hardware.Device { return e.device }

// Capacity implements [tune.Evaluator]: the sum of the devices', and half as many more that wait in the queue.
func (e *Evaluator) Capacity() int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return max(1, e.capacity+(e.capacity+1)/2)
}

// Evaluated returns the number of configurations that have a result.
func (e *Evaluator) Evaluated() int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.counted
}

// Observe implements [tune.Prober].
func (e *Evaluator) Observe(best tune.Result) {
	best.Metrics, best.AtFinal, best.Readings = nil, nil, nil // agents do not need them, and JSON has no NaN
	data := encode(bestOf{ours, valuesOf(best.Configuration), best})
	_ = e.connection.nats.Publish(bestSubjects+e.search.ID, data) // only saves time
}

// Close ends the search: agents drop its work. Results that were stored stay for an evaluator with the same id.
func (e *Evaluator) Close() {
	if e.reading != nil {
		e.reading()
	}
	if e.end != nil {
		e.end()
		e.all.Wait()
		e.end = nil
	}
	if n := e.connection.dropped.Swap(0); n > 0 {
		e.note(fmt.Sprintf("Messages that could not be read and were dropped: %d.", n))
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	c, id := e.connection, e.search.ID
	_ = c.searches.Delete(ctx, id) // else it expires
	_ = e.purge(ctx)
	_ = c.js.DeleteConsumer(ctx, workStream, id)
}
