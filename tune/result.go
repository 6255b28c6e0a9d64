package tune

import (
	"time"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A Result is what became of one configuration.
type Result struct {
	Configuration space.Configuration
	Status        Status
	Reason        string // of a failure: what is wrong and how much, for a person to act on

	// Doubt is set by evaluators where the environment may be the cause of a failure. Run settles
	// it, and no record keeps it.
	Doubt Doubt

	Times    []float64 // milliseconds, every timed launch in order
	Verified bool      // the output was compared with a reference

	// EarlyStopped says that it was measured once only, because its objective was far worse
	// than the best's.
	EarlyStopped bool

	// Device is which of several devices measured it, as device.Listed.Selector gives it
	// ("1:0"); empty where the search has one device.
	Device string

	// Metrics are the values of the problem's metrics, in their order, and Objective that
	// of its objective. Run sets both where Status is Correct.
	Metrics   []problem.MetricValue
	Objective float64

	Durations Durations
	Timestamp time.Time // when the result was complete

	// Final are the times of the interleaved measurement at the end of a run, in
	// milliseconds, where the configuration took part in it.
	Final []float64

	// AtFinal are the metrics and the objective at the median of Final, as Run computes them.
	// It is nil if Final is empty, and if a record does not have it: see [DeriveFinals].
	AtFinal *problem.Judgement
}

// Durations say where the time of an evaluation went.
type Durations struct {
	Build     time.Duration // compiling, and the first launch of a configuration
	Verify    time.Duration // making the reference where none is there yet, comparing the output
	Measure   time.Duration // the warm-up and the timed launches, with what they need restored
	Framework time.Duration // all else of the evaluation
	Search    time.Duration // the strategy's share
}

// Total is the sum of all parts.
func (d Durations) Total() time.Duration {
	return d.Build + d.Verify + d.Measure + d.Framework + d.Search
}

// Stats are the statistics of the timed launches.
func (r *Result) Stats() problem.Stats { return problem.StatsOf(r.Times) }

// Time is the mean of the timed launches in milliseconds, 0 where there are none.
func (r *Result) Time() float64 { return r.Stats().Mean }

// FinalTime is the median of the interleaved measurement at the end of a run in
// milliseconds, 0 where the configuration took no part in it.
func (r *Result) FinalTime() float64 { return problem.StatsOf(r.Final).Median }

// Metric is the value of the named metric.
func (r *Result) Metric(name string) (float64, bool) { return problem.Named(r.Metrics, name) }

// A Status says what became of a configuration, in the words of the T4 format
// (https://github.com/auto-tuning-hub).
type Status string

// The statuses.
const (
	Correct     Status = "correct"     // measured; verified where the problem has a verification
	Compile     Status = "compile"     // the kernel does not build
	Runtime     Status = "runtime"     // the launch failed
	Correctness Status = "correctness" // the output is wrong
	Timeout     Status = "timeout"     // building or running took too long
	Constraints Status = "constraints" // the device cannot run it, or it breaks a restriction
)

// Statuses are all statuses in the order in which tables list them.
func Statuses() []Status {
	return []Status{Correct, Constraints, Compile, Runtime, Correctness, Timeout}
}

// Text is the status for people, after a number of configurations: «3 did not compile».
func (s Status) Text() string {
	switch s {
	case Constraints:
		return "beyond the device's limits"
	case Compile:
		return "did not compile"
	case Runtime:
		return "failed to run"
	case Correctness:
		return "gave wrong output"
	case Timeout:
		return "timed out"
	}
	return string(s)
}
