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

// restoreAbandoned restores settings of devices that killed processes have left behind, and says so. It reports whether all are restored.
func restoreAbandoned(c *cli.Context) bool {
	folder, err := session.SettingsFolder()
	if err != nil {
		return true // there is no place where anything could have been left
	}
	restored, err := observe.RestoreAbandoned(folder)
	for _, text := range restored {
		fmt.Fprintln(c.App.ErrWriter, text)
	}
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "ndtune: %v\n", err)
	}
	return err == nil
}

// restoreSettings is devices --restore-settings. What could be restored has been restored when the program started.
func restoreSettings(t *console) error {
	folder, err := session.SettingsFolder()
	if err != nil {
		return err
	}
	if _, err := observe.RestoreAbandoned(folder); err != nil {
		return errReported // said at the start
	}
	fmt.Fprintln(t.out, "No settings of a device are left to restore.")
	return nil
}
