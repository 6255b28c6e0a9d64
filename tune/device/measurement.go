package device

import (
	"context"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// batchable bounds the launches that are enqueued without waiting, in milliseconds:
// together they keep the device busy, and a run that is cancelled still ends soon.
const batchable = 20.0

// A measurement times the launches of one kernel.
type measurement struct {
	session  *session
	kernel   *cl.Kernel
	ndrange  tune.NDRange
	launches int     // to time
	first    float64 // the time of an earlier launch in milliseconds

	begin   func(launches int)    // told before so many launches are waited for together
	tooSlow func(ms float64) bool // whether one launch of this time is enough
}

// leastSaving is what an early stop must save, in milliseconds: less is not worth a result
// that is known from one launch only.
const leastSaving = 1.0

// enough reports whether the warm-up and the first timed launch tell that a configuration is
// too slow to go on with: both of them, since a single launch can be held up by chance.
func (m *measurement) enough(warmUp, timed float64) bool {
	ms := min(warmUp, timed)
	return float64(m.launches-1)*ms >= leastSaving && m.tooSlow(ms)
}

// run warms up with one launch and then times the others, or, where the first of these is
// too slow, that one only.
func (m *measurement) run(ctx context.Context) (times []float64, stopped bool, err error) {
	if m.session.timer == tune.TimerHost || m.session.restoresEachLaunch() || m.first > batchable {
		return m.singly(ctx)
	}
	// A device that runs the first launch fast enough is not kept from running all others
	// together; of one that may be too slow, one launch is looked at before the others.
	if m.enough(m.first, m.first) {
		pair, err := m.batch(2)
		if err != nil {
			return nil, false, err
		}
		if m.enough(pair[0], pair[1]) {
			return pair[1:], true, nil
		}
	}
	n := m.launches + 1
	most := n
	if m.first > 0 {
		most = int(max(1, min(batchable/m.first, float64(n))))
	}
	for len(times) < n {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		batch, err := m.batch(min(most, n-len(times)))
		if err != nil {
			return nil, false, err
		}
		times = append(times, batch...)
	}
	return times[1:], false, nil
}

// batch enqueues n launches and reads their times afterwards.
func (m *measurement) batch(n int) ([]float64, error) {
	m.begin(n)
	events := make([]*cl.Event, 0, n)
	defer func() {
		for _, e := range events {
			e.Release()
		}
	}()
	for range n {
		e, err := m.session.enqueue(m.kernel, m.ndrange)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	if err := events[n-1].Wait(); err != nil {
		return nil, fail(tune.Runtime, "run: %v", err)
	}
	times := make([]float64, n)
	for i, e := range events {
		var err error
		if times[i], err = eventTime(e); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// singly waits for each launch before the next.
func (m *measurement) singly(ctx context.Context) (times []float64, stopped bool, err error) {
	warmUp := 0.0
	for i := range m.launches + 1 {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		m.begin(1)
		if err := m.session.restore(true); err != nil {
			return nil, false, err
		}
		t, err := m.session.launch(m.kernel, m.ndrange)
		if err != nil {
			return nil, false, err
		}
		if i == 0 {
			warmUp = t
			continue
		}
		times = append(times, t)
		if i == 1 && m.enough(warmUp, t) {
			return times, true, nil
		}
	}
	return times, false, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
