package fleet

import (
	"bytes"
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
	"github.com/ndtune/ndtune/tune/space"
)

// Options of an [Evaluator].
type Options struct {
	Settings Settings

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

	device  hardware.Device
	mutex   sync.Mutex
	devices map[string]present // by agent
	counted int
	changed chan struct{} // closed when devices change

	answers  chan answer
	early    map[string]answer // results that no configuration waits for yet
	answered map[string]bool   // keys
}

// present is a device of an agent, and when it was announced last.
type present struct {
	Announcement
	at time.Time
}

// Devices returns the devices of all agents, by name.
func (c *Connection) Devices(ctx context.Context) ([]Announcement, error) {
	all, err := readAll[Announcement](ctx, c.agents)
	if err != nil {
		return nil, fmt.Errorf("list the devices of the fleet: %w", err)
	}
	slices.SortFunc(all, func(a, b Announcement) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Selector, b.Selector))
	})
	return all, nil
}

// Open begins a search on the devices that are of the kind of d, and waits until one of them is ready or the
// context ends. It is an error if all of them refuse the problem.
func Open(ctx context.Context, c *Connection, p *problem.Problem, d hardware.Device, o Options) (*Evaluator, error) {
	data, err := p.Encode()
	if err != nil {
		return nil, err
	}
	if len(data) > maxProblem {
		return nil, fmt.Errorf("the problem has %d bytes, more than %d", len(data), int64(maxProblem))
	}
	d.Timer = ""
	e := &Evaluator{
		connection: c, note: o.Note, device: d, devices: map[string]present{}, changed: make(chan struct{}),
		answers: make(chan answer), early: map[string]answer{}, answered: map[string]bool{},
		search: search{
			Protocol: Protocol, ID: cmp.Or(o.Search, rand.Text()), Begun: rand.Text(), Kernel: p.KernelName(), Digest: p.Digest(), Object: p.Digest(), Device: d, Settings: o.Settings,
		},
	}
	if e.note == nil {
		e.note = func(string) {}
	}
	if err := e.begin(ctx, data); err != nil {
		e.Close()
		return nil, err
	}
	if err := e.await(ctx); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// begin makes the queue, stores the problem, and announces the search.
func (e *Evaluator) begin(ctx context.Context, problem []byte) error {
	c, id := e.connection, e.search.ID
	if err := e.store(ctx, problem); err != nil {
		return err
	}
	if err := e.purge(ctx); err != nil {
		return fmt.Errorf("empty the queue of an earlier search with this id: %w", err)
	}
	_, err := c.js.CreateOrUpdateConsumer(ctx, workStream, jetstream.ConsumerConfig{
		Durable: id, FilterSubject: workSubjects + id, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: -1,
	})
	if err != nil {
		return fmt.Errorf("make the queue of the search: %w", err)
	}
	results, err := c.js.OrderedConsumer(ctx, resultStream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{resultSubjects + id}})
	if err != nil {
		return fmt.Errorf("read the results: %w", err)
	}
	within, end := context.WithCancel(context.WithoutCancel(ctx))
	e.end = end
	earlier := results.CachedInfo().NumPending
	reading, err := results.Consume(func(m jetstream.Msg) {
		a, err := decode[answer](m.Data())
		if err != nil || a.Search != id { // a copy of another search's
			c.dropped.Add(1)
			a = answer{} // that no configuration waits for
		}
		select {
		case e.answers <- a:
		case <-within.Done():
		}
	})
	if err != nil {
		return fmt.Errorf("read the results: %w", err)
	}
	e.all.Go(func() { <-within.Done(); reading.Stop() })
	// Those of an earlier evaluator come first, so that nothing is asked again.
	for range earlier {
		select {
		case a := <-e.answers:
			e.keep(a)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	watcher, err := c.agents.WatchAll(within)
	if err != nil {
		return fmt.Errorf("watch the agents: %w", err)
	}
	if _, err := c.searches.Put(ctx, id, encode(e.search)); err != nil {
		return fmt.Errorf("announce the search: %w", err)
	}
	e.all.Go(func() { e.watch(within, watcher) })
	return nil
}

// store stores the problem, if the server does not have it.
func (e *Evaluator) store(ctx context.Context, problem []byte) error {
	c := e.connection
	c.storing.Lock()
	defer c.storing.Unlock()
	_, err := c.problems.GetInfo(ctx, e.search.Object)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, jetstream.ErrObjectNotFound):
		return fmt.Errorf("look for the problem: %w", err)
	}
	if _, err := c.problems.Put(ctx, jetstream.ObjectMeta{Name: e.search.Object}, bytes.NewReader(problem)); err != nil {
		return fmt.Errorf("store the problem: %w", err)
	}
	return nil
}

// watch renews the search, and keeps the devices up to date.
func (e *Evaluator) watch(ctx context.Context, w jetstream.KeyWatcher) {
	defer w.Stop()
	tick := time.NewTicker(renewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case entry := <-w.Updates():
			if entry == nil {
				continue
			}
			if entry.Operation() != jetstream.KeyValuePut {
				e.set(entry.Key(), nil)
				continue
			}
			a, err := decode[Announcement](entry.Value())
			switch {
			case err != nil || a.Agent != entry.Key():
				e.connection.dropped.Add(1)
			case sameModel(a.Device, e.search.Device) == nil:
				e.set(a.Agent, &a)
			}
		case <-tick.C:
			_, _ = e.connection.searches.Put(ctx, e.search.ID, encode(e.search)) // an error is mended by the next time
			for _, p := range e.present() {
				if time.Since(p.at) > expiry {
					e.set(p.Agent, nil)
				}
			}
		}
	}
}

// set keeps a device, or forgets it.
func (e *Evaluator) set(agent string, a *Announcement) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	before := len(e.devices)
	if a == nil {
		delete(e.devices, agent)
	} else {
		e.devices[agent] = present{*a, time.Now()}
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

func (e *Evaluator) present() []present {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return slices.Collect(maps.Values(e.devices))
}

// hopeful returns a channel that is closed when the devices change, or an error if all of them refuse the search.
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
		return nil, fmt.Errorf("no agent works for this search:\n%s", strings.Join(refusals, "\n"))
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
				e.device.Peaks = e.search.Settings.Peaks
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
	n := 0
	for _, p := range e.present() {
		n += p.Capacity
	}
	return max(1, n+(n+1)/2)
}

// Evaluated returns the number of configurations that have a result.
func (e *Evaluator) Evaluated() int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.counted
}

// Evaluate implements [tune.Evaluator]. After the context has ended, the agents stop; results that they have sent by
// then are kept for an evaluator with the same id.
func (e *Evaluator) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	waiting := map[string]space.Configuration{}
	give := func(a answer, c space.Configuration) error {
		delete(waiting, a.Key)
		e.answered[a.Key] = true
		e.mutex.Lock()
		e.counted++
		e.mutex.Unlock()
		r := a.Result
		r.Configuration = c
		if r.Status == tune.Correct && len(r.Times) == 0 || r.Status == "" {
			r = tune.Result{Configuration: c, Status: tune.Runtime, Reason: "the agent " + a.Device + " sent a result without times", Timestamp: time.Now()}
		}
		r.Device = a.Device
		select {
		case out <- r:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	changed, err := e.hopeful()
	for in != nil || len(waiting) > 0 {
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
			changed, err = e.hopeful()
		case c, ok := <-in:
			if !ok {
				in = nil
				continue
			}
			key := keyOf(c)
			if a, ok := e.early[key]; ok {
				delete(e.early, key)
				if err := give(a, c); err != nil {
					return err
				}
				continue
			}
			waiting[key] = c
			if err := e.ask(ctx, work{Key: key, Values: valuesOf(c)}); err != nil {
				return err
			}
		case a := <-e.answers:
			c, ok := waiting[a.Key]
			if !ok {
				e.keep(a)
				continue
			}
			if a.GivenBack {
				if err := e.ask(ctx, work{Key: a.Key, Values: valuesOf(c)}); err != nil {
					return err
				}
				continue
			}
			if err := give(a, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep keeps an answer that came before its question, of an evaluator before this one. A second answer is
// dropped.
func (e *Evaluator) keep(a answer) {
	if _, known := e.early[a.Key]; !known && a.Key != "" && !e.answered[a.Key] && a.Times == nil && a.Failed == "" && !a.GivenBack {
		e.early[a.Key] = a
	}
}

// ask puts work into the queue. It tries until the context ends.
func (e *Evaluator) ask(ctx context.Context, w work) error {
	w.Protocol = Protocol
	data, id := encode(w), rand.Text() // the server drops a message that it has got twice
	if len(data) > maxMessage {
		return fmt.Errorf("a configuration has %d bytes, more than %d", len(data), maxMessage)
	}
	for {
		_, err := e.connection.js.Publish(ctx, workSubjects+e.search.ID, data, jetstream.WithMsgID(id))
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(shortWait):
		}
	}
}

// Observe implements [tune.Observer].
func (e *Evaluator) Observe(best tune.Result) {
	best.Metrics, best.AtFinal, best.Readings = nil, nil, nil                                                             // agents do not need them, and JSON has no NaN
	_ = e.connection.nats.Publish(bestSubjects+e.search.ID, encode(bestOf{Protocol, valuesOf(best.Configuration), best})) // only saves time
}

// Close ends the search: agents drop its work. Results that were stored stay for an evaluator with the same id.
func (e *Evaluator) Close() {
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

// purge removes the work of the search from the queue.
func (e *Evaluator) purge(ctx context.Context) error {
	s, err := e.connection.js.Stream(ctx, workStream)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSubject(workSubjects+e.search.ID))
}
