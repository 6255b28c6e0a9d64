package worker

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
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

// startLimit is how long a worker may take to get ready.
func (p *Pool) startLimit() time.Duration {
	return max(startTime, p.options.BuildTimeout) + time.Duration(len(p.hello.Problem)/startRate)*time.Second
}

// A launchLimit is the time limit of one launch.
type launchLimit struct {
	most     time.Duration
	relative bool // it follows from the best
}

// launchLimit is the limit for a task; nil: for several configurations that are measured in turn.
func (p *Pool) launchLimit(t *task) launchLimit {
	l := launchLimit{most: p.options.KernelTimeout}
	if best, known := p.best.time(); known {
		if slow := max(slowLeast, slowFactor*best); slow < l.most && p.loses(t, slow) {
			return launchLimit{slow, true}
		}
	}
	return l
}

// loses reports whether a configuration is certainly worse than the best if a launch takes so
// long. With a user's own objective a longer launch may be better: it may do more work.
func (p *Pool) loses(t *task, launch time.Duration) bool {
	o := p.problem.Objective()
	switch o.Name {
	case "time", "time_min", "time_median":
		return !o.Maximize
	}
	if t == nil {
		return false
	}
	value, err := p.problem.ObjectiveAt(t.configuration, p.identity, []float64{float64(launch) / float64(time.Millisecond)})
	return err == nil && p.best.beats(value, o)
}

// watchStage sets the watch of a member that begins a stage.
func (p *Pool) watchStage(m *member, launches int, now time.Time) {
	switch m.stage {
	case device.StageBuild:
		spent := time.Duration(0)
		if m.task != nil {
			spent = m.task.build
		}
		m.watch.Set(now, max(leastLoad, p.options.BuildTimeout-spent))
	case device.StageFirstLaunch: // it counts as building
	case device.StageReference:
		m.watch.Set(now, referenceFactor*p.options.BuildTimeout)
	case device.StageVerify:
		m.watch.Set(now, p.options.BuildTimeout)
	case device.StageMeasure:
		m.launch = p.launchLimit(m.task)
		m.watch.Set(now, time.Duration(max(1, launches))*m.launch.most)
	}
}

// overdue is the reason of a result that took too long.
func (m *member) overdue(build time.Duration) string {
	switch m.stage {
	case device.StageBuild:
		return fmt.Sprintf("the build took longer than %s (--build-timeout)", build)
	case device.StageFirstLaunch:
		return fmt.Sprintf("the build and the first launch took longer than %s (--build-timeout)", build)
	case device.StageMeasure:
		if m.launch.relative {
			return fmt.Sprintf("a launch took longer than %s: %d times the best's time, and at least %s", m.launch.most.Round(time.Millisecond), slowFactor, slowLeast)
		}
		return fmt.Sprintf("a launch took longer than %s (--kernel-timeout)", m.launch.most)
	}
	return fmt.Sprintf("checking the output took longer than %s (--build-timeout)", build)
}

// best is the best result so far, which the run observes. It is safe for concurrent use.
type best struct{ result atomic.Pointer[tune.Result] }

func (b *best) set(r tune.Result) { b.result.Store(&r) }

func (b *best) permission() *permission {
	if r := b.result.Load(); r != nil {
		return &permission{true, r.Objective}
	}
	return &permission{}
}

// beats reports whether the best is better than a value of the objective.
func (b *best) beats(value float64, o problem.Objective) bool {
	r := b.result.Load()
	return r != nil && o.Better(r.Objective, value)
}

// time is the time of a launch of the best.
func (b *best) time() (time.Duration, bool) {
	r := b.result.Load()
	if r == nil {
		return 0, false
	}
	return time.Duration(r.Time() * float64(time.Millisecond)), true
}
