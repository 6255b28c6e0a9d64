package main

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
)

// TestRulesNameFlags looks for a command that has the flag of a rule and one of the others.
func TestRulesNameFlags(t *testing.T) {
	var commands []*cli.Command
	walkCommands(newApp().Commands, "ndtune", func(_ string, c *cli.Command) { commands = append(commands, c) })
	exists := func(names ...string) bool {
		return slices.ContainsFunc(commands, func(c *cli.Command) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return flags.Named(c.Flags, name) == nil })
		})
	}
	for _, r := range flagRules {
		for _, other := range r.others {
			if !exists(r.flag, other) {
				t.Errorf("no command has --%s and --%s", r.flag, other)
			}
		}
	}
}
