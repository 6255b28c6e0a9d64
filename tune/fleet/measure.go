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
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// measurement asks one device of an agent to measure configurations in turn, to observe them, or to evaluate one as if for the first
// time. Each device has a subject for it, since the queue of a search cannot say which device takes a message. The coordinator repeats it
// until it has the answer, which comes as all results do, or until the device is gone.
type measurement struct {
	header
	Search         string        `json:"search"` // its id
	Key            string        `json:"key"`    // the answer has the same
	Configurations []space.Named `json:"configurations"`
	Rounds         int           `json:"rounds"`
	Observe        bool          `json:"observe,omitempty"` // to observe them
	Probe          bool          `json:"probe,omitempty"`   // to probe the only one

	Retest tune.Retest `json:"retest,omitzero"` // of a probe
}

// hear takes a measurement that somebody asks for. One at a time is kept for each search.
func (s *station) hear(m *nats.Msg) {
	asked, err := decode[measurement](m.Data)
	if err != nil {
		s.connection.dropped.Add(1)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if asked.Key == s.begun {
		if s.measured.Key == asked.Key { // the server may have lost the answer
			subject, data, id := resultSubjects+asked.Search, encode(s.measured), jetstream.WithMsgID(asked.Search+asked.Key)
			go s.connection.js.Publish(context.Background(), subject, data, id)
		}
		return
	}
	if !s.agent.goesOn(asked.Search) {
		return
	}
	s.asked[asked.Search] = asked
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// isAsked reports whether anybody asks for a measurement.
func (s *station) isAsked() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.asked) > 0
}

// asking returns the first of some searches that asks for a measurement, and forgets the measurements of all others that
// are not among them.
func (s *station) asking(among []known) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for id := range s.asked {
		if !slices.ContainsFunc(among, func(k known) bool { return k.ID == id }) {
			delete(s.asked, id)
		}
	}
	return slices.IndexFunc(among, func(k known) bool { _, is := s.asked[k.ID]; return is })
}

// measure makes the measurement that the search of the session asks for, if it does.
func (t *session) measure(ctx context.Context) error {
	t.mutex.Lock()
	m, is := t.asked[t.ID]
	delete(t.asked, t.ID)
	if is {
		t.begun = m.Key
	}
	t.mutex.Unlock()
	if !is {
		return nil
	}
	a := answer{header: ours, Search: t.ID, Key: m.Key, Device: t.announcement.Name()}
	var all []space.Configuration
	for _, v := range m.Configurations {
		c, err := t.problem.Parameters().Configure(v)
		if err != nil {
			a.Failed = err.Error()
			return t.finish(ctx, a)
		}
		all = append(all, c)
	}
	if err := t.fill(ctx, &a, m, all); err != nil {
		a.Failed = err.Error()
	}
	return t.finish(ctx, a)
}

// fill does what a measurement asks for.
func (t *session) fill(ctx context.Context, a *answer, m measurement, all []space.Configuration) (err error) {
	switch {
	case m.Probe && len(all) != 1:
		return fmt.Errorf("%d configurations cannot be evaluated as one", len(all))
	case m.Probe:
		a.Result, err = t.evaluator.Probe(ctx, all[0], m.Retest)
	default:
		a.Turns, err = t.evaluator.Remeasure(ctx, "", all, m.Rounds, m.Observe)
	}
	return err
}

// finish sends the answer to a measurement. If the session ends before, the device measures again when it is asked again.
func (t *session) finish(ctx context.Context, a answer) error {
	err := ctx.Err()
	if err == nil {
		err = t.send(ctx, a)
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.measured = a; err != nil {
		t.measured, t.begun = answer{}, ""
	}
	return err
}

// Cards implements [tune.Remeasurer]. Devices that work for this search come first.
func (e *Evaluator) Cards(ctx context.Context) ([]string, error) {
	for {
		changed, err := e.hopeful()
		if err != nil {
			return nil, err
		}
		if all := e.willing(); len(all) > 0 {
			var names []string
			for _, p := range all {
				if !slices.Contains(names, p.Name()) {
					names = append(names, p.Name())
				}
			}
			return names, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// willing returns the devices that do not refuse the search. Those that work for it come first, then the names decide.
func (e *Evaluator) willing() []Announcement {
	all := slices.DeleteFunc(e.present(), func(p Announcement) bool {
		return slices.ContainsFunc(p.Refused, func(r Refusal) bool { return r.Search == e.search.Begun })
	})
	idle := func(p Announcement) int {
		if p.Search == e.search.ID {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b Announcement) int {
		return cmp.Or(cmp.Compare(idle(a), idle(b)), cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.Agent, b.Agent))
	})
	return all
}

// on lets those of some devices that are willing do what a measurement says, all at the same time, and returns their answers by name.
// A device that leaves, or that could not do it, has none.
func (e *Evaluator) on(ctx context.Context, cards []string, configurations []space.Configuration, m measurement) (map[string]answer, error) {
	m.header, m.Search = ours, e.search.ID
	for _, c := range configurations {
		m.Configurations = append(m.Configurations, valuesOf(c))
	}
	waiting := map[string]Announcement{} // by key
	ask := func() error {
		for key, p := range waiting {
			m.Key = key
			data := encode(m)
			if err := e.connection.fits("a measurement in turn", data); err != nil {
				return err
			}
			_ = e.connection.nats.Publish(measureSubjects+p.Agent, data) // it is repeated
		}
		return nil
	}
	asked := map[string]bool{}
	for _, p := range e.willing() {
		if slices.Contains(cards, p.Name()) && !asked[p.Name()] {
			asked[p.Name()], waiting["again"+rand.Text()] = true, p
		}
	}
	if err := ask(); err != nil {
		return nil, err
	}
	answers := map[string]answer{}
	again := time.NewTicker(renewal)
	defer again.Stop()
	audit := time.NewTicker(ackWait)
	defer audit.Stop()
	for {
		changed, _ := e.hopeful()
		willing := e.willing()
		for key, p := range waiting {
			if !slices.ContainsFunc(willing, func(w Announcement) bool { return w.Agent == p.Agent }) {
				e.note(fmt.Sprintf("%s left before it had measured again.", p.Name()))
				delete(waiting, key)
			}
		}
		if len(waiting) == 0 {
			return answers, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		case <-again.C:
			if err := ask(); err != nil {
				return nil, err
			}
		case <-audit.C:
			if _, err := e.queue(ctx); err != nil {
				return nil, err
			}
		case a := <-e.answers:
			p, is := waiting[a.Key]
			if !is {
				e.keep(a)
				continue
			}
			delete(waiting, a.Key)
			switch n := len(configurations); {
			case a.Failed != "":
				e.note(fmt.Sprintf("%s could not measure again: %s.", p.Name(), a.Failed))
			case !m.Probe && len(a.Turns) != n:
				e.note(fmt.Sprintf("%s answered for %d configurations, not for %d.", p.Name(), len(a.Turns), n))
			default:
				answers[p.Name()] = a
			}
		}
	}
}

// Remeasure implements [tune.Remeasurer].
func (e *Evaluator) Remeasure(
	ctx context.Context, card string, configurations []space.Configuration, rounds int, observe bool,
) ([]tune.Turns, error) {
	answers, err := e.on(ctx, []string{card}, configurations, measurement{Rounds: rounds, Observe: observe})
	return answers[card].Turns, err
}

// Probe implements [tune.Prober], on all devices at the same time: the disk of any of them may be full. It returns a failure if there
// is one.
func (e *Evaluator) Probe(ctx context.Context, c space.Configuration, again tune.Retest) (tune.Result, error) {
	cards, err := e.Cards(ctx)
	if err != nil {
		return tune.Result{}, err
	}
	answers, err := e.on(ctx, cards, []space.Configuration{c}, measurement{Probe: true, Retest: again})
	if err != nil {
		return tune.Result{}, err
	}
	var probed tune.Result
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if r := answers[name].resultOf(c, again); probed.Status == "" || probed.Status == tune.Correct && r.Status != tune.Correct {
			probed = r
		}
	}
	if probed.Status == "" {
		return probed, errors.New("no device could do it: " + strings.Join(cards, ", "))
	}
	return probed, nil
}
