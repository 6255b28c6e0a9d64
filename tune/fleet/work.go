package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A session is the work of a station for one search, from the first configuration to the time when the queue is empty.
type session struct {
	*station
	search
	consumer jetstream.Consumer

	held    map[string]job        // by the configuration in their keys
	waiting []space.Configuration // for the evaluator
	tasks   chan jetstream.Msg    // of the queue; nil: the end of a batch
}

// A job is work of the queue.
type job struct {
	jetstream.Msg
	key string
}

// The times for which a session waits for work: if the device has other searches, and if not.
const (
	shortWait = 300 * time.Millisecond
	longWait  = 5 * time.Second
)

// work evaluates configurations of a search until its queue is empty. An error means that the device cannot work
// for it.
func (s *station) work(ctx context.Context, next search, others bool) error {
	if err := s.open(ctx, next); err != nil {
		return err
	}
	consumer, err := s.connection.js.Consumer(ctx, workStream, next.ID)
	if err != nil {
		return &passing{fmt.Errorf("the queue of the search: %w", err)}
	}
	t := &session{station: s, search: next, consumer: consumer, held: map[string]job{}, tasks: make(chan jetstream.Msg)}
	defer func() {
		for _, m := range t.held { // what was not answered
			t.giveBack(m.Msg)
		}
	}()
	wait := longWait
	if others {
		wait = shortWait
	}
	evaluator, parameters := s.evaluator, s.problem.Parameters() // a message can come after the end of the session
	best, err := s.connection.nats.Subscribe(bestSubjects+next.ID, func(m *nats.Msg) { s.connection.observe(evaluator, parameters, m) })
	if err != nil {
		return &passing{err}
	}
	defer best.Unsubscribe()
	if err := t.evaluate(ctx, wait); err != nil {
		return err
	}
	return t.measure(ctx)
}

// observe tells an evaluator the best result of a message.
func (c *Connection) observe(e tune.Prober, parameters *space.Parameters, m *nats.Msg) {
	b, err := decode[bestOf](m.Data)
	if err == nil {
		b.Result.Configuration, err = parameters.Configure(b.Values)
	}
	if err != nil {
		c.dropped.Add(1)
		return
	}
	e.Observe(b.Result)
}

// evaluate hands configurations to the evaluator until the queue is empty or somebody asks for a measurement.
func (t *session) evaluate(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	in, out, done := make(chan space.Configuration), make(chan tune.Result), make(chan error, 1)
	go func() { done <- t.evaluator.Evaluate(ctx, in, out) }()
	ended := false
	defer func() {
		cancel()
		for !ended { // results that nobody waits for
			select {
			case <-out:
			case <-done:
				ended = true
			}
		}
	}()
	room := make(chan int, 1)
	defer close(room)
	go t.fetch(ctx, wait, room)
	renew := time.NewTicker(ackWait / 4)
	defer renew.Stop()
	fetching, empty := false, false // empty: the queue had nothing in time
	to := (chan<- space.Configuration)(in)
	for {
		asked := t.isAsked()
		if to != nil && (empty || asked) && len(t.held) == 0 {
			close(in)
			to = nil
		}
		if n := t.evaluator.Capacity() - len(t.held); n > 0 && !fetching && to != nil && !asked {
			room <- n
			fetching = true
		}
		give := to
		var next space.Configuration
		if len(t.waiting) > 0 {
			next = t.waiting[0]
		} else {
			give = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-t.tasks:
			if empty = f == nil; empty {
				fetching = false
			} else if err := t.take(ctx, f); err != nil {
				return err
			}
		case give <- next:
			t.waiting = t.waiting[1:]
		case r := <-out:
			if err := t.answer(ctx, r); err != nil {
				return err
			}
		case <-renew.C:
			for _, m := range t.held {
				_ = m.InProgress() // if the connection is cut, the work may go to another
			}
		case <-t.news:
		case err := <-done:
			ended = true
			return err
		}
	}
}

// fetch gets as many configurations as there is room for, batch after batch, and nil after each.
func (t *session) fetch(ctx context.Context, wait time.Duration, room <-chan int) {
	for n := range room {
		batch, err := t.consumer.Fetch(n, jetstream.FetchMaxWait(wait))
		if err == nil {
			for m := range batch.Messages() {
				select {
				case t.tasks <- m:
				case <-ctx.Done():
					t.giveBack(m)
				}
			}
			err = batch.Error()
		}
		if err != nil && !errors.Is(err, nats.ErrTimeout) { // the connection is mended in the background
			_ = pause(ctx, shortWait)
		}
		select {
		case t.tasks <- nil:
		case <-ctx.Done():
			return
		}
	}
}

// take accepts a message of the queue.
func (t *session) take(ctx context.Context, m jetstream.Msg) error {
	w, err := decode[work](m.Data())
	var c space.Configuration
	if err == nil {
		c, err = t.problem.Parameters().Configure(w.Values)
	}
	if err == nil && keyOf(c) != aboutOf(w.Key) {
		err = errors.New("the key is another one")
	}
	if err != nil {
		t.connection.dropped.Add(1)
		_ = m.TermWithReason("ndtune cannot read it: " + err.Error())
		return nil
	}
	about := aboutOf(w.Key)
	_, twice := t.held[about]
	if !twice && t.isAsked() { // it waits until that is measured, or goes to another
		t.giveBack(m)
		return nil
	}
	t.held[about] = job{m, w.Key} // it has the later time
	if twice {
		return nil
	}
	if about, err := m.Metadata(); err == nil && about.NumDelivered > maxDeliveries {
		reason := fmt.Sprintf("%d agents were lost, or did not answer, while they evaluated it", maxDeliveries)
		return t.answer(ctx, tune.Result{Configuration: c, Status: tune.Runtime, Reason: reason, Timestamp: time.Now()})
	}
	t.waiting = append(t.waiting, c)
	return nil
}

// answer sends the result of a configuration.
func (t *session) answer(ctx context.Context, r tune.Result) error {
	t.mutex.Lock()
	t.announcement.Evaluated++
	t.announcement.Capacity = max(1, t.evaluator.Capacity())
	t.mutex.Unlock()
	return t.send(ctx, answer{Key: keyOf(r.Configuration), Result: r})
}

// send stores an answer, then acknowledges its work: an agent that dies between the two lets it be done twice,
// never lost. It tries until the context ends.
func (t *session) send(ctx context.Context, a answer) error {
	about := aboutOf(a.Key)
	m, held := t.held[about]
	if held {
		a.Key = m.key
	}
	a.header, a.Search, a.Device = ours, t.ID, t.announcement.Name()
	data := encode(a)
	if err := t.connection.fits("the result", data); err != nil {
		a.Result = tune.Result{Status: tune.Runtime, Reason: err.Error(), Timestamp: time.Now()}
		a.Turns, a.Failed = nil, err.Error()
		data = encode(a)
	}
	for {
		_, err := t.connection.js.Publish(ctx, resultSubjects+t.ID, data, jetstream.WithMsgID(t.ID+a.Key))
		if err == nil {
			break
		}
		if err := pause(ctx, shortWait); err != nil {
			return err
		}
	}
	if held {
		delete(t.held, about)
		_ = m.Ack() // if it is lost, the work is done twice, and the coordinator drops one result
	}
	return nil
}

// giveBack returns work to the coordinator, which puts it into the queue again as new work: it counts as no loss of an
// agent. While the server is away or stores nothing, the station keeps the work and tries again in the background.
func (t *session) giveBack(m jetstream.Msg) {
	w, err := decode[work](m.Data())
	if err != nil {
		_ = m.Nak() // another agent says that it cannot be read
		return
	}
	back := answer{header: ours, Search: t.ID, Key: w.Key, Device: t.announcement.Name(), GivenBack: true}
	s, subject, data := t.station, resultSubjects+t.ID, encode(back)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ended { // what came after the end waits for another agent
		return
	}
	s.returns.Go(func() {
		for {
			if _, err := s.connection.js.Publish(s.returning, subject, data); err == nil {
				_ = m.Ack()
				return
			}
			_ = m.InProgress()
			if pause(s.returning, shortWait) != nil {
				return
			}
		}
	})
}
