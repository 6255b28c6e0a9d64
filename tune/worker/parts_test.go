package worker

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
)

func TestWatch(t *testing.T) {
	begin := time.Now()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	w := watch{}
	expect := func(what string, deadline int) {
		t.Helper()
		got, running := w.running()
		if running != (deadline > 0) || (running && !got.Equal(at(deadline))) {
			t.Errorf("%s: runs out at %v (%v), want %d", what, got.Sub(begin), running, deadline)
		}
	}
	expect("not set", 0)
	w.pause(at(1))
	w.resume(at(2))
	expect("not set, paused and resumed", 0)
	w.set(at(10), 5*time.Second)
	expect("set", 15)
	w.pause(at(12))
	expect("paused", 0)
	w.resume(at(100))
	expect("resumed with 3 s left", 103)
	w.pause(at(110))
	w.resume(at(120))
	expect("had run out when it was paused", 113)
	w.pause(at(200))
	w.set(at(210), 5*time.Second)
	expect("set while paused", 0)
	w.resume(at(300))
	expect("set while paused, resumed", 305)
	w.pause(at(301))
	w.clear()
	w.resume(at(310))
	expect("cleared while paused", 0)
	w.set(at(320), time.Second)
	w.clear()
	expect("cleared", 0)
}

func TestQueue(t *testing.T) {
	a, b, c, d := &task{}, &task{deaths: 1}, &task{}, &task{deaths: 1}
	q := queue{}
	if q.next(true) != nil || q.next(false) != nil {
		t.Error("an empty queue gave a task")
	}
	q.add(a)
	q.add(b)
	q.add(c)
	q.first(d)
	for i, want := range []*task{a, c, nil} {
		if got := q.next(false); got != want {
			t.Errorf("a worker that has done something, %d: %+v", i, got)
		}
	}
	for i, want := range []*task{d, b, nil} {
		if got := q.next(true); got != want {
			t.Errorf("a fresh worker, %d: %+v", i, got)
		}
	}
	if q.len() != 0 {
		t.Errorf("%d are left", q.len())
	}
}

func TestWorkersFor(t *testing.T) {
	const gib = 1 << 30
	cpu := func(memory int64) tune.Device {
		return tune.Device{Type: "cpu", UnifiedMemory: true, GlobalMemory: memory}
	}
	gpu := func(memory int64) tune.Device { return tune.Device{Type: "gpu", GlobalMemory: memory} }
	integrated := tune.Device{Type: "gpu", UnifiedMemory: true, GlobalMemory: 8 * gib}
	for _, c := range []struct {
		what    string
		cores   int
		d       tune.Device
		buffers int64
		want    int
	}{
		{"a server", 32, cpu(256 * gib), 100 << 20, 32},
		{"one core", 1, cpu(256 * gib), 0, 1},
		{"memory that nobody tells", 12, tune.Device{Type: "cpu"}, gib, 12},
		{"a small machine", 16, cpu(4 * gib), 0, 5},
		{"large buffers", 16, cpu(64 * gib), 4 * gib, 1},
		{"buffers that do not fit", 16, cpu(4 * gib), 64 * gib, 1},
		{"an H200", 16, gpu(140 * gib), gib, 16},
		{"a card that is nearly full", 16, gpu(8 * gib), gib, 2},
		{"a small card", 16, gpu(2 * gib), 0, 1},
		{"a full card", 16, gpu(8 * gib), 3 * gib, 1},
		{"a GPU in the processor", 16, integrated, 100 << 20, 9},
	} {
		if got := workersFor(c.cores, c.d, c.buffers); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

func TestBufferBytes(t *testing.T) {
	p := faulty(t)
	if got := bufferBytes(p, tune.Device{Type: "cpu"}); got != 256*4+16*4 {
		t.Errorf("%d B", got)
	}
	if n := DefaultWorkers(p, tune.Device{Type: "cpu", GlobalMemory: 1}); n != 1 {
		t.Errorf("%d workers without memory", n)
	}
}

func TestLaunchLimit(t *testing.T) {
	for _, c := range []struct {
		kernelTimeout time.Duration
		best          float64 // milliseconds; 0: unknown
		want          string
	}{
		{10 * time.Second, 0, "a launch took longer than 10s (--kernel-timeout)"},
		{10 * time.Second, 0.001, "a launch took longer than 1s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 50, "a launch took longer than 1s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 75, "a launch took longer than 1.5s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 499, "a launch took longer than 9.98s: 20 times the best's time, and at least 1s"},
		{10 * time.Second, 500, "a launch took longer than 10s (--kernel-timeout)"},
		{10 * time.Second, 5000, "a launch took longer than 10s (--kernel-timeout)"},
		{500 * time.Millisecond, 0.001, "a launch took longer than 500ms (--kernel-timeout)"},
	} {
		p := &Pool{problem: doubling(t), options: Options{KernelTimeout: c.kernelTimeout}}
		if c.best > 0 {
			p.best.set(tune.Result{Times: []float64{c.best}})
		}
		m := &member{stage: "measure", launch: p.launchLimit(nil)}
		if got := m.overdue(time.Minute); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestStartLimit(t *testing.T) {
	for _, c := range []struct {
		build time.Duration
		bytes int
		want  time.Duration
	}{
		{time.Second, 1000, time.Minute},
		{2 * time.Minute, 1000, 2 * time.Minute},
		{time.Second, 1 << 30, time.Minute + 256*time.Second},
	} {
		p := &Pool{options: Options{BuildTimeout: c.build}}
		p.hello.Problem = make([]byte, c.bytes)
		if got := p.startLimit(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestLaunchLimitOfOtherObjectives has an objective by which what takes long can be the best.
func TestLaunchLimitOfOtherObjectives(t *testing.T) {
	for _, c := range []struct {
		metric   tune.Expr
		maximize bool
		items    int
		want     time.Duration
	}{
		{"items / time", true, 1, time.Second},
		{"items / time", true, 1000000, 10 * time.Second},
		{"time / items", false, 1, time.Second},
		{"time / items", false, 1000000, 10 * time.Second},
		{"0 * time / (items - items)", false, 1, 10 * time.Second}, // nobody knows
	} {
		d, err := makeDoubling("")
		if err != nil {
			t.Fatal(err)
		}
		d.Parameters = append(d.Parameters, space.Parameter{Name: "items", Values: []space.Value{1, 1000000}})
		d.Metrics = []tune.Metric{{Name: "score", Expression: c.metric}}
		d.Objective = tune.Objective{Name: "score", Maximize: c.maximize}
		p := &Pool{problem: mustProblem(t, d), options: Options{KernelTimeout: 10 * time.Second}}
		p.best.set(tune.Result{Times: []float64{1}, Objective: 1})
		one := &task{configuration: configurationOf(t, p.problem, map[string]space.Value{"items": c.items})}
		if got := p.launchLimit(one).most; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if got := p.launchLimit(nil).most; got != 10*time.Second {
			t.Errorf("%+v: %s for several", c, got)
		}
	}
}

// TestStagesAreWatched begins the stages of a task one after the other.
func TestStagesAreWatched(t *testing.T) {
	p := &Pool{options: Options{BuildTimeout: 30 * time.Second, KernelTimeout: 10 * time.Second}}
	begin := time.Now()
	for _, c := range []struct {
		built  time.Duration // by a builder
		stages string
		want   time.Duration // from the last one, or from the build on
		says   string
	}{
		{0, "build", 30 * time.Second, "the build took longer than 30s (--build-timeout)"},
		{0, "build,first launch", 30 * time.Second, "the build and the first launch took longer than 30s (--build-timeout)"},
		{20 * time.Second, "build,first launch", 10 * time.Second, "the build and the first launch took longer than 30s"},
		{29900 * time.Millisecond, "build", leastLoad, "the build took longer than 30s"},
		{0, "build,first launch,verify", 30 * time.Second, "checking the output took longer than 30s (--build-timeout)"},
		{0, "build,first launch,verify,reference", 300 * time.Second, ""},
		{0, "build,first launch,verify,measure", 80 * time.Second, "a launch took longer than 10s (--kernel-timeout)"},
	} {
		m := &member{task: &task{build: c.built}, since: begin}
		now, from := begin, begin
		for s := range strings.SplitSeq(c.stages, ",") {
			now = now.Add(time.Second)
			if s != "first launch" {
				from = now
			}
			launches := 0
			if s == "measure" {
				launches = 8
			}
			m.begin(device.Stage(s), now)
			p.watchStage(m, launches, now)
		}
		deadline, running := m.watch.running()
		if !running || deadline.Sub(from) != c.want {
			t.Errorf("%s after a build of %s: %s, want %s", c.stages, c.built, deadline.Sub(from), c.want)
		}
		if got := m.overdue(p.options.BuildTimeout); c.says != "" && !strings.HasPrefix(got, c.says) {
			t.Errorf("%s: %q, want %q", c.stages, got, c.says)
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
		{4, 1, nil, 16},
		{4, 1, []time.Duration{100 * time.Millisecond}, 10},
		{4, 2, []time.Duration{100 * time.Millisecond}, 20},
		{4, 1, []time.Duration{10 * time.Second}, 2},
		{4, 1, []time.Duration{0}, 32},
		{4, 1, []time.Duration{time.Millisecond}, 32},
		{0, 1, []time.Duration{time.Millisecond}, 2},
	} {
		p := &Pool{most: c.builders, devices: make([]device.Listed, c.devices)}
		for _, d := range c.measuring {
			p.pace.add(d)
		}
		if got := p.ahead(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	p := pace{}
	p.add(time.Second)
	p.add(9 * time.Second)
	if p.mean != 2*time.Second {
		t.Errorf("the mean is %s", p.mean)
	}
}

// Dumps of Go programs as they are.
const (
	dumpOnGoThread = `SIGSEGV: segmentation violation
PC=0x7f3a1c0d2134 m=4 sigcode=1 addr=0x10
signal arrived during cgo execution

goroutine 1 gp=0xc000002380 m=4 mp=0xc00008a808 [syscall]:
runtime.cgocall(0x4b1a20, 0xc0000a3d28)
	/usr/local/go/src/runtime/cgocall.go:167 +0x4b fp=0xc0000a3d00 sp=0xc0000a3cc8 pc=0x46a2eb

rax    0x10
`
	dumpOfFault = `fatal error: unexpected signal during runtime execution
[signal SIGSEGV: segmentation violation code=0x1 addr=0x10 pc=0x7f3a1c0d2134]

runtime stack:
runtime.throw({0x5a1b2c?, 0x0?})
	/usr/local/go/src/runtime/panic.go:1101 +0x48
`
	dumpOfAbort = `SIGABRT: abort
PC=0x7f9aa5c9eebc m=8 sigcode=18446744073709551610

goroutine 0 gp=0xc000102a80 m=8 mp=0xc000100808 [idle]:
`
	dumpOfPanic = `panic: runtime error: index out of range [3] with length 3

goroutine 7 [running]:
main.main()
`
	dumpOfThrow = `fatal error: concurrent map writes

goroutine 7 [running]:
`
	dumpOfNilRead = `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47e5b3]

goroutine 1 [running]:
`
	dumpOfMemory = `runtime: out of memory: cannot allocate 4194304-byte block (8589934592 in use)
fatal error: out of memory

goroutine 1 [running]:
`
)

func TestDump(t *testing.T) {
	for _, c := range []struct{ text, how, before string }{
		{"", "", ""},
		{"free(): invalid pointer\n", "", "free(): invalid pointer\n"},
		{dumpOnGoThread, "by signal SIGSEGV (segmentation violation)", ""},
		{"hello\n" + dumpOnGoThread, "by signal SIGSEGV (segmentation violation)", "hello\n"},
		{dumpOfFault, "by signal SIGSEGV (segmentation violation)", ""},
		{"double free or corruption (out)\n" + dumpOfAbort, "by signal SIGABRT (abort)", "double free or corruption (out)\n"},
		{dumpOfPanic, "by a fault: runtime error: index out of range [3] with length 3", ""},
		{"a\n" + dumpOfThrow, "by a fault: concurrent map writes", "a\n"},
		{dumpOfNilRead, "by signal SIGSEGV (segmentation violation)", ""},
		{dumpOfMemory, "by a fault: out of memory", ""},
		{"x.cl:3:1: fatal error: 'a.h' file not found\n", "", "x.cl:3:1: fatal error: 'a.h' file not found\n"},
		{"runtime: it took 3 s\n", "", "runtime: it took 3 s\n"},
	} {
		how, before := dump(c.text)
		if how != c.how || before != c.before {
			t.Errorf("%q:\n%q, %q; want\n%q, %q", c.text, how, before, c.how, c.before)
		}
	}
}

func TestDeath(t *testing.T) {
	died := func(printed string, e event) string {
		e.process = &process{printed: newPrinted(nil, 1)}
		e.process.printed.add([]byte(printed))
		return death(e, "")
	}
	for _, c := range []struct{ got, want string }{
		{died("", event{}), "for a reason that the system does not tell"},
		{died("double free or corruption (out)\n"+dumpOfAbort, event{}), "by signal SIGABRT (abort); it printed last:\ndouble free or corruption (out)"},
		{died("\n \n", event{garbled: fmt.Errorf("duplicate type")}), "for a reason that the system does not tell, after a message that makes no sense (duplicate type)"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	long := died(strings.Repeat("line\n", 100), event{})
	if n := strings.Count(long, "line"); n != lastLines {
		t.Errorf("%d lines of 100 are told", n)
	}
	wide := died(strings.Repeat("ü", 10_000), event{})
	if len(wide) > maxLastBytes+200 || !strings.Contains(wide, "…ü") || strings.Contains(wide, "\uFFFD") {
		t.Errorf("%d bytes: %.100q", len(wide), wide)
	}
}

func TestPrinted(t *testing.T) {
	var shown lines
	p := newPrinted(&shown, 7)
	for _, piece := range []string{"one\ntw", "o\r\n", "", "\xff\n", "and", " the rest"} {
		p.add([]byte(piece))
	}
	if got, want := shown.String(), "worker 7: one\nworker 7: two\nworker 7: \uFFFD\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.finish()
	p.finish()
	if got, want := shown.String(), "worker 7: one\nworker 7: two\nworker 7: \uFFFD\nworker 7: and the rest\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.text(); got != "one\ntwo\r\n\uFFFD\nand the rest" {
		t.Errorf("%q is kept", got)
	}
}

// TestOutputOfManyWorkers has workers that print at once, to a writer that takes no two at once.
func TestOutputOfManyWorkers(t *testing.T) {
	var shown bytes.Buffer
	p := newPool(nil, []tune.Device{{}}, nil, Options{Workers: 1, Output: &shown})
	var all sync.WaitGroup
	for number := range 4 {
		all.Go(func() {
			printed := newPrinted(p.launcher.output, number)
			for range 100 {
				printed.add([]byte("a line\n"))
			}
		})
	}
	all.Wait()
	if n := strings.Count(shown.String(), ": a line\n"); n != 400 {
		t.Errorf("%d lines", n)
	}
}

// TestPrintedIsBounded prints megabytes, in lines and in none.
func TestPrintedIsBounded(t *testing.T) {
	for _, piece := range []string{strings.Repeat("x", 99) + "\n", strings.Repeat("x", 100)} {
		var shown lines
		p := newPrinted(&shown, 1)
		for range 50_000 {
			p.add([]byte(piece))
		}
		p.add([]byte("the end"))
		p.finish()
		if text := p.text(); len(text) > 2*keepPrinted || len(text) < keepPrinted || !strings.HasSuffix(text, "the end") {
			t.Errorf("%d bytes are kept", len(text))
		}
		if cap(p.last) > 8*keepPrinted || cap(p.line) > 8*keepPrinted {
			t.Errorf("%d and %d bytes are held", cap(p.last), cap(p.line))
		}
		if n := shown.count("x"); n < 50_000*99 {
			t.Errorf("%d characters of %d were shown", n, 50_000*99)
		}
		p = newPrinted(nil, 1)
		p.add([]byte(piece))
		if len(p.line) > 0 {
			t.Error("lines are gathered for nobody")
		}
	}
}

func TestSpent(t *testing.T) {
	begin := time.Now()
	m := &member{since: begin}
	now := begin
	pass := func(s int, then func()) {
		now = now.Add(time.Duration(s) * time.Second)
		then()
	}
	pass(1, func() { m.enter(idle, now) })
	pass(2, func() { m.enter(working, now); m.begin("build", now) })
	pass(4, func() { m.begin("verify", now) })
	pass(8, func() { m.enter(asking, now) })
	pass(16, func() { m.enter(timing, now) })
	pass(32, func() { m.enter(idle, now) })
	pass(64, func() { m.enter(needing, now) })
	pass(128, func() { m.enter(departing, now) })
	const s = time.Second
	if want := (Spent{Starting: 1 * s, Idle: 66 * s, Building: 4 * s, Verifying: 136 * s, Waiting: 16 * s, Measuring: 32 * s}); m.spent != want {
		t.Errorf("%+v, want %+v", m.spent, want)
	}
	if m.spent.Total() != 255*s {
		t.Errorf("the sum is %s", m.spent.Total())
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
		{builders, 4, 0, "Going on with 0 workers; another could not start: no room", false},
		{whole, 1, 3, "Going on with 3 workers; another could not start: no room", false},
		{whole, 4, 1, "", true},
	} {
		var notes []string
		p := &Pool{most: 4, whole: c.a == whole, options: Options{Note: func(text string) { notes = append(notes, text) }}}
		add := func(builds bool, s state) {
			process := &process{number: len(p.members) + 1, requests: make(chan request, 1)}
			process.kill.Do(func() {})
			p.members = append(p.members, &member{process: process, builds: builds, state: s})
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
			if err = p.handle(event{process: m.process, answer: answer{Failed: &failed{"no room\nat all"}}}, now); err != nil {
				p.refused = "" // nothing is assigned any more
			}
			p.tellFewer()
			p.remove(m, now)
		}
		if c.refuse < 4 && len(notes) > 0 {
			t.Errorf("%+v: told before it is known: %q", c, notes)
		}
		for _, m := range all[c.refuse:] {
			if err := p.handle(event{process: m.process, answer: answer{Ready: &ready{}}}, now); err != nil {
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
	c := newChild(&out)
	c.giveUp(fmt.Errorf("measure: %w", &device.LostError{Err: errors.New("the context is gone")}))
	if out.Len() > 0 {
		t.Error("a lost device was told as a failure")
	}
	c.giveUp(errors.New("no reference"))
	var a answer
	if err := gob.NewDecoder(&out).Decode(&a); err != nil || a.Failed == nil || a.Failed.Reason != "no reference" {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestABuildThatWasNotKept has a build that takes most of its time-out, and a driver that keeps
// none: the worker that evaluates cannot build it in what is left.
func TestABuildThatWasNotKept(t *testing.T) {
	now := time.Now()
	p := &Pool{most: 1, options: Options{BuildTimeout: 10 * time.Second}}
	one := &task{}
	evaluate := func(binary []byte) {
		process := &process{requests: make(chan request, 1)}
		process.kill.Do(func() {})
		m := &member{process: process, state: idle, since: now}
		p.members = []*member{m}
		one.build, one.binary = 7*time.Second, binary
		p.give(m, one, now)
		now = now.Add(3*time.Second + time.Millisecond)
		if err := p.expire(now); err != nil || m.state != departing {
			t.Errorf("%v, the worker is at %d", err, m.state)
		}
	}
	evaluate(nil)
	if next := p.toBuild.next(false); next != one || len(p.results) > 0 || !p.carry.binaries || one.build != 0 {
		t.Fatalf("the first time: %+v, %+v", next, p.results)
	}
	evaluate(nil) // the driver gave no binary either
	if p.toBuild.len() > 0 || len(p.results) != 1 || p.results[0].Status != tune.Timeout {
		t.Errorf("the second time: %+v", p.results)
	}
	one.again, p.results = false, nil
	evaluate([]byte{1})
	if p.toBuild.len() > 0 || len(p.results) != 1 || p.results[0].Status != tune.Timeout {
		t.Errorf("with a binary: %+v", p.results)
	}
}

// TestAskingTwice has a worker that asks for the device once more while it has it: a failed launch
// of the final measurement has taken its context, and it begins again in another.
func TestAskingTwice(t *testing.T) {
	now := time.Now()
	for _, freezes := range []bool{true, false} {
		process := &process{requests: make(chan request, 2)}
		m := &member{process: process, state: working, again: &again{}, since: now}
		p := &Pool{shared: true, freezes: freezes, members: []*member{m}}
		for range 2 {
			if err := p.handle(event{process: process, answer: answer{Ask: true}}, now); err != nil {
				t.Error(err)
			}
		}
		if len(process.requests) != 2 || m.state != timing || p.timer != m || len(p.gate) > 0 {
			t.Errorf("answered %d times; the worker is at %d, and %d wait", len(process.requests), m.state, len(p.gate))
		}
	}
}
