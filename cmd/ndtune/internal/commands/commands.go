// Package commands has the commands of ndtune, a file for each: an options struct, a function that makes the command, and the function
// that runs it. compare, capture and wisdom have several files.
package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
)

// All returns the commands of this package, in the order of the help.
func All() []*cli.Command {
	return []*cli.Command{
		devicesCommand(listDevices),
		initCommand(initSpec),
		captureCommand(runCapture, tuneCapture, tryCapture),
		tuneCommand(tuneSpec),
		runCommand(runSpec),
		checkCommand(checkSpec),
		spaceCommand(showSpace),
		strategiesCommand(listStrategies),
		simulateCommand(simulateStrategies),
		compareCommand(runComparison),
		convertCommand(convert),
		wisdomCommand(addWisdom, showWisdom, tuneWisdom),
		exportCommand(exportFiles),
		fleetCommand(showFleet),
		agentCommand(runAgent),
		reportCommand(writeReport),
	}
}

// A ranking says by what the results of records are ranked, instead of by the objectives of their searches.
type ranking struct {
	objectives string // "": those of the searches
	choose     string // the choice among the front; "": that of the searches

	given score.Objective
}

func (o *ranking) read() (err error) {
	if o.objectives != "" {
		if o.given, err = score.ParseObjectives(o.objectives); err != nil {
			return ui.Wrong("--objective: %w", err)
		}
	}
	return nil
}

// apply gives a record the objectives.
func (o *ranking) apply(path string, r *record.Record) error {
	if o.objectives == "" && o.choose == "" {
		return nil
	}
	by := r.Header.Objective
	if o.objectives != "" {
		by = o.given
	}
	if o.choose != "" {
		by.Choose = o.choose
	}
	if _, err := by.Chooser(); err != nil {
		return ui.Wrong("--choose: %s: %w", path, err)
	}
	if err := r.SetObjective(by); err != nil {
		return ui.Wrong("--objective: %s: %w", path, err)
	}
	return nil
}
