package worker

import (
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
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

// A launchLimit is the time limit of one launch.
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
	switch o.Name {
	case "time", "time_min", "time_median":
		return !o.Maximize
	}
	if t == nil {
		return false
	}
	value, err := p.problem.ObjectiveAt(t.configuration, p.identity, []float64{float64(launch) / float64(time.Millisecond)})
	return err == nil && o.Better(best.Objective, value)
}

// watchStage sets the watch of a member that begins a stage.
func (p *Pool) watchStage(m *member, launches int, now time.Time) {
	limit := p.options.BuildTimeout
	switch m.stage {
	case device.StageBuild, device.StageBuffers:
		limit += p.generating // which the worker itself observes
		if m.task != nil {
			limit -= m.task.build
		}
		limit = max(leastLoad, limit)
	case device.StageFirstLaunch:
		return // it counts as building
	case device.StageReference:
		limit *= referenceFactor
	case device.StageVerify:
		limit += p.judging // which the worker itself observes
	case device.StageObserve:
		limit += p.observing // which the worker itself observes
	case device.StageMeasure:
		m.launch = p.launchLimit(m.task)
		limit = time.Duration(max(1, launches)) * m.launch.most
		if m.task != nil && m.task.slow != nil {
			limit = min(limit, p.repeatLimit(m.task, now))
		}
	}
	m.watch.Set(now, limit)
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
	switch {
	case m.stage != device.StageMeasure:
		return fmt.Sprintf("%s took longer than %s (--build-timeout)", partOf[m.stage], build)
	case m.launch.relative:
		limit := m.launch.most.Round(time.Millisecond)
		return fmt.Sprintf("a launch took longer than %s: %d times the best's time, and at least %s", limit, slowFactor, slowLeast)
	}
	return fmt.Sprintf("a launch took longer than %s (--kernel-timeout)", m.launch.most)
}
