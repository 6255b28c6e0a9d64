package worker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/space"
)

// aheadPool is a pool with idle builders that do nothing, beside a worker that evaluates later, and all configurations of its problem.
func aheadPool(t *testing.T, n int) (*Pool, []*member, []space.Configuration) {
	p := &Pool{problem: tiny(t, 20, ""), devices: make([]device.Listed, 1), most: n, options: Options{BuildTimeout: time.Minute}}
	for range n {
		m := &member{spent: &p.spent, child: &child{Requests: make(chan request, 8)}, builds: true, state: idle, since: time.Now()}
		p.members = append(p.members, m)
	}
	builders := p.members
	p.members = append(slices.Clone(p.members), &member{spent: &p.spent, state: starting})
	var all []space.Configuration
	for i := range 20 {
		all = append(all, configurationOf(t, p.problem, map[string]space.Value{"i": i}))
	}
	return p, builders, all
}

// TestBuildsAhead has builders that build what is proposed first, then what is probable, and what becomes of it when it is proposed or not.
func TestBuildsAhead(t *testing.T) {
	p, members, all := aheadPool(t, 4)
	now := time.Now()
	builds := func(want ...int) {
		t.Helper()
		if err := p.assign(now); err != nil {
			t.Fatal(err)
		}
		for j, m := range members {
			got := -1
			if m.task != nil {
				got = slices.IndexFunc(all, func(c space.Configuration) bool { return c.Key() == m.task.configuration.Key() })
			}
			if got != want[j] {
				t.Errorf("builder %d builds %d, want %d", j, got, want[j])
			}
		}
	}
	answers := func(m *member, r tune.Result) {
		t.Helper()
		if r.Status == "" {
			r.Durations.Build = time.Second
		}
		if err := p.handle(event{Child: m.child, Answer: answer{Built: &built{Result: result{Result: r}, Binary: []byte("it")}}}, now); err != nil {
			t.Fatal(err)
		}
	}
	p.take(all[0])
	p.Foresee(all[1:10])
	builds(0, 1, 2, 3)
	if p.held() != 1 {
		t.Errorf("%d configurations are held, and one was proposed", p.held())
	}
	answers(members[1], tune.Result{})
	answers(members[2], tune.Result{Status: tune.Compile, Reason: "no such statement"})
	if err := p.handle(event{Child: members[3].child, End: &process.End{}}, now); err != nil {
		t.Fatal(err)
	}
	members = members[:3]
	if len(p.results)+len(p.toEvaluate)+len(p.toBuild) > 0 {
		t.Errorf("what nobody has proposed is answered: %+v", p.results)
	}
	p.Foresee(nil)
	p.take(all[4])
	builds(0, 4, -1) // though a builder was free for others
	for _, i := range []int{1, 2, 3} {
		p.take(all[i])
	}
	if len(p.toEvaluate) != 1 || string(p.toEvaluate[0].binary) != "it" || p.toEvaluate[0].build != time.Second {
		t.Errorf("built ahead: %+v", p.toEvaluate)
	}
	if len(p.results) != 1 || p.results[0].Status != tune.Compile || p.Evaluated() != 1 {
		t.Errorf("failed ahead: %+v", p.results)
	}
	if len(p.toBuild) != 1 || p.toBuild[0].deaths != 1 {
		t.Errorf("its builder died ahead: %+v", p.toBuild)
	}
	if s := p.Spent(); s.Ahead != 3 || s.Used != 3 || len(p.foreseen) != 0 {
		t.Errorf("%+v; %d are left", s, len(p.foreseen))
	}
	p.toBuild = nil
	p.Foresee(all[10:12])
	answers(members[1], tune.Result{})
	builds(0, 10, 11)
	p.take(all[10]) // while it is built
	if p.held() != 4 {
		t.Errorf("%d are held, want two that are built, and two to measure", p.held())
	}
	answers(members[1], tune.Result{})
	if last := p.toEvaluate[len(p.toEvaluate)-1]; last.configuration.Key() != all[10].Key() {
		t.Errorf("the last one to measure is %s", last.configuration)
	}
}

// TestBuildsAheadAreBounded has two builders, and more that is probable than they may hold, or binaries that are too large.
func TestBuildsAheadAreBounded(t *testing.T) {
	for size, want := range map[int]int{10: foreseenShare * 2, foreseenBytes / 2: 2} {
		p, members, all := aheadPool(t, 2)
		now := time.Now()
		round := func() {
			for range 8 {
				if err := p.assign(now); err != nil {
					t.Fatal(err)
				}
				for _, m := range members {
					b := &built{Binary: make([]byte, size)}
					if b.Result.Durations.Build = time.Second; m.state != idle {
						_ = p.handle(event{Child: m.child, Answer: answer{Built: b}}, now)
					}
				}
			}
		}
		p.Foresee(all[:10])
		p.spent.Ahead = foreseenFirst
		if round(); p.spent.Ahead != foreseenFirst {
			t.Errorf("%d builds ahead, none of which was of use", p.spent.Ahead)
		}
		p.spent = Spent{Used: 10}
		if round(); len(p.foreseen) != want || p.spent.Ahead != want {
			t.Errorf("binaries of %d B: %d, want %d", size, p.spent.Ahead, want)
		}
		p.Foresee(all[10:])
		if round(); len(p.foreseen) != want || p.spent.Ahead != 2*want || p.foreseen[all[0].Key()] != nil {
			t.Errorf("binaries of %d B: %d after others became probable, want %d", size, p.spent.Ahead, 2*want)
		}
	}
}

// TestResultsOfBuildsAhead evaluates one configuration after the other, while all others are built ahead: some of them fail.
func TestResultsOfBuildsAhead(t *testing.T) {
	t.Parallel()
	for _, a := range withCUDA(builders, whole) {
		want, used := "", 0
		for _, ahead := range []bool{false, true} {
			p := faulty(t, survivable...)
			pool := openTestPool(t, a, p, Options{Workers: 2})
			all, err := pool.problem.Space(t.Context(), pool.Device())
			if err != nil {
				t.Fatal(err)
			}
			in, out, done, got := make(chan space.Configuration), make(chan tune.Result), make(chan error, 1), ""
			go func() { done <- pool.Evaluate(t.Context(), in, out) }()
			for i := range all.Len() - 1 { // the last one is only probable
				if ahead {
					var probable []space.Configuration
					for j := range all.Len() - i - 1 {
						probable = append(probable, all.At(i+1+j))
					}
					pool.Foresee(probable)
				}
				in <- all.At(i)
				r := <-out
				got += fmt.Sprintln(r.Configuration, r.Status, r.Reason, r.Durations.Build > 0)
			}
			close(in)
			if err := <-done; err != nil || len(out) > 0 {
				t.Errorf("%s: %v, %d more results", a, err, len(out))
			}
			if used = pool.Spent().Used; ahead && (got != want || used == 0 && a != whole || used > 0 && a == whole) {
				t.Errorf("%s: %d were built ahead\n%swant\n%s", a, used, got, want)
			}
			want = got
		}
	}
}
