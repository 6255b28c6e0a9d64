package worker

import (
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
)

// The defaults of the time-outs.
const (
	DefaultBuildTimeout  = 60 * time.Second
	DefaultKernelTimeout = 10 * time.Second
)

const (
	// A launch is given up after slowFactor times the time of the best, but not before slowLeast.
	slowFactor = 20
	slowLeast  = time.Second
	// leastLoad is the least time for loading a build and the first launch, however long the build
	// took.
	leastLoad = time.Second
	// referenceFactor is for the reference, which is not tuned and may be slow.
	referenceFactor = 10
	// A worker has startTime to get ready, and a second more for each startRate bytes of the
	// problem, which cross a pipe.
	startTime = time.Minute
	startRate = 4 << 20
)

// startLimit returns the time that a worker may take to get ready.
func (p *Pool) startLimit() time.Duration {
	return max(startTime, p.options.BuildTimeout) + time.Duration(len(p.hello.Problem)/startRate)*time.Second
}

// A launchLimit is the time limit of one launch; zero: none is waited for, or one that counts as building.
type launchLimit struct {
	most     time.Duration
	relative bool // it follows from the best
}

// launchLimit returns the limit for an assignment, or for a remeasurement if the assignment is nil.
func (p *Pool) launchLimit(t *assignment) launchLimit {
	if best := p.best.Load(); best != nil {
		slow := max(slowLeast, slowFactor*time.Duration(best.Time()*float64(time.Millisecond)))
		if slow < p.options.KernelTimeout && p.loses(t, slow, best) {
			return launchLimit{slow, true}
		}
	}
	return launchLimit{most: p.options.KernelTimeout}
}

// loses reports whether a configuration is certainly worse than the best if a launch takes so
// long. With a user's own objective a longer launch may be better: it may do more work.
func (p *Pool) loses(t *assignment, launch time.Duration, best *tune.Result) bool {
	o := p.problem.Objective()
	if slices.Contains(score.TimeNames, o.Name) {
		return !o.Maximize
	}
	if t == nil {
		return false
	}
	value, err := p.problem.ObjectiveAt(t.configuration, p.identity, []float64{float64(launch) / float64(time.Millisecond)})
	return err == nil && o.Better(best.Objective, value)
}

// compilesAtLaunch reports whether a driver may compile in the first launch of a kernel: PoCL for each local size, clvk and OpenCLOn12
// pipelines, rusticl and Apple's variants of shaders. Other drivers have machine code after the build.
func compilesAtLaunch(d hardware.Device) bool {
	return slices.Contains([]string{"Portable Computing Language", "clvk", "OpenCLOn12", "rusticl", "Apple"}, d.Platform)
}

// watchStage sets the watch of a member that begins a stage.
func (p *Pool) watchStage(m *member, launches int, now time.Time) {
	limit := p.options.BuildTimeout + p.answering[m.stage]
	m.launch = launchLimit{}
	switch m.stage {
	case device.StageBuild, device.StageBuffers:
		if m.task != nil {
			limit -= m.task.build
		}
		limit = max(leastLoad, limit)
	case device.StageFirstLaunch:
		if compilesAtLaunch(p.identity) {
			return // it counts as building
		}
		m.launch = p.launchLimit(m.task)
		limit = m.launch.most
		if p.wantsQuiet(m) && p.freezes && p.timer == nil && p.count(false, timing) == 0 && p.silence(m, now) {
			p.timer = m
		}
	case device.StageReference:
		limit *= referenceFactor
	case device.StageMeasure:
		m.launch = p.launchLimit(m.task)
		limit = m.launch.most
		if !m.repeats() {
			limit *= time.Duration(max(1, launches))
		}
	}
	m.watch.Set(now, limit)
}

// lateAlarm is how late an alarm may come. An alarm that comes later means that this process was
// not running (stopped at the terminal, or short of processor time) and has not read the answers
// that came meanwhile. All workers get that time back.
const lateAlarm = 500 * time.Millisecond

// expire deals with everything that has taken too long.
func (p *Pool) expire(now time.Time) error {
	if first := p.deadline(); !first.IsZero() && now.Sub(first) >= lateAlarm {
		for _, m := range p.members {
			m.watch.Extend(now.Sub(first) + lateAlarm)
		}
		return nil
	}
	defer p.schedule(now)
	for _, m := range slices.Clone(p.members) {
		deadline, ok := m.watch.Deadline()
		if !ok || deadline.After(now) {
			continue
		}
		switch {
		case m.state == stopping:
			p.drop(m, now)
			continue
		case m.state == starting:
			if err := p.diedStarting(fmt.Sprintf("worker %d was not ready after %s", m.child.Number, p.startLimit())); err != nil {
				return err
			}
		case m.stage == device.StageReference:
			limit := referenceFactor * p.options.BuildTimeout
			return fmt.Errorf("making the right output took longer than %s (%d times --build-timeout)", limit, referenceFactor)
		case m.task != nil && m.task.slow != nil: // it is repeated
			t := m.task
			m.task = nil
			p.repeating += p.starting // of the worker's successor
			p.answer(m, t, tune.Result{Status: tune.Timeout}, now)
		case m.task != nil && m.stage == device.StageBuild && m.task.builtTwice():
			// The driver has not kept the build: the binary is carried from now on.
			t := m.task
			t.build, t.again, m.task = 0, true, nil
			p.carry.binaries = true
			p.toBuild.first(t)
		case m.task != nil:
			t := m.task
			r := p.unfinished(m, tune.Timeout, m.overdue(p.options.BuildTimeout), now)
			p.unsafe = p.unsafe || m.stage == device.StageBuild
			m.task = nil
			p.answer(m, t, r, now)
		case m.again != nil:
			m.again.slow = m.launch.most > 0
			m.again.lose(true, m.overdue(p.options.BuildTimeout))
			m.again = nil
		}
		p.stop(m, now)
	}
	return nil
}

// Words of reasons, for all stages but the reference.
var (
	partOf = map[device.Stage]string{
		device.StageBuild:       "the build",
		device.StageBuffers:     "making the buffers",
		device.StageFirstLaunch: "the build and the first launch",
		device.StageVerify:      "checking the output",
		device.StageObserve:     "asking the instruments",
	}
	during = map[device.Stage]string{
		device.StageBuild:       "while it built the kernel",
		device.StageBuffers:     "while its buffers were made",
		device.StageFirstLaunch: "in the first launch",
		device.StageVerify:      "while its output was checked",
		device.StageMeasure:     "while it was timed",
		device.StageObserve:     "while it was observed",
	}
)

// overdue returns the reason of a result that took too long.
func (m *member) overdue(build time.Duration) string {
	launch := "a launch"
	switch {
	case m.launch.most == 0:
		return fmt.Sprintf("%s took longer than %s (--build-timeout)", partOf[m.stage], build)
	case m.stage == device.StageFirstLaunch:
		launch = "the first launch"
	}
	if m.launch.relative {
		limit := m.launch.most.Round(time.Millisecond)
		return fmt.Sprintf("%s took longer than %s: %d times the best's time, and at least %s", launch, limit, slowFactor, slowLeast)
	}
	return fmt.Sprintf("%s took longer than %s (--kernel-timeout)", launch, m.launch.most)
}
