package main

import "github.com/urfave/cli/v2"

// allCommands returns the commands of this package, in the order of the help.
func allCommands() []*cli.Command {
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

// tutorialCommands returns the commands of the tutorials.
func tutorialCommands() []*cli.Command {
	return []*cli.Command{diffusionCommand(runDiffusion), matmulCommand(runBench)}
}
