package tune

import (
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// Options of a [Run]. The zero value evaluates every configuration.
type Options struct {
	// Strategy makes the search strategy over the space, which Run closes; nil is brute force.
	Strategy func(*space.Space) (search.Strategy, error)

	// Space is the problem's space on the evaluator's device; nil: Run enumerates it.
	Space *space.Space

	MaxEvaluations int           // unique configurations, failures and resumed ones included; 0: no limit
	TimeLimit      time.Duration // the evaluator is handed no configuration after it; 0: no limit

	Log Log // nil: results are kept in memory only

	// Retry are the statuses of failures that are evaluated again, before anything else, where
	// the log holds them. What comes of that takes their place in the log.
	Retry []Status

	// OnResult is called for every result in the order of arrival, in the goroutine of Run;
	// resumed says that it comes from the log.
	OnResult func(r Result, resumed bool)

	// Finalists is how many of the best are measured again at the end, where the evaluator
	// can do that: 0 stands for 10, a negative number for none.
	Finalists int
}

const (
	defaultFinalists = 10
	// hopelessAfter is how many configurations may fail, all for one reason, before a run
	// gives up.
	hopelessAfter = 24
)

// A StopReason says why a run ended.
type StopReason string

// The reasons.
const (
	Exhausted   StopReason = "exhausted"   // the strategy has nothing more to propose
	Budget      StopReason = "budget"      // MaxEvaluations is reached
	TimeIsUp    StopReason = "time limit"  // TimeLimit is reached
	Interrupted StopReason = "interrupted" // the context was cancelled
	Hopeless    StopReason = "hopeless"    // the first dozens all failed for one reason
	Environment StopReason = "environment" // a full disk, say, lets configurations fail that are right
)

// An Outcome is what a [Run] found.
type Outcome struct {
	Device  hardware.Device
	Space   *space.Space // nil where the run was interrupted before it was constructed
	Results []Result     // in the order of arrival, those of an earlier run included
	Resumed int          // results that come from the log
	Best    *Result      // nil where no configuration is correct
	Stop    StopReason
	Cause   string // with Hopeless: the one reason of all failures; with Environment: what is wrong
	Elapsed time.Duration

	// Withdrawn is how many failures are not among the results, and not in the log, because they
	// may not be the configurations' own. A run that resumes the log evaluates these again.
	Withdrawn int
}
