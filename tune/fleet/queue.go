package fleet

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// store stores the problem, if the server does not have it.
func (e *Evaluator) store(ctx context.Context) error {
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
	data, err := e.problem.Encode()
	if err != nil {
		return err
	}
	if _, err := c.problems.Put(ctx, jetstream.ObjectMeta{Name: e.search.Object}, bytes.NewReader(data)); err != nil {
		return fmt.Errorf("store the problem, of %d bytes: %w", len(data), advised(err))
	}
	return nil
}

// makeQueue makes the queue of the search, if it is not there.
func (e *Evaluator) makeQueue(ctx context.Context) error {
	id := e.search.ID
	_, err := e.connection.js.CreateOrUpdateConsumer(ctx, workStream, jetstream.ConsumerConfig{
		Durable: id, FilterSubject: workSubjects + id, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait,
		MaxAckPending: -1, MaxWaiting: maxWaiting,
	})
	if err != nil {
		return fmt.Errorf("make the queue of the search: %w", advised(err))
	}
	return nil
}

// queue returns what the server says of the queue of the search; nil: it says nothing now.
func (e *Evaluator) queue(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	queue, err := e.connection.js.Consumer(ctx, workStream, e.search.ID)
	if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, errors.New("the server has lost the search: it came back without its store (store_dir of its configuration); " +
			"the same command with the same --log goes on")
	}
	if err != nil {
		return nil, ctx.Err()
	}
	return queue.CachedInfo(), nil
}

// read begins to read the results of the search from the first one. It returns the number of those that are there.
func (e *Evaluator) read(ctx context.Context) (earlier uint64, err error) {
	if e.reading != nil {
		e.reading()
		e.reading = nil
	}
	own := jetstream.OrderedConsumerConfig{FilterSubjects: []string{resultSubjects + e.search.ID}}
	results, err := e.connection.js.OrderedConsumer(ctx, resultStream, own)
	if err != nil {
		return 0, fmt.Errorf("read the results: %w", err)
	}
	within, end := context.WithCancel(context.WithoutCancel(ctx))
	earlier = results.CachedInfo().NumPending
	reading, err := results.Consume(func(m jetstream.Msg) {
		a, err := decode[answer](m.Data())
		if err != nil || a.Search != e.search.ID { // a copy of another search's
			e.connection.dropped.Add(1)
			a = answer{} // that no configuration waits for
		}
		select {
		case e.answers <- a:
		case <-within.Done():
		}
	})
	if err != nil {
		end()
		return 0, fmt.Errorf("read the results: %w", err)
	}
	e.reading = func() {
		end()
		go reading.Stop() // waits for a server that is away
	}
	return earlier, nil
}

// A question is a configuration that waits for its result.
type question struct {
	key string // of its work
	space.Configuration
}

// Evaluate implements [tune.Evaluator]. After the context has ended, the agents stop; results that they have sent by
// then are kept for an evaluator with the same id.
func (e *Evaluator) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	waiting := map[string]question{}
	give := func(about string, a answer, c space.Configuration) error {
		delete(waiting, about)
		delete(e.early, about)
		e.answered[about] = true
		e.mutex.Lock()
		e.counted++
		e.mutex.Unlock()
		select {
		case out <- a.resultOf(c, tune.Retest{}):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// A configuration is evaluated again if its failure is in doubt, or if an agent gives it back. The key tells the
	// evaluations from each other.
	put := func(about string, c space.Configuration) error {
		waiting[about] = question{about + keySeparator + rand.Text(), c}
		return e.ask(ctx, waiting[about])
	}
	audit := time.NewTicker(ackWait / 2)
	defer audit.Stop()
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
		case <-audit.C:
			err = e.audit(ctx, waiting)
		case c, ok := <-in:
			if !ok {
				in = nil
				continue
			}
			about := keyOf(c)
			if a, ok := e.early[about]; ok {
				if err := give(about, a, c); err != nil {
					return err
				}
				continue
			}
			if err := put(about, c); err != nil {
				return err
			}
		case a := <-e.answers:
			about := aboutOf(a.Key)
			q, ok := waiting[about]
			if !ok || a.Key != q.key && !e.usable(a) {
				e.keep(a)
				continue
			}
			e.silent = 0
			if a.GivenBack {
				if err := put(about, q.Configuration); err != nil {
					return err
				}
				continue
			}
			if err := give(about, a, q.Configuration); err != nil {
				return err
			}
		}
	}
	return nil
}

// usable reports whether an answer to an evaluator before this one is the result of its configuration. A failure is not:
// a search that goes on evaluates it again, as it may have been the environment's.
func (e *Evaluator) usable(a answer) bool {
	return a.Key != "" && !a.GivenBack && a.Turns == nil && a.Failed == "" && a.Result.Status == tune.Correct && !e.answered[aboutOf(a.Key)]
}

// keep keeps an answer that came before its question, of an evaluator before this one. A second answer is
// dropped.
func (e *Evaluator) keep(a answer) {
	about := aboutOf(a.Key)
	if _, known := e.early[about]; !known && e.usable(a) {
		e.early[about] = a
	}
}

// ask puts a configuration into the queue. It tries until the context ends.
func (e *Evaluator) ask(ctx context.Context, q question) error {
	data := encode(work{ours, q.key, valuesOf(q.Configuration)})
	if err := e.connection.fits("a configuration", data); err != nil {
		return err
	}
	e.silent = 0
	id := rand.Text() // the same for each try, so that the server keeps one
	for tries := 1; ; tries++ {
		_, err := e.connection.js.Publish(ctx, workSubjects+e.search.ID, data, jetstream.WithMsgID(id))
		if err == nil {
			return nil
		}
		if tries == noteTries {
			e.note(fmt.Sprintf("The server does not take work (%v). The search tries again until it does.", err))
		}
		if err := pause(ctx, shortWait); err != nil {
			return err
		}
	}
}

// audit looks at the queue while no answer comes. A server whose machine crashed may have lost the last work: such work is asked again; if
// it was not lost, the second answer is dropped.
func (e *Evaluator) audit(ctx context.Context, waiting map[string]question) error {
	if e.silent++; len(waiting) == 0 || e.silent < 2 {
		return nil
	}
	queue, err := e.queue(ctx)
	if queue == nil || queue.NumPending > 0 || queue.NumAckPending > 0 || e.silent < 3 {
		return err // agents have it, or will, or the answers may be there
	}
	e.note(fmt.Sprintf("The server has lost work. The search asks again for %d.", len(waiting)))
	for _, q := range waiting {
		if err := e.ask(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// purge removes the work of the search from the queue.
func (e *Evaluator) purge(ctx context.Context) error {
	s, err := e.connection.js.Stream(ctx, workStream)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSubject(workSubjects+e.search.ID))
}
