package tune

import (
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// Options configure a [Run]. The zero value evaluates every configuration.
type Options struct {
	// Strategy makes the search strategy over the space. Run closes it. nil: brute force.
	Strategy func(*space.Space) (search.Strategy, error)

	// Space is the problem's space on the evaluator's device. nil: Run constructs it.
	Space *space.Space

	MaxEvaluations int           // of different configurations, failures and resumed ones included, refused ones not; 0: no limit
	TimeLimit      time.Duration // no evaluation of a further configuration begins after it; 0: no limit

	// Patience ends the search after so many evaluations, without refused configurations, none of which
	// was better than the best before it by 1 % or more. Those of the log count. 0: it never does.
	Patience int

	Log Log // nil: results are kept in memory only

	// Known are results that are known before the run. If the strategy proposes such a configuration, it has this result at once, and
	// is not evaluated. It counts in the budget, and the log gets it. A known result of a configuration that the space does not have,
	// that the log has or that a limit of the device excludes is ignored. Of the metrics of a
	// known result, quantities that the problem observes are its readings; all others are computed.
	Known []Result

	// Retry are the statuses of failures in the log that are evaluated again, before any other
	// configuration. The new results replace them in the log.
	Retry []Status

	// OnResult is called for every result in the order of arrival, in the goroutine of Run. The
	// argument resumed tells whether the result comes from the log.
	OnResult func(r Result, resumed bool)

	// Untimed says that the evaluator does not time: results have neither metrics nor an objective.
	Untimed bool

	// Finalists is the number of the best results that are measured again at the end, if the evaluator
	// can do that. 0 means 10, a negative number none.
	Finalists int
}

const (
	defaultFinalists = 10
	// freeRefusals is the number of refused configurations for each evaluation of the budget that do
	// not count in it.
	freeRefusals = 20
	// hopelessAfter is the number of configurations without a success, all of which fail for one
	// reason, after which a run gives up.
	hopelessAfter = 24
	// worthwhile is the share of the best that a better result has at most, to count as an improvement.
	worthwhile = 0.99
)

// A StopReason is the reason why a run ended.
type StopReason string

// The reasons.
const (
	Exhausted   StopReason = "exhausted"   // the strategy has nothing more to propose
	Budget      StopReason = "budget"      // MaxEvaluations is reached
	TimeIsUp    StopReason = "time limit"  // TimeLimit is reached
	Settled     StopReason = "settled"     // Patience is over
	Interrupted StopReason = "interrupted" // the context was cancelled
	Hopeless    StopReason = "hopeless"    // the first dozens all failed for one reason
	Environment StopReason = "environment" // for example, a full disk makes right configurations fail

	StrategyFailed StopReason = "strategy failed" // Run returns the error
)

// An Outcome is the result of a [Run].
type Outcome struct {
	Device  hardware.Device
	Space   *space.Space // nil: the run was interrupted before it was constructed
	Results []Result     // in the order of arrival, including those of an earlier run
	Resumed int          // number of results that come from the log
	Best    *Result      // nil: no configuration is correct
	Stop    StopReason
	Cause   string // for Hopeless, the one reason of all failures; for Environment, the fault
	Elapsed time.Duration

	// Withdrawn is the number of failures that are neither among the results nor in the log, because
	// their cause may be the environment. A run that resumes the log evaluates these again.
	Withdrawn int

	// Notes are sentences about the best: which configurations were better and have left, and why.
	Notes []string
}
