package worker

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

// TestTimeOfAStart: a start that took long, because the drivers came from the disk, says nothing about the next one.
func TestTimeOfAStart(t *testing.T) {
	now := time.Now()
	p := &Pool{most: 4}
	for _, c := range []struct {
		builds     bool
		took, want time.Duration
	}{{false, 3 * time.Second, 3 * time.Second}, {true, time.Second, time.Second}, {true, 2 * time.Second, time.Second}} {
		one := &child{Number: len(p.members) + 1, Requests: make(chan request, 1)}
		p.members = append(p.members, &member{spent: &Spent{}, child: one, builds: c.builds, state: starting})
		if err := p.handle(event{Child: one, Answer: answer{Ready: &hardware.Device{}, Starting: c.took}}, now); err != nil || p.starting != c.want {
			t.Errorf("%+v: %s, %v", c, p.starting, err)
		}
	}
}

// TestFewerWorkers lets some of the workers that start together find no room, before any of the
// others is ready.
func TestFewerWorkers(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		a       arrangement
		refuse  int
		most    int
		note    string
		failing bool
	}{
		{builders, 1, 3, "Going on with 3 workers; another could not start: no room", false},
		{builders, 3, 1, "Going on with 1 workers; another could not start: no room", false},
		{builders, 4, 0, "Going on without workers that only build; another could not start: no room", false},
		{whole, 1, 3, "Going on with 3 workers; another could not start: no room", false},
		{whole, 4, 1, "", true},
	} {
		var notes []string
		p := &Pool{most: 4, noBuilders: c.a == whole, options: Options{Note: func(text string) { notes = append(notes, text) }}}
		add := func(builds bool, s state) {
			c := &child{Number: len(p.members) + 1, Requests: make(chan request, 1)}
			p.members = append(p.members, &member{spent: &Spent{}, child: c, builds: builds, state: s})
		}
		if c.a == builders {
			add(false, idle)
		}
		for range 4 {
			add(c.a == builders, starting)
		}
		all := append([]*member(nil), p.members[len(p.members)-4:]...)
		var err error
		for _, m := range all[:c.refuse] {
			if err = p.handle(event{Child: m.child, Answer: answer{Failed: "no room\nat all"}}, now); err != nil {
				p.fewer = "" // nothing is assigned any more
			}
			p.tellFewer()
			p.drop(m, now)
		}
		if c.refuse < 4 && len(notes) > 0 {
			t.Errorf("%+v: told before it is known: %q", c, notes)
		}
		for _, m := range all[c.refuse:] {
			if err := p.handle(event{Child: m.child, Answer: answer{Ready: &hardware.Device{}}}, now); err != nil {
				t.Error(err)
			}
		}
		p.tellFewer()
		p.tellFewer()
		if p.most != c.most || strings.Join(notes, "|") != c.note || (err != nil) != c.failing {
			t.Errorf("%+v: %d workers, %q, %v", c, p.most, notes, err)
		}
	}
}

// TestGivingUp tells what is the end of a run from what is the end of a process.
func TestGivingUp(t *testing.T) {
	var out bytes.Buffer
	s := newServer(process.NewParent[request, answer]("worker", nil, &out))
	s.giveUp(fmt.Errorf("measure: %w", &device.LostError{Err: errors.New("the context is gone")}))
	if out.Len() > 0 {
		t.Error("a lost device was told as a failure")
	}
	s.giveUp(errors.New("no reference"))
	var a answer
	if err := gob.NewDecoder(&out).Decode(&a); err != nil || a.Failed == "" || a.Failed != "no reference" {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestABuildThatWasNotKept has a build that takes most of its time-out, and a driver that keeps
// none: the worker that evaluates cannot build it in what is left.
func TestABuildThatWasNotKept(t *testing.T) {
	now := time.Now()
	p := &Pool{most: 1, options: Options{BuildTimeout: 10 * time.Second}}
	one := &assignment{}
	evaluate := func(binary []byte) {
		m := &member{spent: &Spent{}, child: &child{Requests: make(chan request, 1)}, state: idle, since: now}
		p.members = []*member{m}
		one.build, one.binary = 7*time.Second, binary
		m.task = one
		p.work(m, request{}, now)
		now = now.Add(3*time.Second + time.Millisecond)
		if err := p.expire(now); err != nil || m.state != stopping {
			t.Errorf("%v, the worker is at %d", err, m.state)
		}
	}
	evaluate(nil)
	if next := p.toBuild.next(false); next != one || len(p.results) > 0 || !p.carry.binaries || one.build != 0 {
		t.Fatalf("the first time: %+v, %+v", next, p.results)
	}
	evaluate(nil) // the driver gave no binary either
	if len(p.toBuild) > 0 || len(p.results) != 1 || p.results[0].Status != tune.Timeout {
		t.Errorf("the second time: %+v", p.results)
	}
	one.again, p.results = false, nil
	evaluate([]byte{1})
	if len(p.toBuild) > 0 || len(p.results) != 1 || p.results[0].Status != tune.Timeout {
		t.Errorf("with a binary: %+v", p.results)
	}
}
