// Package commands has the commands of ndtune, a file for each: an options struct, a function that makes the command, and the function
// that runs it. compare, capture and wisdom have several files.
package commands

import (
	"github.com/urfave/cli/v2"
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
