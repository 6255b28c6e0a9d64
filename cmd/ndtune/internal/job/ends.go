package job

import (
	"strings"

	"github.com/ndtune/ndtune/tune"
)

// A searchEnd describes for people how a search ended.
type searchEnd struct {
	text      string
	inSummary bool   // the summary of the results says it; else other lines do, or nothing needs to be said
	next      string // how to continue the search, after the name of the run log
}

// ends describe all ends of a search.
var ends = map[tune.StopReason]searchEnd{
	tune.Exhausted: {text: "finished"},
	tune.Budget: {
		text: "stopped by the number of evaluations", inSummary: true,
		next: " (the same command with --log, this file and a larger --max-evals continues the run)",
	},
	tune.TimeIsUp:    {text: "stopped by the time limit", inSummary: true, next: continued},
	tune.Settled:     {text: "stopped: more evaluations brought no improvement", inSummary: true},
	tune.Interrupted: {text: "interrupted", next: continued},
	tune.Hopeless: {
		text: "stopped: all failed for one reason",
		next: " (the same command with --log, this file and --retry-failures evaluates them again)",
	},
	tune.Environment: {text: "stopped: configurations fail that were correct before"},
	tune.StrategyFailed: {
		text: "stopped: the strategy failed",
		next: " (a command with a strategy that works, --log and this file continues the run)",
	},
}

const continued = " (the same command with --log and this file continues the run)"

// page returns the text as a sentence on the page.
func (e searchEnd) page() string {
	if e.text == "" {
		return ""
	}
	return strings.ToUpper(e.text[:1]) + e.text[1:]
}
