package worker

import (
	"cmp"
	"os"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

// A state is the state of a member of the pool. Each change of state has one verb, a method of Pool:
//
//	state     meaning                           is left when                        verb    for
//	-                                           there is work and no idle member    start   starting
//	starting  its process gets ready            it says that it is ready            rest    idle
//	idle      it has nothing to do              there is work                       work    working
//	working   it builds, launches and checks    it asks for the device              ask     asking
//	                                            another makes outputs that it needs need    needing
//	                                            it answers                          rest    idle
//	needing   it waits for these outputs        they are made, or it shall make     resume  working
//	                                            them because the other stopped
//	asking    it waits for the device           it is first in line and all others  time    timing
//	                                            are quiet
//	timing    it has the device to itself       it answers                          rest    idle
//	any                                         it fails, takes too long, or is     stop    stopping
//	                                            not needed any more
//	stopping  it was killed                     process.StopTime has passed         drop    -
//	any                                         its process has ended               drop    -
//
// Beside its state, a member can be frozen.
type state int

const (
	starting state = iota
	idle
	working
	asking
	timing
	needing
	stopping
)

// A member is a worker process of the pool.
type member struct {
	child  *child
	builds bool // it only builds; else it evaluates
	device int  // its index among the pool's devices

	state     state
	task      *assignment // that it builds or evaluates
	again     *again      // that it measures
	done      int         // assignments that it has ended
	doubtful  bool        // a kernel may have damaged it
	stage     device.Stage
	stageFrom time.Time // when it began
	watch     process.Watch
	launch    launchLimit   // of the launches that are waited for
	first     time.Duration // of the first launch of its task
	frozen    bool
	spent     *Spent    // of the pool
	since     time.Time // in the present state and stage, for spent
}

// start starts a worker for the device with an index.
func (p *Pool) start(builds bool, index int, now time.Time) error {
	c := p.reserve.take(builds, p.devices[index].Selector())
	if c == nil {
		var err error
		if c, err = p.host.Start(environmentOf(builds)...); err != nil {
			return err
		}
	}
	m := &member{child: c, builds: builds, device: index, state: starting, spent: &p.spent, since: now}
	m.watch.Set(now, p.startLimit())
	p.members = append(p.members, m)
	h := p.hello
	h.Builds, h.Selector, h.Device, h.Visible = builds, p.devices[index].Selector(), p.identities[index], p.devices[index].Visible()
	if builds {
		h.Known = p.devices[index].Device.Known()
	}
	h.Device.Timer = cmp.Or(p.identity.Timer, p.options.Timer)
	h.Alone = !p.noBuilders || p.most == 1
	c.Requests <- request{Hello: &h}
	return nil
}

// environmentOf returns the environment variables of a new worker. Builders launch nothing: with one connection to the device, NVIDIA's
// 580 makes a context in 0.04 s in place of 0.13.
func environmentOf(builds bool) []string {
	const connections = "CUDA_DEVICE_MAX_CONNECTIONS"
	if _, set := os.LookupEnv(connections); set || !builds {
		return nil
	}
	return []string{connections + "=1"}
}

// rest makes a member ready for more work.
func (p *Pool) rest(m *member, now time.Time) {
	m.task, m.again = nil, nil
	m.enter(idle, now)
	m.watch.Clear()
	p.release(m, now)
}

// work hands a request to a member, which begins with a build.
func (p *Pool) work(m *member, r request, now time.Time) {
	m.enter(working, now)
	m.begin(device.StageBuild, now)
	p.watchStage(m, 0, now)
	m.child.Requests <- r
}

// ask puts a member in line for the device.
func (p *Pool) ask(m *member, now time.Time) {
	m.enter(asking, now)
	m.watch.Clear()
	if p.timer == m { // it has the device, and begins again in another context
		p.time(m, now)
		return
	}
	p.line = append(p.line, m)
}

// time lets a member use the device.
func (p *Pool) time(m *member, now time.Time) {
	m.enter(timing, now)
	permitted := &permission{}
	if best := p.best.Load(); best != nil {
		*permitted = permission{true, best.Objective}
	}
	m.child.Requests <- request{Time: permitted}
}

// set changes the settings of the device of a member.
func (p *Pool) set(m *member, all []hardware.Setting) error {
	changed, err := p.options.Set[m.device](all)
	if err != nil {
		return err
	}
	m.child.Requests <- request{Applied: &applied{changed}}
	return nil
}

// need answers a member that needs right outputs: it gets them, or makes them, or waits for the
// member that makes them.
func (p *Pool) need(m *member, key string, now time.Time) {
	switch r := p.reference(key); {
	case r.arrays != nil:
		m.child.Requests <- request{Outputs: &outputs{key, r.arrays}}
	case r.maker == nil:
		r.maker = m
		m.child.Requests <- request{Outputs: &outputs{Key: key}}
	default:
		m.enter(needing, now)
		m.watch.Clear()
		r.waiting = append(r.waiting, m)
	}
}

// resume lets a member go on that needed outputs.
func (p *Pool) resume(m *member, now time.Time) {
	m.enter(working, now)
	m.begin(device.StageVerify, now)
	p.watchStage(m, 0, now)
}

// stop kills a member.
func (p *Pool) stop(m *member, now time.Time) {
	if m.state == stopping {
		return
	}
	m.thaw(now)
	m.enter(stopping, now)
	p.release(m, now)
	m.watch.Set(now, process.StopTime)
	m.child.Kill()
}

// drop forgets a member whose process has ended, or does not end though it was killed.
func (p *Pool) drop(m *member, now time.Time) {
	p.release(m, now)
	m.book(now)
	close(m.child.Requests)
	p.members = slices.DeleteFunc(p.members, func(other *member) bool { return other == m })
}

// release takes back what a member holds beside its assignment: the device or its turn in the line for it,
// and the outputs that it makes, which another member makes now.
func (p *Pool) release(m *member, now time.Time) {
	if p.timer == m {
		p.timer = nil
	}
	p.line = slices.DeleteFunc(p.line, func(other *member) bool { return other == m })
	for key, r := range p.references {
		r.waiting = slices.DeleteFunc(r.waiting, func(other *member) bool { return other == m })
		if r.maker != m {
			continue
		}
		r.maker = nil
		if len(r.waiting) > 0 {
			next := r.waiting[0]
			r.waiting = r.waiting[1:]
			p.resume(next, now)
			p.need(next, key, now)
		}
	}
}

// enter changes the state.
func (m *member) enter(s state, now time.Time) {
	m.book(now)
	m.state = s
}

// begin notes the stage that a member says it begins.
func (m *member) begin(s device.Stage, now time.Time) {
	m.book(now)
	m.stage, m.stageFrom = s, now
}

// freeze stops a member's process until thaw, and its watch.
func (m *member) freeze(now time.Time) {
	if m.frozen || m.state == stopping {
		return
	}
	m.book(now)
	m.frozen = true
	m.watch.Pause(now)
	m.child.Freeze()
}

func (m *member) thaw(now time.Time) {
	if !m.frozen {
		return
	}
	m.book(now)
	m.frozen = false
	m.watch.Resume(now)
	m.child.Thaw()
}

// buildsOwn reports whether a member that evaluates is building a configuration that nobody has built before.
func (m *member) buildsOwn() bool {
	return !m.builds && m.state == working && m.stage == device.StageBuild && m.task != nil && m.task.build == 0
}

// quiet reports whether a member neither computes nor touches the device.
func (m *member) quiet() bool {
	switch m.state {
	case idle, asking, needing, stopping:
		return true
	}
	return m.frozen
}

// Spent is the time of all workers together, by activity.
type Spent struct {
	Starting  time.Duration // from the start of a process until it is ready
	Building  time.Duration // compiling, with the first launch of a configuration
	Verifying time.Duration // making the reference and comparing with it
	Measuring time.Duration // timed launches
	Waiting   time.Duration // for the device, while another worker was timing
	Idle      time.Duration // without work
}

// book adds the time since the last change to the activity of the member.
func (m *member) book(now time.Time) {
	d := now.Sub(m.since)
	m.since = now
	switch {
	case m.frozen || m.state == asking:
		m.spent.Waiting += d
	case m.state == starting:
		m.spent.Starting += d
	case m.state == timing:
		m.spent.Measuring += d
	case m.state == idle || m.state == stopping:
		m.spent.Idle += d
	case m.state == needing || m.stage == device.StageReference || m.stage == device.StageVerify:
		m.spent.Verifying += d
	default:
		m.spent.Building += d
	}
}
