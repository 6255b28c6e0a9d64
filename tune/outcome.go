package tune

import (
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// A StopReason is the reason why a run ended.
type StopReason string

// The reasons.
const (
	Exhausted   StopReason = "exhausted"   // the strategy has nothing more to propose
	Budget      StopReason = "budget"      // the number of evaluations is reached
	TimeIsUp    StopReason = "time limit"  // the time limit is reached
	Settled     StopReason = "settled"     // nothing better came for long enough
	Interrupted StopReason = "interrupted" // the context was cancelled
	Hopeless    StopReason = "hopeless"    // the first dozens all failed for one reason
	Environment StopReason = "environment" // for example, a full disk makes right configurations fail

	StrategyFailed StopReason = "strategy failed" // the run returns the error
)

// An Outcome is what a run ends with.
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

	// Warnings are what the user must know: which configurations were better than the best and have left, and why, then [Warnings].
	Warnings []string
}
