package tune

import (
	"cmp"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A Result is the outcome of the evaluation of one configuration. Its JSON form is the same between processes and machines as in a run log
// and in a stream: record writes the members that it keeps, and what Run adds.
type Result struct {
	Configuration space.Configuration `json:"-"`
	Status        Status              `json:"status"`
	Reason        string              `json:"reason,omitempty"` // of a failure: what is wrong and by how much, for people to act on

	// Doubt is set by an evaluator if the environment may be the cause of a failure. Run settles it,
	// and no record keeps it.
	Doubt Doubt `json:"doubt,omitzero"`

	// Known means that it was given to the run, and not evaluated in it: see [Options.Known].
	Known bool `json:"known,omitempty"`

	// Refused means that a limit of the device, known before the build, excludes the configuration. Run
	// does not hand it to the evaluator, and the first freeRefusals for each evaluation of the budget do not
	// count in it. No record keeps Refused.
	Refused bool `json:"-"`

	// Warnings is the compiler's log of a build that succeeded, "" without warnings. Binary is a digest of
	// the program's binary, 0 if unknown: equal digests mean equal code. No record keeps them.
	Warnings string `json:"warnings,omitempty"`
	Binary   uint64 `json:"binary,omitempty"`

	// Notice is what the user must know of the verification: a doubt about the reference, or which launches are not compared. One of the
	// first results has it, "" the others. No record keeps it.
	Notice string `json:"notice,omitempty"`

	// Outputs is a digest of outputs that differ from the reference, 0 if unknown: equal digests mean equal outputs. No record keeps it.
	Outputs uint64 `json:"outputs_digest,omitempty"`

	// Files are the paths of the files that hold the outputs of the first launch, by name, if the evaluator has kept them.
	Files map[string]string `json:"outputs,omitempty"`

	Times    []float64 `json:"times,omitempty"`    // of all timed launches in order, in milliseconds
	Repeated int       `json:"repeated,omitempty"` // the last ones of these, because as many had taken far longer than the others
	Verified bool      `json:"verified,omitempty"` // the output was compared with a reference
	Compared int       `json:"compared,omitempty"` // launches before it was named the best whose outputs were compared, too; 0: it never was

	// Global, Local and Offset are the work-items of the launch and of a work-group, and the global offset, by
	// dimension. Run sets them if Status is Correct. Local is empty if the driver chooses it, Offset if it is 0.
	// All are empty for a pipeline, which has Parts.
	Global []int          `json:"global,omitempty"`
	Local  []int          `json:"local,omitempty"`
	Offset []int          `json:"offset,omitempty"`
	Parts  []problem.Part `json:"kernels,omitempty"`

	// Readings are those of the quantities that the problem observes, each with its uncertainty or with the reason why it
	// is missing. Metrics has their values.
	Readings []hardware.Reading `json:"readings,omitempty"`

	// EarlyStopped means that it was measured only once, because its objective was far worse than the
	// best.
	EarlyStopped bool `json:"early_stopped,omitempty"`

	// Device selects the one of several devices that measured it, as device.Listed.Selector does
	// ("1:0"), or names it in a fleet ("machine/1:0"). It is empty if the search has one device, of this machine.
	Device string `json:"device,omitempty"`

	// Metrics are the values of the problem's metrics, in their order, and Objective is the value of
	// its objective. Run sets both if Status is Correct.
	Metrics   []score.MetricValue `json:"-"`
	Objective float64             `json:"objective,omitzero"`

	Durations Durations `json:"durations_ns,omitzero"`
	Timestamp time.Time `json:"timestamp,omitzero"` // when the result was complete

	// Final are the times of the measurement in turn at the end of a run, in milliseconds. It is
	// empty if the configuration took no part.
	Final []float64 `json:"-"`

	// FinalFailure is the reason why a finalist has no Final, or why Final cannot be ranked. It is "" for others.
	FinalFailure string `json:"-"`

	// FinalDevice names the card that measured Final, as Device does.
	FinalDevice string `json:"-"`

	// FinalReadings are those of the final measurement, the means of its rounds. They are empty if nothing was observed again.
	FinalReadings []hardware.Reading `json:"-"`

	// AtFinal are the metrics and the objective at the median of Final, as Run computes them.
	// It is nil if Final is empty.
	AtFinal *score.Judgement `json:"-"`
}

// Durations are the parts of the time of an evaluation.
type Durations struct {
	Build     time.Duration `json:"build,omitempty"`     // compiling, and the first launch of a configuration
	Verify    time.Duration `json:"verify,omitempty"`    // making the reference, if there is none yet, and comparing the output
	Measure   time.Duration `json:"measure,omitempty"`   // the warm-up and the timed launches, and restoring buffers for them
	Framework time.Duration `json:"framework,omitempty"` // the rest of the evaluation
	Search    time.Duration `json:"search,omitempty"`    // the strategy's share
}

// Total returns the sum of all parts.
func (d Durations) Total() time.Duration {
	return d.Build + d.Verify + d.Measure + d.Framework + d.Search
}

// Launches describes the launch, or each part of a pipeline, for people. It returns nil if they are unknown. The times of the parts are
// shares of the time of [Result.Figures].
func (r *Result) Launches() []string {
	var texts []string
	sum := 0.0
	for _, part := range r.Parts {
		sum += part.Time
	}
	for _, part := range r.Parts {
		if f := r.Figures(); f.Final && sum > 0 {
			part.Time *= f.Time / sum
		}
		texts = append(texts, part.String())
	}
	if len(r.Global) > 0 {
		texts = append(texts, figure.Launch(r.Global, r.Local, r.Offset))
	}
	return texts
}

// Stats returns the statistics of the timed launches.
func (r *Result) Stats() score.Stats { return score.StatsOf(r.Times) }

// Time returns the median of the timed launches in milliseconds, 0 if there are none.
func (r *Result) Time() float64 { return r.Stats().Median }

// FinalTime returns the median of the measurement in turn at the end of a run in milliseconds, 0
// if the configuration took no part.
func (r *Result) FinalTime() float64 { return score.StatsOf(r.Final).Median }

// Metric returns the value of the named metric.
func (r *Result) Metric(name string) (float64, bool) { return score.Named(r.Metrics, name) }

// A Status is the outcome of an evaluation, in the words of the T4 format
// (https://github.com/auto-tuning-hub).
type Status string

// The statuses.
const (
	Correct     Status = "correct"     // measured, and verified if the problem has a verification
	Compile     Status = "compile"     // the kernel does not build
	Runtime     Status = "runtime"     // the launch failed
	Correctness Status = "correctness" // the output is wrong
	Timeout     Status = "timeout"     // building or running took too long
	Constraints Status = "constraints" // the device cannot run it, or it breaks a restriction
)

// Statuses returns all statuses in the order in which tables list them.
func Statuses() []Status {
	return []Status{Correct, Constraints, Compile, Runtime, Correctness, Timeout}
}

var statusTexts = map[Status]string{
	Constraints: "beyond the device's limits",
	Compile:     "did not compile",
	Runtime:     "failed to run",
	Correctness: "gave wrong output",
	Timeout:     "timed out",
}

// Text returns the status for people, after a number of configurations: «3 did not compile».
func (s Status) Text() string { return cmp.Or(statusTexts[s], string(s)) }

// AddLimits adds «% of limit» to the correct results that have none, beside the other metrics of the
// roofline, for a device whose peaks were measured after the search.
func AddLimits(p *problem.Problem, results []Result, d hardware.Device) {
	place := slices.Index(p.MetricNames(d), score.MetricOfLimit)
	if place < 0 {
		return
	}
	for i := range results {
		if results[i].Status == Correct {
			results[i].AddLimit(place, p.LimitTime(results[i].Configuration, d))
		}
	}
}

// AddLimit inserts «% of limit» at a place of the metrics of a correct result that has none, and of
// those of its final measurement. The argument ms is the limit in milliseconds.
func (r *Result) AddLimit(place int, ms float64) {
	if r.Status != Correct {
		return
	}
	// New metrics: others may hold the old ones.
	r.Metrics = withLimit(r.Metrics, place, ms, r.Times)
	if r.AtFinal != nil {
		r.AtFinal = &score.Judgement{Metrics: withLimit(r.AtFinal.Metrics, place, ms, r.Final), Objective: r.AtFinal.Objective}
	}
}

// withLimit returns metrics with «% of limit» at the time of some launches.
func withLimit(metrics []score.MetricValue, place int, ms float64, launches []float64) []score.MetricValue {
	if _, has := score.Named(metrics, score.MetricOfLimit); has || len(launches) == 0 {
		return metrics
	}
	limit := score.MetricValue{Name: score.MetricOfLimit, Value: score.Limit{Time: ms}.Share(score.StatsOf(launches).Median)}
	return slices.Insert(slices.Clip(metrics), min(place, len(metrics)), limit)
}
