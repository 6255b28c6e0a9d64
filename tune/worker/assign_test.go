package worker

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

func TestQueue(t *testing.T) {
	a, b, c, d := &assignment{}, &assignment{deaths: 1}, &assignment{}, &assignment{deaths: 1}
	q := queue{}
	if q.next(true) != nil || q.next(false) != nil {
		t.Error("an empty queue gave an assignment")
	}
	q.add(a)
	q.add(b)
	q.add(c)
	q.first(d)
	for i, want := range []*assignment{a, c, nil} {
		if got := q.next(false); got != want {
			t.Errorf("a worker that has done something, %d: %+v", i, got)
		}
	}
	for i, want := range []*assignment{d, b, nil} {
		if got := q.next(true); got != want {
			t.Errorf("a fresh worker, %d: %+v", i, got)
		}
	}
	if len(q) != 0 {
		t.Errorf("%d are left", len(q))
	}
}

// TestBuildersThatPay has a worker that evaluates, with builds that wait, after some builds of its own.
func TestBuildersThatPay(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		what              string
		start, build, now time.Duration // a start; the builds until now, 0: there were none; the present build, 0: there is none
		waiting, builders int
		expected          int
		want              bool
	}{
		{"nothing is known", 500 * ms, 0, 0, 100, 0, 0, false},
		{"builds from a cache", 500 * ms, 2 * ms, 0, 1000, 0, 0, false},
		{"slow builds", 500 * ms, 100 * ms, 0, 80, 0, 0, true},
		{"and builders for a second each", 500 * ms, 100 * ms, 0, 80, 7, 0, true},
		{"and sufficient builders", 500 * ms, 100 * ms, 0, 80, 16, 0, false},
		{"few slow builds", 500 * ms, 100 * ms, 0, 4, 0, 4, false},
		{"few that wait, of many", 500 * ms, 100 * ms, 0, 4, 7, 80, true},
		{"a first build that may come from a cache", 500 * ms, 0, 19 * ms, 80, 0, 0, false},
		{"a first build that lasts", 500 * ms, 0, 21 * ms, 80, 0, 0, true},
		{"a build that lasts after others", 500 * ms, 2 * ms, time.Second, 10, 0, 0, true},
	} {
		now := time.Now()
		p := &Pool{most: 16, starting: c.start, building: average(c.build), toBuild: make(queue, c.waiting), expected: c.expected}
		m := &member{spent: &Spent{}, state: idle}
		if p.members = append(p.members, m); c.now > 0 {
			m.state, m.stage, m.task, m.stageFrom = working, device.StageBuild, &assignment{}, now.Add(-c.now)
		}
		for range c.builders {
			p.members = append(p.members, &member{spent: &Spent{}, builds: true, state: idle})
		}
		if got := p.pays(true, now); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
		if at := p.payTime(now); at.After(now) != (c.now > 0 && !c.want) {
			t.Errorf("%s: the pool looks again at %v", c.what, at)
		} else if at.After(now) && (!p.pays(true, at) || p.pays(true, at.Add(-ms))) {
			t.Errorf("%s: the pool looks again %s later, which is not when a builder pays", c.what, at.Sub(now))
		}
	}
}

// TestBuildersOfCUDA has builds of 15 ms, as NVRTC with its cache makes them.
func TestBuildersOfCUDA(t *testing.T) {
	for platform, want := range map[string]bool{hardware.CUDA: true, "NVIDIA CUDA": false} {
		const ms = time.Millisecond
		p := &Pool{most: 16, starting: 100 * ms, building: average(15 * ms), toBuild: make(queue, 200), identity: hardware.Device{Platform: platform}}
		p.members = []*member{{spent: &Spent{}, state: idle}}
		if got := p.pays(true, time.Now()); got != want {
			t.Errorf("%s: %v", platform, got)
		}
	}
}

// TestEvaluatorsThatPay has workers of a CPU, one of which builds or has built some configurations.
func TestEvaluatorsThatPay(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		what                              string
		start, fill, evaluation, now      time.Duration // now: of the present build, 0: there is none
		expected, evaluated, others, dead int
		want                              bool
	}{
		{"how many come is unknown", 500 * ms, 0, 0, 0, 0, 0, 0, 0, true},
		{"nothing is known of a configuration", 500 * ms, 0, 0, 0, 100, 0, 0, 0, false},
		{"few", 300 * ms, 200 * ms, 200 * ms, 0, 5, 1, 0, 0, false},
		{"more", 300 * ms, 200 * ms, 200 * ms, 0, 15, 1, 0, 0, true},
		{"more, at the end", 300 * ms, 200 * ms, 200 * ms, 0, 15, 11, 0, 0, false},
		{"more, for a third worker", 300 * ms, 200 * ms, 200 * ms, 0, 15, 8, 1, 0, false},
		{"much to fill", 300 * ms, 5 * time.Second, 200 * ms, 0, 15, 1, 0, 0, false},
		{"a first build that lasts", 300 * ms, 0, 0, 44 * ms, 15, 0, 0, 0, true},
		{"a first build that began", 300 * ms, 0, 0, 40 * ms, 15, 0, 0, 0, false},
		{"few, after a worker has died in a build", 300 * ms, 0, 200 * ms, 0, 5, 1, 0, 1, true},
	} {
		now := time.Now()
		p := &Pool{noBuilders: true, most: 4, starting: c.start, filling: c.fill, evaluating: average(c.evaluation), unsafe: c.dead > 0, toEvaluate: make(queue, 3)}
		p.evaluated.Store(int64(c.evaluated))
		p.expected = c.expected
		m := &member{spent: &Spent{}, state: idle}
		if p.members = append(p.members, m); c.now > 0 {
			m.state, m.stage, m.task, m.stageFrom = working, device.StageBuild, &assignment{}, now.Add(-c.now)
		}
		for range c.others {
			p.members = append(p.members, &member{spent: &Spent{}, state: idle})
		}
		if got := p.pays(false, now); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
		if at := p.payTime(now); at.After(now) != (c.now > 0 && !c.want) {
			t.Errorf("%s: the pool looks again at %v", c.what, at)
		}
		if m.stage = device.StageFirstLaunch; p.pays(false, now) != c.want { // which may never end
			t.Errorf("%s, in the first launch: %v", c.what, !c.want)
		}
	}
	p := &Pool{}
	p.evaluated.Store(7)
	if p.Expect(3); p.expected != 10 {
		t.Errorf("%d of 10 are expected", p.expected)
	}
}

// TestABuildThatHangs takes the worker that evaluates with it. After that, only builders build, whatever they cost.
func TestABuildThatHangs(t *testing.T) {
	now := time.Now()
	p := &Pool{most: 2, options: Options{BuildTimeout: time.Second}, starting: time.Hour}
	m := &member{spent: &Spent{}, child: &child{Requests: make(chan request, 1)}, state: idle, since: now}
	p.members, p.toBuild = []*member{m}, queue{{}, {}}
	if !p.buildersMissing() {
		t.Error("nobody builds")
	}
	m.task = p.toBuild.next(true)
	p.work(m, request{}, now)
	now = now.Add(1001 * time.Millisecond)
	if err := p.expire(now); err != nil || len(p.results) != 1 || p.results[0].Status != tune.Timeout {
		t.Fatalf("%v, %+v", err, p.results)
	}
	if p.buildersMissing() || !p.pays(true, now) {
		t.Errorf("builders are missing: %v, pay: %v", p.buildersMissing(), p.pays(true, now))
	}
}

// TestAProbeIsFresh: workers build the configuration of a probe with an option that nobody has used before, and no other.
func TestAProbeIsFresh(t *testing.T) {
	p := tiny(t, 1, "")
	c := configurationOf(t, p, nil)
	for _, a := range []arrangement{whole, builders} {
		evaluator, builder := &child{Requests: make(chan request, 1)}, &child{Requests: make(chan request, 1)}
		events, told := make(chan event, 1), make(chan []string, 1)
		pool := &Pool{problem: p, devices: make([]device.Listed, 1), most: 1, noBuilders: a == whole, events: events, options: Options{BuildTimeout: time.Minute}}
		pool.members = []*member{{spent: &Spent{}, child: evaluator, state: idle, since: time.Now()}}
		if a == builders {
			pool.members = append(pool.members, &member{spent: &Spent{}, child: builder, builds: true, state: idle, since: time.Now()})
		}
		go func() {
			var options []string
			if a == builders {
				options = append(options, (<-builder.Requests).Build.Fresh)
				events <- event{Child: builder, Answer: answer{Built: &built{}}}
			}
			options = append(options, (<-evaluator.Requests).Evaluate.Fresh)
			events <- event{Child: evaluator, Answer: answer{Result: &result{Result: tune.Result{Status: tune.Correct}}}}
			told <- options
		}()
		if r, err := pool.Probe(t.Context(), c, tune.Retest{}); err != nil || r.Status != tune.Correct {
			t.Errorf("%s: %v, %+v", a, err, r)
		}
		options := <-told
		if !strings.HasPrefix(options[0], "-D") || options[len(options)-1] != options[0] {
			t.Errorf("%s: the options are %q", a, options)
		}
		pool.take(c)
		if next := pool.queue(a == builders).next(true); next == nil || next.fresh != "" {
			t.Errorf("%s: after the probe: %+v", a, next)
		}
	}
}

func TestCarryObserves(t *testing.T) {
	const ms = time.Millisecond
	type pair struct{ build, load time.Duration }
	for _, c := range []struct {
		what  string
		pairs []pair
		want  bool
	}{
		{"nothing", nil, false},
		{"a cache", []pair{{500 * ms, 3 * ms}, {500 * ms, 100 * ms}, {500 * ms, 249 * ms}}, false},
		{"no cache", []pair{{500 * ms, 500 * ms}, {500 * ms, 400 * ms}, {500 * ms, 250 * ms}}, true},
		{"two are not enough", []pair{{500 * ms, 500 * ms}, {500 * ms, 500 * ms}}, false},
		{"in a row", []pair{{500 * ms, 500 * ms}, {500 * ms, 500 * ms}, {500 * ms, 30 * ms}, {500 * ms, 500 * ms}}, false},
		{"builds so fast that it does not matter", []pair{{19 * ms, 19 * ms}, {19 * ms, 19 * ms}, {19 * ms, 19 * ms}}, false},
		{"for good", []pair{{ms, 500 * ms}, {ms, 500 * ms}, {ms, 500 * ms}, {500 * ms, ms}}, true},
	} {
		var carry carry
		for _, p := range c.pairs {
			carry.observe(p.build, p.load)
		}
		if carry.binaries != c.want {
			t.Errorf("%s: %v", c.what, carry.binaries)
		}
	}
}

func TestAhead(t *testing.T) {
	for _, c := range []struct {
		builders, devices int
		measuring         []time.Duration
		want              int
	}{
		{4, 1, nil, 8},
		{4, 1, []time.Duration{100 * time.Millisecond}, 10},
		{4, 2, []time.Duration{100 * time.Millisecond}, 20},
		{4, 1, []time.Duration{10 * time.Second}, 2},
		{4, 1, []time.Duration{0}, 32},
		{4, 1, []time.Duration{time.Millisecond}, 32},
		{0, 1, []time.Duration{time.Millisecond}, 2},
	} {
		p := &Pool{most: c.builders, devices: make([]device.Listed, c.devices)}
		for _, d := range c.measuring {
			p.measuring.add(d)
		}
		if got := p.ahead(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	p := average(0)
	p.add(time.Second)
	p.add(9 * time.Second)
	if p != average(2*time.Second) {
		t.Errorf("the mean is %s", time.Duration(p))
	}
}

// TestBinariesOfTheFastest searches on two cards: the final measurement takes the binaries of the search, as exchanged ones show.
func TestBinariesOfTheFastest(t *testing.T) {
	t.Parallel()
	if standin.OnSystem() {
		t.Skip("CUDA is the stand-in's")
	}
	card := deviceFor(t, onCUDA)
	pool := newTestPool(t, onCUDA, tiny(t, 3, "fastest"), Options{Workers: 2}, card, card)
	pool.run(t, loop.Options{Finalists: -1})
	if len(pool.fastest) != 3 || pool.fastest[0].key != "0" || pool.fastest[2].key != "2" {
		t.Fatalf("%+v", pool.fastest)
	}
	pool.fastest[0].binary = pool.fastest[2].binary
	c := configurationOf(t, pool.problem, map[string]space.Value{"i": 0})
	turns, err := pool.Remeasure(t.Context(), card.Selector(), []space.Configuration{c}, 3, false)
	if err != nil || len(turns) != 1 || len(turns[0].Times) != 3 || math.Abs(slices.Min(turns[0].Times)-pool.fastest[2].time) > 1e-9 {
		t.Errorf("%+v, %v; the other binary took %v ms", turns, err, pool.fastest[2].time)
	}
	for i := range 2 * mostFast {
		pool.keepBinary(&assignment{configuration: c, binary: []byte{1}}, 1e-9*float64(100-i))
	}
	if n := len(pool.fastest); n != mostFast || pool.fastest[0].time > pool.fastest[n-1].time || pool.fastest[n-1].time > 100e-9 {
		t.Errorf("%d binaries, from %v to %v ms", n, pool.fastest[0].time, pool.fastest[n-1].time)
	}
}
