package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/session"
)

// The values of --allow.
const (
	allowCommands = "commands" // an agent runs commands that specifications name
	allowSettings = "settings" // specifications change settings of devices
)

// allowed returns the values of --allow that a command has.
func allowed(command string) []string {
	if command == "agent" {
		return []string{allowCommands, allowSettings}
	}
	return []string{allowSettings}
}

func newAllowFlag(to *string, usage string) cli.Flag {
	return &cli.StringFlag{Name: "allow", Destination: to, Category: categoryEvaluation, Usage: usage, Action: func(c *cli.Context, value string) error {
		for what := range strings.SplitSeq(value, ",") {
			if all := allowed(c.Command.Name); !slices.Contains(all, what) {
				return wrong("--allow %s: want %s", value, strings.Join(all, " or "))
			}
		}
		return nil
	}}
}

// allows reports whether --allow has a value.
func allows(allow, what string) bool {
	return slices.Contains(strings.Split(allow, ","), what)
}

// sayAbandoned says which settings of devices killed processes have left behind, and how they are restored.
func sayAbandoned(c *cli.Context) error {
	if folder, err := session.SettingsFolder(); err == nil {
		for _, text := range observe.AbandonedSettings(folder) {
			fmt.Fprintln(c.App.ErrWriter, text)
		}
	}
	return nil
}
