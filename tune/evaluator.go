package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// An Evaluator turns configurations into results on one device, or on a substitute for one.
//
// Evaluate receives configurations from in and sends a result for each to out, in any order. It
// returns nil after in was closed and all results were sent. If ctx is done, it returns the error of
// ctx promptly; results of configurations in flight may then be missing. The caller receives from out
// until Evaluate returns. A bad configuration is a Result, never an error: an error means that the
// evaluator cannot continue at all. Evaluate closes neither channel and sets neither Metrics nor
// Objective.
type Evaluator interface {
	Device() hardware.Device
	// Capacity returns how many configurations the evaluator can usefully hold at once, at least 1.
	Capacity() int
	Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- Result) error
}

// EvaluateEach is the Evaluate of an evaluator that takes one configuration after the other. One returns a result, which is sent
// unless its status is empty, and an error, which ends the evaluation.
func EvaluateEach(
	ctx context.Context, in <-chan space.Configuration, out chan<- Result, one func(space.Configuration) (Result, error),
) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, ok := <-in:
			if !ok {
				return nil
			}
			result, err := one(c)
			if result.Status != "" {
				out <- result
			}
			if err != nil {
				return err
			}
		}
	}
}

// A Remeasurer is an Evaluator with one device, or several of one model, its cards, that can measure configurations again. Results name the
// card that measured them.
type Remeasurer interface {
	Evaluator

	// Cards returns the names of the cards that can measure now, as results name them: "" for a single one. It waits until there is one.
	Cards(ctx context.Context) ([]string, error)

	// Remeasure measures configurations again on one of the cards, in turn: in each round it launches every configuration once, so that a
	// drift of the device's speed affects all alike. Or it observes the quantities of the problem again in each round. It returns the turns
	// of each configuration, or nil if the card has gone or could not measure.
	Remeasure(ctx context.Context, card string, configurations []space.Configuration, rounds int, observe bool) ([]Turns, error)
}

// A Prober is an Evaluator that is told the best, and evaluates configurations again. Run does not call Probe while Evaluate runs.
type Prober interface {
	Evaluator

	// Observe tells the evaluator the best result so far, so that it spends less time on configurations that are far worse. Run calls it,
	// in its own goroutine, with each correct result whose objective is better than all before it: with results of the log before it
	// calls Evaluate, then while Evaluate runs. The result has its metrics and its objective; Observe must not change its slices.
	Observe(best Result)

	// Probe evaluates a configuration again. With a zero [Retest] it does so as if for the first time: without anything that the driver
	// has kept of an earlier build, so that all that can fail does so again.
	Probe(ctx context.Context, c space.Configuration, again Retest) (Result, error)
}

// Turns are the times of a configuration that was measured in turn, in milliseconds, or the readings of each round in which it was observed.
// If it failed, there are none, and Reason says why.
type Turns struct {
	Times    []float64            `json:"times,omitempty"`
	Readings [][]hardware.Reading `json:"readings,omitempty"`
	Reason   string               `json:"reason,omitempty"`
}

// A Retest says that a configuration is launched again, from the initial state of its buffers, and that the output of each launch is
// compared. A correct result has no times; [Result.Compared] has the number of launches.
type Retest struct {
	Launches int           // at most
	Within   time.Duration // no launch but the first begins later
}

// A Log keeps results as they arrive, and has the results of an earlier, interrupted run.
type Log interface {
	Previous() []Result
	Append(Result) error
	// Withdraw removes a failure, so that its configuration has no result.
	Withdraw(Result) error
	// AppendFinal keeps the final measurement of a result: Final, FinalDevice, FinalReadings and AtFinal.
	AppendFinal(Result) error
}

// EvaluateOne evaluates one configuration.
func EvaluateOne(ctx context.Context, e Evaluator, c space.Configuration) (Result, error) {
	in, out := make(chan space.Configuration, 1), make(chan Result, 1)
	in <- c
	close(in)
	if err := e.Evaluate(ctx, in, out); err != nil {
		return Result{}, err
	}
	select {
	case result := <-out:
		return result, nil
	default:
		return Result{}, fmt.Errorf("the evaluator gave no result")
	}
}

// maxFinalDevices is the number of cards that may fail in the final measurement.
const maxFinalDevices = 3

// RemeasureOnOne is Remeasure on one of the cards, which it names. If a card goes or fails, another one begins anew.
func RemeasureOnOne(
	ctx context.Context, e Remeasurer, configurations []space.Configuration, rounds int,
) (turns []Turns, card string, err error) {
	var failed []string
	for len(failed) < maxFinalDevices {
		ready, err := e.Cards(ctx)
		if err != nil {
			return nil, "", err
		}
		card := ready[max(0, slices.IndexFunc(ready, func(name string) bool { return !slices.Contains(failed, name) }))]
		if turns, err := e.Remeasure(ctx, card, configurations, rounds, false); err != nil || turns != nil {
			return turns, card, err
		}
		failed = append(failed, card)
	}
	return nil, "", errors.New("no device could do it: " + strings.Join(failed, ", "))
}
