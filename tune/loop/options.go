package loop

import (
	"time"

	"github.com/ndtune/ndtune/tune"
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

	// UnderWay is the number of proposals under way at a time, of a strategy that learns: an interrupted search goes on with the same
	// number, whatever evaluates then. 0: the one that [UnderWay] tells.
	UnderWay int

	// Patience ends the search after so many evaluations, without refused configurations, none of which
	// was better than the best before it by 1 % or more. Those of the log count. 0: it never does.
	Patience int

	Log tune.Log // nil: results are kept in memory only

	// Known are results that are known before the run. If the strategy proposes such a configuration, it has this result at once, and
	// is not evaluated. It counts in the budget, and the log gets it. A known result of a configuration that the space does not have,
	// that the log has or that a limit of the device excludes is ignored. Of the metrics of a
	// known result, quantities that the problem observes are its readings; all others are computed.
	Known []tune.Result

	// Retry are the statuses of failures in the log that are evaluated again, before any other
	// configuration. The new results replace them in the log.
	Retry []tune.Status

	// OnResult is called for every result in the order of arrival, in the goroutine of Run. The
	// argument resumed tells whether the result comes from the log.
	OnResult func(r tune.Result, resumed bool)

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
