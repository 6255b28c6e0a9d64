package job

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// The values of --allow.
const (
	AllowCommands = "commands" // an agent runs commands that specifications name
	AllowSettings = "settings" // specifications change settings of devices
)

// Allowed returns the values of --allow that a command has.
func Allowed(command string) []string {
	if command == "agent" {
		return []string{AllowCommands, AllowSettings}
	}
	return []string{AllowSettings}
}

// AllowFlag is --allow.
func AllowFlag(to *string, usage string) cli.Flag {
	return &cli.StringFlag{Name: "allow", Destination: to, Category: flags.CategoryEvaluation, Usage: usage, Action: func(c *cli.Context, value string) error {
		for what := range strings.SplitSeq(value, ",") {
			if all := Allowed(c.Command.Name); !slices.Contains(all, what) {
				return ui.Wrong("--allow %s: want %s", value, strings.Join(all, " or "))
			}
		}
		return nil
	}}
}

// Allows reports whether --allow has a value.
func Allows(allow, what string) bool {
	return slices.Contains(strings.Split(allow, ","), what)
}
